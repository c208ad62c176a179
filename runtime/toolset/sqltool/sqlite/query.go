package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/toolgen/toolgen/runtime/tabular"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// statement is one that has passed, prepared, on the connection that it holds.
type statement struct {
	engine  *engine
	c       *conn
	s       *sqlite3.Stmt
	verdict *sqltool.Verdict
}

// Verdict implements [sqltool.Statement].
func (s *statement) Verdict() *sqltool.Verdict { return s.verdict }

// Describe implements [sqltool.Statement].
func (s *statement) Describe(context.Context) (columns []sqltool.Column, params int, err error) {
	for i := range s.s.ColumnCount() {
		columns = append(columns, sqltool.Column{Name: s.s.ColumnName(i), Type: s.s.ColumnDeclType(i)})
	}
	return columns, s.s.BindCount(), nil
}

// Query implements [sqltool.Statement].
func (s *statement) Query(ctx context.Context, params []sqltool.Param, sink sqltool.RowSink) (affected int64, err error) {
	return s.run(ctx, params, func(columns []string) rowWriter { return sink(columns) })
}

// rowWriter takes rows: a [tabular.Writer], or what sends them to one.
type rowWriter interface {
	Left() int
	Row(cells ...json.RawMessage) bool
	TooLarge(column int) bool
	Note(sentence string)
}

func (s *statement) run(ctx context.Context, params []sqltool.Param, sink func(columns []string) rowWriter) (affected int64, err error) {
	defer s.c.recover(&err)
	s.c.db.SetInterrupt(ctx)
	if err := bind(s.s, params); err != nil {
		return 0, err
	}
	if s.verdict.Kind != sqltool.Write {
		return 0, rows(s.s, sink)
	}
	return s.engine.write(s.c, s.s, sink)
}

// Close implements [sqltool.Statement]. What SQLite says when a statement is closed is
// what its last step has said.
func (s *statement) Close() (err error) {
	defer s.engine.release(s.c)
	defer s.c.recover(&err)
	_ = s.s.Close()
	return nil
}

// errTooComplex is what SQLite, which is a program within this one, could not do.
var errTooComplex = errors.New("the statement is too complex, or takes too much memory: write it simpler")

// recover makes an error of a panic, which is how the driver says that there is no memory,
// and how SQLite ends whose stack does. The connection isn't used again.
func (c *conn) recover(err *error) {
	if v := recover(); v != nil {
		c.broken = true
		*err = fmt.Errorf("%w (%v)", errTooComplex, v)
	}
}

// write runs a statement in a transaction of its own.
func (e *engine) write(c *conn, s *sqlite3.Stmt, sink func(columns []string) rowWriter) (affected int64, err error) {
	control := func(sql string) error {
		defer c.unguarded()()
		return c.db.Exec(sql)
	}
	if err := control("BEGIN IMMEDIATE"); err != nil {
		return 0, err
	}
	before := c.db.TotalChanges()
	err = all(s, sink)
	affected = c.db.Changes()
	if c.db.TotalChanges() == before {
		affected = 0
	}
	if err == nil {
		err = errors.Join(s.Reset(), control("COMMIT"))
	}
	if err != nil {
		c.db.SetInterrupt(context.Background()) // a rollback is not to be interrupted
		_ = s.Reset()                           // says the same again
		return 0, errors.Join(err, control("ROLLBACK"))
	}
	return affected, nil
}

// all runs a statement to its end, and shows the rows that it returns. SQLite begins a
// statement that has ended anew: it is stepped just as often as it has rows.
func all(s *sqlite3.Stmt, sink func(columns []string) rowWriter) error {
	if s.ColumnCount() == 0 {
		return s.Exec()
	}
	w, cells := begin(s, sink)
	for shown := true; s.Step(); {
		shown = shown && row(s, w, cells)
	}
	return s.Err()
}

var errTooLarge = errors.New("a number in params is too large for a number of the database")

