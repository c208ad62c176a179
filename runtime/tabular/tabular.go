// Package tabular makes the columnar result of every toolset that shows rows: columns
// once, rows as arrays, cut where the bounds say so, with a hint of what to ask instead.
//
//	w := tabular.New(ctx, []string{"id", "name"}, tabular.Bounds{})
//	for rows.Next() {
//		if !w.Row(tabular.AppendInt(nil, id), tabular.AppendText(nil, name)) {
//			break // full: stop reading
//		}
//	}
//	return w.Finish(false, -1), rows.Err()
//
// The size of a result is that of its JSON in bytes of UTF-8, without white space,
// nothing escaped that needn't be: the columns, and each row with the comma before it.
// What is around them doesn't count. A row that doesn't fit ends the result; none is cut
// in two. Rows are masked first, since half a secret would not be found any more.
package tabular

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/schema"
)

// The bounds where none are set.
const (
	DefaultMaxRows        = 50
	DefaultMaxResultBytes = 64 << 10
)

// Envelope is how many bytes at the most are around columns and rows, hints included.
// Tools set their MaxResult to so much more than the bound of columns and rows, so that
// a run doesn't cut what is cut.
const Envelope = 4 << 10

// Bounds say how much is shown. The zero value is 50 rows and 65,536 bytes, and cells as
// long as those allow.
type Bounds struct {
	MaxRows        int // 0: DefaultMaxRows
	MaxResultBytes int // of columns and rows; 0: DefaultMaxResultBytes
	MaxCellBytes   int // of a cell's JSON, of which a text keeps its beginning; 0: no bound of its own
}

func (b Bounds) orDefaults() Bounds {
	if b.MaxRows == 0 {
		b.MaxRows = DefaultMaxRows
	}
	if b.MaxResultBytes == 0 {
		b.MaxResultBytes = DefaultMaxResultBytes
	}
	return b
}

// A Writer takes rows until one doesn't fit.
type Writer struct {
	masker  runtime.Masker
	bounds  Bounds
	columns []string
	head    []byte   // the columns as JSON; nil: they are too large themselves
	rows    []byte   // with commas between; the latest of them
	chunks  [][]byte // those before
	n       int
	left    int // bytes
	cutBy   runtime.Limit
	hint    string
	notes   []string
	err     error
}

// New returns a writer of rows with these columns, whose names may repeat. It masks with
// the masker of the call that ctx belongs to.
func New(ctx context.Context, columns []string, b Bounds) *Writer {
	w := &Writer{masker: runtime.MaskerFrom(ctx), bounds: b.orDefaults(), columns: make([]string, len(columns))}
	head := []byte{'['}
	for i, name := range columns {
		if i > 0 {
			head = append(head, ',')
		}
		w.columns[i] = w.masker.Mask(clean(name))
		head = schema.AppendString(head, w.columns[i])
	}
	head = append(head, ']')
	if w.left = w.bounds.MaxResultBytes - len(head); w.left < 0 {
		w.cut(runtime.LimitResultBytes, "the names of the "+strconv.Itoa(len(columns))+" columns alone are too large: select fewer columns")
		return w
	}
	w.head = head
	return w
}

// Left is how many bytes a row may still have. A cell that is longer needn't be encoded:
// see [Writer.TooLarge].
func (w *Writer) Left() int { return w.left }

// Row adds a row, one JSON value a column, which it copies. It reports false where the
// row didn't fit, or is beyond the bound of rows: there is no use in reading on.
func (w *Writer) Row(cells ...json.RawMessage) bool {
	if w.full() {
		return false
	}
	if len(w.rows) > chunk { // growing it would copy all of it, again and again
		w.chunks, w.rows = append(w.chunks, w.rows), make([]byte, 0, chunk+chunk/4)
	}
	start := len(w.rows)
	if w.n > 0 {
		w.rows = append(w.rows, ',')
	}
	w.rows = append(w.rows, '[')
	widest, width := 0, -1
	for i, cell := range cells {
		if i > 0 {
			w.rows = append(w.rows, ',')
		}
		masked, err := w.masker.MaskJSON(cell)
		if err != nil { // what can't be masked is withheld
			w.rows, w.err = w.rows[:start], err
			return false
		}
		masked = w.shorten(masked)
		if w.rows = append(w.rows, masked...); len(masked) > width {
			widest, width = i, len(masked)
		}
		if len(w.rows)-start >= w.left {
			w.rows = w.rows[:start]
			return w.TooLarge(widest)
		}
	}
	if w.rows = append(w.rows, ']'); len(w.rows)-start > w.left { // a row of no columns
		w.rows = w.rows[:start]
		return w.TooLarge(widest)
	}
	w.left -= len(w.rows) - start
	w.n++
	return true
}

