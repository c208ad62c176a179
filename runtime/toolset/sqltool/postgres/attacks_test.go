package postgres_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/internal/sqltest"
)

// decoys call what is behind a dot, whose name something else in the statement gives to a
// column of its own.
var decoys = []string{
	"SELECT unnest.ts_stat, (SELECT 1 FROM (SELECT 1 AS ts_stat) AS unnest) AS x FROM unnest(ARRAY['select array_to_tsvector(array[token]) from secrets'])",
	"SELECT unnest.pg_read_file, (SELECT 1 FROM (SELECT 1 AS pg_read_file) AS unnest) AS x FROM unnest(ARRAY['PG_VERSION'])",
	"SELECT unnest.regclass, (SELECT 1 FROM (SELECT 1 AS regclass) AS unnest) AS x FROM unnest(ARRAY[1260])",
	"SELECT unnest.pg_sleep, (SELECT 1 FROM (SELECT 1 AS pg_sleep) AS unnest) AS x FROM unnest(ARRAY[0.1::float8])",
	"SELECT generate_series.regclass, (SELECT 1 FROM (SELECT 1 AS regclass) generate_series) FROM generate_series(1, 3)",
	`SELECT "coalesce".pg_read_file, (SELECT 1 FROM (SELECT 1 AS pg_read_file) "coalesce") FROM coalesce('PG_VERSION'::text)`,
	"SELECT int4.regclass, (SELECT 1 FROM (SELECT 1 AS regclass) int4) FROM CAST(1260 AS int4)",
	"SELECT xmltable.leak, (SELECT 1 FROM (SELECT 1 AS leak) xmltable) FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS x text PATH '.')",
	"SELECT o.leak, (SELECT 1 FROM (SELECT 1 AS leak) o) FROM orders o",
	"SELECT x.leak FROM (SELECT o.* FROM orders o) x, (SELECT 1 AS leak) o",
	"SELECT (SELECT x.leak FROM (SELECT o.*) x) FROM orders o WHERE EXISTS (SELECT 1 FROM (SELECT 1 AS leak) o)",
	"WITH d AS (SELECT 1 FROM (SELECT 1 AS leak) o) SELECT x.leak FROM orders o, LATERAL (SELECT o.*) x",
	"WITH RECURSIVE r AS (SELECT * FROM r) SELECT r.leak FROM r, orders",
}

