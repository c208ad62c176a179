package postgres_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/internal/testserver"
	"github.com/toolgen/toolgen/runtime/secret"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/internal/sqltest"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/postgres"
	"github.com/toolgen/toolgen/runtime/worker"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) {
	worker.Main(postgres.Worker)
	flag.Parse()
	if err := postgres.KeepParser(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// admin is a connection that may do everything, to a database of the server; "": its own.
func admin(tb testing.TB, database string) *pgx.Conn {
	tb.Helper()
	config, err := pgx.ParseConfig(testserver.PostgreSQL(tb))
	if err != nil {
		tb.Fatal(err)
	}
	if database != "" {
		config.Database = database
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	c, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func execute(tb testing.TB, c *pgx.Conn, statements ...string) {
	tb.Helper()
	for _, sql := range statements {
		if _, err := c.Exec(context.Background(), sql); err != nil {
			tb.Fatalf("%.80s: %v", sql, err)
		}
	}
}

var databases atomic.Int64

// database makes a database of a template, and runs statements in it. It is dropped with
// the test.
func database(tb testing.TB, template string, statements ...string) string {
	tb.Helper()
	name := fmt.Sprintf("t%d_%d", os.Getpid(), databases.Add(1))
	server := admin(tb, "")
	execute(tb, server, "CREATE DATABASE "+name+" TEMPLATE "+template)
	if len(statements) > 0 {
		c := admin(tb, name)
		execute(tb, c, statements...)
		_ = c.Close(context.Background())
	}
	tb.Cleanup(func() { execute(tb, admin(tb, ""), "DROP DATABASE "+name+" WITH (FORCE)") })
	return name
}

// corpusTemplate is a database with what the corpus needs, to make others of.
func corpusTemplate(tb testing.TB) string {
	tb.Helper()
	testserver.PostgreSQL(tb)
	corpusOnce.Do(func() {
		name := "corpus_" + strconv.Itoa(os.Getpid())
		execute(tb, admin(tb, ""), "CREATE DATABASE "+name)
		c := admin(tb, name)
		execute(tb, c, sqltest.Setup(tb, "sql_corpus_setup_postgres.sql"))
		_ = c.Close(context.Background())
		corpusName = name
	})
	return corpusName
}

var (
	corpusOnce sync.Once
	corpusName string
)

// conn is a connection of a toolset's.
func conn(tb testing.TB, database string) connection.Connection {
	tb.Helper()
	u, err := url.Parse(testserver.PostgreSQL(tb))
	if err != nil {
		tb.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		tb.Fatal(err)
	}
	c := connection.Connection{ID: "db", Type: "postgres", Host: u.Hostname(), Port: port, Login: u.User.Username(), Schema: database, Extra: map[string]any{"sslmode": "disable"}}
	if password, ok := u.User.Password(); ok {
		c.Password = secret.New(password)
	}
	return c
}

func open(tb testing.TB, database string, o sqltool.Options) *sqltest.Session {
	tb.Helper()
	return sqltest.Open(tb, postgres.Dialect, conn(tb, database), o)
}

// classOf is what check_query says of a statement; "": it is valid.
func classOf(s *sqltest.Session, sql string) string {
	got := s.CallTool("check_query", map[string]any{"sql": sql})
	var checked struct {
		Valid bool
		Class string
	}
	if err := json.Unmarshal([]byte(got), &checked); err != nil {
		return got
	}
	return checked.Class
}

// refusing are the classes of what the guard doesn't let pass.
var refusing = []string{"refused", "syntax", "unknown_table", "unknown_function"}

const one = `{"columns":["one"],"rows":[[1]],"row_count":1}`

// TestS42Corpus runs every line: what is to be allowed runs, or fails by the server's own
// word; what is to be rejected is refused. What only reads changes nothing.
func TestS42Corpus(t *testing.T) { //nolint:tparallel // what one line does is looked for in a database of all
	t.Parallel()
	template := corpusTemplate(t)
	shared := database(t, template)
	watch := admin(t, shared)
	before := state(t, watch)
	for _, l := range sqltest.Lines(t, "postgres.jsonl") {
		t.Run(l.ID, func(t *testing.T) {
			db := shared
			if l.AllowWrites {
				db = database(t, template)
			}
			l.SQL = strings.ReplaceAll(l.SQL, " postgres.public.", " "+db+".public.") // the corpus's database
			s := open(t, db, sqltool.Options{AllowedTables: l.AllowedTables, AllTables: l.AllowedTables == nil, AllowWrites: l.AllowWrites, Timeout: 2 * time.Second})
			got := s.Query(l.SQL)
			class := classOf(s, l.SQL)
			tolerable := strings.Contains(l.Why, "tolerable") || strings.Contains(l.Why, "may reject") || strings.Contains(l.Why, "engine's error is shown")
			if slices.Contains(refusing, class) != (l.Want == "reject") {
				t.Logf("%s: %s\nwant %s, got %s: %s", l.SQL, l.Why, l.Want, class, got)
				if !tolerable {
					t.Fail()
				}
			}
			if strings.HasPrefix(got, "fatal") || strings.Contains(got, "tok1") {
				t.Errorf("%s: %s", l.SQL, got)
			}
			if next := s.Query("SELECT 1 AS one"); next != one {
				t.Errorf("the next query: %s", next)
			}
			if l.AllowWrites {
				return
			}
			if after := state(t, watch); after != before {
				t.Fatalf("%s has changed the database:\n%s\n%s", l.SQL, before, after)
			}
		})
	}
}

// state is all of a database that a statement could change: what there is in it, rows,
// settings, sequences, large objects, and locks and cursors that are left.
func state(tb testing.TB, c *pgx.Conn) string {
	tb.Helper()
	var all string
	err := c.QueryRow(context.Background(), `SELECT concat_ws(E'\n',
		(SELECT md5(string_agg(format('%s %s %s %s', oid, relname, relkind, relnatts), ' ' ORDER BY oid)) FROM pg_class WHERE oid >= 16384),
		(SELECT md5(string_agg(oid::text || proname, ' ' ORDER BY oid)) FROM pg_proc WHERE oid >= 16384),
		(SELECT md5(string_agg(oid::text || typname, ' ' ORDER BY oid)) FROM pg_type WHERE oid >= 16384),
		(SELECT count(*) FROM pg_collation), (SELECT count(*) FROM pg_extension), (SELECT count(*) FROM pg_roles), (SELECT count(*) FROM pg_namespace),
		(SELECT md5(string_agg(nspname || coalesce(nspacl::text, ''), ' ' ORDER BY oid)) FROM pg_namespace WHERE nspname NOT LIKE 'pg_temp%' AND nspname NOT LIKE 'pg_toast_temp%'),
		(SELECT md5(string_agg(o::text, ' ' ORDER BY id)) FROM orders o), (SELECT md5(string_agg(c::text, ' ')) FROM customers c),
		(SELECT md5(string_agg(s::text, ' ')) FROM secrets s), (SELECT count(*) FROM update_log), (SELECT count(*) FROM evil.orders),
		(SELECT last_value || ' ' || is_called FROM orders_id_seq), (SELECT count(*) FROM pg_largeobject_metadata),
		(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())), (SELECT count(*) FROM pg_prepared_xacts), (SELECT count(*) FROM pg_replication_slots),
		(SELECT md5(string_agg(name || setting, ' ' ORDER BY name)) FROM pg_settings WHERE source <> 'client' AND source <> 'session'),
		(SELECT md5(string_agg(setdatabase || ' ' || setrole || setconfig::text, ' ')) FROM pg_db_role_setting))`).Scan(&all)
	if err != nil {
		tb.Fatal(err)
	}
	return all
}
