package postgres_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/internal/sqltest"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/postgres"
)

// active are the statements of the toolset, with a text in them, that a server works on in a
// database.
func active(tb testing.TB, c *pgx.Conn, database, text string) (n int) {
	tb.Helper()
	if err := c.QueryRow(context.Background(), "SELECT count(*) FROM pg_stat_activity WHERE datname = '"+database+"' AND application_name = 'toolgen' AND state <> 'idle' AND strpos(query, '"+text+"') > 0").Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

// until waits until a condition holds, for as long as two seconds of the product allow,
// and some more for a machine that is busy.
func until(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	const patience = time.Minute
	for end := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("%s: not within %s", what, patience)
		}
	}
}

const endless = "SELECT count(*) FROM generate_series(1, 1000000000000) g"

// TestS38Time has statements that run for hours: each ends in the server too, and the next
// one, on the only connection, works.
func TestS38Time(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop)
	watch := admin(t, "")
	s := open(t, db, sqltool.Options{AllowedTables: []string{"orders"}, Timeout: time.Second, MaxConns: 1, AllowWrites: true, AllowedFunctions: []string{"pg_sleep"}})
	for name, sql := range map[string]string{
		"scan":   endless,
		"regexp": "SELECT count(*) FROM orders WHERE repeat('a', 30) || id ~ '((a+)+)+$'",
		"cross":  "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b, generate_series(1, 10000) c",
		"sleep":  "SELECT pg_sleep(3600)",
		"cte":    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
		"write":  "UPDATE orders SET note = 'x' WHERE (SELECT count(*) FROM generate_series(1, 1000000000000)) > 1",
	} {
		got := s.Query(sql)
		if name == "regexp" && strings.HasPrefix(got, `{"columns"`) {
			continue // this version is quick at it
		}
		if got != "retry query: stopped after 1s: filter on an indexed column, aggregate or add LIMIT" {
			t.Errorf("%s: %s", name, got)
		}
		until(t, name+" goes on in the server", func() bool { return active(t, watch, db, "") == 0 })
		if got := s.Query("SELECT note FROM orders WHERE id = 1"); !strings.Contains(got, `[["small"]]`) {
			t.Errorf("after %s: %s", name, got)
		}
	}
}

// TestS38Cancel cancels calls: the server ends their work within two seconds, and the
// connection is used on.
func TestS38Cancel(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop)
	watch := admin(t, "")
	s := open(t, db, sqltool.Options{AllowedTables: []string{"orders"}, MaxConns: 1})
	s.Query("SELECT 1 AS one")
	for range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan string)
		go func() { done <- s.CallWithin(ctx, "query", map[string]any{"sql": endless}) }()
		until(t, "the statement begins", func() bool { return active(t, watch, db, "FETCH") == 1 })
		cancel()
		begin := time.Now()
		until(t, "the statement goes on in the server", func() bool { return active(t, watch, db, "") == 0 })
		if took := time.Since(begin); took > 2*time.Second*sqltest.Slow {
			t.Errorf("the server worked on for %s", took)
		}
		if got := <-done; !strings.Contains(got, "context canceled") && !strings.Contains(got, "cancel") {
			t.Errorf("%s", got)
		}
		if got := s.Query("SELECT 1 AS one"); got != one {
			t.Errorf("%s", got)
		}
	}
}

