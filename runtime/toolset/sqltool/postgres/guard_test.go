package postgres_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/internal/sqltest"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/postgres"
)

// TestS43LayerTwo runs what is to be rejected in a session as ours are, without the guard,
// and pins what the server itself doesn't stop: it reads what it may not, and does what is
// outside of transactions; but nothing of the database changes.
func TestS43LayerTwo(t *testing.T) {
	t.Parallel()
	db := database(t, corpusTemplate(t))
	watch := admin(t, db)
	e := postgres.OpenEngine(t, conn(t, db), sqltool.Options{AllTables: true})
	before := state(t, watch)
	var passes []string
	for _, l := range sqltest.Lines(t, "postgres.jsonl") {
		if l.Want != "reject" || l.AllowWrites || strings.TrimSpace(strings.Trim(l.SQL, "; \n\t")) == "" || strings.ContainsRune(l.SQL, 0) {
			continue
		}
		if err := e.Run(l.SQL); err == nil {
			text := l.SQL
			if len(text) > 100 {
				text = text[:100] + "…"
			}
			passes = append(passes, l.ID+" "+strings.ReplaceAll(text, "\n", " "))
		}
		if after := state(t, watch); after != before {
			t.Fatalf("%s: %s has changed the database:\n%s\n%s", l.ID, l.SQL, before, after)
		}
	}
	golden(t, "testdata/unguarded.golden", strings.Join(passes, "\n")+"\n")
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != got {
		t.Errorf("%s differs (%v): run with -update, and read the difference; it is now\n%s", file, err, got)
	}
}

// TestV3Mode asks for a transaction that writes: the guard refuses, and so does the server.
func TestV3Mode(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop)
	s := open(t, db, sqltool.Options{AllTables: true})
	e := postgres.OpenEngine(t, conn(t, db), sqltool.Options{AllTables: true})
	for sql, code := range map[string]string{
		"SET TRANSACTION READ WRITE": "25001", "SET transaction_read_only = off": "25001", "SELECT set_config('transaction_read_only', 'off', true)": "25001",
		"SET LOCAL transaction_read_only TO false": "25001", "INSERT INTO orders(id) VALUES (9)": "25006", "CREATE TABLE x (a int)": "25006",
	} {
		if class := classOf(s, sql); class != "refused" {
			t.Errorf("%s: %s", sql, class)
		}
		var server *pgconn.PgError
		if err := e.Run(sql); !errors.As(err, &server) || server.Code != code {
			t.Errorf("%s: the server says %v, want %s", sql, err, code)
		}
	}
}

// TestV4Deep sends what breaks the parser, 1,000 times by eight at once: each is refused
// before the parser sees it, and what comes after it works. Behind that bound the parser's
// process is replaced.
func TestV4Deep(t *testing.T) { //nolint:paralleltest // it breaks the parser that all tests share
	// Under the race detector a parser takes half a minute to start.
	s := open(t, database(t, "template1"), sqltool.Options{AllTables: true, MaxConns: 8, Timeout: 5 * time.Minute})
	deep := "SELECT 1" + strings.Repeat("+1", 4000)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 125 {
				if got := s.Query(deep); !strings.HasPrefix(got, "retry query: the statement has more than 1000 operators") {
					t.Errorf("%.200s", got)
				}
				if got := s.Query("SELECT 1 AS one"); got != one {
					t.Errorf("%.200s", got)
				}
			}
		})
	}
	wg.Wait()
	n := 3
	if os.Getenv("TOOLGEN_SOAK") != "" {
		n = 50
	}
	for range n {
		// The parser in C, with the tag pgquery_cgo, reads it, and its tree is too deep.
		if err := postgres.Parse(deep); err == nil || !strings.Contains(err.Error(), "too complex to check") && !strings.Contains(err.Error(), "nested so deep") {
			t.Errorf("%v", err)
		}
		if got := s.Query("SELECT 1 AS one"); got != one {
			t.Errorf("%.200s", got)
		}
	}
	for name, sql := range map[string]string{
		"brackets": "SELECT " + strings.Repeat("(", 199) + "1" + strings.Repeat(")", 199), "operators": "SELECT 1" + strings.Repeat("+1", 999),
		"unions": "SELECT 1" + strings.Repeat(" UNION SELECT 1", 999), "cases": "SELECT " + strings.Repeat("CASE WHEN true THEN ", 199) + "1" + strings.Repeat(" END", 199),
		"casts": "SELECT '1'" + strings.Repeat("::text", 999), "zones": "SELECT now()" + strings.Repeat(" AT TIME ZONE 'UTC'", 999), "nots": "SELECT " + strings.Repeat("NOT ", 999) + "true",
		"arrays": "SELECT " + strings.Repeat("ARRAY[", 6) + "1" + strings.Repeat("]", 6), "values": "SELECT 1 IN (" + strings.Repeat("1, ", 20_000) + "1)",
		"joins": "SELECT count(*) FROM generate_series(1,1)" + strings.Repeat(" JOIN generate_series(1,1) ON true", 300), "minus": "SELECT " + strings.Repeat("- ", 999) + "1",
		"subqueries": strings.Repeat("SELECT (", 199) + "SELECT 1" + strings.Repeat(")", 199),
	} {
		if err := postgres.Parse(sql); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := s.Query("SELECT 1 AS one"); got != one {
			t.Errorf("after %s: %.200s", name, got)
		}
	}
}

