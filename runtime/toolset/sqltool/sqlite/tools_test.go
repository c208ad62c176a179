package sqlite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/runtimetest"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/internal/sqltest"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/sqlite"
)

const shop = `
	CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x', email TEXT);
	CREATE TABLE "Order Items" (id INTEGER, "order" INTEGER REFERENCES orders(id) ON DELETE CASCADE, n INT, total AS (n * 2), PRIMARY KEY (id, "order"));
	CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), total NUMERIC, note TEXT);
	CREATE TABLE secrets (id INTEGER PRIMARY KEY, token TEXT);
	CREATE TABLE audit (what TEXT);
	CREATE VIEW big AS SELECT id, upper(note) AS note FROM orders WHERE total > 10;
	CREATE VIEW bigger AS SELECT id FROM big;
	CREATE VIEW leak AS SELECT token FROM secrets;
	CREATE VIEW broken AS SELECT * FROM nowhere;
	CREATE TRIGGER watch AFTER INSERT ON orders BEGIN INSERT INTO audit VALUES (new.note); END;
	INSERT INTO customers VALUES (1, 'ann', NULL), (2, 'bob', 'b@x');
	INSERT INTO orders VALUES (1, 1, 5, 'small'), (2, 1, 50, 'big'), (3, 2, 500, 'very big');
	INSERT INTO secrets VALUES (1, 'tok1');
	ANALYZE;`

func TestS6ListTables(t *testing.T) {
	t.Parallel()
	path := database(t, shop)
	s := open(t, path, sqltool.Options{AllowedTables: []string{"ORDERS", `"Order Items"`, "main.big", "nothere", "broken"}})
	if got, want := s.CallTool("list_tables", nil), `{"tables":[{"name":"\"Order Items\""},{"name":"big","kind":"view"},{"name":"orders","row_estimate":3}],"count":3}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := s.CallTool("list_tables", map[string]any{"match": "ORD"}), `{"tables":[{"name":"\"Order Items\""},{"name":"orders","row_estimate":3}],"count":2}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	all := open(t, path, sqltool.Options{AllTables: true, PageSize: 2})
	if got := strings.Join(all.Names(), " "); got != `"Order Items" audit big bigger customers leak orders secrets` {
		t.Errorf("%s", got)
	}
	if got := all.CallTool("list_tables", map[string]any{"cursor": "forged"}); !strings.HasPrefix(got, "retry list_tables: this cursor is none of this list") {
		t.Errorf("%s", got)
	}
}

func TestS7GetSchema(t *testing.T) {
	t.Parallel()
	path := database(t, shop)
	s := open(t, path, sqltool.Options{AllowedTables: []string{"orders", `"Order Items"`, "big", "customers"}})
	for table, want := range map[string]string{
		"Orders":        `{"table":"orders","kind":"table","columns":[{"name":"id","type":"INTEGER","nullable":false},{"name":"customer_id","type":"INTEGER"},{"name":"total","type":"NUMERIC"},{"name":"note","type":"TEXT"}],"column_count":4,"primary_key":["id"],"foreign_keys":[{"columns":["customer_id"],"references":"customers","to":["id"]}],"row_estimate":3}`,
		`"Order Items"`: `{"table":"\"Order Items\"","kind":"table","columns":[{"name":"id","type":"INTEGER"},{"name":"order","type":"INTEGER"},{"name":"n","type":"INT"},{"name":"total","generated":true}],"column_count":4,"primary_key":["id","order"],"foreign_keys":[{"columns":["order"],"references":"orders","to":["id"]}]}`,
		"main.big":      `{"table":"big","kind":"view","columns":[{"name":"id","type":"INTEGER"},{"name":"note"}],"column_count":2}`,
		"customers":     `{"table":"customers","kind":"table","columns":[{"name":"id","type":"INTEGER","nullable":false},{"name":"name","type":"TEXT","nullable":false,"default":"'x'"},{"name":"email","type":"TEXT"}],"column_count":3,"primary_key":["id"],"row_estimate":2}`,
		"secrets":       `retry get_schema: there is no table "secrets" that may be used: list_tables shows what there is`,
		"nothere":       `retry get_schema: there is no table "nothere" that may be used: list_tables shows what there is`,
		"ordrs":         `retry get_schema: there is no table "ordrs" that may be used; did you mean orders?: list_tables shows what there is`,
		"other.orders":  `retry get_schema: there is no table "other.orders" that may be used; did you mean orders?: list_tables shows what there is`,
	} {
		if got := s.CallTool("get_schema", map[string]any{"table_name": table}); got != want {
			t.Errorf("%s\n got %s\nwant %s", table, got, want)
		}
	}
	paged := open(t, path, sqltool.Options{AllowedTables: []string{"orders"}, PageSize: 3})
	first := paged.CallTool("get_schema", map[string]any{"table_name": "orders"})
	var page struct {
		Next string `json:"next_cursor"`
	}
	if err := json.Unmarshal([]byte(first), &page); err != nil || page.Next == "" {
		t.Fatalf("%s, %v", first, err)
	}
	if got := paged.CallTool("get_schema", map[string]any{"table_name": "orders", "cursor": page.Next}); !strings.HasPrefix(got, `{"table":"orders","kind":"table","columns":[{"name":"note","type":"TEXT"}],"column_count":4`) {
		t.Errorf("%s", got)
	}
	if got := paged.CallTool("get_schema", map[string]any{"table_name": "ORDERS", "cursor": page.Next}); !strings.HasPrefix(got, "retry") {
		t.Errorf("a cursor of another table: %s", got)
	}
}

