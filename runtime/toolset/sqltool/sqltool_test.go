package sqltool_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

func TestS4Names(t *testing.T) {
	t.Parallel()
	quotes := []string{`""`, "``", "[]"}
	for text, want := range map[string]sqltool.Name{
		"orders":         {{Text: "orders"}},
		"Main.Orders":    {{Text: "Main"}, {Text: "Orders"}},
		`a."B c".[d]]e]`: {{Text: "a"}, {Text: "B c", Quoted: true}, {Text: "d]e", Quoted: true}},
		`"a""b"`:         {{Text: `a"b`, Quoted: true}},
		"`x.y`":          {{Text: "x.y", Quoted: true}},
		"größe_$1":       {{Text: "größe_$1"}},
		"":               nil,
		".":              nil,
		"a.":             nil,
		".a":             nil,
		"a..b":           nil,
		`""`:             nil,
		`"a`:             nil,
		`"a"b`:           nil,
		`"a".`:           nil,
		"a b":            nil,
		"a;b":            nil,
		"a.b.c.d":        nil,
		"a--b":           nil,
	} {
		got, err := sqltool.ParseName(text, quotes...)
		if (err != nil) != (want == nil) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if diff := cmp.Diff(want, got); diff != "" && err == nil {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if p := (sqltool.Part{Text: "Orders"}); !p.Matches("ORDERS") || p.Matches("order") {
		t.Error("a part without quotes matches in any case")
	}
	if p := (sqltool.Part{Text: "Orders", Quoted: true}); p.Matches("orders") || !p.Matches("Orders") {
		t.Error("a quoted part matches exactly")
	}
}

// TestS17Tokens splits texts into what is a name, a literal, an operator or a comment.
func TestS17Tokens(t *testing.T) {
	t.Parallel()
	plain := sqltool.Lexis{Quotes: []string{`""`, "[]"}}
	nested := sqltool.Lexis{Quotes: []string{`""`}, NestedComments: true}
	vars := sqltool.Lexis{Quotes: []string{`""`}, Variables: true}
	mysql := sqltool.Lexis{Quotes: []string{"``"}, HashComments: true, Backslashes: true}
	for _, c := range []struct {
		lexis     sqltool.Lexis
		sql, want string
	}{
		{plain, `SELECT "a""b", [c d] FROM t`, `SELECT «a"b» , «c d» FROM t`},
		{plain, `'it''s' || x--1` + "\n+2", `'it's' || x + 2`},
		{plain, "a/* x /* y */ b */", "a b */"},
		{nested, "a/* x /* y */ b */ c", "a c"},
		{plain, "a->>'$.b' <> -1.5e3", "a ->> '$.b' <> - 1.5e3"},
		{plain, "1.FROM 1. FROM .5 1.e+5-1 0x1F-1 1_0.2 t.5 a.b 1e-3x", "1.FROM 1. FROM .5 1.e+5 - 1 0x1F - 1 1_0.2 t .5 a . b 1e-3x"},
		{vars, `1=@a(") 'x' <=:b(') c d<#e f`, `1 = @a(") 'x' <= :b(') c d < #e f`},
		{plain, "a /* open", "a"},
		{plain, "'open", "'open'"},
		{mysql, "a # b\nc 'x\\'y' `d`", "a c 'x'y' «d»"},
		{plain, "a -- b\r c\nd", "a d"},
		{plain, "größe\u00a0x", "größe\u00a0x"},
		{plain, "", ""},
	} {
		var parts []string
		for _, token := range c.lexis.Tokens(c.sql) {
			switch token.Kind {
			case sqltool.Quoted:
				parts = append(parts, "«"+token.Text+"»")
			case sqltool.Literal:
				parts = append(parts, "'"+token.Text+"'")
			default:
				parts = append(parts, token.Text)
			}
		}
		if got := strings.Join(parts, " "); got != c.want {
			t.Errorf("%q: %s, want %s", c.sql, got, c.want)
		}
	}
}

// TestS17Caps refuses what nests or chains too deep; long lists pass.
func TestS17Caps(t *testing.T) {
	t.Parallel()
	lexis := sqltool.Lexis{Quotes: []string{`""`}}
	for text, want := range map[string]string{
		"SELECT " + strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200):                                          "",
		"SELECT " + strings.Repeat("(", 201) + "1" + strings.Repeat(")", 201):                                          "nested deeper than 200",
		"SELECT " + strings.Repeat("CASE WHEN 1 THEN ", 201) + "1" + strings.Repeat(" END", 201):                       "nested deeper than 200",
		"SELECT " + strings.Repeat("CASE WHEN 1 THEN 2 END, ", 400) + "1":                                              "",
		"SELECT 1" + strings.Repeat("+1", 1000):                                                                        "",
		"SELECT 1" + strings.Repeat("+1", 1001):                                                                        "more than 1000 operators",
		"SELECT 1 WHERE 1" + strings.Repeat(" AND 1", 1001):                                                            "more than 1000 operators",
		"SELECT 1" + strings.Repeat(" UNION SELECT 1", 1001):                                                           "more than 1000 operators",
		"SELECT 1 WHERE x IN (" + strings.Repeat("1, ", 10_000) + "2)":                                                 "",
		"SELECT '" + strings.Repeat("(", 1000) + strings.Repeat("+", 2000) + "', \"" + strings.Repeat("(", 1000) + `"`: "",
		"SELECT " + strings.Repeat("-", 1):                                                                             "",
	} {
		r := sqltool.CheckCaps(lexis.Tokens(text))
		if (r == nil) != (want == "") || r != nil && !strings.Contains(r.Error(), want) {
			t.Errorf("%.60s…: %v, want %q", text, r, want)
		}
	}
}

func TestS40Refusal(t *testing.T) {
	t.Parallel()
	if got := sqltool.Refuse("b", "a", "b", "f", "e", "d", "c").Error(); got != "a; b; c; d; e" {
		t.Errorf("%s", got)
	}
}

// TestS34TableRefs finds names where tables stand, whatever is around them.
func TestS34TableRefs(t *testing.T) {
	t.Parallel()
	lexis := sqltool.Lexis{Quotes: []string{`""`, "``", "[]"}, Variables: true}
	for sql, want := range map[string]string{
		"SELECT a, b FROM t": "t",
		"SELECT a FROM t x, main.u AS y, 'v' z WHERE a IN (b, c) ORDER BY d, e":                                  "t main.u v",
		"SELECT a FROM t JOIN u ON t.x = u.x AND f(p, q), w LEFT JOIN [z y] USING (k, l), last":                  "t u w z y last",
		"SELECT (SELECT x FROM s) AS orders, 'orders' FROM ((a JOIN b), (c, d)) , (SELECT 1, 2) AS q, e":         "s a b c d e",
		"WITH x(a, b) AS (SELECT 1, 2), y AS MATERIALIZED (SELECT * FROM t) SELECT * FROM x NATURAL FULL JOIN y": "t x y",
		"INSERT INTO t(a, b) SELECT c, d FROM u ON CONFLICT DO UPDATE SET a = 1":                                 "t u",
		"UPDATE OR FAIL t SET a = 1, b = 2 FROM u, v WHERE c IN w":                                               "t u v w",
		"DELETE FROM t WHERE a IN (SELECT b FROM u) RETURNING a, b":                                              "t u",
		"SELECT a IS DISTINCT FROM b, c FROM t":                                                                  "t",
		"SELECT *, 1. FROM t, u WHERE x = .5 AND y IN ('v', 'w', z)":                                             "t u",
		"SELECT a aſ FROM t, u":                                      "t u",
		"SELECT a diſtinct FROM t":                                   "t",
		"SELECT 1=@a(\"), b FROM t WHERE 1 <> @b(\") OR c IN 'u'":    "t u",
		"SELECT a FROM t WHERE b IN (SELECT c FROM u, v) AND d IN w": "t u v w",
		"SELECT * FROM t AS union, u":                                "t u",
		"SELECT * FROM t window, u":                                  "t u",
		"SELECT * FROM t JOIN u ON union = 1, v":                     "t u v",
		"SELECT * FROM t with, u":                                    "t u",
		"SELECT * FROM json_each(a, '$.b') j, u":                     "json_each u",
		"SELECT t.union, u.\"from\" FROM t, u":                       "t u",
		"SELECT * FROM t /* , x */ -- , y\n , z":                     "t z",
		"SELECT * FROM (SELECT $a(')) AS q, (WITH leak AS (SELECT * FROM secrets) SELECT * FROM leak) AS r": "WITH secrets leak",
		"VALUES (1, 2), (3, 4)":                     "",
		"SELECT ?, ?1, :a, @b, #c, $d::e(f) FROM t": "t",
	} {
		var got []string
		for _, ref := range sqltool.TableRefs(lexis.Tokens(sql)) {
			name := ref.Name
			if ref.Qualifier != "" {
				name = ref.Qualifier + "." + name
			}
			got = append(got, name)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s\n got %s\nwant %s", sql, text, want)
		}
	}
	defined := sqltool.Defined(lexis.Tokens("WITH RECURSIVE a AS (SELECT 1), [B c](x, y) AS NOT MATERIALIZED (SELECT f(d), e AS g) SELECT h AS i FROM (j) AS k"), strings.ToLower)
	if diff := cmp.Diff(map[string]bool{"a": true, "b c": true}, defined); diff != "" {
		t.Error(diff)
	}
}