// TestAirflowRegressions has what its guard once let pass, or refused without need.
func TestAirflowRegressions(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop, `CREATE TABLE "ORDERS" (id int)`)
	s := open(t, db, sqltool.Options{AllowedTables: []string{`"orders"`, "customers"}})
	w := open(t, db, sqltool.Options{AllowedTables: []string{"customers"}, AllowWrites: true})
	for _, c := range []struct {
		s         *sqltest.Session
		sql, want string
	}{
		{s, "SELECT * FROM (WITH secrets AS (SELECT 1) SELECT * FROM secrets) x, secrets", "refused"},
		{s, "WITH secrets AS (SELECT * FROM secrets) SELECT * FROM secrets", "refused"},
		{s, "WITH a AS (SELECT * FROM secrets), secrets AS (SELECT 1) SELECT * FROM a", "refused"},
		{s, "SELECT * FROM otherdb.public.orders", "refused"},
		{s, "SELECT * FROM " + db + "..orders", "syntax"},
		{s, "SELECT /*! token FROM secrets -- */ id FROM orders", ""},
		{s, "TABLE orders", ""},
		{s, "TABLE secrets", "refused"},
		{s, "SELECT * FROM TABLE('secrets')", "syntax"},
		{w, "WITH secrets AS (SELECT 1 AS id) DELETE FROM secrets", "refused"},
		{w, "WITH x AS (UPDATE secrets SET token = '' RETURNING id) SELECT * FROM x", "refused"},
		{s, `SELECT * FROM "ORDERS"`, "refused"},
		{s, "SELECT orders.id FROM secrets AS orders", "refused"},
		{s, "SELECT id FROM orders WHERE note = 'DROP TABLE x; --'", ""},
		{s, "SELECT 1 AS \"delete\", 'update' AS \"select\" FROM orders", ""},
		{s, "WITH RECURSIVE a AS (SELECT * FROM secrets), secrets AS (SELECT 1 AS id) SELECT * FROM a", ""},
	} {
		if got := classOf(c.s, c.sql); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
}

// TestS44Locks compares the relations of a verdict with those that the server locks.
func TestS44Locks(t *testing.T) {
	t.Parallel()
	db := database(t, corpusTemplate(t))
	compared := 0
	for _, l := range sqltest.Lines(t, "postgres.jsonl") {
		if l.AllowWrites || l.Want != "allow" {
			continue
		}
		e := postgres.OpenEngine(t, conn(t, db), sqltool.Options{AllowedTables: l.AllowedTables, AllTables: l.AllowedTables == nil})
		verdict, locked, err := e.Locked(strings.TrimRight(l.SQL, "; \n\t"))
		if err != nil {
			continue // the server can't run it, or it is no query
		}
		for _, name := range locked {
			partition := name == "orders_2024" && slices.Contains(verdict, "orders")
			if !slices.Contains(verdict, name) && !partition {
				t.Errorf("%s: %s: the server locks %s, the verdict has %v", l.ID, l.SQL, name, verdict)
			}
		}
		compared++
	}
	if compared < 40 {
		t.Errorf("only %d statements were compared", compared)
	}
}