// TestS38Bounded reads some of many rows, each of which takes the server time: it makes no
// more of them.
func TestS38Bounded(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", "CREATE TABLE many AS SELECT g AS id, repeat('x', 1000) AS note FROM generate_series(1, 20000) g",
		"CREATE SEQUENCE made; CREATE FUNCTION note_it(text) RETURNS text LANGUAGE sql VOLATILE AS 'SELECT nextval(''made'')::text || $1'")
	s := open(t, db, sqltool.Options{AllTables: true, AllowWrites: true, AllowedFunctions: []string{"note_it", "nextval"}, MaxConns: 1})
	r := open(t, db, sqltool.Options{AllTables: true, MaxConns: 1, MaxRows: 10_000})
	if got := r.Query("SELECT id, note FROM many"); !strings.Contains(got, `"truncated_by":"max_result_bytes"`) {
		t.Errorf("%.200s", got)
	}
	if got := r.Query("SELECT 1 AS one"); got != one {
		t.Errorf("%s", got)
	}
	if got := r.Query("SELECT repeat('x', 20000), id, (SELECT count(*) FROM generate_series(1, 1000000 * (id / 4))) FROM many"); !strings.Contains(got, `"row_count":3`) {
		t.Errorf("rows that are made slowly: %.200s", got[max(0, len(got)-200):])
	}
	wide := open(t, db, sqltool.Options{AllTables: true, MaxConns: 1, MaxRows: 3000, MaxResultBytes: 2 << 20})
	if got := wide.Query("SELECT id, repeat('x', 100 * g) FROM many, generate_series(1, 100000000) g"); !strings.Contains(got, `"truncated_by":"max_r`) {
		t.Errorf("%.200s", got)
	}
	if got := wide.Query("SELECT 1 AS one"); got != one {
		t.Errorf("%s", got)
	}
	if got := wide.Query("SELECT g FROM generate_series(1, 3000) g"); !strings.Contains(got, `"row_count":3000}`) {
		t.Errorf("%s", got[max(0, len(got)-200):])
	}
	if got := s.Query("SELECT id FROM many"); !strings.Contains(got, `"row_count":50,"truncated":true,"truncated_by":"max_rows"`) {
		t.Errorf("%.200s", got)
	}
}

// terminate ends the server's side of the toolset's connections to a database.
func terminate(tb testing.TB, c *pgx.Conn, database string) {
	tb.Helper()
	execute(tb, c, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+database+"' AND application_name = 'toolgen'")
}

// TestS39Lost has connections ended while they are idle, and while they work: an idle one
// isn't noticed, and a statement that has shown nothing runs again.
func TestS39Lost(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop)
	watch := admin(t, "")
	s := open(t, db, sqltool.Options{AllowedTables: []string{"orders"}, MaxConns: 3, AllowWrites: true})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { s.Query("SELECT count(*) FROM generate_series(1, 100000)") })
	}
	wg.Wait()
	for range 5 {
		terminate(t, watch, db)
		if got := s.Query("SELECT count(*) FROM orders"); !strings.Contains(got, "[[3]]") {
			t.Errorf("after idle connections were ended: %s", got)
		}
	}
	done := make(chan string)
	go func() { done <- s.Query("SELECT count(*) FROM generate_series(1, 30000000) g") }()
	until(t, "the statement begins", func() bool { return active(t, watch, db, "FETCH") == 1 })
	terminate(t, watch, db)
	if got := <-done; !strings.Contains(got, "[[30000000]]") {
		t.Errorf("a read whose connection was ended: %s", got)
	}
	go func() {
		done <- s.Query("UPDATE orders SET note = 'x' WHERE (SELECT count(*) FROM generate_series(1, 1000000000)) > 1")
	}()
	until(t, "the write begins", func() bool { return active(t, watch, db, "UPDATE") == 1 })
	terminate(t, watch, db)
	if got := <-done; !strings.HasPrefix(got, "fatal") || !strings.Contains(got, "the database can't be reached") {
		t.Errorf("a write whose connection was ended: %s", got)
	}
	if got := s.Query("SELECT note FROM orders WHERE id = 1"); !strings.Contains(got, `[["small"]]`) {
		t.Errorf("%s", got)
	}
}