// TestS26Decoys looks whether a name elsewhere vouches for one that is called.
func TestS26Decoys(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop, "CREATE FUNCTION leakrec(record) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN (SELECT max(token) FROM secrets); END'")
	s := open(t, db, sqltool.Options{AllowedTables: []string{"orders", "customers"}})
	w := open(t, db, sqltool.Options{AllowedTables: []string{"orders", "customers"}, AllowWrites: true})
	for _, sql := range decoys {
		if got := s.Query(sql); !strings.Contains(got, "not allowed") {
			t.Errorf("%s: %s", sql, got)
		}
	}
	for _, sql := range []string{
		"INSERT INTO customers(id) SELECT unnest.lo_create::text::int FROM unnest(ARRAY[777777::oid]) WHERE EXISTS (SELECT 1 FROM (SELECT 1 AS lo_create) AS unnest)",
		"WITH d AS (SELECT 1 FROM (SELECT 1 AS leakrec) o) UPDATE customers SET name = (SELECT x.leakrec FROM (SELECT o.*) x) FROM orders o RETURNING name",
		"UPDATE customers SET name = 'x' WHERE EXISTS (SELECT 1 FROM (SELECT 1 AS leak) old) RETURNING old.leak",
		"UPDATE orders SET note = 'x' WHERE EXISTS (SELECT 1 FROM (SELECT 1 AS leak) new) RETURNING new.leak",
	} {
		if got := w.Query(sql); !strings.Contains(got, "not allowed") {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// TestS19Reach writes where it reaches tables that are not on the list.
func TestS19Reach(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", `
		CREATE TABLE cust (id int PRIMARY KEY); CREATE VIEW cust_view AS SELECT * FROM cust; CREATE TABLE refs (id int REFERENCES cust ON DELETE CASCADE ON UPDATE CASCADE);
		CREATE TABLE inh (id int); CREATE TABLE inh_child (PRIMARY KEY (id)) INHERITS (inh); CREATE TABLE inh_ref (id int REFERENCES inh_child ON DELETE CASCADE);
		CREATE TABLE top (id int PRIMARY KEY); CREATE TABLE middle (id int PRIMARY KEY, t int REFERENCES top ON DELETE CASCADE); CREATE TABLE low (m int REFERENCES middle ON DELETE SET NULL);
		CREATE TABLE part (id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (9); CREATE TABLE part_ref (id int REFERENCES part_1 ON DELETE CASCADE);
		CREATE TABLE fine (id int PRIMARY KEY); CREATE TABLE fine_ref (id int REFERENCES fine ON DELETE CASCADE); CREATE TABLE looks (id int REFERENCES fine)`)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"cust", "cust_view", "inh", "top", "middle", "part", "fine", "fine_ref"}, AllowWrites: true})
	for sql, fine := range map[string]bool{
		"DELETE FROM cust": false, "DELETE FROM cust_view": false, "UPDATE cust_view SET id = 7": false, "DELETE FROM inh": false, "DELETE FROM top": false, "DELETE FROM part": false,
		"MERGE INTO top USING (SELECT 1 AS one) x ON top.id = x.one WHEN MATCHED THEN DELETE": false, "WITH x AS (DELETE FROM top RETURNING id) SELECT * FROM x": false,
		"DELETE FROM fine": true, "UPDATE top SET id = id": true, "INSERT INTO cust VALUES (9)": true, "INSERT INTO cust_view VALUES (10)": true,
		"INSERT INTO cust VALUES (9) ON CONFLICT DO NOTHING": true, "INSERT INTO cust VALUES (9) ON CONFLICT (id) DO UPDATE SET id = 8": false,
	} {
		if got := s.Query(sql); strings.Contains(got, "not allowed") == fine {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// TestS25Types has names of what there is come in through columns, and types made of types.
func TestS25Types(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop, `
		CREATE VIEW names AS SELECT tableoid::regclass AS tab, id FROM orders; CREATE TABLE roles (who regrole[]); CREATE TABLE clean (id int, m mood);
		CREATE DOMAIN d1 AS regclass; CREATE DOMAIN d2 AS d1; CREATE TYPE c1 AS (a d1); CREATE TYPE c2 AS (a c1); CREATE TABLE of_c2 (c c2);
		CREATE FUNCTION named() RETURNS d2 LANGUAGE sql AS 'SELECT 1259::oid::regclass::d2'`)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"names", "roles", "of_c2", "clean", "orders"}, AllowedFunctions: []string{"named"}})
	for _, sql := range []string{
		"SELECT array_append(array_agg(tab), 1260::oid) FROM names", "SELECT id FROM names", "SELECT * FROM roles", "SELECT * FROM of_c2", "SELECT 1::oid::d2", "SELECT 'secrets'::d2", "SELECT '(secrets)'::c1",
		`SELECT '("(secrets)")'::c2`, "SELECT null::d2[]", "SELECT 'hidden.cfg'::regconfig", "SELECT null::hidden.t", "SELECT null::hidden.nothere", "SELECT * FROM hidden.nothere", "SELECT d2(1::oid)", "SELECT (1::oid).d2",
	} {
		if got := s.Query(sql); !strings.Contains(got, "allowed") {
			t.Errorf("%s: %s", sql, got)
		}
	}
	for _, sql := range []string{"SELECT id, m FROM clean", "SELECT 'sad'::mood", "SELECT orders FROM orders"} {
		if got := s.Query(sql); !strings.HasPrefix(got, `{"columns"`) {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// TestS25Hidden has functions that no name shows: of operators, casts, and the order of a
// type. They count where their types are.
func TestS25Hidden(t *testing.T) {
	t.Parallel()
	leak := "LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN (SELECT ascii(max(token)) FROM secrets); END'"
	db := database(t, "template1", shop, `
		CREATE TYPE addr AS (a text); CREATE TYPE level AS ENUM ('low', 'high');
		CREATE TABLE plain (id int, m mood, note text); CREATE TABLE withaddr (id int, x addr); CREATE TABLE leveled (l level); CREATE TABLE harmless (id int, note text);
		INSERT INTO plain VALUES (1, 'sad', 'a'); INSERT INTO harmless VALUES (1, 'a');
		CREATE FUNCTION m2i(mood) RETURNS int `+leak+`; CREATE CAST (mood AS int) WITH FUNCTION m2i(mood) AS IMPLICIT;
		CREATE FUNCTION a2t(addr) RETURNS text LANGUAGE sql AS 'SELECT ''x'''; CREATE CAST (addr AS text) WITH FUNCTION a2t(addr) AS ASSIGNMENT;
		CREATE FUNCTION lt(level, level) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END'; CREATE OPERATOR public.< (LEFTARG = level, RIGHTARG = level, FUNCTION = lt);
		CREATE OPERATOR public.### (RIGHTARG = text, FUNCTION = pg_catalog.to_regclass)`)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"plain", "withaddr", "leveled", "harmless"}})
	for _, sql := range []string{
		"SELECT m + 1 FROM plain", "SELECT abs(m) FROM plain", "SELECT ARRAY[m]::_int4 FROM plain", "SELECT 'sad'::mood + 1", "SELECT x || 'a' FROM withaddr", "SELECT l FROM leveled WHERE l NOT BETWEEN 'low' AND 'high'",
		"SELECT ### 'secrets'", "SELECT 1 OPERATOR(public.###) 1", "SELECT OPERATOR(public.###) 'x'",
	} {
		if got := s.Query(sql); !strings.Contains(got, "not allowed") {
			t.Errorf("%s: %s", sql, got)
		}
	}
	for _, sql := range []string{"SELECT id + 1, note::text, '5'::int FROM harmless WHERE id < 5 AND id NOT BETWEEN 7 AND 9", "SELECT id::int FROM harmless WHERE note = 'a' AND (id, note) IN ((1, 'a'))", "SELECT l FROM leveled"} {
		if got := s.Query(sql); !strings.HasPrefix(got, `{"columns"`) {
			t.Errorf("%s: %s", sql, got)
		}
	}
	more := open(t, db, sqltool.Options{AllowedTables: []string{"plain", "leveled"}, AllowedFunctions: []string{"m2i", "lt"}})
	for _, sql := range []string{"SELECT m + 1 FROM plain", "SELECT l FROM leveled WHERE l < 'high'"} {
		if got := more.Query(sql); !strings.HasPrefix(got, `{"columns"`) {
			t.Errorf("%s: %s", sql, got)
		}
	}
	execute(t, admin(t, db), `CREATE FUNCTION cmp(level, level) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 0; END';
		CREATE OPERATOR public.= (LEFTARG = level, RIGHTARG = level, FUNCTION = lt); CREATE OPERATOR public.> (LEFTARG = level, RIGHTARG = level, FUNCTION = lt);
		CREATE OPERATOR public.<= (LEFTARG = level, RIGHTARG = level, FUNCTION = lt); CREATE OPERATOR public.>= (LEFTARG = level, RIGHTARG = level, FUNCTION = lt);
		CREATE OPERATOR CLASS level_ops DEFAULT FOR TYPE level USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 cmp(level, level)`)
	if got := s.Query("SELECT l FROM leveled ORDER BY l"); !strings.Contains(got, "the order of level calls a function of the database's own, which is not allowed") {
		t.Errorf("%s", got)
	}
}

// TestS17Time has texts that are short, and of which the guard has much to do.
func TestS17Time(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "template1", shop), sqltool.Options{AllowedTables: []string{"orders"}})
	repeat := strings.Repeat
	var chain strings.Builder
	for i := range 800 {
		fmt.Fprintf(&chain, ", a%d AS (SELECT * FROM a%d, a%d b)", i+1, i, i)
	}
	for name, sql := range map[string]string{
		"stars": "WITH c AS (SELECT * FROM " + repeat("(SELECT 1) b,", 200) + "(SELECT 1 z) y) SELECT " + repeat("a.z,", 1200) + "1 FROM " + strings.TrimSuffix(repeat("c a,", 1200), ","),
		"attrs": "SELECT " + repeat("o.abs,", 10_000) + "1 FROM orders o", "calls": "SELECT " + repeat("abs(1),", 9000) + "1", "tables": "SELECT 1 FROM " + repeat("orders,", 9000) + "orders",
		"recursive": "WITH RECURSIVE r AS (SELECT * FROM " + repeat("r,", 5000) + "r) SELECT r.leak FROM r",
		"chain":     "WITH a0 AS (SELECT 1 AS x)" + chain.String() + " SELECT a800.leak FROM a800",
	} {
		begin := time.Now()
		s.CallTool("check_query", map[string]any{"sql": sql})
		if took := time.Since(begin); took > 5*time.Second*sqltest.Slow {
			t.Errorf("%s: took %s", name, took)
		}
	}
}

// TestS38Deaf has a statement that the server can't stop: no more begin than there may be
// connections, and calls are told so, until the server has ended it.
func TestS38Deaf(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "template1", shop), sqltool.Options{AllowedTables: []string{"orders"}, MaxConns: 1, Timeout: time.Second})
	told := ""
	for size := 1000; size < 3000 && told == ""; size += 400 { // how long it takes is the machine's business
		got := s.Query("SELECT xpath('count(//*[count(//*[count(//*)>0])>0])', ('<a>' || repeat('<b/>', " + strconv.Itoa(size) + ") || '</a>')::xml)")
		for begin := time.Now(); strings.HasPrefix(got, "retry query: stopped after 1s") && told == "" && time.Since(begin) < 4*time.Second; {
			if got := s.Query("SELECT 1 AS one"); got != one {
				told = got
			}
		}
	}
	if told != "retry query: statements that were to stop still work in the server: nothing was changed; send it again" {
		t.Errorf("%q", told)
	}
	until(t, "the server still works", func() bool { return s.Query("SELECT 1 AS one") == one })
}