// chunk is how much is written in one piece, in bytes.
const chunk = 1 << 20

// full notes that there is a row more than may be shown.
func (w *Writer) full() bool {
	switch {
	case w.cutBy != "" || w.err != nil:
		return true
	case w.n == w.bounds.MaxRows:
		w.cut("max_rows", "these are the first "+strconv.Itoa(w.n)+" rows: aggregate, filter, or page with LIMIT and OFFSET")
		return true
	}
	return false
}

// TooLarge says that the next row doesn't fit because of one of its columns, which was
// not encoded therefore. It returns false, as Row does.
func (w *Writer) TooLarge(column int) bool {
	if w.full() {
		return false
	}
	if w.n > 0 {
		w.cut(runtime.LimitResultBytes, "stopped after "+strconv.Itoa(w.n)+" rows by size: select fewer or shorter columns, or aggregate")
		return false
	}
	name := ""
	if column < len(w.columns) {
		name = ", the widest is " + cutRunes(w.columns[column], maxName)
	}
	w.cut(runtime.LimitResultBytes, "the first row is too large: select narrower columns"+name)
	return false
}

// maxName is how many bytes of a column's name a hint has.
const maxName = 64

func (w *Writer) cut(by runtime.Limit, hint string) { w.cutBy, w.hint = by, hint }

// Note adds a sentence to the hint, once: what was changed to show the rows.
func (w *Writer) Note(sentence string) {
	if !slices.Contains(w.notes, sentence) {
		w.notes = append(w.notes, sentence)
	}
}

// shorten cuts a text that is longer than a cell may be.
func (w *Writer) shorten(cell json.RawMessage) json.RawMessage {
	most := w.bounds.MaxCellBytes
	if most == 0 || len(cell) <= most {
		return cell
	}
	var text string
	if json.Unmarshal(cell, &text) != nil {
		return cell // the row's own bound decides
	}
	w.Note("long cells are cut")
	const mark = "…"
	for n := most; n > 0; n = n * 3 / 4 {
		if short := schema.AppendString(nil, cutRunes(text, n)+mark); len(short) <= most {
			return short
		}
	}
	return json.RawMessage(`"` + mark + `"`)
}

// cutRunes is a beginning of at most n bytes, whole runes.
func cutRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Err is what made it impossible to mask a row; nil: nothing did. The result is to be
// withheld then.
func (w *Writer) Err() error { return w.err }

// Finish returns the result. More says that there are rows that weren't given to Row;
// total is how many there are in all, where that is exactly known, else -1.
func (w *Writer) Finish(more bool, total int64) *runtime.Result {
	if more {
		w.full()
		if w.cutBy == "" {
			w.cut("max_rows", "there are more rows: aggregate, filter, or page with LIMIT and OFFSET")
		}
	}
	size := len(w.head) + len(w.rows) + 512
	for _, c := range w.chunks {
		size += len(c)
	}
	out := append(make([]byte, 0, size), '{')
	if w.head == nil {
		out = append(out, `"column_count":`...)
		out = strconv.AppendInt(out, int64(len(w.columns)), 10)
	} else {
		out = append(append(out, `"columns":`...), w.head...)
	}
	out = append(out, `,"rows":[`...)
	for _, c := range w.chunks {
		out = append(out, c...)
	}
	out = append(append(out, w.rows...), `],"row_count":`...)
	out = strconv.AppendInt(out, int64(w.n), 10)
	if total > int64(w.n) {
		out = strconv.AppendInt(append(out, `,"total_rows":`...), total, 10)
	}
	r := &runtime.Result{}
	hint := w.hint
	for _, note := range w.notes {
		if hint != "" {
			hint += "; "
		}
		hint += note
	}
	if w.cutBy != "" {
		out = append(append(append(out, `,"truncated":true,"truncated_by":"`...), w.cutBy...), '"')
		r.Truncated, r.TruncatedBy, r.Hint = true, w.cutBy, hint
	}
	if hint != "" {
		out = schema.AppendString(append(out, `,"hint":`...), hint)
	}
	out = append(out, '}')
	r.Structured = out
	return r
}