// TestS15Values pins how each storage class is shown, with and without params.
func TestS15Values(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "CREATE TABLE t (a)"), sqltool.Options{AllowedTables: []string{"t"}})
	for sql, want := range map[string]string{
		"SELECT 1, -1, 9007199254740991, 9007199254740992, -9223372036854775808":     `1,-1,9007199254740991,"9007199254740992","-9223372036854775808"`,
		"SELECT 1.5, 1e21, 1e-7, 9e999, -9e999, 0.1, 1e20, -0.0":                     `1.5,1e+21,1e-07,"Infinity","-Infinity",0.1,100000000000000000000,-0`,
		"SELECT 'é<&>\"', '', NULL, char(0), cast(x'ff41' AS TEXT)":                  `"é<&>\"","",null,"\u0000","` + "\ufffd" + `A"`,
		"SELECT x'00ff', zeroblob(2), x''":                                           `{"base64":"AP8="},{"base64":"AAA="},{"base64":""}`,
		"SELECT true, '2026-01-01', date('2026-01-01'), '2026-01-01T00:00:00'":       `1,"2026-01-01","2026-01-01","2026-01-01T00:00:00"`,
		"SELECT 12345678901234567890, 0.1 + 0.2, 1.10, 3 / 2, 3 / 2.0":               `12345678901234567000,0.30000000000000004,1.1,1,1.5`,
		`SELECT json('{"b":1, "a":[1]}'), '{"b":1}' ->> 'b', jsonb('1') IS NOT NULL`: `"{\"b\":1,\"a\":[1]}",1,1`,
	} {
		got := s.Query(sql)
		_, rows, _ := strings.Cut(got, `"rows":[[`)
		rows, _, _ = strings.Cut(rows, `]],"row_count"`)
		if rows != want {
			t.Errorf("%s\n got %s\nwant %s (%s)", sql, rows, want, got)
		}
	}
	got := s.Query("SELECT ?, ?, ?, ?, ?, typeof(?), typeof(?), ?", 1, json.Number("9223372036854775807"), "it's", nil, true, json.Number("1.0"), json.Number("1"), json.Number("99999999999999999999"))
	if want := `[1,"9223372036854775807","it's",null,1,"real","integer",100000000000000000000]`; !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
	for sql, want := range map[string]string{
		"SELECT ?":         "retry query: the statement has 1 parameters, and there are 2 params",
		"SELECT 1":         "retry query: the statement has 0 parameters, and there are 2 params",
		"SELECT ?, ?1, :a": "",
	} {
		if got := s.Query(sql, 1, 2); want != "" && got != want || want == "" && strings.HasPrefix(got, "retry") {
			t.Errorf("%s: %s", sql, got)
		}
	}
	if got := s.Query("SELECT ?", map[string]any{}); got != "retry query: param 1 is an object or an array: want a string, a number, a boolean or null" {
		t.Errorf("%s", got)
	}
}

