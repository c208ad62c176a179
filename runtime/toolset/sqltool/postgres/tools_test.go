package postgres_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/runtimetest"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/internal/sqltest"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/postgres"
)

const shop = `
	CREATE SCHEMA sales; CREATE SCHEMA evil;
	CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL DEFAULT 'x', email text);
	COMMENT ON TABLE customers IS 'who buys'; COMMENT ON COLUMN customers.email IS 'may be missing';
	CREATE TABLE orders (id int PRIMARY KEY, customer_id int REFERENCES customers(id), total numeric(12,2), note text, at timestamptz DEFAULT now(), twice numeric GENERATED ALWAYS AS (total * 2) STORED);
	CREATE TABLE "Order Items" (id int, "order" int REFERENCES orders(id) ON DELETE CASCADE, n int, PRIMARY KEY (id, "order"));
	CREATE TABLE secrets (id int PRIMARY KEY, token text, order_id int REFERENCES orders(id));
	CREATE TABLE sales.region (id int PRIMARY KEY, "select" text);
	CREATE TABLE evil.orders (id int);
	CREATE TABLE parted (id int, k int) PARTITION BY RANGE (k);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
	CREATE TYPE mood AS ENUM ('sad', 'happy');
	CREATE VIEW big AS SELECT id, upper(note) AS note FROM orders WHERE total > 10;
	CREATE VIEW leak_view AS SELECT token FROM secrets;
	CREATE MATERIALIZED VIEW sums AS SELECT customer_id, sum(total) AS total FROM orders GROUP BY 1;
	CREATE FUNCTION leak(o orders) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT max(token) FROM secrets';
	CREATE FUNCTION status(o orders) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT max(token) FROM secrets';
	CREATE FUNCTION evil.lower(text) RETURNS text LANGUAGE sql AS 'SELECT max(token) FROM secrets';
	CREATE FUNCTION sales.tax(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 0.2';
	INSERT INTO customers VALUES (1, 'ann', NULL), (2, 'bob', 'b@x');
	INSERT INTO orders VALUES (1, 1, 5, 'small', '2026-01-01'), (2, 1, 50, 'big', '2026-01-02'), (3, 2, 500, 'very big', '2026-01-03');
	INSERT INTO secrets VALUES (1, 'tok1', 1);
	INSERT INTO sales.region VALUES (1, 'north');
	REFRESH MATERIALIZED VIEW sums;
	ANALYZE`