// TestS44Metamorphic writes each line in other ways: the verdict stays.
func TestS44Metamorphic(t *testing.T) {
	t.Parallel()
	db := database(t, corpusTemplate(t))
	sessions := make(map[string]*sqltest.Session)
	for _, l := range sqltest.Lines(t, "postgres.jsonl") {
		key := fmt.Sprint(l.AllowedTables, l.AllowedTables == nil)
		if sessions[key] == nil {
			sessions[key] = open(t, db, sqltool.Options{AllowedTables: l.AllowedTables, AllTables: l.AllowedTables == nil, Timeout: 2 * time.Second})
		}
		if l.AllowWrites || !sqltest.IsQuery(l.SQL) {
			continue
		}
		s := sessions[key]
		want := slices.Contains(refusing, classOf(s, l.SQL))
		for name, rewrite := range sqltest.Rewrites {
			got := classOf(s, rewrite(l.SQL))
			if strings.Contains(l.SQL, "(o).leak") || got == "unknown_column" {
				continue
			}
			if slices.Contains(refusing, got) != want {
				t.Errorf("%s as %s: %s: %s, refused before: %t", l.ID, name, rewrite(l.SQL), got, want)
			}
		}
	}
}

// FuzzGuard looks for a text that panics, changes the database, shows a row of a table that
// is not on the list, or breaks what comes after it.
func FuzzGuard(f *testing.F) {
	for _, l := range sqltest.Lines(f, "postgres.jsonl") {
		f.Add(l.SQL)
	}
	db := database(f, corpusTemplate(f))
	watch := admin(f, db)
	before := state(f, watch)
	s := open(f, db, sqltool.Options{AllowedTables: []string{"orders", "orders_view"}, Timeout: time.Second})
	f.Fuzz(func(t *testing.T, sql string) {
		s.TB = t
		if got := s.Query(sql); strings.Contains(got, "tok1") || strings.HasPrefix(got, "fatal") {
			t.Errorf("%q: %s", sql, got)
		}
		if next := s.Query("SELECT 1 AS one"); next != one {
			t.Errorf("after %q: %s", sql, next)
		}
		if after := state(t, watch); after != before {
			t.Errorf("%q has changed the database", sql)
		}
	})
}

// TestS18Texts sends texts that are made of pieces of the corpus, 10,000 of them with make
// soak; after each the next honest one works.
func TestS18Texts(t *testing.T) {
	t.Parallel()
	db := database(t, corpusTemplate(t))
	watch := admin(t, db)
	before := state(t, watch)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"orders", "orders_view"}, Timeout: 5 * time.Second, MaxConns: 1})
	for sql := range sqltest.Texts(t, "postgres.jsonl", 1000) {
		if got := s.Query(sql); strings.Contains(got, "tok1") || strings.HasPrefix(got, "fatal") {
			t.Fatalf("%q: %s", sql, got)
		}
		if next := s.Query("SELECT 1 AS one"); next != one {
			t.Fatalf("after %q: %s", sql, next)
		}
	}
	if after := state(t, watch); after != before {
		t.Error("the database has changed")
	}
}

// TestS2Dependencies builds a program with this dialect, and lists what it links: no C, and
// no parser of C.
func TestS2Dependencies(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,CgoFiles,CFiles,Standard", ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath       string
			CgoFiles, CFiles []string
			Standard         bool
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		seen++
		if !p.Standard && len(p.CgoFiles)+len(p.CFiles) > 0 || strings.HasPrefix(p.ImportPath, "github.com/pganalyze/") {
			t.Errorf("%s has C: %v %v", p.ImportPath, p.CgoFiles, p.CFiles)
		}
	}
	if seen < 100 {
		t.Errorf("only %d packages", seen)
	}
}
