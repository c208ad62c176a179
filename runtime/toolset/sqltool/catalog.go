package sqltool

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/schema"
	"github.com/toolgen/toolgen/runtime/toolimpl"
)

var listFields = []toolimpl.Field{{Name: "match"}, {Name: "cursor"}}

// maxComment is how many runes of a comment are shown.
const maxComment = 200

func (t *Toolset) listTables(ctx context.Context, name string, args json.RawMessage) (result *runtime.Result, err error) {
	match, token, err := readPaged(name, args, listFields)
	if err != nil {
		return nil, err
	}
	of := "list " + strings.ToLower(match)
	after, err := readCursor(name, token, of)
	if err != nil {
		return nil, err
	}
	err = t.with(ctx, func(e Engine) error {
		relations, err := e.Relations(ctx, Page{After: after, Match: match, Limit: t.options.PageSize + 1})
		if err != nil {
			return t.problem(name, e.Classify(err), err)
		}
		p := page{limit: t.options.PageSize, left: t.options.MaxResultBytes - 100}
		p.out = append(p.out, `{"tables":[`...)
		for i := range relations {
			if !p.add(relations[i].Name, relations[i].appendJSON(nil, true)) {
				break
			}
		}
		result = p.finish(`],"count":`+strconv.Itoa(p.n), of)
		return nil
	})
	return result, err
}

// readPaged reads the arguments of a tool that gives pages: a text, and the cursor of the
// page. The fields are these two, in this order.
func readPaged(name string, args json.RawMessage, fields []toolimpl.Field) (text, token string, err error) {
	r := toolimpl.Read(name, args, 0)
	o := r.Object(fields)
	for r.Next(&o) {
		switch string(r.Key()) {
		case fields[0].Name:
			if r.Field(&o, 0) {
				text = r.String()
			}
		case fields[1].Name:
			if r.Field(&o, 1) {
				token = r.String()
			}
		default:
			r.Unknown(&o)
		}
	}
	r.End(&o)
	return text, token, r.Close()
}

// appendJSON appends what is known of a relation.
func (r *Relation) appendJSON(dst []byte, alone bool) []byte {
	key := `{"table":`
	if alone {
		key = `{"name":`
	}
	dst = schema.AppendString(append(dst, key...), r.Name)
	if kind := r.Kind; kind != "" || !alone {
		if kind == "" {
			kind = "table"
		}
		dst = schema.AppendString(append(dst, `,"kind":`...), kind)
	}
	if alone {
		dst = append(r.appendMore(dst), '}')
	}
	return dst
}

func (r *Relation) appendMore(dst []byte) []byte {
	if r.RowEstimate >= 0 {
		dst = strconv.AppendInt(append(dst, `,"row_estimate":`...), r.RowEstimate, 10)
	}
	if r.Comment != "" {
		comment := []rune(r.Comment)
		if len(comment) > maxComment {
			comment = append(comment[:maxComment-1], '…')
		}
		dst = schema.AppendString(append(dst, `,"comment":`...), string(comment))
	}
	return dst
}

// page is a part of a list that is written.
type page struct {
	out   []byte
	limit int // elements
	left  int // bytes
	n     int
	last  string // the name of the last one
	more  bool
}

// add adds an element, and reports whether there was room; the first one has it.
func (p *page) add(name string, element []byte) bool {
	if p.n == p.limit || p.n > 0 && len(element)+1 > p.left {
		p.more = true
		return false
	}
	if p.n > 0 {
		p.out = append(p.out, ',')
	}
	p.out = append(p.out, element...)
	p.left -= len(element) + 1
	p.n++
	p.last = name
	return true
}

// finish ends the list, with a cursor where there is more.
func (p *page) finish(end, of string) *runtime.Result {
	p.out = append(p.out, end...)
	if p.more {
		p.out = schema.AppendString(append(p.out, `,"next_cursor":`...), cursor(p.last, of))
	}
	return &runtime.Result{Structured: append(p.out, '}')}
}

var schemaFields = []toolimpl.Field{{Name: "table_name", Required: true}, {Name: "cursor"}}

func (t *Toolset) getSchema(ctx context.Context, name string, args json.RawMessage) (result *runtime.Result, err error) {
	table, token, err := readPaged(name, args, schemaFields)
	if err != nil {
		return nil, err
	}
	after, err := readCursor(name, token, "columns of "+table)
	if err != nil {
		return nil, err
	}
	err = t.with(ctx, func(e Engine) error {
		s, err := e.Schema(ctx, table)
		if err != nil {
			return t.problem(name, e.Classify(err), err)
		}
		if s == nil {
			return t.noTable(ctx, e, name, table)
		}
		result = t.describe(s, table, after)
		return nil
	})
	return result, err
}

