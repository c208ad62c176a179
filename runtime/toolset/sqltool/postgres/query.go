package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolgen/toolgen/runtime/tabular"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// statement is one that has passed, in the transaction in which its names were resolved.
type statement struct {
	session *session
	sql     string
	verdict *sqltool.Verdict
	params  int
}

// Verdict implements [sqltool.Statement].
func (s *statement) Verdict() *sqltool.Verdict { return s.verdict }

// Close implements [sqltool.Statement].
func (s *statement) Close() error {
	s.session.end(context.Background())
	return nil
}

const typesSQL = "SELECT coalesce(json_agg(format_type(t, m) ORDER BY i), '[]')::text FROM unnest($1::oid[], $2::int4[]) WITH ORDINALITY AS q(t, m, i)"

// Describe implements [sqltool.Statement]. The server parses the statement, and plans
// nothing: a plan is made by running some of its functions.
func (s *statement) Describe(ctx context.Context) (columns []sqltool.Column, params int, err error) {
	d, err := s.session.conn.Prepare(ctx, "", s.sql, nil)
	if err != nil {
		return nil, 0, s.analysed(err, 0)
	}
	var oids, mods []string
	for _, f := range d.Fields {
		oids = append(oids, strconv.FormatUint(uint64(f.DataTypeOID), 10))
		mods = append(mods, strconv.FormatInt(int64(f.TypeModifier), 10))
	}
	raw, err := s.session.own(ctx, typesSQL, arrayLiteral(oids), arrayLiteral(mods))
	if err != nil {
		return nil, 0, err
	}
	var types []string
	if err := decode(raw, &types); err != nil {
		return nil, 0, err
	}
	for i, f := range d.Fields {
		columns = append(columns, sqltool.Column{Name: f.Name, Type: types[i]})
	}
	return columns, len(d.ParamOIDs), nil
}

// Query implements [sqltool.Statement]. What only reads is read through a cursor, so that
// the server makes few more rows than are looked at.
func (s *statement) Query(ctx context.Context, params []sqltool.Param, sink sqltool.RowSink) (affected int64, err error) {
	values, err := s.values(params)
	if err != nil {
		return 0, err
	}
	switch {
	case s.verdict.Kind == sqltool.Read && !s.session.engine.streams():
		const declare = "DECLARE toolgen NO SCROLL CURSOR FOR "
		if _, err := s.session.conn.ExecParams(ctx, declare+s.sql, values, nil, nil, nil).Close(); err != nil {
			return 0, s.analysed(err, len(declare))
		}
		return 0, s.fetch(ctx, sink)
	case s.verdict.Kind == sqltool.Write:
		tag, _, err := s.rows(ctx, s.sql, values, newEncoder(sink))
		if err != nil {
			return 0, s.placed(err, 0)
		}
		return tag.RowsAffected(), s.commit(ctx)
	default:
		_, _, err := s.rows(ctx, s.sql, values, newEncoder(sink))
		return 0, s.placed(err, 0)
	}
}

// streams reports whether the bounds are so wide that most results are shown whole. Those
// are read as the server makes them, since a cursor would be slower by half; where there is
// more it is told to stop.
func (e *engine) streams() bool {
	const rows, size = mostFetch, 1 << 20
	return e.options.MaxRows > rows && e.options.MaxResultBytes > size
}

// How many rows are fetched at once: few at first, then each time twice as many. The server
// makes all of them before it sends the first, and a few may be slow, or too large.
const (
	firstFetch = 8
	mostFetch  = 2048
)

// fetch reads the cursor until the writer is full: one row more than may be shown says that
// there are more.
func (s *statement) fetch(ctx context.Context, sink sqltool.RowSink) error {
	encode := newEncoder(sink)
	for n, left := firstFetch, s.session.engine.options.MaxRows+1; left > 0; n = min(2*n, mostFetch) {
		n = min(n, left)
		left -= n
		tag, full, err := s.rows(ctx, "FETCH FORWARD "+strconv.Itoa(n)+" FROM toolgen", nil, encode)
		if err != nil || full || tag.RowsAffected() < int64(n) {
			return err
		}
	}
	return nil
}