func TestS6ListTables(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"ORDERS", `"Order Items"`, "big", "nothere", "sales.REGION", "customers", "parted", "parted_1", "sums"}})
	want := `{"tables":[{"name":"sales.region","row_estimate":1},{"name":"\"Order Items\""},{"name":"big","kind":"view"},{"name":"customers","row_estimate":2,"comment":"who buys"},{"name":"orders","row_estimate":3},{"name":"parted"},{"name":"sums","kind":"materialized view","row_estimate":2}],"count":7}`
	got := s.CallTool("list_tables", nil)
	got = strings.ReplaceAll(strings.ReplaceAll(got, `"\"Order Items\"","row_estimate":0`, `"\"Order Items\""`), `"parted","row_estimate":0`, `"parted"`)
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := s.CallTool("list_tables", map[string]any{"match": "REG"}), `{"tables":[{"name":"sales.region","row_estimate":1}],"count":1}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	all := open(t, db, sqltool.Options{AllTables: true, PageSize: 2})
	if got := strings.Join(all.Names(), " "); got != `evil.orders sales.region "Order Items" big customers leak_view orders parted secrets sums` {
		t.Errorf("%s", got)
	}
}

func TestS7GetSchema(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"orders", `"Order Items"`, "big", "customers", "sales.region"}})
	for table, want := range map[string]string{
		"Orders": `{"table":"orders","kind":"table","columns":[{"name":"id","type":"integer","nullable":false},{"name":"customer_id","type":"integer"},{"name":"total","type":"numeric(12,2)"},{"name":"note","type":"text"},` +
			`{"name":"at","type":"timestamp with time zone","default":"now()"},{"name":"twice","type":"numeric","default":"(total * (2)::numeric)","generated":true}],"column_count":6,"primary_key":["id"],"foreign_keys":[{"columns":["customer_id"],"references":"customers","to":["id"]}],"row_estimate":3}`,
		"public.big":         `{"table":"big","kind":"view","columns":[{"name":"id","type":"integer"},{"name":"note","type":"text"}],"column_count":2}`,
		"customers":          `{"table":"customers","kind":"table","columns":[{"name":"id","type":"integer","nullable":false},{"name":"name","type":"text","nullable":false,"default":"'x'::text"},{"name":"email","type":"text","comment":"may be missing"}],"column_count":3,"primary_key":["id"],"row_estimate":2,"comment":"who buys"}`,
		db + ".sales.region": `{"table":"sales.region","kind":"table","columns":[{"name":"id","type":"integer","nullable":false},{"name":"select","type":"text"}],"column_count":2,"primary_key":["id"],"row_estimate":1}`,
		"secrets":            `retry get_schema: there is no table "secrets" that may be used: list_tables shows what there is`,
		`"Orders"`:           `retry get_schema: there is no table "\"Orders\"" that may be used; did you mean orders?: list_tables shows what there is`,
		"region":             `retry get_schema: there is no table "region" that may be used; did you mean sales.region?: list_tables shows what there is`,
		"evil.orders":        `retry get_schema: there is no table "evil.orders" that may be used; did you mean orders?: list_tables shows what there is`,
		"other.public.x":     `retry get_schema: there is no table "other.public.x" that may be used: list_tables shows what there is`,
	} {
		if got := s.CallTool("get_schema", map[string]any{"table_name": table}); got != want {
			t.Errorf("%s\n got %s\nwant %s", table, got, want)
		}
	}
}

func TestS4Lists(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", `CREATE TABLE orders (id int); CREATE TABLE "Orders" (id int); CREATE TABLE "Items" (id int); INSERT INTO "Items" VALUES (7)`)
	for entry, want := range map[string]string{
		"orders":           `may be any of public."Orders", public.orders: put it in quotes`,
		`"orders"`:         "",
		"items":            "",
		"other.public.x":   "is of another database than " + db,
		db + `."public".x`: "",
	} {
		s := open(t, db, sqltool.Options{AllowedTables: []string{entry}})
		if got := s.Query("SELECT 1 AS one"); want == "" && got != one || want != "" && !strings.Contains(got, want) {
			t.Errorf("%s: %s", entry, got)
		}
	}
	s := open(t, db, sqltool.Options{AllowedTables: []string{"items"}})
	for sql, want := range map[string]string{
		`SELECT * FROM "Items"`: `{"columns":["id"],"rows":[[7]],"row_count":1}`,
		`SELECT * FROM items`:   "retry query: there is no table \"items\" that may be used",
	} {
		if got := s.Query(sql); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", sql, got)
		}
	}
	execute(t, admin(t, db), "CREATE TABLE items (id int)") // now the entry means either, and the one as SQL reads it
	if got := s.Query(`SELECT * FROM "Items"`); !strings.Contains(got, "is not allowed") {
		t.Errorf("%s", got)
	}
	if got := s.Query(`SELECT * FROM items`); !strings.HasPrefix(got, `{"columns"`) {
		t.Errorf("%s", got)
	}
}

func TestS3Options(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]sqltool.Options{
		`Schema is "pg_catalog": want a schema of the database's own`: {AllTables: true, Schema: "pg_catalog"},
		`AllowedTables: "a b" is no name: "a b" needs quotes`:         {AllowedTables: []string{"a b"}},
		`AllowedFunctions: "a.b.c" is no function`:                    {AllTables: true, AllowedFunctions: []string{"a.b.c"}},
	} {
		if _, err := sqltool.New(postgres.Dialect, connection.Direct(connection.Connection{ID: "db"}), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
	db := database(t, "template1")
	for want, change := range map[string]func(c *connection.Connection){
		"the connection's extra has options: want one of sslmode":   func(c *connection.Connection) { c.Extra["options"] = "-c x=y" },
		"the connection's extra has search_path":                    func(c *connection.Connection) { c.Extra["search_path"] = "evil" },
		"the connection has no schema, which is the database":       func(c *connection.Connection) { c.Schema = "" },
		"the connection has no host":                                func(c *connection.Connection) { c.Host = "" },
		"the connection's parameters are wrong: sslmode is invalid": func(c *connection.Connection) { c.Extra["sslmode"] = "nosuch" },
		`database "nosuch" does not exist`:                          func(c *connection.Connection) { c.Schema = "nosuch" },
	} {
		c := conn(t, db)
		change(&c)
		if got := sqltest.Open(t, postgres.Dialect, c, sqltool.Options{AllTables: true}).Query("SELECT 1"); !strings.HasPrefix(got, "fatal tool query failed (ref ") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", want, got)
		}
	}
}

