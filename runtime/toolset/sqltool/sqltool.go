// Package sqltool gives a model one database: it looks which tables there are, reads
// their columns, asks questions, and checks a statement before it runs it. What it may
// touch is a list; all else is refused, by the engine's own grammar and by the engine
// itself.
//
//	tools, err := sqltool.New(sqlite.Dialect, connection.Named(resolver, "shop"), sqltool.Options{
//		AllowedTables: []string{"orders", "customers"},
//	})
//
// The four tools are list_tables, get_schema, query and check_query. A dialect is a
// package: sqltool/sqlite, sqltool/postgres.
//
// # The guard
//
// A statement runs if everything in it is known and allowed: the kind of statement, each
// relation on the list, each function on a list that is reviewed. A relation is what the
// engine resolves a name to, not the text of the name. What the guard can't read exactly
// it refuses. Under it the engine is opened read-only, so that what the guard should ever
// let pass still changes nothing. Both are no substitute for a login that may read no
// more than the model should.
//
// Without AllowWrites nothing can be written. With it, INSERT, UPDATE and DELETE on
// listed tables are allowed, each call a transaction of its own, and never a change of
// what tables there are.
//
// # Results
//
// At most 50 rows and 64 KiB are shown, cut at a row, with a hint of what to ask
// instead. Integers beyond 2^53 and decimals are strings, bytes are {"base64":"…"}. A
// call ends after 30 seconds, and its work in the database with it. For some of what can't
// be stopped from within a dialect has a child process: worker.Main is to be the first
// line of main, with the Worker of each dialect.
//
// # Errors
//
// What a model can mend is a message that it can act on: what is wrong in the statement,
// which names come near, what is allowed. A lost connection ends the run, and the host
// reads a [ConnectionError].
package sqltool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/schema"
	"github.com/toolgen/toolgen/runtime/tabular"
)

// Options say what a model may do. The zero value of each but the list of tables is its
// default.
type Options struct {
	// AllowedTables are the relations that may be used, each of one to three parts in the
	// dialect's quoting: orders, sales.orders, "Order Items". A part without quotes
	// matches in any case. None is an error, unless AllTables says so.
	AllowedTables []string
	AllTables     bool

	// AllowedFunctions are functions beyond the built-in list.
	AllowedFunctions []string

	Schema      string // of names without one; "": the dialect's default
	AllowWrites bool   // of rows of allowed tables; never of what tables there are

	MaxRows        int           // shown of a result; 0: 50
	MaxResultBytes int           // of a result; 0: 65,536
	PageSize       int           // tables or columns on a page; 0: 200
	Timeout        time.Duration // of a call, the wait for a connection included, at most 10 minutes; 0: 30 seconds
	MaxConns       int           // 0: 4
	Prefix         string        // of the names of the tools
}

// The defaults, and the longest timeout.
const (
	DefaultPageSize = 200
	DefaultTimeout  = 30 * time.Second
	DefaultMaxConns = 4

	maxTimeout = 10 * time.Minute
	maxPage    = 10_000
	maxConns   = 1_000
)

// check names each option that is wrong, and fills in the defaults.
func (o *Options) check() error {
	var wrong []string
	say := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	say(len(o.AllowedTables) == 0 && !o.AllTables, "AllowedTables is empty: list the tables, or say AllTables")
	say(len(o.AllowedTables) > 0 && o.AllTables, "AllowedTables and AllTables: say one of them")
	say(o.MaxRows < 0, "MaxRows is %d", o.MaxRows)
	say(o.MaxResultBytes < 0, "MaxResultBytes is %d", o.MaxResultBytes)
	say(o.PageSize < 0 || o.PageSize > maxPage, "PageSize is %d, want at most %d", o.PageSize, maxPage)
	say(o.Timeout < 0 || o.Timeout > maxTimeout, "Timeout is %s, want at most %s", o.Timeout, maxTimeout)
	say(o.MaxConns < 0 || o.MaxConns > maxConns, "MaxConns is %d, want at most %d", o.MaxConns, maxConns)
	for _, name := range []string{"list_tables", "check_query"} {
		say(!schema.ValidName(o.Prefix+name), "Prefix %q makes no name of a tool", o.Prefix)
		if len(wrong) > 0 {
			break
		}
	}
	if len(wrong) > 0 {
		return errors.New("sqltool: " + strings.Join(wrong, "; "))
	}
	setDefault(&o.MaxRows, tabular.DefaultMaxRows)
	setDefault(&o.MaxResultBytes, tabular.DefaultMaxResultBytes)
	setDefault(&o.PageSize, DefaultPageSize)
	setDefault(&o.Timeout, DefaultTimeout)
	setDefault(&o.MaxConns, DefaultMaxConns)
	return nil
}

