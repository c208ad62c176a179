package sqlstore_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	sqlite "github.com/ncruces/go-sqlite3/driver"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/internal/testserver"
	"github.com/toolgen/toolgen/runtime/runtimetest"
	"github.com/toolgen/toolgen/runtime/wrap/sqlstore"
)

// A database is a kind of them, and how to get an empty one.
type database struct {
	store func(*sql.DB) runtime.JournalStore
	open  func(tb testing.TB) func() *sql.DB // opens the same one each time
}

var databases = map[string]database{
	"SQLite":     {sqlstore.SQLite, openSQLite},
	"PostgreSQL": {sqlstore.PostgreSQL, openPostgres},
	"MySQL":      {sqlstore.MySQL, openMySQL},
}

func connect(tb testing.TB, driver, dsn string) *sql.DB {
	tb.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if n := db.Stats().InUse; n != 0 {
			tb.Errorf("%d connections are in use", n)
		}
		_ = db.Close()
	})
	return db
}

func execute(tb testing.TB, db *sql.DB, statement string, args ...any) {
	tb.Helper()
	if _, err := db.ExecContext(context.Background(), statement, args...); err != nil {
		tb.Fatal(err)
	}
}

func openSQLite(tb testing.TB) func() *sql.DB {
	tb.Helper()
	dsn := "file:" + filepath.Join(tb.TempDir(), "journal.db") + "?_pragma=busy_timeout(10000)&_pragma=synchronous(off)"
	return func() *sql.DB { return connect(tb, "sqlite3", dsn) }
}

func openPostgres(tb testing.TB) func() *sql.DB {
	tb.Helper()
	dsn, schema := testserver.PostgreSQL(tb), "journal_"+strings.ToLower(rand.Text())
	admin := connect(tb, "pgx", dsn)
	execute(tb, admin, "CREATE SCHEMA "+schema)
	tb.Cleanup(func() { execute(tb, admin, "DROP SCHEMA "+schema+" CASCADE") })
	return func() *sql.DB {
		return connect(tb, "pgx", dsn+"&synchronous_commit=off&default_transaction_isolation=serializable&search_path="+schema)
	}
}

func openMySQL(tb testing.TB) func() *sql.DB {
	tb.Helper()
	dsn, name := testserver.MySQL(tb), "journal_"+strings.ToLower(rand.Text())
	admin := connect(tb, "mysql", dsn)
	execute(tb, admin, "CREATE DATABASE "+name)
	tb.Cleanup(func() { execute(tb, admin, "DROP DATABASE "+name) })
	return func() *sql.DB {
		return connect(tb, "mysql", dsn+name+"?clientFoundRows=true&tx_isolation='SERIALIZABLE'&sql_mode=''")
	}
}

func each(t *testing.T, test func(t *testing.T, d database)) {
	t.Helper()
	t.Parallel()
	for name, d := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, d)
		})
	}
}

func TestR34SQLStore(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		t.Helper()
		open := d.open(t)
		runtimetest.JournalStore(t, func() runtime.JournalStore { return d.store(open()) })
	})
}

// TestR34SQLNames has runs whose names databases would cut, fold or refuse: each is
// another run.
func TestR34SQLNames(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		t.Helper()
		s := d.store(d.open(t)())
		runs := []string{"", " ", "a", "A", "a ", "á", "a\x00", "\xff", strings.Repeat("x", 190), strings.Repeat("x", 191), strings.Repeat("x", 192), "sha256:a", "ß", "ss"}
		for _, run := range runs {
			if kept, err := s.Put(t.Context(), run, "k", []byte(run)); err != nil || !kept {
				t.Errorf("run %q: %v, %v", run, kept, err)
			}
			if err := s.Lease(t.Context(), run, "owner of "+strings.ToValidUTF8(strings.ReplaceAll(run, "\x00", ""), ""), time.Minute); err != nil {
				t.Errorf("run %q: %v", run, err)
			}
		}
		for _, run := range runs {
			if got, ok, err := s.Get(t.Context(), run, "k"); err != nil || !ok || string(got) != run {
				t.Errorf("run %q has %q, %v, %v", run, got, ok, err)
			}
		}
		for _, key := range []string{"", "a b", "é", "a\x00", strings.Repeat("k", 191)} {
			if _, err := s.Put(t.Context(), "a", key, nil); err == nil {
				t.Errorf("key %q is taken", key)
			}
		}
	})
}