// bind binds values: numbers as they are written, whole ones as integers.
func bind(s *sqlite3.Stmt, params []sqltool.Param) error {
	if n := s.BindCount(); n != len(params) {
		return &sqltool.ParamsError{Want: n, Got: len(params)}
	}
	for i, p := range params {
		var err error
		raw := string(p.JSON)
		switch {
		case raw == "null":
			err = s.BindNull(i + 1)
		case raw == "true" || raw == "false":
			err = s.BindBool(i+1, raw == "true")
		case strings.HasPrefix(raw, `"`):
			var text string
			if err = json.Unmarshal(p.JSON, &text); err == nil {
				err = s.BindText(i+1, text)
			}
		default:
			err = bindNumber(s, i+1, raw)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func bindNumber(s *sqlite3.Stmt, at int, digits string) error {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return s.BindInt64(at, n)
	}
	f, err := strconv.ParseFloat(digits, 64) // what an integer in SQL is beyond 64 bits, too
	if err != nil {
		return errTooLarge
	}
	return s.BindFloat(at, f)
}

// begin asks for a writer, and makes room for the cells of a row.
func begin(s *sqlite3.Stmt, sink func(columns []string) rowWriter) (rowWriter, []json.RawMessage) {
	names := make([]string, s.ColumnCount())
	for i := range names {
		names[i] = s.ColumnName(i)
	}
	return sink(names), make([]json.RawMessage, len(names))
}

// rows gives rows to a writer until that is full.
func rows(s *sqlite3.Stmt, sink func(columns []string) rowWriter) error {
	w, cells := begin(s, sink)
	for s.Step() {
		if !row(s, w, cells) {
			return nil
		}
	}
	return s.Err()
}

// row encodes a row by the storage class of each value.
func row(s *sqlite3.Stmt, w rowWriter, cells []json.RawMessage) bool {
	for i := range cells {
		dst := cells[i][:0]
		switch s.ColumnType(i) {
		case sqlite3.INTEGER:
			cells[i] = tabular.AppendInt(dst, s.ColumnInt64(i))
		case sqlite3.FLOAT:
			cells[i] = tabular.AppendFloat(dst, s.ColumnFloat(i), 64)
		case sqlite3.TEXT:
			raw := s.ColumnRawText(i)
			if len(raw) > w.Left() {
				return w.TooLarge(i)
			}
			cell, clean := tabular.AppendTextBytes(dst, raw)
			if cells[i] = cell; !clean {
				w.Note(tabular.NotClean)
			}
		case sqlite3.BLOB:
			raw := s.ColumnRawBlob(i)
			if len(raw) > w.Left() {
				return w.TooLarge(i)
			}
			cells[i] = tabular.AppendBytes(dst, raw)
		default:
			cells[i] = tabular.AppendNull(dst)
		}
	}
	return w.Row(cells...)
}

// Classify implements [sqltool.Engine]. SQLite has one code for most of what is wrong with
// a statement; its words tell which.
func (e *engine) Classify(err error) sqltool.Problem {
	var refusal *sqltool.Refusal
	var wrong *sqltool.ParamsError
	switch {
	case errors.As(err, &refusal):
		return sqltool.Problem{Class: sqltool.Refused, Message: refusal.Error()}
	case errors.Is(err, errTooComplex):
		return sqltool.Problem{Class: sqltool.TooBig, Message: errTooComplex.Error()}
	case errors.Is(err, errTooLarge):
		return sqltool.Problem{Class: sqltool.InvalidValue, Message: errTooLarge.Error()}
	case errors.As(err, &wrong):
		return sqltool.Problem{Class: sqltool.WrongParams, Message: wrong.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return sqltool.Problem{Class: sqltool.TimedOut}
	case errors.Is(err, context.Canceled):
		return sqltool.Problem{}
	}
	var code sqlite3.ErrorCode
	if !errors.As(err, &code) {
		return sqltool.Problem{}
	}
	switch code {
	case sqlite3.INTERRUPT:
		return sqltool.Problem{Class: sqltool.TimedOut}
	case sqlite3.TOOBIG, sqlite3.NOMEM:
		return sqltool.Problem{Class: sqltool.TooBig, Message: "a text or blob is too big"}
	case sqlite3.CONSTRAINT:
		return sqltool.Problem{Class: sqltool.Constraint, Message: constraint(err)}
	case sqlite3.BUSY, sqlite3.LOCKED:
		return sqltool.Problem{Class: sqltool.Conflict, Message: "the database is busy"}
	case sqlite3.READONLY, sqlite3.AUTH, sqlite3.PERM:
		return sqltool.Problem{Class: sqltool.Permission}
	case sqlite3.MISMATCH, sqlite3.RANGE:
		return sqltool.Problem{Class: sqltool.InvalidValue, Message: "a value doesn't fit the type of its column"}
	case sqlite3.ERROR:
		return logic(err)
	default:
		return sqltool.Problem{Class: sqltool.ConnectionLost}
	}
}

// constraint says which kind of constraint, without values.
func constraint(err error) string {
	var code sqlite3.ExtendedErrorCode
	_ = errors.As(err, &code) // it is none: a constraint is not met
	switch code {
	case sqlite3.CONSTRAINT_NOTNULL:
		return "a column that may not be null would be"
	case sqlite3.CONSTRAINT_UNIQUE, sqlite3.CONSTRAINT_PRIMARYKEY, sqlite3.CONSTRAINT_ROWID:
		return "a row with this key is there already"
	case sqlite3.CONSTRAINT_FOREIGNKEY:
		return "a row that this one refers to is not there, or one refers to this"
	case sqlite3.CONSTRAINT_CHECK:
		return "a CHECK constraint of the table is not met"
	case sqlite3.CONSTRAINT_DATATYPE:
		return "a value doesn't fit the type of its column"
	default:
		return "a constraint of the table is not met"
	}
}

// logic reads SQLite's words for what is wrong with a statement; those that it has are
// about the text, and quote no rows.
func logic(err error) sqltool.Problem {
	text, rest := err.Error(), ""
	if e, ok := errors.AsType[*sqlite3.Error](err); ok {
		text, rest = e.Error(), e.SQL()
	}
	text = strings.TrimPrefix(text, "sqlite3: ")
	text = strings.TrimPrefix(text, "SQL logic error: ")
	for words, class := range map[string]sqltool.Class{
		"no such table: ": sqltool.UnknownTable, "no such column: ": sqltool.UnknownColumn, "no such function: ": sqltool.UnknownFunction,
	} {
		if name, ok := strings.CutPrefix(text, words); ok {
			return sqltool.Problem{Class: class, Name: name, Message: text}
		}
	}
	if strings.Contains(text, "longer than 1") { // ours
		return sqltool.Problem{Class: sqltool.TooBig, Message: text}
	}
	if rest != "" {
		const most = 40
		if len(rest) > most {
			rest = rest[:most] + "…"
		}
		text += " (at " + strconv.Quote(rest) + ")"
	}
	return sqltool.Problem{Class: sqltool.Syntax, Message: text}
}