func TestS9Params(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "template1", shop), sqltool.Options{AllowedTables: []string{"orders"}})
	got := s.Query("SELECT $1::bigint, $2::numeric, $3, $4::int, $5::bool, $6::text = 'x''y', $7::float8", json.Number("9223372036854775807"), json.Number("1.10"), "it's", nil, true, "x'y", json.Number("1e400"))
	if !strings.HasPrefix(got, "retry query: a number is out of the range of its type") {
		t.Errorf("%s", got)
	}
	got = s.Query("SELECT $1::bigint, $2::numeric, $3, $4::int, $5::bool, $6::text = 'x''y'", json.Number("9223372036854775807"), json.Number("1.10"), "it's", nil, true, "x'y")
	if want := `[["9223372036854775807","1.10","it's",null,true,true]]`; !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
	for _, c := range []struct {
		sql    string
		params []any
		want   string
	}{
		{"SELECT id FROM orders WHERE id = $1", []any{2}, `{"columns":["id"],"rows":[[2]],"row_count":1}`},
		{"SELECT id FROM orders WHERE id = $1", nil, "retry query: the statement has 1 parameters, and there are 0 params"},
		{"SELECT id FROM orders WHERE id = $1", []any{1, 2}, "retry query: the statement has 1 parameters, and there are 2 params"},
		{"SELECT id FROM orders WHERE id = $1", []any{"x"}, "retry query: a text is no value of the type that it is to have"},
		{"SELECT id FROM orders WHERE note = $1", []any{"a\x00b"}, "retry query: a text in params has a NUL character"},
		{"SELECT id FROM orders WHERE id = $2", []any{1, 2}, "retry query: could not determine data type of parameter $1"},
		{"SELECT id FROM orders WHERE note = $1", []any{"x' OR 1=1 --"}, `{"columns":["id"],"rows":[],"row_count":0}`},
		{"SELECT $1", []any{map[string]any{}}, "retry query: param 1 is an object or an array"},
		{"EXPLAIN (COSTS off) SELECT id FROM orders WHERE id = $1", []any{2}, `{"columns":["QUERY PLAN"]`},
	} {
		if got := s.Query(c.sql, c.params...); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

func TestS10CheckQuery(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"orders"}})
	w := open(t, db, sqltool.Options{AllowedTables: []string{"orders"}, AllowWrites: true})
	for _, c := range []struct {
		s         *sqltest.Session
		sql, want string
	}{
		{s, "SELECT id, total * 2 AS twice, 'x'::varchar(3) FROM orders WHERE id = $1 OR id = $2", `{"valid":true,"columns":[{"name":"id","type":"integer"},{"name":"twice","type":"numeric"},{"name":"varchar","type":"character varying(3)"}],"params":2}`},
		{s, "SELECT nothere FROM orders", `{"valid":false,"class":"unknown_column","error":"column \"nothere\" does not exist (line 1, column 8, at \"nothere FROM orders\"): get_schema shows the columns"}`},
		{s, "SELECT *\n FROM orders o WHERE\n  o.x = 1", `{"valid":false,"class":"unknown_column","error":"column o.x does not exist (line 3, column 3, at \"o.x = 1\"): get_schema shows the columns"}`},
		{s, "SELECT * FROM secrets", `{"valid":false,"class":"refused","error":"table secrets is not allowed; allowed: orders (list_tables shows all)"}`},
		{s, "SELECT * FROM ordrs", `{"valid":false,"class":"unknown_table","error":"there is no table \"ordrs\" that may be used; did you mean orders?: list_tables shows what there is"}`},
		{s, "SELECT nothere(1)", `{"valid":false,"class":"unknown_function","error":"there is no function nothere: use another"}`},
		{s, "SELECT 'é', x x x", `{"valid":false,"class":"syntax","error":"syntax error at or near \"x\" (line 1, column 17, at \"x\")"}`},
		{s, "SELECT 1/0 FROM orders", `{"valid":true,"columns":[{"name":"?column?","type":"integer"}],"params":0}`},
		{s, "SELECT note + 1 FROM orders", `{"valid":false,"class":"unknown_function","error":"operator does not exist: text + integer (line 1, column 13, at \"+ 1 FROM orders\"): use another"}`},
		{s, "DELETE FROM orders", `{"valid":false,"class":"refused","error":"the database may only be read"}`},
		{w, "UPDATE orders SET note = $1", `{"valid":true,"columns":[],"params":1}`},
		{w, "UPDATE orders SET note = $1 RETURNING id", `{"valid":true,"columns":[{"name":"id","type":"integer"}],"params":1}`},
		{s, "SELECT 1; SELECT 2", `{"valid":false,"class":"refused","error":"one statement per call: send them separately"}`},
		{s, "DROP TABLE orders", `{"valid":false,"class":"refused","error":"only statements that read are allowed: SELECT, WITH, VALUES, TABLE and EXPLAIN of these"}`},
		{w, "DROP TABLE orders", `{"valid":false,"class":"refused","error":"only statements that read, or change rows, are allowed: SELECT, WITH, VALUES, TABLE and EXPLAIN of these, INSERT, UPDATE, DELETE, MERGE and TRUNCATE"}`},
	} {
		if got := c.s.CallTool("check_query", map[string]any{"sql": c.sql}); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// TestS19Writes changes what it may, each call a transaction of its own.
func TestS19Writes(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop, `
		CREATE TABLE parent (id int PRIMARY KEY, k int UNIQUE, note text);
		CREATE TABLE child (id int, p int REFERENCES parent(id) ON DELETE SET NULL, k int REFERENCES parent(k) ON UPDATE CASCADE);
		CREATE TABLE grandchild (id int); CREATE VIEW parent_view AS SELECT id, note FROM parent;
		INSERT INTO parent VALUES (1, 1), (2, 2)`)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"orders", "customers", "big", "parent", "parent_view", "leak_view"}, AllowWrites: true})
	for _, c := range [][2]string{
		{"INSERT INTO orders VALUES (4, 1, 7, 'new')", `{"columns":[],"rows":[],"row_count":0,"rows_affected":1}`},
		{"UPDATE orders SET total = total + 1 WHERE id < 3 RETURNING id, total", `{"columns":["id","total"],"rows":[[1,"6.00"],[2,"51.00"]],"row_count":2}`},
		{"UPDATE orders SET total = 0 WHERE id = 99", `{"columns":[],"rows":[],"row_count":0,"rows_affected":0}`},
		{"UPDATE orders SET total = 0 WHERE id = 99 RETURNING id", `{"columns":["id"],"rows":[],"row_count":0}`},
		{"INSERT INTO orders VALUES (4, 1, 7, 'again')", "retry query: a row with this key is there already"},
		{"INSERT INTO orders VALUES (5, 99, 7, 'nobody')", "retry query: a row that this one refers to is not there"},
		{"INSERT INTO orders(id, total) VALUES (4, 9) ON CONFLICT (id) DO UPDATE SET total = excluded.total", `{"columns":[],"rows":[],"row_count":0,"rows_affected":1}`},
		{"INSERT INTO orders(id) VALUES (10), (11), (1)", "retry query: a row with this key"},
		{"WITH x AS (INSERT INTO customers VALUES (9, 'zed') RETURNING id) SELECT id FROM x", `{"columns":["id"],"rows":[[9]],"row_count":1}`},
		{"INSERT INTO secrets VALUES (2, 'x')", "retry query: table secrets is not allowed"},
		{"INSERT INTO orders(id, note) SELECT 12, token FROM secrets", "retry query: table secrets is not allowed"},
		{"WITH x AS (DELETE FROM secrets RETURNING id) SELECT id FROM x", "retry query: table secrets is not allowed"},
		{"WITH orders AS (SELECT 1 AS id) DELETE FROM secrets", "retry query: table secrets is not allowed"},
		{"DELETE FROM orders WHERE id = 4", "retry query: rows of another table, which is not allowed, refer to these and would be changed too"},
		{"MERGE INTO orders o USING customers c ON o.id = c.id WHEN MATCHED THEN DELETE", "retry query: rows of another table"},
		{"UPDATE parent SET note = 'x'", "retry query: rows of another table"},
		{"UPDATE parent_view SET note = 'x' WHERE id = 1", "retry query: rows of another table"},
		{"DELETE FROM parent_view", "retry query: rows of another table"},
		{"UPDATE big SET id = id WHERE id = 2", `{"columns":[],"rows":[],"row_count":0,"rows_affected":1}`},
		{"DELETE FROM leak_view", "retry query: a table below this view is not allowed, so that the view can't be written"},
		{"TRUNCATE orders", "retry query: the server can't run this (SQLSTATE 0A000)"},
		{"TRUNCATE orders CASCADE", "retry query: the guard doesn't know behavior"},
		{"DROP TABLE orders", "retry query: only statements that read"},
		{"EXPLAIN ANALYZE DELETE FROM orders", "retry query: EXPLAIN is allowed of a statement that reads"},
		{"SELECT id FROM orders WHERE id = 1 FOR UPDATE", `{"columns":["id"],"rows":[[1]],"row_count":1}`},
		{"SELECT count(*), sum(total) FROM orders", `{"columns":["count","sum"],"rows":[[4,"566.00"]],"row_count":1}`},
		{"UPDATE orders SET id = DEFAULT", "retry query: a column that may not be null would be"},
		{"UPDATE orders SET total = 1e12", "retry query: a number is out of the range of its type"},
	} {
		if got := s.Query(c[0]); !strings.HasPrefix(got, c[1]) {
			t.Errorf("%s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

// TestV1Attributes calls functions by names behind a dot.
func TestV1Attributes(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "template1", shop), sqltool.Options{AllowedTables: []string{"orders", "customers", "big"}})
	for _, sql := range []string{
		"SELECT ('/etc/passwd'::text).pg_read_file", "SELECT o.leak FROM orders o", "SELECT (o).leak FROM orders o", "SELECT orders.leak FROM orders", "SELECT public.orders.leak FROM orders",
		"SELECT o.id FROM orders o ORDER BY o.leak", "SELECT o.id FROM orders o WHERE (o).status = 'x'", "SELECT (SELECT o.leak) FROM orders o",
		"SELECT x.leak FROM (SELECT o FROM orders o) x", "SELECT (x.o).leak FROM (SELECT o FROM orders o) x", "SELECT (array_agg(o))[1].leak FROM orders o",
		"SELECT (SELECT note FROM orders LIMIT 1).pg_ls_dir", "SELECT (id::oid).regclass FROM orders", "SELECT leak(o) FROM orders o", "SELECT (row_to_json(o.*)) , (o.*).leak FROM orders o",
		"SELECT o.leak FROM orders o, (SELECT 1 AS leak) x", "WITH o AS (SELECT 1 AS leak) SELECT (SELECT o.leak FROM orders o) FROM o",
		"SELECT j.leak FROM (orders a JOIN customers b ON true) j", "SELECT o.leak FROM orders o(leak2)", "SELECT excluded.leak FROM orders excluded",
	} {
		if got := s.Query(sql); !strings.Contains(got, "not allowed") && !strings.Contains(got, "there is no function") {
			t.Errorf("%s: %s", sql, got)
		}
	}
	for sql, want := range map[string]string{
		"SELECT (o.note).upper FROM orders o WHERE id = 1":                                                                `[["SMALL"]]`,
		"SELECT o.status FROM (SELECT note AS status FROM orders WHERE id = 1) o":                                         `[["small"]]`,
		"SELECT o.leak FROM (SELECT id AS leak, note FROM orders WHERE id = 1) o ORDER BY o.leak":                         `[[1]]`,
		"WITH t(leak) AS (SELECT id FROM orders WHERE id = 1) SELECT t.leak FROM t":                                       `[[1]]`,
		"WITH t AS (SELECT id AS orders FROM customers WHERE id = 1) SELECT x.orders FROM (SELECT * FROM t) x":            `[[1]]`,
		"SELECT x.secrets FROM (SELECT count(*) AS secrets FROM orders) x":                                                `[[3]]`,
		"SELECT x.secrets FROM (SELECT o.*, c.n AS secrets FROM orders o, LATERAL (SELECT o.id AS n) c WHERE o.id = 2) x": `[[2]]`,
		"SELECT (o).id, (o.*).note FROM orders o WHERE id = 1":                                                            `[[1,"small"]]`,
		"SELECT c.name, o.date FROM customers c, (SELECT at::date AS date FROM orders WHERE id = 1) o WHERE c.id = 1":     `[["ann","2026-01-01"]]`,
		"SELECT v.leak FROM (VALUES (7)) v(leak)":                                                                         `[[7]]`,
	} {
		if got := s.Query(sql); !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
}

// TestV2Explain runs nothing by EXPLAIN but a read.
func TestV2Explain(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "template1", shop), sqltool.Options{AllTables: true, AllowWrites: true})
	for _, sql := range []string{
		"EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1", "EXPLAIN ANALYZE SELECT 1 AS a INTO x", "EXPLAIN (ANALYZE) INSERT INTO orders(id) VALUES (99)", "EXPLAIN ANALYZE WITH x AS (DELETE FROM orders RETURNING 1) SELECT * FROM x",
		"EXPLAIN (ANALYZE, SETTINGS) SELECT 1", "EXPLAIN VERBOSE SELECT 1", "EXPLAIN ANALYZE EXECUTE x", "EXPLAIN ANALYZE DECLARE c CURSOR FOR SELECT 1", "EXPLAIN EXPLAIN SELECT 1",
	} {
		if class := classOf(s, sql); class != "refused" && class != "syntax" {
			t.Errorf("%s: %s", sql, class)
		}
	}
	for _, sql := range []string{"EXPLAIN ANALYZE SELECT * FROM orders", "EXPLAIN (COSTS false, FORMAT json, BUFFERS, ANALYZE) SELECT 1", "EXPLAIN VALUES (1)"} {
		if got := s.Query(sql); !strings.HasPrefix(got, `{"columns":["QUERY PLAN"]`) {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// TestV5Pruned refuses what a plan doesn't show any more.
func TestV5Pruned(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "template1", shop), sqltool.Options{AllowedTables: []string{"orders"}})
	for _, sql := range []string{"SELECT * FROM secrets WHERE false", "SELECT o.* FROM orders o LEFT JOIN (SELECT DISTINCT id FROM secrets) s ON s.id = o.id", "SELECT 1 WHERE false AND EXISTS (TABLE secrets)"} {
		if got := s.Query(sql); !strings.HasPrefix(got, "retry query: table secrets is not allowed") {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// TestV15Names looks for names of what there is.
func TestV15Names(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "template1", shop), sqltool.Options{AllowedTables: []string{"orders", "leak_view", "big"}})
	for _, sql := range []string{
		"SELECT (g::oid).regclass FROM generate_series(1, 100) g", "SELECT g::oid::regclass FROM generate_series(1, 100) g", "SELECT to_regclass('secrets')", "SELECT 'secrets'::regclass", "SELECT CAST('{secrets}' AS regclass[])",
		"SELECT regclass('secrets')", "SELECT * FROM jsonb_to_recordset('[{\"a\":\"secrets\"}]') AS t(a regclass)", "SELECT null::_regclass", "SELECT a::text FROM json_to_record('{\"a\":1}') AS t(a regtype)",
		"SELECT format_type(1, 2)", "SELECT col_description(1, 2)", "SELECT pg_typeof(1)", "SELECT null::secrets", "SELECT null::secrets[]", "SELECT ROW(1, 'x', 2)::secrets", "SELECT null::evil.orders", "SELECT '{}'::_secrets",
		"EXPLAIN SELECT * FROM leak_view", "SELECT has_table_privilege('secrets', 'select')", "SELECT oidvectortypes('1 2')", "SELECT x FROM XMLTABLE('/' PASSING '<a/>' COLUMNS x regclass PATH '.') t",
		"SELECT current_user", "SELECT version()", "SELECT current_schemas(true)", "SELECT note COLLATE evil.x FROM orders", "SELECT 'a=r/b'::aclitem", "SELECT makeaclitem(1, 2, 'SELECT', true)",
		"SELECT note::regconfig FROM orders", "SELECT to_tsvector(note::regconfig, note) FROM orders",
	} {
		if got := s.Query(sql); !strings.Contains(got, "not allowed") && !strings.Contains(got, "EXPLAIN shows") && !strings.Contains(got, "there is no function") && !strings.Contains(got, "for literals only") && !strings.Contains(got, "not allowed for") {
			t.Errorf("%s: %s", sql, got)
		}
	}
	for _, sql := range []string{
		"SELECT to_tsvector('english', note) @@ to_tsquery('english', 'big') FROM orders", "SELECT ts_headline('english', note, plainto_tsquery('big')) FROM orders", "SELECT ts_headline(note, to_tsquery('big'), 'MaxWords=5, MinWords=2') FROM orders",
		"SELECT 'happy'::mood, enum_range(null::mood)", "SELECT null::orders", "SELECT jsonb_populate_recordset(null::orders, '[]')", "EXPLAIN SELECT * FROM big",
	} {
		if got := s.Query(sql); !strings.HasPrefix(got, `{"columns"`) {
			t.Errorf("%s: %s", sql, got)
		}
	}
	execute(t, admin(t, s.Database), "CREATE VIEW filtered AS SELECT note FROM orders WHERE id > 1")
	f := open(t, s.Database, sqltool.Options{AllowedTables: []string{"filtered"}})
	if got := f.Query("SELECT note::int FROM filtered"); got != "retry query: a text is no value of the type that it is to have" {
		t.Errorf("%s", got)
	}
}

// TestS22Functions has functions of the database that are called as built-in ones.
func TestS22Functions(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop, `
		CREATE FUNCTION public.lower(text) RETURNS text LANGUAGE sql AS $$SELECT 'PWNED'$$;
		CREATE FUNCTION public.upper(x text) RETURNS text LANGUAGE sql AS $$SELECT 'PWNED'$$;
		CREATE FUNCTION public.length(text, int DEFAULT 1) RETURNS int LANGUAGE sql AS 'SELECT -1';
		CREATE FUNCTION public.abs(VARIADIC int[]) RETURNS int LANGUAGE sql AS 'SELECT -1';
		CREATE FUNCTION public.eq(orders, orders) RETURNS boolean LANGUAGE sql AS 'SELECT true';
		CREATE OPERATOR public.= (LEFTARG = orders, RIGHTARG = orders, FUNCTION = public.eq);
		CREATE EXTENSION citext; CREATE EXTENSION pg_trgm; CREATE EXTENSION hstore; CREATE EXTENSION dblink`)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"orders", "sales.region"}})
	for sql, want := range map[string]string{
		"SELECT lower('A')":                         `[["a"]]`,
		"SELECT upper(x => 'a')":                    "retry query: function upper is not allowed, since the database has one of its own that this may be: write pg_catalog.upper for the built-in one",
		"SELECT length('abc')":                      "retry query: function length is not allowed, since the database has one of its own",
		"SELECT pg_catalog.length('abc')":           `[[3]]`,
		"SELECT abs(-1)":                            "retry query: function abs is not allowed, since the database has one of its own",
		"SELECT public.lower('A')":                  "retry query: function lower is not allowed",
		"SELECT evil.lower('A')":                    "retry query: function lower is not allowed",
		"SELECT 1 FROM orders WHERE id = 1":         "retry query: operator public.= calls a function of the database's own, which is not allowed",
		"SELECT 1 WHERE 1 = 1":                      `[[1]]`,
		"SELECT 1 WHERE 1 OPERATOR(pg_catalog.=) 1": `[[1]]`,
		"SELECT max(note), replace(note, 'a', 'b') FROM orders WHERE id < 2 GROUP BY note": `[["small","smbll"]]`,
		"SELECT similarity('abc', 'abd') > 0.1, 'abc' % 'abd'":                             `[[true,true]]`,
		"SELECT set_limit(0.5)":                                             "retry query: function set_limit is not allowed",
		"SELECT 'a=>1'::hstore -> 'a', 'A'::citext":                         `[["1","A"]]`,
		"SELECT * FROM dblink('dbname=postgres', 'SELECT 1') AS t(a int)":   "retry query: function dblink is not allowed",
		"SELECT sales.tax(1)":                                               "retry query: function tax is not allowed",
		"SELECT id FROM orders WHERE note LIKE 'v%' AND id BETWEEN 1 AND 9": `[[3]]`,
	} {
		if got := s.Query(sql); !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
	more := open(t, db, sqltool.Options{AllTables: true, AllowedFunctions: []string{"Sales.TAX", "eq", "pg_typeof"}})
	for _, sql := range []string{"SELECT sales.tax(1)", "SELECT 1 WHERE 1 = 1", "SELECT pg_typeof(1)", "SELECT current_user, version(), current_database()", "SELECT now(), random(), gen_random_uuid()", "SHOW server_version"} {
		if got := more.Query(sql); !strings.HasPrefix(got, `{"columns"`) {
			t.Errorf("%s: %s", sql, got)
		}
	}
	for _, sql := range []string{"SELECT eq(o, o) FROM orders o WHERE evil.lower('x') = ''", "SHOW ALL", "SELECT length('x')", "SELECT pg_sleep(1)", "SELECT nextval('x')"} {
		if got := more.Query(sql); !strings.Contains(got, "not allowed") {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// TestS12CutThroughARun sends a result that is cut at the default bounds through a run,
// which doesn't cut it again.
func TestS12CutThroughARun(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "template1", shop), sqltool.Options{AllowedTables: []string{"orders"}, MaxRows: 1000, MaxConns: 1})
	got := s.Query("SELECT g, repeat('x', 2000) AS h FROM generate_series(1, 1000) g")
	var r struct {
		Rows        [][]any
		TruncatedBy string `json:"truncated_by"`
	}
	if err := json.Unmarshal([]byte(got), &r); err != nil || len(r.Rows) != 32 || r.TruncatedBy != "max_result_bytes" {
		t.Errorf("%d rows, %s, %v", len(r.Rows), r.TruncatedBy, err)
	}
	for sql, want := range map[string]string{
		"SELECT repeat('x', 100000) AS h, 1 AS one":          `"truncated_by":"max_result_bytes","hint":"the first row is too large: select narrower columns, the widest is h"}`,
		"SELECT repeat('x', 1000000000)":                     "retry query: a row is too large: ask for fewer or shorter columns",
		"SELECT g FROM generate_series(1, 2000) g":           `"row_count":1000,"truncated":true,"truncated_by":"max_rows"`,
		"SELECT 1 AS one":                                    one,
		"SELECT FROM orders":                                 `{"columns":[],"rows":[[],[],[]],"row_count":3}`,
		"SELECT id FROM orders WHERE false":                  `{"columns":["id"],"rows":[],"row_count":0}`,
		"SELECT 1 AS a, 2 AS a":                              `{"columns":["a","a"],"rows":[[1,2]],"row_count":1}`,
		"SELECT 1/0":                                         "retry query: a number is divided by zero",
		"SELECT (SELECT id FROM orders)":                     "retry query: a subquery that stands for one value has more than one row",
		"SELECT id FROM orders ORDER BY id LIMIT 1 -- ;":     `[[1]]`,
		"SELECT id FROM orders WHERE id = 1; -- that is all": `[[1]]`,
		"TABLE orders LIMIT 0":                               `"rows":[]`,
	} {
		if got := s.Query(sql); !strings.Contains(got, want) {
			t.Errorf("%s\n got %.300s\nwant %s", sql, got, want)
		}
	}
}

// TestS19Triggers says to the model which tables have triggers.
func TestS19Triggers(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop, `CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
		CREATE TRIGGER t BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION nothing(); CREATE TRIGGER t BEFORE INSERT ON secrets FOR EACH ROW EXECUTE FUNCTION nothing();
		CREATE RULE r AS ON INSERT TO sales.region DO ALSO SELECT 1`)
	for _, writes := range []bool{true, false} {
		ts, err := sqltool.New(postgres.Dialect, connection.Direct(conn(t, db)), sqltool.Options{AllowedTables: []string{"orders", "customers", "sales.region"}, AllowWrites: writes})
		if err != nil {
			t.Fatal(err)
		}
		in, err := ts.Instructions(context.Background())
		if err != nil || strings.Contains(in[0].Text, " A change of orders, sales.region does more than the statement says: triggers of the database's own run.") != writes {
			t.Errorf("%v, %v", in, err)
		}
		if err := ts.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestS48Conformance(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop)
	ts, err := sqltool.New(postgres.Dialect, connection.Direct(conn(t, db)), sqltool.Options{AllowedTables: []string{"orders"}, Prefix: "shop_"})
	if err != nil {
		t.Fatal(err)
	}
	runtimetest.Toolset(t, ts, runtimetest.Args("shop_query", `{"sql":"SELECT * FROM orders"}`), runtimetest.Args("shop_list_tables", `{}`),
		runtimetest.Args("shop_get_schema", `{"table_name":"orders"}`), runtimetest.Args("shop_check_query", `{"sql":"SELECT 1"}`))
	in, err := ts.Instructions(context.Background())
	if err != nil || len(in) != 1 || !strings.Contains(in[0].Text, "are one PostgreSQL database. ") {
		t.Errorf("%v, %v", in, err)
	}
}
