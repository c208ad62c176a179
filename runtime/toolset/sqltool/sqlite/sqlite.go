// Package sqlite is the dialect of SQLite, the embedded database. It links no C.
//
//	tools, err := sqltool.New(sqlite.Dialect, connection.Named(resolver, "shop"), sqltool.Options{AllowedTables: []string{"orders"}})
//
// The connection's host is the path of the file, as in Airflow; the schema is taken where
// there is no host, so that sqlite:///var/lib/shop.db is a file too. A file that isn't
// there is an error: none is made.
//
// # The guard
//
// SQLite itself decides, twice. Each statement is prepared under an authorizer that allows
// what is known and denies all else, at every prepare, those included that SQLite makes on
// its own when the schema has changed. But SQLite doesn't ask its authorizer about
// everything: not about the columns of USING and NATURAL, and of a table that is only
// counted it doesn't say by which name. So the program that SQLite makes of the statement
// is read too: it says which tables are opened. One that is not on the list may be opened
// only below a view on the list that the statement names, or, by a write, for a trigger or
// a foreign key; and none may be opened whose name stands in the statement where a table
// does. Last, the statement is prepared in an empty database that has only what may be
// used, views as tables: what else it may name is not found there.
//
// Below the guard the file is opened read-only (mode=ro and query_only), with no other
// file to attach, and schemas that aren't trusted. With AllowWrites a second handle
// writes, one transaction a call.
//
// # Time
//
// SQLite looks whether it should stop between its operations, not within one. Functions
// that take long on a long text, LIKE, GLOB, instr, trim and replace, are replaced by some
// that are linear or look too. A call that is in another long one, such as printing a text
// of 16 MiB, ends late: within seconds, not at once.
//
// A program whose first line of main is worker.Main(sqlite.Worker) has its files open in
// child processes: what doesn't end two seconds after its time, or crashes, is killed, and
// the next call has another one. Results are at most 32 MiB then.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ncruces/go-sqlite3"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// Dialect is SQLite.
var Dialect sqltool.Dialect = dialect{}

type dialect struct{}

// Name implements [sqltool.Dialect].
func (dialect) Name() string { return "SQLite" }

// quotes are what SQLite takes around a name.
var quotes = []string{`""`, "``", "[]"}

// lexis is how SQLite writes.
var lexis = sqltool.Lexis{Quotes: quotes, Variables: true}

// mainSchema is the only one that there is.
const mainSchema = "main"

// Check implements [sqltool.Dialect].
func (dialect) Check(o *sqltool.Options) error {
	var errs []error
	if o.Schema != "" && !strings.EqualFold(o.Schema, mainSchema) {
		errs = append(errs, fmt.Errorf("Schema is %q: there is only main", o.Schema))
	}
	for _, entry := range o.AllowedTables {
		if _, err := parse(entry); err != nil {
			errs = append(errs, fmt.Errorf("AllowedTables: %w", err))
		}
	}
	for _, name := range o.AllowedFunctions {
		if n, err := sqltool.ParseName(name, quotes...); err != nil || len(n) != 1 {
			errs = append(errs, fmt.Errorf("AllowedFunctions: %q is no name of one part", name))
		}
	}
	return errors.Join(errs...)
}

// parse reads the name of a relation: its own, or main and it.
func parse(text string) (sqltool.Part, error) {
	name, err := sqltool.ParseName(text, quotes...)
	switch {
	case err != nil:
		return sqltool.Part{}, err
	case len(name) == 2 && strings.EqualFold(name[0].Text, mainSchema):
		return name[1], nil
	case len(name) != 1:
		return sqltool.Part{}, fmt.Errorf("%q: want a table, or main and a table", text)
	}
	return name[0], nil
}

// Open implements [sqltool.Dialect].
func (dialect) Open(ctx context.Context, s connection.Source, o sqltool.Options) (sqltool.Engine, error) {
	c, err := s.Connection(ctx)
	if err != nil {
		return nil, err
	}
	path := c.Host
	if path == "" {
		path = c.Schema
	}
	if path == "" || path == ":memory:" {
		return nil, errors.New("the connection has no file: its host is the path of one")
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", path)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if linked() {
		return openRemote(ctx, path, o)
	}
	e, err := openHere(ctx, path, o)
	if err != nil {
		return nil, err
	}
	warn(ctx, e.missing())
	return e, nil
}

// missing are the entries of the list that there is nothing of.
func (e *engine) missing() (entries []string) {
	for _, entry := range e.options.AllowedTables {
		part, err := parse(entry)
		there := false
		for _, r := range e.policy.all {
			there = there || err == nil && part.Matches(r.name)
		}
		if !there {
			entries = append(entries, entry)
		}
	}
	return entries
}