// values are params as PostgreSQL reads them: each as a text, whose type is the
// statement's.
func (s *statement) values(params []sqltool.Param) ([][]byte, error) {
	if len(params) != s.params {
		return nil, &sqltool.ParamsError{Want: s.params, Got: len(params)}
	}
	values := make([][]byte, len(params))
	for i, p := range params {
		switch {
		case string(p.JSON) == "null":
		case p.JSON[0] == '"':
			var text string
			if err := json.Unmarshal(p.JSON, &text); err != nil {
				return nil, err
			}
			if strings.ContainsRune(text, 0) {
				return nil, errNUL
			}
			values[i] = []byte(text)
		default:
			values[i] = p.JSON
		}
	}
	return values, nil
}

var errNUL = errors.New("a text in params has a NUL character, which PostgreSQL has none of")

// drainFor is how long rows are read that are not looked at, before the server is told to
// stop: that takes another connection, and a tenth of a second.
const drainFor = 50 * time.Millisecond

// rows runs a statement, and gives its rows to an encoder until that is full. One that
// writes is run to its end.
func (s *statement) rows(ctx context.Context, sql string, values [][]byte, encode *encoder) (tag pgconn.CommandTag, full bool, err error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	r := s.session.conn.ExecParams(within, sql, values, nil, nil, nil)
	fields, writes := r.FieldDescriptions(), s.verdict.Kind == sqltool.Write
	more := r.NextRow()
	if !more { // what went wrong is known now
		tag, err := r.Close()
		if err == nil && (len(fields) > 0 || !writes) {
			encode.begin(fields)
		}
		return tag, false, err
	}
	for encode.begin(fields); more; more = r.NextRow() {
		if full {
			continue
		}
		if full = !encode.row(r.Values()); full && !writes {
			stop := time.AfterFunc(drainFor, cancel)
			defer stop.Stop()
		}
	}
	tag, err = r.Close()
	if full && !writes && ctx.Err() == nil {
		err = nil // the server was told to stop, or had ended
	}
	return tag, full, err
}

// A commitError is what went wrong with a COMMIT: whether it was done is not known, if the
// server hasn't said.
type commitError struct{ err error }

func (e *commitError) Error() string { return e.err.Error() }
func (e *commitError) Unwrap() error { return e.err }

// commit ends the transaction of a write. Once it is sent, it is not taken back.
func (s *statement) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	const patience = 10 * time.Second
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := s.session.do(within, "COMMIT"); err != nil {
		return &commitError{err}
	}
	return nil
}

// A placedError is an error of the server's about a text, and where the statement begins
// in it. Analysed are those of reading the text, before a row is read: their words are
// about the text.
type placedError struct {
	err      error
	sql      string
	begin    int
	analysed bool
}

func (e *placedError) Error() string { return e.err.Error() }
func (e *placedError) Unwrap() error { return e.err }

func (s *statement) placed(err error, begin int) error {
	if err == nil {
		return nil
	}
	return &placedError{err, s.sql, begin, false}
}

func (s *statement) analysed(err error, begin int) error {
	return &placedError{err, s.sql, begin, true}
}

// encoder writes rows, each value by the type of its column.
type encoder struct {
	sink  sqltool.RowSink
	w     *tabular.Writer
	cells []json.RawMessage
	types []func(dst, text []byte) ([]byte, bool)
}

func newEncoder(sink sqltool.RowSink) *encoder { return &encoder{sink: sink} }

// begin asks for a writer, once the columns are known.
func (e *encoder) begin(fields []pgconn.FieldDescription) {
	if e.w != nil {
		return
	}
	names := make([]string, len(fields))
	e.cells = make([]json.RawMessage, len(fields))
	for i, f := range fields {
		names[i] = f.Name
		e.types = append(e.types, encoding(f.DataTypeOID))
	}
	e.w = e.sink(names)
}

// row writes a row, and reports whether there may be another one.
func (e *encoder) row(values [][]byte) bool {
	for i, text := range values {
		dst := e.cells[i][:0]
		if text == nil {
			e.cells[i] = tabular.AppendNull(dst)
			continue
		}
		if len(text) > e.w.Left() && len(text)/2 > e.w.Left() { // bytes take half as much
			return e.w.TooLarge(i)
		}
		cell, clean := e.types[i](dst, text)
		if e.cells[i] = cell; !clean {
			e.w.Note(tabular.NotClean)
		}
	}
	return e.w.Row(e.cells...)
}