// TestS40Words has errors whose words are the rows'.
func TestS40Words(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop, `
		CREATE TABLE trg (id int); CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'row % and tok1', new.id USING ERRCODE = '42000', HINT = 'tok1'; END$$;
		CREATE TRIGGER shout BEFORE INSERT ON trg FOR EACH ROW EXECUTE FUNCTION shout();
		UPDATE orders SET note = 'tok1 tok1'; CREATE VIEW few AS SELECT note FROM orders WHERE id > 100`)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"trg", "orders", "few"}, AllowWrites: true})
	for _, sql := range []string{
		"SELECT to_tsquery(note) FROM orders", "SELECT note::tsquery FROM orders", "SELECT note::jsonpath FROM orders", "SELECT to_ascii(note, note) FROM orders", "SELECT note::int FROM orders", "INSERT INTO trg VALUES (1)",
		"SELECT note::json FROM orders", "SELECT note::date FROM orders", "INSERT INTO trg SELECT note::int FROM orders", "UPDATE orders SET total = note::numeric", "SELECT regexp_replace('a', note || '(', 'b') FROM orders",
	} {
		if got := s.Query(sql); !strings.HasPrefix(got, "retry query: ") || strings.Contains(got, "tok1") {
			t.Errorf("%s: %s", sql, got)
		}
	}
	latin := "latin_" + db
	server := admin(t, "")
	execute(t, server, "CREATE DATABASE "+latin+" TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")
	t.Cleanup(func() { execute(t, admin(t, ""), "DROP DATABASE "+latin+" WITH (FORCE)") })
	if got := open(t, latin, sqltool.Options{AllTables: true}).Query("SELECT 1"); !strings.Contains(got, "the database's encoding is LATIN1: want UTF8") {
		t.Errorf("%s", got)
	}
}

