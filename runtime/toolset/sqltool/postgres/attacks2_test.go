package postgres_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/internal/sqltest"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/postgres"
)

// behind makes types that functions of the database's own are behind.
const behind = `
	CREATE FUNCTION okzip(text) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN EXISTS (SELECT FROM secrets WHERE token LIKE $1); END';
	CREATE DOMAIN zip AS text CHECK (okzip(VALUE)); CREATE TABLE addr (id int, z zip); CREATE TYPE wrap AS (s zip); CREATE DOMAIN plainly AS text CHECK (VALUE ~ 'a' AND length(VALUE) < 9);
	CREATE FUNCTION calm(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT $1 <> ''$$; CREATE DOMAIN calmed AS text CHECK (calm(VALUE)); CREATE TABLE calm_table (c calmed); INSERT INTO calm_table VALUES ('a');
	CREATE TYPE lvl AS ENUM ('a', 'b'); CREATE FUNCTION lvl2i(lvl) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN (SELECT ascii(max(token)) FROM secrets); END';
	CREATE CAST (lvl AS int) WITH FUNCTION lvl2i(lvl) AS IMPLICIT; CREATE FUNCTION lvls() RETURNS TABLE (n int, l lvl) LANGUAGE sql AS 'SELECT 1, ''a''::lvl';
	CREATE TYPE mt AS (a int); CREATE FUNCTION tomt(int) RETURNS mt LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN ROW(1)::mt; END'; CREATE CAST (int AS mt) WITH FUNCTION tomt(int) AS IMPLICIT;
	CREATE FUNCTION takes(mt) RETURNS int LANGUAGE sql AS 'SELECT ($1).a';
	CREATE FUNCTION tcmp(text, text) RETURNS int LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER AS 'BEGIN RAISE EXCEPTION ''called''; END';
	CREATE OPERATOR public.<<<! (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_catalog.text_lt);
	CREATE OPERATOR CLASS tops FOR TYPE text USING btree AS OPERATOR 1 <<<!, FUNCTION 1 tcmp(text, text); CREATE TYPE trange AS RANGE (SUBTYPE = text, SUBTYPE_OPCLASS = tops);
	CREATE FUNCTION jeq(json, json) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1::text = $2::text'; CREATE OPERATOR public.= (LEFTARG = json, RIGHTARG = json, FUNCTION = jeq);
	CREATE TABLE docs (id int, j json);
	CREATE TABLE ruled (id int); CREATE RULE r AS ON UPDATE TO ruled DO INSTEAD UPDATE secrets SET token = 'gone' RETURNING ascii(token);
	CREATE VIEW ov AS SELECT id, note FROM orders; CREATE TABLE log_secret (t text); CREATE RULE ovi AS ON INSERT TO ov DO INSTEAD INSERT INTO log_secret VALUES (new.note);
	CREATE FUNCTION xmax(record) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN 1; END';
	CREATE FUNCTION age(int) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE FUNCTION total(int) RETURNS int LANGUAGE sql AS 'SELECT 1'`

