package sqlite

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/worker"
)

// Worker is the child process that a file is open in, if the first line of main is
// worker.Main(sqlite.Worker): SQLite can't always be stopped from within. Each connection
// has a child of its own, which takes some milliseconds to start, and 30 MB.
var Worker = worker.Kind{Name: "sqlite", Serve: serve, MaxFrame: maxFrame}

// The bounds of what a child sends: the rows of a result, and all of an answer.
const (
	maxRows  = 32 << 20
	maxFrame = 64 << 20
)

// What a child is asked to do.
const (
	opOpen      = "open"
	opGuard     = "guard"
	opDescribe  = "describe"
	opQuery     = "query"
	opClose     = "close"
	opRelations = "relations"
	opSchema    = "schema"
	opTriggered = "triggered"
)

// request is what a child is asked. The fields are those of its op.
type request struct {
	Op      string
	Within  time.Duration // 0: as long as it takes
	Path    string
	Options sqltool.Options
	SQL     string
	Params  []json.RawMessage
	Page    sqltool.Page
	Name    string
}

// reply is what it answers.
type reply struct {
	Problem   *sqltool.Problem // what went wrong, for the model
	Failed    string           // what went wrong, for the host
	Verdict   *sqltool.Verdict
	Columns   []sqltool.Column
	Params    int
	Affected  int64
	Rows      *rowsReply
	Relations []sqltool.Relation
	Names     []string // of tables with triggers, or of what is listed and isn't there
	Schema    *sqltool.Schema
}

// rowsReply are the rows of a result, as far as they may be shown.
type rowsReply struct {
	Columns []string
	Rows    [][]json.RawMessage
	Cut     int // the column for which the next row is too large; -1: none is
	Notes   []string

	left int
	most int
}

// Left implements rowWriter.
func (r *rowsReply) Left() int { return r.left }

// Row implements rowWriter.
func (r *rowsReply) Row(cells ...json.RawMessage) bool {
	if len(r.Rows) >= r.most || r.Cut >= 0 {
		return false
	}
	row := make([]json.RawMessage, len(cells))
	widest, size := 0, 0
	for i, c := range cells {
		row[i] = append(json.RawMessage(nil), c...)
		size += len(c) + 1
		if len(c) > len(cells[widest]) {
			widest = i
		}
	}
	if size > r.left {
		return r.TooLarge(widest)
	}
	r.left -= size
	r.Rows = append(r.Rows, row)
	return true
}

// TooLarge implements rowWriter.
func (r *rowsReply) TooLarge(column int) bool {
	if len(r.Rows) < r.most {
		r.Cut = column
	}
	return false
}

// Note implements rowWriter.
func (r *rowsReply) Note(sentence string) {
	if !slices.Contains(r.Notes, sentence) {
		r.Notes = append(r.Notes, sentence)
	}
}

// child is what a child process has open.
var child struct {
	engine    *engine
	statement *statement
}

// serve does what a child is asked.
func serve(ctx context.Context, raw []byte) ([]byte, error) {
	var q request
	if err := gob.NewDecoder(bytes.NewReader(raw)).Decode(&q); err != nil {
		return nil, err
	}
	if q.Within > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, q.Within)
		defer cancel()
	}
	r := new(reply)
	if err := q.do(ctx, r); err != nil {
		*r = reply{Failed: err.Error()}
		if child.engine != nil {
			if p := child.engine.Classify(err); p.Class != "" {
				r.Problem = &p
			}
		}
	}
	return encode(r)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

var errNotOpen = errors.New("nothing is open")

func (q *request) do(ctx context.Context, r *reply) (err error) {
	e, s := child.engine, child.statement
	switch {
	case q.Op == opOpen:
		if child.engine, err = openHere(ctx, q.Path, q.Options); err == nil {
			r.Names = child.engine.missing()
		}
	case e == nil:
		return errNotOpen
	case q.Op == opGuard:
		child.statement, err = e.passed(ctx, q.SQL)
		if err == nil {
			r.Verdict = child.statement.verdict
		}
	case q.Op == opRelations:
		r.Relations, err = e.Relations(ctx, q.Page)
	case q.Op == opSchema:
		r.Schema, err = e.Schema(ctx, q.Name)
	case q.Op == opTriggered:
		r.Names, err = e.Triggered(ctx)
	case s == nil:
		return errNotOpen
	case q.Op == opDescribe:
		r.Columns, r.Params, err = s.Describe(ctx)
	case q.Op == opQuery:
		err = q.query(ctx, s, r)
	case q.Op == opClose:
		child.statement = nil
		err = s.Close()
	}
	return err
}

// query runs the statement. What is masked in the parent may be shorter there than here:
// twice as much as may be shown is sent.
func (q *request) query(ctx context.Context, s *statement, r *reply) (err error) {
	params := make([]sqltool.Param, len(q.Params))
	for i, p := range q.Params {
		params[i] = sqltool.Param{JSON: p}
	}
	o := s.engine.options
	r.Affected, err = s.run(ctx, params, func(columns []string) rowWriter {
		r.Rows = &rowsReply{Columns: columns, Cut: -1, left: min(2*o.MaxResultBytes, maxRows), most: o.MaxRows + 1}
		return r.Rows
	})
	return err
}
