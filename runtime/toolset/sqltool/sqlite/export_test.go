package sqlite

import (
	"context"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// RunUnguarded runs a text as the engine would without its guard.
func RunUnguarded(path, sql string) error { return run(path, sql, false) }

// RunWriting runs a text on a handle that writes, without the guard.
func RunWriting(path, sql string) error { return run(path, sql, true) }

func run(path, sql string, writes bool) error {
	c, err := open(context.Background(), path, writes)
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }()
	return c.db.Exec(sql)
}

// Plainly returns the values of a row as SQLite itself, with its own functions, has them.
func Plainly(tb testing.TB, path, sql string) (values []string) {
	tb.Helper()
	db, err := sqlite3.Open("file:" + path + "?mode=ro")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	s, _, err := db.Prepare(sql)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if !s.Step() {
		tb.Fatal(s.Err())
	}
	for i := range s.ColumnCount() {
		if s.ColumnType(i) == sqlite3.NULL {
			values = append(values, "<nil>")
		} else {
			values = append(values, s.ColumnText(i))
		}
	}
	return values
}

// Shadowed asks the shadow alone about a statement.
func Shadowed(tb testing.TB, path string, o sqltool.Options, sql string) error {
	tb.Helper()
	o.MaxConns = 1
	e, err := openHere(context.Background(), path, o)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	c, err := e.acquire(context.Background(), o.AllowWrites)
	if err != nil {
		tb.Fatal(err)
	}
	defer e.release(c)
	p, err := e.policyOf(c)
	if err != nil {
		tb.Fatal(err)
	}
	return e.shadow.verify(context.Background(), c, p, &e.options, sql, plain(sql, lexis.Tokens(sql)))
}