// TestR34SQLRecords keeps records as they are: empty, of any bytes, of 16 MiB less what
// MariaDB's packet needs besides.
func TestR34SQLRecords(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		t.Helper()
		open := d.open(t)
		s := d.store(open())
		large := []byte(strings.Repeat("\x00'\\\xff", 4<<20-1<<10))
		for key, want := range map[string][]byte{"nil": nil, "empty": {}, "bytes": {0, 255, '\'', '\\'}, "large": large} {
			if kept, err := s.Put(t.Context(), "r", key, want); err != nil || !kept {
				t.Fatalf("%s: %v, %v", key, kept, err)
			}
			if got, ok, err := d.store(open()).Get(t.Context(), "r", key); err != nil || !ok || !slices.Equal(got, want) {
				t.Errorf("%s: %d bytes, %v, %v; want %d", key, len(got), ok, err, len(want))
			}
		}
	})
}

// TestR34SQLLeaseRunsOut gives a run whose lease has run out to who comes first; who
// had it learns that when it gives its next sign of life.
func TestR34SQLLeaseRunsOut(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		t.Helper()
		db := d.open(t)()
		s := d.store(db)
		if err := s.Lease(t.Context(), "r", "ann", time.Minute); err != nil {
			t.Fatal(err)
		}
		execute(t, db, "UPDATE toolgen_lease SET expires = expires - 61")
		if err := s.Lease(t.Context(), "r", "ann", time.Minute); err != nil {
			t.Errorf("ann comes late, and nobody else came: %v", err)
		}
		execute(t, db, "UPDATE toolgen_lease SET expires = expires - 61")
		if err := s.Lease(t.Context(), "r", "bob", time.Minute); err != nil {
			t.Errorf("bob: %v", err)
		}
		err := s.Lease(t.Context(), "r", "ann", time.Minute)
		if held, ok := errors.AsType[*runtime.RunHeldError](err); !ok || held.Owner != "bob" {
			t.Errorf("ann, once bob has it: %v", err)
		}
		if err := s.Lease(t.Context(), "r", "ann", 0); err != nil {
			t.Errorf("ann gives back what isn't hers any more: %v", err)
		}
		if err := s.Lease(t.Context(), "r", "cid", time.Minute); err == nil {
			t.Error("bob's lease was given back by ann")
		}
		if err := s.Lease(t.Context(), "long", "ann", math.MaxInt64); err != nil {
			t.Errorf("the longest lease: %v", err)
		}
		if err := s.Lease(t.Context(), "long", "bob", time.Minute); err == nil {
			t.Error("the longest lease is none")
		}
	})
}

// TestR34SQLNoRights keeps a journal with a user who may make no tables, once somebody
// has made them; without them the error says so.
func TestR34SQLNoRights(t *testing.T) {
	t.Parallel()
	open := openPostgres(t)
	db, owner := open(), open()
	db.SetMaxOpenConns(1)
	execute(t, db, "SET default_transaction_read_only = on")
	if _, err := sqlstore.PostgreSQL(db).List(t.Context(), "r"); err == nil || !strings.Contains(err.Error(), "the journal's tables can't be made") {
		t.Errorf("%v", err)
	}
	execute(t, owner, sqlstore.PostgreSQLSchema)
	if keys, err := sqlstore.PostgreSQL(db).List(t.Context(), "r"); err != nil || len(keys) != 0 {
		t.Errorf("%v, %v", keys, err)
	}
}