// TestS47Parallel calls by many at once, of which some fail, and looks for what is left:
// connections, transactions, locks, settings, goroutines.
func TestS47Parallel(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", shop)
	watch := admin(t, db)
	s := open(t, db, sqltool.Options{AllowedTables: []string{"orders"}, MaxConns: 4, AllowWrites: true, AllowedFunctions: []string{"set_config", "pg_advisory_lock", "current_setting"}})
	statements := map[string]string{
		"SELECT count(*) FROM orders": "[[3]]",
		"SELECT 1/0":                  "divided by zero",
		"SELECT * FROM secrets":       "not allowed",
		"SELEC":                       "syntax error",
		"UPDATE orders SET note = note WHERE id = 1":         `"rows_affected":1`,
		"SELECT set_config('search_path', 'evil', false)":    "evil",
		"SELECT pg_advisory_lock(7)":                         `[[""]]`,
		"SELECT set_config('statement_timeout', '0', false)": "0",
	}
	var wg sync.WaitGroup
	for range 13 {
		for sql, want := range statements {
			wg.Go(func() {
				if got := s.Query(sql); !strings.Contains(got, want) && !strings.Contains(got, "lock is held") {
					t.Errorf("%s: %s", sql, got)
				}
			})
		}
	}
	wg.Wait()
	for setting, want := range map[string]string{"search_path": `pg_catalog, \"public\", pg_temp`, "transaction_read_only": "on", "lock_timeout": "2s"} {
		for range 8 {
			if got := s.Query("SELECT current_setting('" + setting + "')"); !strings.Contains(got, `[["`+want+`"]]`) {
				t.Errorf("%s: %s", setting, got)
			}
		}
	}
	var left int
	if err := watch.QueryRow(context.Background(), "SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) + (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'toolgen' AND state <> 'idle')").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d locks and transactions are left, %v", left, err)
	}
	if got := s.Query("SELECT note FROM orders WHERE id = 1"); !strings.Contains(got, `[["small"]]`) {
		t.Errorf("%s", got)
	}
}

// TestS47Roles has a login that owns the tables, and one that may read one of them: the
// server's word is final, and no word for the model.
func TestS47Roles(t *testing.T) {
	t.Parallel()
	role := fmt.Sprintf("reader_%d", databases.Add(1))
	server := admin(t, "")
	execute(t, server, "CREATE ROLE "+role+" LOGIN PASSWORD 'x'")
	t.Cleanup(func() { execute(t, admin(t, ""), "DROP ROLE "+role) })
	db := database(t, "template1", shop, "GRANT SELECT ON orders, big TO "+role)
	c := conn(t, db)
	c.Login = role
	s := sqltest.Open(t, postgres.Dialect, c, sqltool.Options{AllowedTables: []string{"orders", "secrets", "big", "leak_view"}, AllowWrites: true})
	for sql, want := range map[string]string{
		"SELECT count(*) FROM orders":              "[[3]]",
		"SELECT id FROM big WHERE id = 2":          "[[2]]",
		"SELECT * FROM secrets":                    "failed query: the database denies it to this login; repeating is no use",
		"SELECT * FROM leak_view":                  "failed query: the database denies it",
		"UPDATE orders SET note = 'x'":             "failed query: the database denies it",
		"SELECT count(*) FROM orders WHERE id > 1": "[[2]]",
	} {
		if got := s.Query(sql); !strings.Contains(got, want) {
			t.Errorf("%s: %s", sql, got)
		}
	}
	if got := s.CallTool("list_tables", nil); !strings.Contains(got, `"name":"orders"`) {
		t.Errorf("%s", got)
	}
	c.Login = "nobody_such"
	if got := sqltest.Open(t, postgres.Dialect, c, sqltool.Options{AllTables: true}).Query("SELECT 1"); !strings.HasPrefix(got, "fatal") {
		t.Errorf("%s", got)
	}
}

// TestS39Goroutines opens and closes toolsets: nothing of them is left.
func TestS39Goroutines(t *testing.T) { //nolint:paralleltest // it counts what there is in the process
	db := database(t, "template1", shop)
	round := func(t *testing.T) { //nolint:thelper // it is a test of its own
		s := open(t, db, sqltool.Options{AllowedTables: []string{"orders"}, MaxConns: 2})
		if got := s.Query("SELECT count(*) FROM orders"); !strings.Contains(got, "[[3]]") {
			t.Error(got)
		}
	}
	t.Run("first", round)
	before := goruntime.NumGoroutine()
	for range 20 {
		t.Run("again", round)
	}
	until(t, "goroutines are left", func() bool { return goruntime.NumGoroutine() <= before+1 })
}