func TestS10CheckQuery(t *testing.T) {
	t.Parallel()
	path := database(t, shop)
	s := open(t, path, sqltool.Options{AllowedTables: []string{"orders"}})
	w := open(t, path, sqltool.Options{AllowedTables: []string{"orders"}, AllowWrites: true})
	before := dump(t, path)
	for _, c := range []struct {
		s         *sqltest.Session
		sql, want string
	}{
		{s, "SELECT id, total * 2 AS twice FROM orders WHERE id = ? OR id = ?", `{"valid":true,"columns":[{"name":"id","type":"INTEGER"},{"name":"twice"}],"params":2}`},
		{s, "SELECT nothere FROM orders", `{"valid":false,"class":"unknown_column","error":"no such column: nothere: get_schema shows the columns"}`},
		{s, "SELECT * FROM secrets", `{"valid":false,"class":"refused","error":"table secrets is not allowed; allowed: orders (list_tables shows all)"}`},
		{s, "SELECT * FROM nothere", `{"valid":false,"class":"unknown_table","error":"there is no table \"nothere\" that may be used: list_tables shows what there is"}`},
		{s, "SELECT * FROM ordrs", `{"valid":false,"class":"unknown_table","error":"there is no table \"ordrs\" that may be used; did you mean orders?: list_tables shows what there is"}`},
		{s, "SELECT nothere(1)", `{"valid":false,"class":"unknown_function","error":"no such function: nothere: use another"}`},
		{s, "SELEC 1", `{"valid":false,"class":"syntax","error":"near \"SELEC\": syntax error (at \"SELEC 1\")"}`},
		{s, "DELETE FROM orders", `{"valid":false,"class":"refused","error":"the database may only be read"}`},
		{w, "DELETE FROM orders", `{"valid":false,"class":"refused","error":"rows of another table, which is not allowed, refer to these and would be changed too"}`},
		{w, "UPDATE orders SET note = ?", `{"valid":true,"columns":[],"params":1}`},
		{s, "", `{"valid":false,"class":"refused","error":"the statement is empty: write one"}`},
	} {
		if got := c.s.CallTool("check_query", map[string]any{"sql": c.sql}); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
	if dump(t, path) != before {
		t.Error("checking has changed the file")
	}
}

// TestS34Views reads what is below a view only through it, and no WITH takes its name.
func TestS34Views(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, shop), sqltool.Options{AllowedTables: []string{"bigger", "leak"}})
	for sql, want := range map[string]string{
		"SELECT count(*) FROM bigger":                                                `{"columns":["count(*)"],"rows":[[2]],"row_count":1}`,
		"SELECT * FROM bigger ORDER BY id":                                           `{"columns":["id"],"rows":[[2],[3]],"row_count":2}`,
		"WITH t AS (SELECT * FROM bigger) SELECT max(id) FROM t":                     `{"columns":["max(id)"],"rows":[[3]],"row_count":1}`,
		"SELECT * FROM big":                                                          "retry query: table big is not allowed; allowed: bigger, leak (list_tables shows all)",
		"SELECT count(*) FROM main.orders, bigger":                                   "retry query: table orders is not allowed",
		"SELECT count(*) FROM main.'orders', bigger":                                 "retry query: table orders is not allowed",
		"SELECT bigger.id FROM bigger, orders":                                       "retry query: table orders is not allowed",
		"WITH big AS (SELECT * FROM orders) SELECT * FROM big":                       "retry query: WITH may not define big, which is a name of the database",
		"WITH leak AS MATERIALIZED (SELECT * FROM secrets) SELECT * FROM leak":       "retry query: WITH may not define leak",
		"WITH leak(token) AS (SELECT token FROM secrets) SELECT * FROM leak":         "retry query: WITH may not define leak",
		"WITH [LEAK] AS NOT MATERIALIZED (SELECT * FROM secrets) SELECT * FROM leak": "retry query: WITH may not define leak",
		"WITH 'leak' AS (SELECT * FROM secrets) SELECT * FROM leak":                  "retry query: WITH may not define leak",
		"SELECT upper('a')":                                                          `{"columns":["upper('a')"],"rows":[["A"]],"row_count":1}`,
		"EXPLAIN QUERY PLAN SELECT * FROM bigger":                                    "retry query: EXPLAIN shows the tables below a view",
		"SELECT EXISTS (SELECT 1 FROM secrets)":                                      "retry query: table secrets is not allowed",
	} {
		if got := s.Query(sql); !strings.HasPrefix(got, want) {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
}

// attacks are statements that SQLite's authorizer alone lets pass: it isn't asked about
// the columns of USING and NATURAL, about what is only counted, or about what is below a
// view that is written. Each shows something of a table that is not on the list.
var attacks = []struct {
	tables []string
	sql    string
}{
	{[]string{"orders"}, "SELECT token FROM secrets NATURAL FULL JOIN (SELECT 'x' AS token)"},
	{[]string{"orders"}, "SELECT * FROM secrets NATURAL FULL JOIN (SELECT 'x' AS token, 1 AS id)"},
	{[]string{"orders"}, "WITH p(token) AS (VALUES ('x')) SELECT token FROM secrets FULL JOIN p USING (token)"},
	{[]string{"orders"}, "SELECT sql FROM sqlite_schema NATURAL FULL JOIN (SELECT 'x' AS sql)"},
	{[]string{"orders"}, "SELECT sql FROM sqlite_master NATURAL FULL JOIN (SELECT 'x' AS sql)"},
	{[]string{"orders"}, "WITH p(token) AS (VALUES('tok1'),('nope')) SELECT p.token FROM p JOIN secrets USING (token)"},
	{[]string{"orders"}, "WITH p(name,email) AS (VALUES ('bob','b@x'),('nope','b@x')) SELECT p.* FROM p NATURAL JOIN customers"},
	{[]string{"orders"}, "WITH p(name) AS (VALUES('secrets'),('nope')) SELECT p.name FROM p JOIN sqlite_schema USING(name)"},
	{[]string{"orders"}, "WITH p(name) AS (VALUES('bob')) SELECT o.id FROM orders o JOIN p ON 1 JOIN customers USING(name)"},
	{[]string{"orders"}, "WITH p(name) AS (VALUES('token')) SELECT p.name FROM p JOIN pragma_table_info('secrets') USING(name)"},
	{[]string{"orders"}, "SELECT count(*) FROM sqlite_schema"},
	{[]string{"orders"}, "SELECT count(*) FROM sqlite_stat1"},
	{[]string{"orders"}, "SELECT count(*) FROM pragma_table_info('secrets')"},
	{[]string{"orders"}, "SELECT count(*) FROM pragma_module_list"},
	{[]string{"leak"}, "WITH \ufeffleak AS (SELECT * FROM secrets) SELECT * FROM leak"},
	{[]string{"leak"}, "SELECT * FROM (SELECT $a(')) AS q, (WITH leak AS (SELECT * FROM secrets) SELECT * FROM leak) AS r"},
	{[]string{"leak"}, "SELECT * FROM (SELECT @a(')) AS q, (WITH leak AS (SELECT * FROM secrets) SELECT * FROM leak) AS r"},
	{[]string{"bigger"}, "SELECT count(*) FROM big"},
	{[]string{"bigger"}, "SELECT EXISTS(SELECT 1 FROM big), id FROM bigger"},
	{[]string{"bigger"}, "SELECT 1 FROM big b1, big b2"},
	{[]string{"bigger"}, "WITH p(note) AS (VALUES('BIG'),('x')) SELECT p.note FROM p JOIN big USING(note)"},
	{[]string{"bigger"}, "SELECT (WITH big AS (SELECT 1 AS id) SELECT id FROM big), p.note FROM bigger, (SELECT 'BIG' AS note) p JOIN big USING(note)"},
	{[]string{"orders"}, "SELECT (WITH leak AS (SELECT 1) SELECT 1 FROM leak), token FROM leak NATURAL FULL JOIN (SELECT 'x' AS token)"},
	{[]string{"orders", "leak"}, "SELECT *, 1. FROM secrets NATURAL FULL JOIN (SELECT 'x' AS token, 2 AS id FROM leak)"},
	{[]string{"orders", "leak"}, "WITH leak AS (SELECT 1 x, token t, 1. FROM secrets) SELECT * FROM leak"},
	{[]string{"orders", "leak"}, "SELECT count(*), 1. FROM secrets, (SELECT 1 FROM leak LIMIT 1)"},
	{[]string{"orders"}, "SELECT note, 1. FROM big NATURAL FULL JOIN (SELECT 'x' AS note)"},
	{[]string{"orders"}, "SELECT count(*), 1. FROM big"},
	{[]string{"orders", "leak"}, "SELECT token aſ FROM secrets NATURAL FULL JOIN (SELECT 'x' AS token FROM leak)"},
	{[]string{"orders", "leak"}, "SELECT token diſtinct FROM secrets NATURAL FULL JOIN (SELECT 'x' AS token FROM leak)"},
	{[]string{"orders", "leak"}, "SELECT 1=@a(\"), token FROM secrets NATURAL FULL JOIN (SELECT 'x' AS token) WHERE 1 <> @b(\") OR 1 IN (SELECT 1 FROM leak)"},
	{[]string{"orders", "leak"}, "SELECT 1=:a('), token FROM secrets NATURAL FULL JOIN (SELECT 'x' AS token) WHERE 1 <> @b(') OR 1 IN (SELECT 1 FROM leak)"},
	{[]string{"orders"}, "WITH watch AS MATERIALIZED (SELECT sqlite_version() v, changes() c) SELECT * FROM watch"},
	{[]string{"leak"}, ";EXPLAIN QUERY PLAN SELECT * FROM leak"},
	{[]string{"leak"}, "; EXPLAIN SELECT 1 FROM leak"},
	{[]string{"leak"}, "/* x */ explain query plan SELECT count(*) FROM leak"},
	{[]string{"leak"}, "SELECT token FROM leak UNION ALL SELECT token FROM secrets NATURAL FULL JOIN (SELECT 'x' AS token)"},
	{[]string{"leak"}, "SELECT s.* FROM leak window, secrets s NATURAL FULL JOIN (SELECT 'x' AS token, 2 AS id)"},
	{[]string{"leak"}, "SELECT count(*) FROM leak AS union, secrets"},
	{[]string{"leak"}, "SELECT count(*) FROM leak, main.'secrets'"},
	{[]string{"leak"}, "SELECT count(*) FROM leak WHERE 1 IN secrets"},
}

func TestS34Attacks(t *testing.T) {
	t.Parallel()
	path := database(t, shop)
	for _, a := range attacks {
		for _, writes := range []bool{false, true} {
			s := open(t, path, sqltool.Options{AllowedTables: a.tables, AllowWrites: writes})
			got := s.Query(a.sql)
			if strings.HasPrefix(got, "retry query: the statement has 1 parameters") { // the guard let it pass
				got = s.Query(a.sql, 1)
			}
			if !strings.HasPrefix(got, "retry query: ") || strings.Contains(got, "parameters") {
				t.Errorf("%s: %s", a.sql, got)
			}
			alone := strings.TrimLeft(a.sql, "; ")
			if err := sqlite.Shadowed(t, path, sqltool.Options{AllowedTables: a.tables, AllowWrites: writes}, alone); err == nil && !strings.HasPrefix(strings.ToUpper(alone), "EXPLAIN") && !strings.Contains(alone, "explain") {
				t.Errorf("%s: the shadow alone lets it pass", a.sql)
			}
		}
	}
	w := open(t, path, sqltool.Options{AllowedTables: []string{"orders"}, AllowWrites: true})
	for _, sql := range []string{
		"UPDATE orders SET note = s.token FROM (SELECT token FROM secrets NATURAL FULL JOIN (SELECT 'x' AS token)) s",
		"INSERT INTO orders(id, note) SELECT 90, token FROM secrets NATURAL FULL JOIN (SELECT 'x' AS token)",
		"DELETE FROM orders WHERE EXISTS (SELECT 1 FROM secrets)",
		"INSERT INTO orders(note) SELECT token FROM leak NATURAL FULL JOIN (SELECT 'x' AS token)",
		"INSERT INTO orders(note) SELECT token FROM (WITH leak AS (SELECT 1) SELECT 1 FROM leak), leak NATURAL FULL JOIN (SELECT 'x' AS token)",
		"UPDATE orders SET note = (SELECT name FROM customers LIMIT 1)",
		"WITH watch AS (SELECT token t, 1. FROM secrets) UPDATE orders SET note=(SELECT t FROM watch) RETURNING note",
		"INSERT INTO orders(id,note,total) SELECT id+1100, email, 1. FROM customers WHERE id=2 RETURNING note",
		"UPDATE orders SET note=c.email, total=1. FROM customers c WHERE c.id=2 RETURNING note",
		"INSERT INTO orders(id,note) SELECT 900, count(*) aſ FROM secrets",
		"INSERT INTO orders(id,note) SELECT id+1000, email aſ FROM customers WHERE id=2 RETURNING note",
		"WITH watch AS (SELECT * FROM secrets) UPDATE orders SET note = (SELECT token FROM watch)",
		"VACUUM", "VACUUM INTO '/tmp/never.db'",
	} {
		for _, tool := range []string{"query", "check_query"} {
			got := w.CallTool(tool, map[string]any{"sql": sql})
			if !strings.HasPrefix(got, "retry ") && !strings.HasPrefix(got, `{"valid":false,"class":"refused"`) {
				t.Errorf("%s: %s", sql, got)
			}
		}
	}
}

// TestS34Honest has what a guard could take for an attack.
func TestS34Honest(t *testing.T) {
	t.Parallel()
	path := database(t, shop, `
		CREATE VIEW v2 AS SELECT * FROM orders;
		CREATE VIEW ex AS SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM secrets);
		CREATE VIEW ones AS SELECT 1 AS one FROM secrets;
		CREATE VIEW outer_view AS SELECT o.id, o.note FROM orders o LEFT JOIN secrets s ON s.id = o.customer_id;
		CREATE TABLE pragma_trial (a);
		CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, a);
		CREATE VIEW ver AS SELECT sqlite_version() AS v;
		CREATE TABLE customer (id INTEGER PRIMARY KEY);
		CREATE TABLE sale (id INTEGER PRIMARY KEY, customer INT REFERENCES customer(id), total INT, note TEXT);
		CREATE TABLE log (what TEXT);
		CREATE TABLE log2 (what TEXT);
		CREATE TABLE chain (a INT, b INT);
		CREATE TRIGGER t1 AFTER INSERT ON chain BEGIN INSERT INTO log SELECT 'c' || new.a; END;
		CREATE TRIGGER t2 AFTER INSERT ON log BEGIN INSERT INTO log2 SELECT count(*) FROM big; END;
		INSERT INTO customer VALUES (1), (2)`)
	for _, c := range []struct {
		tables []string
		writes bool
		sql    string
	}{
		{[]string{"v2"}, false, "SELECT count(*) AS orders FROM v2"},
		{[]string{"v2"}, false, "SELECT 'orders' AS what, count(*) FROM v2"},
		{[]string{"v2"}, false, "SELECT 1 FROM v2 WHERE 'orders' <> ''"},
		{[]string{"v2"}, false, "SELECT EXISTS(SELECT 1 FROM v2) AS orders"},
		{[]string{"v2"}, false, "WITH customers AS (SELECT * FROM v2) SELECT * FROM customers"},
		{[]string{"ex"}, false, "SELECT * FROM ex"},
		{[]string{"ones"}, false, "SELECT count(*) FROM ones"},
		{[]string{"ones"}, false, "SELECT * FROM ones"},
		{[]string{"ver"}, false, "SELECT v FROM ver"},
		{[]string{"outer_view"}, false, "SELECT * FROM outer_view"},
		{[]string{"outer_view"}, false, "SELECT note, count(*) FROM outer_view GROUP BY note"},
		{[]string{"outer_view"}, false, "SELECT count(*), max(id) FROM outer_view"},
		{[]string{"orders"}, false, "SELECT id FROM orders WHERE note IN ('small', 'leak', 'big', 'secrets', 'pragma_x')"},
		{[]string{"orders"}, false, "SELECT id, total * 1. FROM orders WHERE total > .5"},
		{[]string{"orders"}, false, "EXPLAIN SELECT 1"},
		{[]string{"sale"}, true, "UPDATE sale SET customer = 2 FROM (SELECT 1 AS x) AS q RETURNING sale.id, customer"},
		{[]string{"pragma_trial"}, false, "SELECT count(*) FROM pragma_trial"},
		{[]string{"orders"}, false, "WITH p(id) AS (VALUES (1),(9)) SELECT id, note FROM p FULL JOIN orders USING (id)"},
		{nil, false, "WITH p(id) AS (VALUES (1),(9)) SELECT id, note FROM p FULL JOIN orders USING (id)"},
		{[]string{"orders"}, false, "WITH secrets AS (SELECT 1 AS id) SELECT count(*) FROM secrets"},
		{[]string{"v2", "orders", "leak", "bigger", "big"}, false, "EXPLAIN QUERY PLAN SELECT * FROM v2"},
		{[]string{"orders"}, false, "SELECT id, row_number() OVER (PARTITION BY customer_id ORDER BY total DESC) AS n, sum(total) FILTER (WHERE total > 5) OVER w FROM orders WINDOW w AS (ORDER BY id)"},
		{[]string{"orders", "customers"}, false, "SELECT c.name, o.* FROM customers c LEFT JOIN (SELECT customer_id, count(*) AS n FROM orders GROUP BY 1) o ON o.customer_id = c.id ORDER BY 2 DESC NULLS LAST LIMIT 5 OFFSET 0"},
		{[]string{"orders"}, false, "WITH RECURSIVE d(x) AS (SELECT date('2026-01-01') UNION ALL SELECT date(x, '+1 day') FROM d LIMIT 3) SELECT x, count(o.id) FROM d LEFT JOIN orders o ON o.note = x GROUP BY x"},
		{[]string{"orders"}, false, "SELECT value FROM orders, json_each('[1,2]') WHERE orders.id = 1 UNION SELECT 7 EXCEPT SELECT 1 ORDER BY 1"},
		{[]string{"sale"}, true, "INSERT INTO sale(id, customer, total) VALUES (5, 1, 3)"},
		{[]string{"sale"}, true, "INSERT INTO sale VALUES (6, 1, 3, 'customer')"},
		{[]string{"sale"}, true, "UPDATE sale SET customer = 2 WHERE id = 5"},
		{[]string{"sale"}, true, "INSERT INTO sale(id, customer) VALUES (5, 1) ON CONFLICT(id) DO UPDATE SET total = excluded.total + 1 RETURNING id, customer"},
		{[]string{"counted"}, true, "INSERT INTO counted(a) VALUES (1), (2)"},
		{[]string{"counted"}, true, "DELETE FROM counted"},
		{[]string{"chain"}, true, "INSERT INTO chain VALUES (1, 2)"},
		{[]string{"sale"}, true, "WITH x AS (SELECT 5 AS id) UPDATE sale SET note = 'x' FROM x WHERE sale.id = x.id"},
		{[]string{"sale"}, true, "DELETE FROM sale WHERE id IN (SELECT id FROM sale WHERE total > 100)"},
		{[]string{"sale"}, true, "DELETE FROM sale"},
	} {
		s := open(t, path, sqltool.Options{AllowedTables: c.tables, AllTables: c.tables == nil, AllowWrites: c.writes})
		if got := s.Query(c.sql); !strings.HasPrefix(got, `{"columns"`) {
			t.Errorf("%v: %s: %s", c.tables, c.sql, got)
		}
	}
	many := open(t, path, sqltool.Options{AllTables: true})
	params := make([]any, 1001)
	for i := range params {
		params[i] = i
	}
	if got := many.Query("SELECT 1 IN (?"+strings.Repeat(", ?", 1000)+")", params...); !strings.Contains(got, "[[1]]") {
		t.Errorf("a long list of params: %s", got)
	}
	if got := many.Query("SELECT 'a' IN (" + strings.TrimSuffix(strings.Repeat("'(', ", 300), ", ") + ")"); !strings.Contains(got, "[[0]]") {
		t.Errorf("brackets in literals: %s", got)
	}
	for value, want := range map[string]string{"-99999999999999999999": "[[1]]", "1e400": "too large"} {
		if got := many.Query("SELECT 5 > ?", json.Number(value)); !strings.Contains(got, want) {
			t.Errorf("%s: %s", value, got)
		}
	}
}

// TestS8Pages pages a view whose columns have odd and equal names: none is lost.
func TestS8Pages(t *testing.T) {
	t.Parallel()
	path := database(t, `CREATE VIEW dup AS SELECT 1 AS a, 2 AS "A", 3 AS "a:1", 4 AS "", 5 AS b, 6 AS c; CREATE TABLE e ("" INT, " " INT, x INT, y INT)`)
	s := open(t, path, sqltool.Options{AllTables: true, PageSize: 1})
	for table, want := range map[string]int{"dup": 6, "e": 4} {
		n, cursor := 0, ""
		for {
			args := map[string]any{"table_name": table}
			if cursor != "" {
				args["cursor"] = cursor
			}
			var page struct {
				Columns []struct{ Name string }
				Next    string `json:"next_cursor"`
			}
			if err := json.Unmarshal([]byte(s.CallTool("get_schema", args)), &page); err != nil {
				t.Fatal(err)
			}
			if n += len(page.Columns); page.Next == "" {
				break
			}
			cursor = page.Next
		}
		if n != want {
			t.Errorf("%s: %d columns over all pages, want %d", table, n, want)
		}
	}
}

// TestS18Memory has statements that take all the memory there may be: each is too big, and
// the next one works.
func TestS18Memory(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, shop), sqltool.Options{AllowedTables: []string{"orders"}, MaxConns: 1})
	for _, sql := range []string{
		"SELECT " + strings.TrimSuffix(strings.Repeat("zeroblob(16000000), ", 100), ", "),
		"SELECT json_group_array(x) FROM (SELECT hex(zeroblob(100000)) x FROM generate_series(1, 1000))",
		"SELECT " + strings.Repeat("1 BETWEEN 1 AND ", 200) + "1",
		"SELECT length(trim(replace(hex(zeroblob(100000)), '0', 'b'), replace(hex(zeroblob(100000)), '0', 'a') || 'b'))",
	} {
		if got := s.Query(sql); !strings.HasPrefix(got, "retry query: ") && !strings.HasPrefix(got, `{"columns"`) {
			t.Errorf("%.60s: %s", sql, got)
		}
		if got := s.Query("SELECT count(*) FROM orders"); !strings.Contains(got, "[[3]]") {
			t.Errorf("after %.60s: %s", sql, got)
		}
	}
}

