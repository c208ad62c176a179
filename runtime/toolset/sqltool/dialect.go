package sqltool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/tabular"
)

// A Dialect is a kind of database. Each is a package of its own, so that a program links
// what it imports.
type Dialect interface {
	// Name is what the database is called, in instructions.
	Name() string

	// Check returns what is wrong with options for this dialect, in one error; nothing is
	// opened.
	Check(o *Options) error

	// Open connects. The options have no zero values any more.
	Open(ctx context.Context, s connection.Source, o Options) (Engine, error)
}

// An Engine is one database, opened for one toolset. It is safe for concurrent use.
type Engine interface {
	// Guard reads a statement, and returns it if it may run. Its error is a [Refusal], where
	// the statement is not allowed or can't be read exactly, or the engine's own.
	Guard(ctx context.Context, sql string) (Statement, error)

	// Relations returns those that may be used, after a name, in the order in which they
	// are shown.
	Relations(ctx context.Context, p Page) ([]Relation, error)

	// Schema returns the columns of one, and nil where there is none of that name that may
	// be used. The name is written as in SQL.
	Schema(ctx context.Context, name string) (*Schema, error)

	// Triggered are the relations that may be used, as they are shown, whose changes do
	// more than a statement says: by triggers, or rules.
	Triggered(ctx context.Context) ([]string, error)

	// Classify says what kind of problem an error is, of the engine's or of its statements',
	// by the engine's codes.
	Classify(err error) Problem

	Close() error
}

// A Statement is one that a guard has let pass; nothing else reaches the database. It
// holds the connection on which it was checked, so that what runs is what was checked, and
// is of no use to others at the same time.
type Statement interface {
	// Verdict is what the guard has found.
	Verdict() *Verdict

	// Describe has the engine read the statement, and runs nothing.
	Describe(ctx context.Context) (columns []Column, params int, err error)

	// Query runs it, once. Once its columns are known it asks for a writer and gives that
	// rows until it is full; one without columns asks for none, and returns how many rows
	// it has changed.
	Query(ctx context.Context, params []Param, sink RowSink) (affected int64, err error)

	// Close gives the connection back. Nothing of the statement goes on.
	Close() error
}

// A Verdict is what a guard has found in a statement.
type Verdict struct {
	Kind      Kind
	Relations []string // read or written, as they are shown
	Functions []string
}

// A Kind says what a statement does.
type Kind uint8

// The kinds of statements that there are for a model.
const (
	Read Kind = iota
	Write
	Explain
	Show
)

// A Refusal is why a statement may not run, for the model: each sentence says what to
// change.
//
//nolint:errname // it is what the guard says, and no fault
type Refusal struct{ Reasons []string }

// maxReasons is how many reasons a model is told at once.
const maxReasons = 5

// Refuse returns a refusal, its reasons sorted, each once, at most five of them.
func Refuse(reasons ...string) *Refusal {
	slices.Sort(reasons)
	reasons = slices.Compact(reasons)
	return &Refusal{reasons[:min(len(reasons), maxReasons)]}
}

// Error joins the reasons.
func (r *Refusal) Error() string { return strings.Join(r.Reasons, "; ") }

// A Class is a kind of problem.
type Class string

// The classes of problems: what a model, or an operator, can do about one.
const (
	Syntax          Class = "syntax"
	UnknownTable    Class = "unknown_table"
	UnknownColumn   Class = "unknown_column"
	UnknownFunction Class = "unknown_function"
	Refused         Class = "refused"
	InvalidValue    Class = "invalid_value"
	Constraint      Class = "constraint"
	TimedOut        Class = "timeout"
	TooBig          Class = "too_big"
	Conflict        Class = "conflict"
	Permission      Class = "permission"
	ConnectionLost  Class = "connection"
	WrongParams     Class = "params"
)

// A Problem is what an engine's error means. Message is what a model may read of it: it
// quotes no rows.
type Problem struct {
	Class      Class
	Message    string
	Name       string // of what is unknown
	MayHaveRun bool   // ConnectionLost
}

// A Relation is a table, or something that is read like one.
type Relation struct {
	Name        string // as SQL writes it: with its schema where that isn't the default, quoted where it must be
	Kind        string // "": a table; else view, materialized view, virtual table, …
	RowEstimate int64  // -1: unknown
	Comment     string
}

// A Schema is what there is to know of a relation.
type Schema struct {
	Relation

	Columns     []Column
	PrimaryKey  []string
	ForeignKeys []ForeignKey
}

// A Column is one of a relation, or of a result.
type Column struct {
	Name      string
	Type      string // in the engine's words; "": it has none
	NotNull   bool
	Default   string
	Comment   string
	Generated bool
}

// A ForeignKey is columns that refer to others.
type ForeignKey struct {
	Columns    []string
	References string
	To         []string
}

// A Page is a part of a list.
type Page struct {
	After string // the name of the last one before; "": from the beginning
	Match string // a part of the name, in any case
	Limit int
}

// A Param is a value that is bound to a statement: a JSON string, number, boolean or
// null.
type Param struct{ JSON json.RawMessage }

// A RowSink gives a writer for rows of these columns.
type RowSink func(columns []string) *tabular.Writer

// A ParamsError says that there are too many or too few values for a statement: what an
// engine returns of [Statement.Query].
type ParamsError struct{ Want, Got int }

// Error says how many there are to be.
func (e *ParamsError) Error() string {
	return fmt.Sprintf("the statement has %d parameters, and there are %d params", e.Want, e.Got)
}