// TestS25Behind has functions that are behind types: of domains, ranges, classes of
// operators, and of types that only functions bring.
func TestS25Behind(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop, behind)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"orders", "addr", "docs", "customers", "calm_table", "ov"}, AllowedFunctions: []string{"lvls", "takes"}})
	for _, sql := range []string{
		"SELECT 'tok%'::zip", "SELECT zip('tok%')", "SELECT ('tok%'::text).zip", `SELECT json_populate_record(null::addr, '{"z":"nope"}')`, "SELECT '(x)'::wrap", "SELECT ARRAY['a']::zip[]",
		"SELECT x FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS x zip PATH '.') t", `SELECT * FROM jsonb_to_record('{"x":"a"}') AS j(x zip)`, "SELECT * FROM addr", "SELECT 'a'::calmed",
		"SELECT l + 1 FROM lvls()", "SELECT x.l + 1 FROM lvls() x", "SELECT takes(5)", "SELECT (note, note) OPERATOR(public.<<<!) (note, 'a') FROM orders", "SELECT '[a,b]'::trange",
		"SELECT 1 FROM docs WHERE id = 1", `SELECT json_build_object('a', 1) = json_build_object('a', 1)`, "SELECT '{}'::json = '{}'", "SELECT JSON_OBJECT('a': 1) = '{}'", "SELECT x.xmax FROM (SELECT * FROM orders) x",
	} {
		if got := s.Query(sql); !strings.Contains(got, "not allowed") && !strings.Contains(got, "syntax error") {
			t.Errorf("%s: %s", sql, got)
		}
	}
	for _, sql := range []string{
		"SELECT id FROM orders WHERE id = 1 AND id IN (1, 2)", "SELECT CASE id WHEN 1 THEN 'a' END FROM orders", "SELECT 'abc'::plainly", "SELECT c FROM calm_table", "SELECT age(now(), at) FROM orders",
		"SELECT o.status FROM (SELECT note AS status FROM orders) o, generate_series(1, 2)", "SELECT o.total FROM orders o CROSS JOIN unnest(ARRAY[1])", "EXPLAIN SELECT o.total, lower(o.note) FROM orders o",
		"WITH s AS (SELECT o.total::numeric FROM orders o) SELECT s.total FROM s", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) FROM orders", "SELECT o.note, generate_series.generate_series FROM orders o, generate_series(1, 2)",
	} {
		if got := s.Query(sql); !strings.HasPrefix(got, `{"columns"`) {
			t.Errorf("%s: %s", sql, got)
		}
	}
	w := open(t, db, sqltool.Options{AllowedTables: []string{"ruled", "ov", "orders", "leak_view"}, AllowWrites: true})
	for _, sql := range []string{"UPDATE ruled SET id = 1 RETURNING id", "INSERT INTO ov VALUES (99, 'x')", "SELECT token FROM leak_view FOR UPDATE", "WITH x AS (SELECT * FROM leak_view FOR SHARE) SELECT 1 FROM x"} {
		if got := w.Query(sql); !strings.Contains(got, "not allowed") {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// TestS40Policies has row policies that read each other, which the server says with a name.
func TestS40Policies(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop, `
		CREATE TABLE rec (id int); CREATE TABLE hid_a (id int); CREATE TABLE hid_b (id int);
		ALTER TABLE rec ENABLE ROW LEVEL SECURITY; ALTER TABLE hid_a ENABLE ROW LEVEL SECURITY; ALTER TABLE hid_b ENABLE ROW LEVEL SECURITY;
		CREATE POLICY p ON rec USING (EXISTS (SELECT FROM hid_a)); CREATE POLICY p ON hid_a USING (EXISTS (SELECT FROM hid_b)); CREATE POLICY p ON hid_b USING (EXISTS (SELECT FROM hid_a))`)
	role := "viewer_" + db
	server := admin(t, "")
	execute(t, server, "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() { execute(t, admin(t, ""), "DROP ROLE "+role) })
	own := admin(t, db)
	execute(t, own, "GRANT SELECT ON rec, hid_a, hid_b TO "+role)
	t.Cleanup(func() { revoke(t, own, role) })
	c := conn(t, db)
	c.Login = role
	s := sqltest.Open(t, postgres.Dialect, c, sqltool.Options{AllowedTables: []string{"rec"}})
	if got := s.Query("SELECT * FROM rec"); !strings.HasPrefix(got, "retry query: the server can't run this") || strings.Contains(got, "hid") {
		t.Errorf("%s", got)
	}
}

// revoke takes from a role what it has in a database.
func revoke(tb testing.TB, c *pgx.Conn, role string) {
	tb.Helper()
	if _, err := c.Exec(context.Background(), "DROP OWNED BY "+role); err != nil {
		tb.Error(err)
	}
}