func TestS22Functions(t *testing.T) {
	t.Parallel()
	path := database(t, shop)
	s := open(t, path, sqltool.Options{AllowedTables: []string{"orders"}})
	for _, sql := range []string{"SELECT sqlite_version()", "SELECT changes()", "SELECT last_insert_rowid()", "SELECT sqlite_log(1, 'x')", "SELECT decimal_mul('1', '2')", "SELECT 'a' REGEXP 'b'"} {
		if got := s.Query(sql); !strings.Contains(got, "is not allowed") {
			t.Errorf("%s: %s", sql, got)
		}
	}
	more := open(t, path, sqltool.Options{AllTables: true, AllowedFunctions: []string{"Changes"}})
	for _, sql := range []string{"SELECT sqlite_version()", "SELECT changes()"} {
		if got := more.Query(sql); !strings.HasPrefix(got, `{"columns"`) {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// TestS19Writes changes what it may, each call a transaction of its own.
func TestS19Writes(t *testing.T) {
	t.Parallel()
	path := database(t, shop)
	s := open(t, path, sqltool.Options{AllowedTables: []string{"orders", "customers"}, AllowWrites: true})
	for _, c := range [][2]string{
		{"INSERT INTO orders VALUES (4, 1, 7, 'new')", `{"columns":[],"rows":[],"row_count":0,"rows_affected":1}`},
		{"UPDATE orders SET total = total + 1 WHERE id < 3 RETURNING id, total", `{"columns":["id","total"],"rows":[[1,6],[2,51]],"row_count":2}`},
		{"UPDATE orders SET total = 0 WHERE id = 99", `{"columns":[],"rows":[],"row_count":0,"rows_affected":0}`},
		{"INSERT INTO orders VALUES (4, 1, 7, 'again')", "retry query: a row with this key is there already"},
		{"INSERT INTO orders VALUES (5, 99, 7, 'nobody')", "retry query: a row that this one refers to is not there"},
		{"INSERT INTO orders(id) SELECT 10 UNION SELECT 11 UNION SELECT 1", "retry query: a row with this key"},
		{"INSERT INTO secrets VALUES (2, 'x')", "retry query: table secrets is not allowed"},
		{"INSERT INTO audit VALUES ('x')", "retry query: table audit is not allowed"},
		{"INSERT INTO orders(id, note) SELECT 12, token FROM secrets", "retry query: table secrets is not allowed"},
		{"WITH watch AS (SELECT * FROM secrets) INSERT INTO orders(id, note) SELECT 12, token FROM watch", "retry query: WITH may not define watch"},
		{"DELETE FROM orders WHERE id = 4", "retry query: rows of another table, which is not allowed, refer to these and would be changed too"},
		{"REPLACE INTO orders(id) VALUES (4)", "retry query: rows of another table"},
		{"DROP TABLE orders", "retry query: only statements that read, insert, update or delete are allowed"},
		{"CREATE TABLE x (a)", "retry query: only statements that read, insert, update or delete are allowed"},
		{"ALTER TABLE orders RENAME TO x", "retry query: "},
		{"PRAGMA foreign_keys = 0", "retry query: PRAGMA foreign_keys is not allowed"},
		{"BEGIN", "retry query: only statements that read"},
		{"SELECT count(*), sum(total) FROM orders", `{"columns":["count(*)","sum(total)"],"rows":[[4,564]],"row_count":1}`},
		{"DELETE FROM customers WHERE id = 2", "retry query: a row that this one refers to is not there, or one refers to this"},
	} {
		if got := s.Query(c[0]); !strings.HasPrefix(got, c[1]) {
			t.Errorf("%s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
	all := open(t, path, sqltool.Options{AllTables: true})
	if got, want := all.Query("SELECT what FROM audit WHERE what LIKE 'n%'"), `{"columns":["what"],"rows":[["new"]],"row_count":1}`; got != want {
		t.Errorf("the trigger: %s", got)
	}
}

// TestS38Time has statements that don't end by themselves: each ends at the deadline, and
// the next one works.
func TestS38Time(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, shop), sqltool.Options{AllowedTables: []string{"orders"}, Timeout: time.Second, MaxConns: 1})
	long := "hex(zeroblob(500000))"
	for name, sql := range map[string]string{
		"endless": "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
		"like":    "SELECT count(*) FROM generate_series(1, 100000) WHERE " + long + " LIKE '%" + strings.Repeat("0", 900) + "x' AND value",
		"glob":    "SELECT count(*) FROM generate_series(1, 100000) WHERE " + long + " GLOB '*" + strings.Repeat("0", 900) + "x' AND value",
		"instr":   "SELECT sum(instr(" + long + ", 'x' || value)) FROM generate_series(1, 10000000)",
	} {
		begin := time.Now()
		if got := s.Query(sql); got != "retry query: stopped after 1s: filter on an indexed column, aggregate or add LIMIT" {
			t.Errorf("%s: %s", name, got)
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
		if got := s.Query("SELECT count(*) FROM orders"); !strings.Contains(got, "[[3]]") {
			t.Errorf("after %s: %s", name, got)
		}
	}
	s = open(t, database(t, shop), sqltool.Options{AllowedTables: []string{"orders"}})
	if got := s.Query("SELECT 'a' LIKE '" + strings.Repeat("%", 1001) + "'"); !strings.Contains(got, "longer than 1000 bytes") {
		t.Errorf("%s", got)
	}
	if got := s.Query("SELECT zeroblob(20000000)"); got != "retry query: a text or blob is too big: ask for fewer or shorter columns" {
		t.Errorf("%s", got)
	}
	if got := s.Query("SELECT length(replace(hex(zeroblob(1000000)), '0', 'aaaaaaaaaaaaaaaaaaaa'))"); !strings.Contains(got, "too big") && !strings.Contains(got, "longer than 16 MiB") {
		t.Errorf("%s", got)
	}
}

// TestS33Functions compares the functions that are replaced with SQLite's own.
func TestS33Functions(t *testing.T) {
	t.Parallel()
	path := database(t, "CREATE TABLE t (a)")
	s := open(t, path, sqltool.Options{AllTables: true})
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(of string, n int) string {
		runes := []rune(of)
		var b strings.Builder
		for range random.IntN(n) {
			b.WriteRune(runes[random.IntN(len(runes))])
		}
		return "'" + strings.ReplaceAll(b.String(), "'", "''") + "'"
	}
	exprs := []string{"NULL LIKE 'a'", "'a' LIKE NULL", "1 LIKE '1'", "'Äa' LIKE 'äA'", "'a_b' LIKE 'a\\_b' ESCAPE '\\'", "'axb' LIKE 'a\\_b' ESCAPE '\\'", "instr(x'0102', x'02')", "instr('äb', 'b')", "instr(NULL, 'a')", "replace('abc', '', 'x')", "replace(NULL, 'a', 'b')", "'a]' GLOB 'a[]]'", "'a-' GLOB 'a[a-]'", "'b' GLOB '[^a]'", "'b' GLOB '[a'", "'ab' LIKE 'a%' ESCAPE '%'",
		"hex(unhex('0aFf'))", "hex(unhex('0a Ff', ' '))", "hex(unhex('0 aFf', ' '))", "unhex('0a-Ff', ' ')", "hex(unhex('é0aé', 'é'))", "hex(unhex('0aa', 'a'))", "hex(unhex('0aga', 'ga'))", "unhex('0')", "hex(unhex(''))", "unhex(NULL)", "hex(unhex('', ''))", "hex(unhex(12))"}
	for range 3000 {
		exprs = append(exprs, pick("aAbäé%_", 8)+" LIKE "+pick("aAbäé%_", 6), pick("aAb[]^-*?é", 8)+" GLOB "+pick("aAb[]^-*?é", 7),
			"hex(unhex("+pick("0aF-é", 8)+", "+pick("a-é", 3)+"))", "instr("+pick("abé", 8)+", "+pick("abé", 3)+")", "replace("+pick("abé", 8)+", "+pick("abé", 3)+", "+pick("xy", 3)+")")
	}
	for from := 0; from < len(exprs); from += 40 {
		part := exprs[from:min(len(exprs), from+40)]
		sql := "SELECT " + strings.Join(part, ", ")
		got := s.Query(sql)
		want := sqlite.Plainly(t, path, sql)
		var ours struct{ Rows [][]any }
		if err := json.Unmarshal([]byte(got), &ours); err != nil {
			t.Fatalf("%s: %s", sql, got)
		}
		for i, value := range ours.Rows[0] {
			if shown := fmt.Sprint(value); shown != want[i] {
				t.Errorf("%s is %s, SQLite says %s", part[i], shown, want[i])
			}
		}
	}
}

func TestS3Options(t *testing.T) {
	t.Parallel()
	source := connection.Direct(connection.Connection{ID: "db", Host: "x"})
	for want, o := range map[string]sqltool.Options{
		"AllowedTables is empty: list the tables, or say AllTables":      {},
		"AllowedTables and AllTables: say one of them":                   {AllowedTables: []string{"a"}, AllTables: true},
		"MaxRows is -1; MaxResultBytes is -2; PageSize is -3":            {AllTables: true, MaxRows: -1, MaxResultBytes: -2, PageSize: -3},
		"Timeout is 11m0s, want at most 10m0s; MaxConns is -1":           {AllTables: true, Timeout: 11 * time.Minute, MaxConns: -1},
		`Prefix "a b" makes no name of a tool`:                           {AllTables: true, Prefix: "a b"},
		`AllowedTables: "a.b": want a table, or main and a table`:        {AllowedTables: []string{"a.b"}},
		`AllowedTables: "a b" is no name: "a b" needs quotes`:            {AllowedTables: []string{"a b"}},
		`AllowedTables: "" is no name: a part is empty`:                  {AllowedTables: []string{""}},
		`Schema is "other": there is only main`:                          {AllTables: true, Schema: "other"},
		`AllowedFunctions: "a.b" is no name of one part`:                 {AllTables: true, AllowedFunctions: []string{"a.b"}},
		`AllowedTables: "main.\"x" is no name: a quote is open`:          {AllowedTables: []string{`main."x`}},
		`AllowedTables: "\"x\"y" is no name: behind a quoted part there`: {AllowedTables: []string{`"x"y`}},
		`AllowedTables: "a.b.c.d" is no name: it has more than 3 parts`:  {AllowedTables: []string{"a.b.c.d"}},
	} {
		if _, err := sqltool.New(sqlite.Dialect, source, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
	for name, path := range map[string]string{"not there": filepath.Join(t.TempDir(), "x.db"), "none": "", "memory": ":memory:", "folder": t.TempDir()} {
		s := open(t, path, sqltool.Options{AllTables: true})
		if got := s.Query("SELECT 1"); !strings.HasPrefix(got, "fatal tool query failed (ref ") || !strings.Contains(got, "the database can't be reached") {
			t.Errorf("%s: %s", name, got)
		}
		if _, err := os.Stat(path); name == "not there" && err == nil {
			t.Error("a file was made")
		}
	}
}

// TestS39Recovery replaces the file, changes its schema, and calls by many at once.
func TestS39Recovery(t *testing.T) {
	t.Parallel()
	path := database(t, shop)
	s := open(t, path, sqltool.Options{AllowedTables: []string{"orders", "later"}, MaxConns: 3})
	w := open(t, path, sqltool.Options{AllTables: true, AllowWrites: true})
	if got := s.Query("SELECT * FROM later"); !strings.Contains(got, "there is no table") {
		t.Errorf("%s", got)
	}
	if err := sqlite.RunWriting(path, "CREATE TABLE later (a); INSERT INTO later VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if got := s.Query("SELECT * FROM later"); got != `{"columns":["a"],"rows":[[1]],"row_count":1}` {
		t.Errorf("a table that came later: %s", got)
	}
	if err := sqlite.RunWriting(path, "DROP TABLE later; CREATE VIEW later AS SELECT token FROM secrets"); err != nil {
		t.Fatal(err)
	}
	if got := s.Query("SELECT * FROM later"); got != `{"columns":["token"],"rows":[["tok1"]],"row_count":1}` {
		t.Errorf("a view in the place of a table, which the list names: %s", got)
	}
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			out, err := s.Call(context.Background(), runtime.Call{ID: fmt.Sprint("many", i), Name: "query", Args: json.RawMessage(`{"sql":"SELECT count(*) FROM orders"}`)})
			if err != nil || !bytes.Contains(out[0].Result.Structured, []byte("[[3]]")) {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	wg.Wait()
	if got := w.Query("INSERT INTO orders(id) VALUES (100)"); !strings.Contains(got, `"rows_affected":1`) {
		t.Errorf("%s", got)
	}
}

// TestS39Replaced has the file replaced by another one, whose schema has the same number:
// what is on the list is what it is there.
func TestS39Replaced(t *testing.T) {
	t.Parallel()
	path := database(t, "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT)", "CREATE TABLE aaa (x)", "CREATE TABLE bbb (x)", "INSERT INTO orders VALUES (1, 'a')")
	other := database(t, "CREATE TABLE tokens (id INTEGER PRIMARY KEY, token TEXT)", "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT)", "CREATE TABLE bbb (x)",
		"INSERT INTO tokens VALUES (1, 'tok1')", "INSERT INTO orders VALUES (2, 'b')")
	s := open(t, path, sqltool.Options{AllowedTables: []string{"orders"}, MaxConns: 1})
	if got := s.Query("SELECT id FROM orders"); !strings.Contains(got, "[[1]]") {
		t.Errorf("%s", got)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	s.Query("SELECT " + strings.Repeat("zeroblob(16000000), ", 100) + "1")
	if got := s.Query("SELECT * FROM tokens"); !strings.HasPrefix(got, "retry query: table tokens is not allowed") {
		t.Errorf("%s", got)
	}
	if got := s.Query("SELECT id FROM orders"); !strings.Contains(got, "[[2]]") {
		t.Errorf("%s", got)
	}
}

// TestS19Triggers says to the model which tables have triggers.
func TestS19Triggers(t *testing.T) {
	t.Parallel()
	ts, err := sqltool.New(sqlite.Dialect, connection.Direct(connection.Connection{ID: "db", Host: database(t, shop)}), sqltool.Options{AllowedTables: []string{"orders", "customers", "nothere"}, AllowWrites: true})
	if err != nil {
		t.Fatal(err)
	}
	in, err := ts.Instructions(t.Context())
	if err != nil || !strings.HasSuffix(in[0].Text, " A change of orders does more than the statement says: triggers of the database's own run.") {
		t.Errorf("%v, %v", in, err)
	}
	if err := ts.Close(); err != nil {
		t.Error(err)
	}
}

func TestS48Conformance(t *testing.T) {
	t.Parallel()
	path := database(t, shop)
	ts, err := sqltool.New(sqlite.Dialect, connection.Direct(connection.Connection{ID: "db", Host: path}), sqltool.Options{AllowedTables: []string{"orders"}, Prefix: "shop_"})
	if err != nil {
		t.Fatal(err)
	}
	runtimetest.Toolset(t, ts, runtimetest.Args("shop_query", `{"sql":"SELECT * FROM orders"}`), runtimetest.Args("shop_list_tables", `{}`),
		runtimetest.Args("shop_get_schema", `{"table_name":"orders"}`), runtimetest.Args("shop_check_query", `{"sql":"SELECT 1"}`))
	in, err := ts.Instructions(t.Context())
	if err != nil || len(in) != 1 || !strings.HasPrefix(in[0].Text, "The tools shop_list_tables, shop_get_schema, shop_query and shop_check_query are one SQLite database. ") {
		t.Errorf("%v, %v", in, err)
	}
}

// TestS12CutThroughARun sends a result that is cut at the default bounds through a run,
// which doesn't cut it again.
func TestS12CutThroughARun(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, shop), sqltool.Options{AllowedTables: []string{"orders"}, MaxRows: 1000})
	got := s.Query("SELECT value, hex(zeroblob(1000)) AS h FROM generate_series(1, 1000)")
	var r struct {
		Rows        [][]any
		TruncatedBy string `json:"truncated_by"`
	}
	if err := json.Unmarshal([]byte(got), &r); err != nil || len(r.Rows) != 32 || r.TruncatedBy != "max_result_bytes" {
		t.Errorf("%d rows, %s, %v", len(r.Rows), r.TruncatedBy, err)
	}
	if got, want := s.Query("SELECT hex(zeroblob(100000)) AS h, 1 AS one"), `{"columns":["h","one"],"rows":[],"row_count":0,"truncated":true,"truncated_by":"max_result_bytes","hint":"the first row is too large: select narrower columns, the widest is h"}`; got != want {
		t.Errorf("%s", cmp.Diff(want, got))
	}
}

// FuzzGuard looks for a text that panics, changes the file, shows a row of a table that is
// not on the list, or breaks what comes after it.
func FuzzGuard(f *testing.F) {
	for _, l := range sqltest.Lines(f, "sqlite.jsonl") {
		f.Add(l.SQL)
	}
	path := database(f, setup(f))
	before := dump(f, path)
	s := open(f, path, sqltool.Options{AllowedTables: []string{"orders", "orders_view"}, Timeout: time.Second})
	f.Fuzz(func(t *testing.T, sql string) {
		s.TB = t
		got := s.Query(sql)
		if strings.Contains(got, "tok1") || strings.HasPrefix(got, "fatal") {
			t.Errorf("%q: %s", sql, got)
		}
		if next := s.Query("SELECT 1 AS one"); next != `{"columns":["one"],"rows":[[1]],"row_count":1}` {
			t.Errorf("after %q: %s", sql, next)
		}
		if dump(t, path) != before {
			t.Errorf("%q has changed the file", sql)
		}
	})
}

// TestS18Texts sends texts that are made of pieces of the corpus, 10,000 of them with make
// soak; after each the next honest one works.
func TestS18Texts(t *testing.T) {
	t.Parallel()
	path := database(t, setup(t))
	before := dump(t, path)
	s := open(t, path, sqltool.Options{AllowedTables: []string{"orders", "orders_view"}, Timeout: time.Second})
	for sql := range sqltest.Texts(t, "sqlite.jsonl", 1000) {
		if got := s.Query(sql); strings.Contains(got, "tok1") || strings.HasPrefix(got, "fatal") {
			t.Fatalf("%q: %s", sql, got)
		}
		if next := s.Query("SELECT 1 AS one"); next != `{"columns":["one"],"rows":[[1]],"row_count":1}` {
			t.Fatalf("after %q: %s", sql, next)
		}
	}
	if dump(t, path) != before {
		t.Error("the file has changed")
	}
}