// TestS19Plans has plans that show what a statement doesn't name.
func TestS19Plans(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop, `
		CREATE TABLE rls (id int); ALTER TABLE rls ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON rls USING (id IN (SELECT id FROM secrets WHERE token LIKE 'tok%'));
		CREATE FUNCTION inlined() RETURNS TABLE (token text) LANGUAGE sql STABLE AS 'SELECT token FROM secrets'`)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"rls", "orders", "big", "leak_view"}, AllowedFunctions: []string{"inlined"}})
	for sql, fine := range map[string]bool{
		"EXPLAIN SELECT * FROM rls": false, "EXPLAIN SELECT * FROM inlined()": false, "EXPLAIN SELECT * FROM leak_view": false,
		"EXPLAIN SELECT * FROM big": true, "EXPLAIN SELECT upper(note) FROM orders": true, "SELECT * FROM inlined()": true,
	} {
		if got := s.Query(sql); strings.HasPrefix(got, `{"columns"`) != fine {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// TestS4Letters has names that differ from an entry in letters that some fold.
func TestS4Letters(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", `CREATE TABLE orders (id int); CREATE TABLE "orderſ" (a text); CREATE TABLE "Ünder" (id int)`)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"orders", `"Ünder"`}})
	for sql, fine := range map[string]bool{`SELECT * FROM "orderſ"`: false, `SELECT * FROM "Ünder"`: true, "SELECT * FROM ORDERS": true, `SELECT * FROM "Ünder" AS "ü"`: true} {
		if got := s.Query(sql); strings.HasPrefix(got, `{"columns"`) != fine {
			t.Errorf("%s: %s", sql, got)
		}
	}
}