// openHere opens a file in this process.
func openHere(ctx context.Context, path string, o sqltool.Options) (*engine, error) {
	e := &engine{path: path, options: o, slots: make(chan struct{}, o.MaxConns)}
	r, err := e.acquire(ctx, false)
	if err != nil {
		return nil, err
	}
	defer e.release(r)
	_, err = e.policyOf(r)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// engine is one file.
type engine struct {
	path    string
	options sqltool.Options
	slots   chan struct{} // one a connection that is in use
	shadow  shadow

	mu     sync.Mutex
	idle   []*conn
	closed bool
	policy *policy // of the newest schema that was seen
}

// The limits of a connection.
const (
	maxLength    = 16 << 20  // bytes of a text, a blob or a row
	maxHeap      = 256 << 20 // bytes of memory, of all that SQLite does
	maxSQL       = 64 << 10
	busyPatience = 2000 // ms
)

// conn is a connection with the authorizer of what it does at the time.
type conn struct {
	db     *sqlite3.Conn
	writes bool
	check  *check // nil: what it does is our own
	broken bool   // it has panicked, and is not used again
	file   os.FileInfo

	version *sqlite3.Stmt // asks for the number of the schema
}

// acquire waits for a connection, for reading or for writing.
func (e *engine) acquire(ctx context.Context, writes bool) (*conn, error) {
	select {
	case e.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	file, err := os.Stat(e.path)
	if err != nil {
		<-e.slots
		return nil, err
	}
	if c := e.idleOf(file, writes); c != nil {
		return c, nil
	}
	c, err := open(ctx, e.path, writes)
	if err != nil {
		<-e.slots
		return nil, err
	}
	c.file = file
	return c, nil
}

// idleOf takes one that is idle, and closes those of a file that is another one now.
func (e *engine) idleOf(file os.FileInfo, writes bool) *conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	var found *conn
	var rest []*conn
	for _, c := range e.idle {
		switch {
		case !os.SameFile(c.file, file):
			_ = c.close() // nobody uses it any more
		case found == nil && c.writes == writes:
			found = c
		default:
			rest = append(rest, c)
		}
	}
	e.idle = rest
	return found
}

// release gives a connection back, or closes one that is of no use any more.
func (e *engine) release(c *conn) {
	defer func() { <-e.slots }()
	if c.broken {
		c.abandon()
		return
	}
	c.check = nil
	c.db.SetInterrupt(context.Background())
	usable := c.db.GetAutocommit()
	e.mu.Lock()
	if usable && !e.closed {
		e.idle = append(e.idle, c)
		c = nil
	}
	e.mu.Unlock()
	if c != nil {
		_ = c.close() // rolls back
	}
}

// abandon closes a connection that has panicked, if that can be done: its memory is Go's,
// and goes with it.
func (c *conn) abandon() {
	defer func() { _ = recover() }()
	_ = c.close() // it may panic again
}

// Close implements [sqltool.Engine].
func (e *engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	errs := []error{e.shadow.close()}
	for _, c := range e.idle {
		errs = append(errs, c.close())
	}
	e.idle = nil
	return errors.Join(errs...)
}

// open opens the file as a statement of a model may see it.
func open(ctx context.Context, path string, writes bool) (*conn, error) {
	mode, flags, pragmas := "ro", sqlite3.OPEN_READONLY, "PRAGMA query_only = 1;"
	if writes {
		mode, flags, pragmas = "rw", sqlite3.OPEN_READWRITE, "PRAGMA foreign_keys = 1;"
	}
	db, err := sqlite3.OpenFlags((&url.URL{Scheme: "file", Path: path, RawQuery: "mode=" + mode}).String(), flags|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	c := &conn{db: db, writes: writes}
	if err := c.restrict(ctx, pragmas); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *conn) close() error {
	if c.version != nil {
		_ = c.version.Close() // it says what its last use said
	}
	return c.db.Close()
}

func (c *conn) restrict(ctx context.Context, pragmas string) error {
	c.db.SetInterrupt(ctx)
	defer c.db.SetInterrupt(context.Background()) //nolint:contextcheck // what comes later sets its own
	// The tables that are functions are made by their first use, which is one of writing.
	first := "SELECT 1 FROM json_each('[]'), json_tree('[]'), generate_series(1, 1)"
	if err := c.db.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d; PRAGMA trusted_schema = 0; %s; %s", busyPatience, first, pragmas)); err != nil {
		return err
	}
	if set, err := c.db.Config(sqlite3.DBCONFIG_DEFENSIVE, true); err != nil || !set {
		return errors.Join(err, errors.New("SQLite can't be made defensive"))
	}
	c.db.Limit(sqlite3.LIMIT_ATTACHED, 0)
	c.db.Limit(sqlite3.LIMIT_LENGTH, maxLength)
	c.db.HardHeapLimit(maxHeap)
	c.db.Limit(sqlite3.LIMIT_SQL_LENGTH, maxSQL)
	if err := replaceFunctions(c.db); err != nil {
		return err
	}
	if err := c.db.SetAuthorizer(c.authorize); err != nil {
		return err
	}
	var err error
	c.version, _, err = c.db.Prepare("PRAGMA schema_version")
	return err
}

// schemaVersion is a number that changes with the schema.
func (c *conn) schemaVersion() (int64, error) {
	defer c.unguarded()()
	var n int64
	if c.version.Step() {
		n = c.version.ColumnInt64(0)
	}
	return n, c.version.Reset()
}

// authorize asks the check of the statement that is prepared.
func (c *conn) authorize(action sqlite3.AuthorizerActionCode, name, detail, schema, inner string) sqlite3.AuthorizerReturnCode {
	if c.check == nil || c.check.allows(action, name, detail, schema, inner) {
		return sqlite3.AUTH_OK
	}
	return sqlite3.AUTH_DENY
}

// unguarded lifts the check for a statement of ours, and returns what puts it back.
func (c *conn) unguarded() (restore func()) {
	check := c.check
	c.check = nil
	return func() { c.check = check }
}

// own runs a query of ours, without the guard, and gives its rows to a function.
func (c *conn) own(sql string, args []string, row func(s *sqlite3.Stmt)) error {
	defer c.unguarded()()
	s, _, err := c.db.Prepare(sql)
	if err != nil {
		return err
	}
	for i, arg := range args {
		if err := s.BindText(i+1, arg); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	for s.Step() {
		row(s)
	}
	return errors.Join(s.Err(), s.Close())
}