// noTable is what is said of a table that isn't there, and of one that may not be used.
func (t *Toolset) noTable(ctx context.Context, e Engine, name, table string) error {
	relations, err := e.Relations(ctx, Page{Limit: maxPage})
	if err != nil {
		return t.problem(name, e.Classify(err), err)
	}
	names := make([]string, len(relations))
	for i := range relations {
		names[i] = relations[i].Name
	}
	message := "there is no table " + strconv.Quote(table) + " that may be used"
	const most = 3
	if near := nearest(table, names, most); len(near) > 0 {
		message += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return t.problem(name, Problem{Class: UnknownTable, Message: message}, nil)
}

// nearest are the names that come near one, or else those that do so without schemas.
func nearest(table string, names []string, most int) []string {
	near := schema.Nearest(table, names, most)
	if len(near) > 0 {
		return near
	}
	bare := func(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
	of := make(map[string]string)
	var lasts []string
	for _, name := range names {
		if last := bare(name); of[last] == "" {
			of[last] = name
			lasts = append(lasts, last)
		}
	}
	for _, last := range schema.Nearest(bare(table), lasts, most) {
		near = append(near, of[last])
	}
	return near
}

// describe writes a schema, from the column after one on.
func (t *Toolset) describe(s *Schema, table, after string) *runtime.Result {
	p := page{limit: t.options.PageSize, left: t.options.MaxResultBytes - 200}
	p.out = append(s.appendJSON(nil, false), `,"columns":[`...)
	from := columnAfter(s.Columns, after)
	end := fmtSchema(s)
	p.left -= len(end)
	for i, c := range s.Columns[from:] {
		if !p.add(strconv.Itoa(from+i)+" "+c.Name, c.appendJSON(nil)) {
			break
		}
	}
	return p.finish("]"+string(end), "columns of "+table)
}

// columnAfter is where columns go on after one, by its place and its name: where columns
// have come or gone since, by its name.
func columnAfter(columns []Column, after string) int {
	place, name, ok := strings.Cut(after, " ")
	if !ok {
		return 0
	}
	at, err := strconv.Atoi(place)
	if err == nil && at < len(columns) && columns[at].Name == name {
		return at + 1
	}
	for i, c := range columns {
		if c.Name == name {
			return i + 1
		}
	}
	return min(max(at, 0), len(columns))
}

func (c *Column) appendJSON(dst []byte) []byte {
	dst = schema.AppendString(append(dst, `{"name":`...), c.Name)
	if c.Type != "" {
		dst = schema.AppendString(append(dst, `,"type":`...), c.Type)
	}
	if c.NotNull {
		dst = append(dst, `,"nullable":false`...)
	}
	if c.Default != "" {
		dst = schema.AppendString(append(dst, `,"default":`...), c.Default)
	}
	if c.Generated {
		dst = append(dst, `,"generated":true`...)
	}
	if c.Comment != "" {
		dst = schema.AppendString(append(dst, `,"comment":`...), c.Comment)
	}
	return append(dst, '}')
}

// fmtSchema is what comes after the columns.
func fmtSchema(s *Schema) []byte {
	dst := strconv.AppendInt([]byte(`,"column_count":`), int64(len(s.Columns)), 10)
	if len(s.PrimaryKey) > 0 {
		dst = appendStrings(append(dst, `,"primary_key":`...), s.PrimaryKey)
	}
	for i, k := range s.ForeignKeys {
		if i == 0 {
			dst = append(dst, `,"foreign_keys":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = appendStrings(append(dst, `{"columns":`...), k.Columns)
		dst = schema.AppendString(append(dst, `,"references":`...), k.References)
		dst = append(appendStrings(append(dst, `,"to":`...), k.To), '}')
		if i == len(s.ForeignKeys)-1 {
			dst = append(dst, ']')
		}
	}
	return s.appendMore(dst)
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = schema.AppendString(dst, s)
	}
	return append(dst, ']')
}

// cursor is where a list goes on: the name of the last element, and a sum that tells a
// cursor of this list from others and from what a model makes up. It gives nothing that
// the list itself doesn't.
func cursor(last, of string) string {
	sum := sha256.Sum256([]byte("toolgen " + of + "\x00" + last))
	return base64.RawURLEncoding.EncodeToString(append(sum[:6], last...))
}

// readCursor returns the name in a cursor; "": from the beginning.
func readCursor(name, token, of string) (string, error) {
	if token == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) < 6 || cursor(string(raw[6:]), of) != token {
		return "", runtime.Retryf("%s: this cursor is none of this list: use next_cursor as it came, with the same arguments, or leave it out", name)
	}
	return string(raw[6:]), nil
}