// TestR34SQLDurable has the database itself say how a record is committed.
func TestR34SQLDurable(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)()
	execute(t, db, sqlstore.PostgreSQLSchema)
	execute(t, db, `CREATE FUNCTION says() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.record = convert_to(current_setting('synchronous_commit'), 'UTF8'); RETURN NEW; END $$`)
	execute(t, db, `CREATE TRIGGER says BEFORE INSERT ON toolgen_journal FOR EACH ROW EXECUTE FUNCTION says()`)
	for setting, want := range map[string]string{"off": "on", "local": "local", "remote_apply": "remote_apply"} {
		db.SetMaxOpenConns(1)
		execute(t, db, "SET synchronous_commit = "+setting)
		s := sqlstore.PostgreSQL(db)
		if _, err := s.Put(t.Context(), "r", setting, nil); err != nil {
			t.Fatal(err)
		}
		if got, _, err := s.Get(t.Context(), "r", setting); err != nil || string(got) != want {
			t.Errorf("%s: committed with %q, %v; want %q", setting, got, err, want)
		}
		var after string
		if err := db.QueryRowContext(t.Context(), "SHOW synchronous_commit").Scan(&after); err != nil || after != setting {
			t.Errorf("the connection's setting is %q afterwards, %v; want %q", after, err, setting)
		}
	}
}

// TestR34SQLiteWaits has a connection that waits for nobody keep a record while another
// writes: it waits, and its settings are as before.
func TestR34SQLiteWaits(t *testing.T) {
	t.Parallel()
	open := openSQLite(t)
	db, other := open(), open()
	db.SetMaxOpenConns(1)
	execute(t, db, sqlstore.SQLiteSchema)
	execute(t, db, "PRAGMA busy_timeout = 0")
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "DELETE FROM toolgen_lease"); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = tx.Commit() })
	if kept, err := sqlstore.SQLite(db).Put(t.Context(), "r", "k", nil); err != nil || !kept {
		t.Errorf("%v, %v", kept, err)
	}
	for _, setting := range []string{"busy_timeout", "synchronous"} {
		var now int
		if err := db.QueryRowContext(t.Context(), "PRAGMA "+setting).Scan(&now); err != nil || now != 0 {
			t.Errorf("%s is %d afterwards, %v", setting, now, err)
		}
	}
}

func TestR34SQLMemory(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{":memory:", "file:x?mode=memory", ""} {
		_, err := sqlstore.SQLite(connect(t, "sqlite3", dsn)).List(t.Context(), "r")
		if err == nil || !strings.Contains(err.Error(), "open a database that is a file") {
			t.Errorf("%q: %v", dsn, err)
		}
	}
}

// TestR34SQLLostConfirmation loses the confirmation of a commit, as a connection does
// that breaks: who has written, and who has not, is read back.
func TestR34SQLLostConfirmation(t *testing.T) {
	t.Parallel()
	var lose atomic.Bool
	path := filepath.Join(t.TempDir(), "journal.db")
	db := sql.OpenDB(lossy{"file:" + path, &lose})
	t.Cleanup(func() { _ = db.Close() })
	s := sqlstore.SQLite(db)
	if _, err := s.Put(t.Context(), "r", "taken", []byte("other")); err != nil {
		t.Fatal(err)
	}
	lose.Store(true)
	if kept, err := s.Put(t.Context(), "r", "mine", []byte("1")); err != nil || !kept {
		t.Errorf("a record that is there: %v, %v", kept, err)
	}
	if kept, err := s.Put(t.Context(), "r", "taken", []byte("1")); err == nil || kept {
		t.Errorf("a record of another's, and an error: %v, %v", kept, err)
	}
	if err := s.Lease(t.Context(), "r", "ann", time.Minute); err != nil {
		t.Errorf("a lease that is there: %v", err)
	}
	if err := s.Lease(t.Context(), "r", "bob", time.Minute); err == nil {
		t.Error("a lease that is another's is no error")
	}
}

// lossy is a driver whose commits end in an error while lose is set, though they are
// made.
type lossy struct {
	dsn  string
	lose *atomic.Bool
}

func (l lossy) Driver() driver.Driver { return &sqlite.SQLite{} }

func (l lossy) Connect(context.Context) (driver.Conn, error) {
	conn, err := l.Driver().Open(l.dsn)
	return lossyConn{conn, l.lose}, err
}

type lossyConn struct {
	driver.Conn

	lose *atomic.Bool
}

func (c lossyConn) Begin() (driver.Tx, error) {
	tx, err := c.Conn.Begin() //nolint:staticcheck // the least that a driver has
	return lossyTx{tx, c.lose}, err
}

type lossyTx struct {
	driver.Tx

	lose *atomic.Bool
}

func (t lossyTx) Commit() error {
	err := t.Tx.Commit()
	if t.lose.Load() {
		return io.ErrUnexpectedEOF
	}
	return err
}
