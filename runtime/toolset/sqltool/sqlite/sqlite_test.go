package sqlite_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/internal/sqltest"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/sqlite"
)

// database makes a file and runs statements in it.
func database(tb testing.TB, statements ...string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "test.db")
	db, err := sqlite3.Open("file:" + path)
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range statements {
		if err := db.Exec(s); err != nil {
			tb.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

func open(tb testing.TB, path string, o sqltool.Options) *sqltest.Session {
	tb.Helper()
	return sqltest.Open(tb, sqlite.Dialect, connection.Connection{ID: "db", Type: "sqlite", Host: path}, o)
}

func setup(tb testing.TB) string {
	tb.Helper()
	return sqltest.Setup(tb, "sql_corpus_setup_sqlite.sql")
}

// dump is all that there is in a file.
func dump(tb testing.TB, path string) string {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// TestS42Corpus runs every line: what is to be allowed runs, or fails by the engine's own
// word; what is to be rejected is refused. Nothing that is read-only changes a byte of the
// file, and no file appears beside it.
func TestS42Corpus(t *testing.T) {
	t.Parallel()
	for _, l := range sqltest.Lines(t, "sqlite.jsonl") {
		t.Run(l.ID, func(t *testing.T) {
			t.Parallel()
			path := database(t, setup(t))
			before := dump(t, path)
			o := sqltool.Options{AllowedTables: l.AllowedTables, AllTables: l.AllowedTables == nil, AllowWrites: l.AllowWrites, Timeout: 2 * time.Second}
			s := open(t, path, o)
			got := s.Query(l.SQL)
			rejected := strings.HasPrefix(got, "retry ") && (strings.Contains(got, "not allowed") || strings.Contains(got, "may only be read") || strings.Contains(got, "one statement") ||
				strings.Contains(got, "is empty") || strings.Contains(got, "NUL") || strings.Contains(got, "only statements that") || strings.Contains(got, "WITH may not define") || strings.Contains(got, "there is no table") || strings.Contains(got, "syntax error") ||
				strings.Contains(got, "no such function") || strings.Contains(got, "unrecognized token") || strings.Contains(got, "circular reference"))
			if tolerable := strings.Contains(l.Why, "tolerable") || strings.Contains(l.Why, "may reject"); rejected != (l.Want == "reject") && !tolerable {
				t.Errorf("%s: %s\nwant %s, got %s", l.SQL, l.Why, l.Want, got)
			}
			if strings.HasPrefix(got, "fatal") {
				t.Errorf("%s: %s", l.SQL, got)
			}
			if strings.Contains(got, "tok1") {
				t.Errorf("%s shows a row of secrets: %s", l.SQL, got)
			}
			if !l.AllowWrites && dump(t, path) != before {
				t.Errorf("%s has changed the file", l.SQL)
			}
			if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
				t.Errorf("%s: files %v, %v", l.SQL, entries, err)
			}
			if next := s.Query("SELECT 1 AS one"); next != `{"columns":["one"],"rows":[[1]],"row_count":1}` {
				t.Errorf("the next query: %s", next)
			}
		})
	}
	for _, evil := range []string{"/var/tmp/evil.db", "/var/tmp/copy.db"} {
		if _, err := os.Stat(evil); err == nil {
			t.Errorf("%s is there", evil)
		}
	}
}

// TestS43LayerTwo runs what is to be rejected on a connection that is opened as ours are,
// without the guard, and pins what the engine itself doesn't stop: it reads what it may
// not, but changes nothing.
func TestS43LayerTwo(t *testing.T) {
	t.Parallel()
	var passes []string
	for _, l := range sqltest.Lines(t, "sqlite.jsonl") {
		if l.Want != "reject" || l.AllowWrites {
			continue
		}
		path := database(t, setup(t))
		before := dump(t, path)
		if err := sqlite.RunUnguarded(path, l.SQL); err == nil {
			passes = append(passes, l.ID)
		}
		if dump(t, path) != before {
			t.Errorf("%s: %s has changed the file", l.ID, l.SQL)
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
			t.Errorf("%s: %s: files %v", l.ID, l.SQL, entries)
		}
	}
	want, err := os.ReadFile("testdata/unguarded.golden")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(passes)
	if got := strings.Join(passes, "\n") + "\n"; got != string(want) {
		t.Errorf("what the engine itself lets pass is now\n%s", got)
	}
}