func setDefault[T int | time.Duration](v *T, to T) {
	if *v == 0 {
		*v = to
	}
}

// A Toolset is the four tools over one database.
type Toolset struct {
	dialect Dialect
	options Options
	id      string
	engine  *connection.Handle[Engine]
	tools   []runtime.Tool
}

// New returns a toolset. It resolves and opens nothing: the first call does.
func New(d Dialect, src connection.Source, o Options) (*Toolset, error) {
	if d == nil || src == nil {
		return nil, errors.New("sqltool: the dialect or the source of the connection is nil")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := d.Check(&o); err != nil {
		return nil, fmt.Errorf("sqltool: %w", err)
	}
	t := &Toolset{dialect: d, options: o, id: o.Prefix + "sql:" + src.ID()}
	t.engine = connection.NewHandle(src, func(ctx context.Context, c *connection.Connection) (Engine, error) {
		return d.Open(ctx, connection.Direct(*c), o)
	})
	t.tools = t.makeTools()
	return t, nil
}

// Tools implements [runtime.Toolset].
func (t *Toolset) Tools(context.Context) ([]runtime.Tool, error) { return t.tools, nil }

// ID implements [runtime.Identified]: sql: and the id of the connection.
func (t *Toolset) ID() string { return t.id }

// Open implements [runtime.Opener]; the database is opened by the first call.
func (t *Toolset) Open(context.Context) error { return nil }

// Close implements [io.Closer].
func (t *Toolset) Close() error { return t.engine.Close() }

// FindSecrets implements [runtime.Secrets].
func (t *Toolset) FindSecrets(text string) []runtime.Span { return t.engine.FindSecrets(text) }

// Instructions implements [runtime.Instructor]. With AllowWrites the database is asked which
// tables have triggers; one that can't be reached is the first call's business.
func (t *Toolset) Instructions(ctx context.Context) ([]runtime.Instruction, error) {
	o, p := &t.options, t.options.Prefix
	var b strings.Builder
	fmt.Fprintf(&b, "The tools %slist_tables, %sget_schema, %squery and %scheck_query are one %s database. ", p, p, p, p, t.dialect.Name())
	fmt.Fprintf(&b, "Look at the tables and their columns before you query. Write %s's SQL, one statement a call, and pass values as params. ", t.dialect.Name())
	fmt.Fprintf(&b, "At most %d rows and %d bytes are shown: aggregate, filter and limit in SQL. ", o.MaxRows, o.MaxResultBytes)
	if o.AllowWrites {
		b.WriteString("INSERT, UPDATE and DELETE change the database for good, each call by itself.")
		if names := t.triggered(ctx); len(names) > 0 {
			fmt.Fprintf(&b, " A change of %s does more than the statement says: triggers of the database's own run.", strings.Join(names, ", "))
		}
	} else {
		b.WriteString("Nothing can be changed.")
	}
	return []runtime.Instruction{{Text: b.String()}}, nil
}

// maxTriggered is how many tables with triggers are named.
const maxTriggered = 20

func (t *Toolset) triggered(ctx context.Context) (names []string) {
	ctx, cancel := context.WithTimeout(ctx, t.options.Timeout)
	defer cancel()
	_ = t.with(ctx, func(e Engine) (err error) {
		names, err = e.Triggered(ctx)
		return err
	})
	if len(names) > maxTriggered {
		names = append(names[:maxTriggered:maxTriggered], "others")
	}
	return names
}
