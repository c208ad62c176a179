package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// ReservedSQL is the query of the types that name what there is.
var ReservedSQL = reservedSQL

// TreeText is what a statement may have in it.
var TreeText = treeText

// IsBuiltIn is the rule of functions.txt.
func IsBuiltIn(name string, steady, clean bool) bool { return isBuiltIn(name, steady, clean) }

// KeepParser starts the parser, waits for it, and keeps it.
func KeepParser() error {
	parsers.open()
	_, err := parsers.parse(context.Background(), "SELECT 1")
	return err
}

// Parse parses a text without any check before it.
func Parse(sql string) error {
	_, err := parsers.parse(context.Background(), sql)
	return err
}

// ParseHere parses a text in this process, and then forgets that it was broken.
func ParseHere(sql string) (broken bool, err error) {
	var p pool
	_, err = p.inProcess(sql)
	return p.broken.Load(), err
}

// An Open engine runs texts as its calls do, without the guard.
type Open struct{ engine *engine }

// OpenEngine opens an engine for a test.
func OpenEngine(tb testing.TB, c connection.Connection, o sqltool.Options) *Open {
	tb.Helper()
	o.MaxConns, o.MaxRows, o.Timeout = 1, 50, 2*time.Second
	if o.Schema == "" {
		o.Schema = "public"
	}
	e, err := Dialect.Open(context.Background(), connection.Direct(c), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = e.Close() })
	of, ok := e.(*engine)
	if !ok {
		tb.Fatal("another engine")
	}
	return &Open{of}
}

// Run runs a text in a session of a call's, behind the first query.
func (o *Open) Run(sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	s, err := o.engine.begin(ctx, false)
	if err != nil {
		return err
	}
	defer s.end(ctx)
	if _, err := s.resolve(ctx, &found{}); err != nil {
		return err
	}
	_, err = s.conn.ExecParams(ctx, sql, nil, nil, nil, nil).Close()
	return err
}

// Locked runs a text that passes the guard, and returns the relations of the verdict and
// those, of this database's own, that the server has locked for it.
func (o *Open) Locked(sql string) (verdict, locked []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	passed, err := o.engine.Guard(ctx, sql)
	if err != nil {
		return nil, nil, err
	}
	s, _ := passed.(*statement)
	defer func() { _ = s.Close() }()
	if _, err := s.session.conn.ExecParams(ctx, "DECLARE toolgen NO SCROLL CURSOR FOR "+sql, nil, nil, nil, nil).Close(); err != nil {
		return nil, nil, err
	}
	result := s.session.conn.ExecParams(ctx, `SELECT c.oid::regclass::text FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
		WHERE l.pid = pg_backend_pid() AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.oid >= 16384`, nil, nil, nil, nil).Read()
	for _, row := range result.Rows {
		locked = append(locked, string(row[0]))
	}
	return s.verdict.Relations, locked, result.Err
}

// Check is what the guard does before it asks the catalogue.
func Check(sql string) error {
	if refusal := checkText(sql); refusal != nil {
		return refusal
	}
	tree, err := parsers.parse(context.Background(), sql)
	if err != nil {
		return err
	}
	_, err = read(tree, &sqltool.Options{AllTables: true})
	return err
}
