package toolimpl

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolgen/toolgen/runtime"
)

// begin moves to a value and returns its first byte.
func (r *Reader) begin() byte {
	if r.stopped {
		return 0
	}
	c := r.space()
	r.start, r.bad = r.pos, false
	return c
}

// text reads a string and returns its bytes, valid until the next read.
func (r *Reader) text(want string) ([]byte, bool) {
	c := r.begin()
	if c != '"' {
		if !r.stopped {
			r.refuse(want)
		}
		return nil, false
	}
	first := r.pos + 1
	escaped, ok := r.scanString()
	if !ok {
		return nil, false
	}
	raw := r.data[first : r.pos-1]
	if !escaped {
		return raw, true
	}
	if r.scratch, ok = unescape(r.scratch[:0], raw); !ok {
		r.stop(runtime.IssueUTF8, r.pointer(), "a string with an unpaired surrogate")
		return nil, false
	}
	return r.scratch, true
}

// String reads a string.
func (r *Reader) String() string {
	b, _ := r.text("a string")
	return string(b)
}

// Bool reads true or false.
func (r *Reader) Bool() bool {
	switch r.begin() {
	case 't':
		r.literal("true")
		return !r.stopped
	case 'f':
		r.literal("false")
	default:
		before := r.pos
		if text, ok := r.uncoerced(); ok && (string(text) == "true" || string(text) == "false") {
			return string(text) == "true"
		}
		r.pos = before
		if !r.stopped {
			r.refuse("true or false")
		}
	}
	return false
}

// Enum reads one of the given strings. It returns the string of values, so
// that nothing is copied.
func (r *Reader) Enum(values []string) string {
	if r.begin() != '"' {
		if !r.stopped {
			r.refuse(allowed(values))
		}
		return ""
	}
	b, ok := r.text("")
	if !ok {
		return ""
	}
	for _, v := range values {
		if v == string(b) {
			return v
		}
	}
	r.problem(runtime.IssueEnum, allowed(values), r.got())
	return ""
}

// Time reads a date and time as RFC 3339 writes it.
func (r *Reader) Time() time.Time {
	const want = `a date and time like "2006-01-02T15:04:05Z"`
	var t time.Time
	if b, ok := r.text(want); ok && (t.UnmarshalText(b) != nil || !strictTime(b)) {
		r.problem(runtime.IssueFormat, want, r.got())
	}
	return t
}

// strictTime refuses the two liberties that package time takes with RFC 3339:
// an hour of one digit, and a comma before the fraction.
func strictTime(b []byte) bool {
	if len(b) < 14 || b[13] != ':' || slices.Contains(b, ',') {
		return false
	}
	return validOffset(b)
}

// validOffset refuses an offset that no clock shows, such as +24:00.
func validOffset(b []byte) bool {
	n := len(b)
	if b[n-1] == 'Z' || n < 6 {
		return true
	}
	return string(b[n-5:n-3]) < "24" && string(b[n-2:]) < "60"
}

// Duration reads a duration as Go writes it, such as 1h30m.
func (r *Reader) Duration() time.Duration {
	const want = `a duration like "1h30m" or "250ms"`
	b, ok := r.text(want)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(transient(b))
	if err != nil {
		r.problem(runtime.IssueFormat, want, r.got())
	}
	return d
}

// Bytes reads a string of padded standard base64.
func (r *Reader) Bytes() []byte {
	const want = "a string of base64"
	b, ok := r.text(want)
	if !ok {
		return nil
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(b)))
	n, err := base64.StdEncoding.Strict().Decode(out, b)
	if err != nil || bytes.ContainsAny(b, "\r\n") { // which the decoder skips
		r.problem(runtime.IssueFormat, want, r.got())
		return nil
	}
	return out[:n]
}

// Raw reads any value and returns a copy of its text.
func (r *Reader) Raw() json.RawMessage {
	if r.begin(); r.stopped {
		return nil
	}
	start := r.start
	r.skip()
	if r.stopped {
		return nil
	}
	r.start = start
	return slices.Clone(json.RawMessage(r.data[start:r.pos]))
}

// Any reads any value: an integer becomes int64, or json.Number where that is
// too small; a number with a fraction or exponent float64.
func (r *Reader) Any() any {
	switch c := r.begin(); c {
	case '{':
		return r.anyObject()
	case '[':
		a := r.Array()
		out := []any{}
		for r.Element(&a) {
			out = append(out, r.Any())
		}
		return out
	case '"':
		return r.String()
	case 't', 'f':
		return r.Bool()
	case 'n':
		r.literal("null")
		return nil
	default:
		if r.stopped {
			return nil
		}
		return r.anyNumber()
	}
}

func (r *Reader) anyObject() any {
	o := r.Object(nil)
	out := map[string]any{}
	for r.Next(&o) {
		if key := string(r.key); New(r, out, key) {
			out[key] = r.Any()
		}
	}
	return out
}

func (r *Reader) anyNumber() any {
	n, ok := r.scanNumber()
	if !ok {
		return nil
	}
	if !n.integral {
		r.pos = r.start
		return r.Float64()
	}
	if v, err := strconv.ParseInt(string(n.text), 10, 64); err == nil {
		return v
	}
	return json.Number(n.text)
}

// Text reads a string into a value that parses itself.
func (r *Reader) Text(v encoding.TextUnmarshaler) {
	b, ok := r.text("a string")
	if !ok {
		return
	}
	if err := v.UnmarshalText(slices.Clone(b)); err != nil {
		r.own(err)
	}
}

// JSON reads a value into a variable that parses itself.
func (r *Reader) JSON(v json.Unmarshaler) {
	raw := r.Raw()
	if raw == nil {
		return
	}
	if err := v.UnmarshalJSON(raw); err != nil {
		r.own(err)
	}
}

// JSONValue is JSON for a type whose schema doesn't allow null.
func (r *Reader) JSONValue(v json.Unmarshaler) {
	if r.begin() == 'n' {
		r.refuse("a value")
		return
	}
	r.JSON(v)
}

// own reports the error of a type's own parser.
func (r *Reader) own(err error) {
	r.problem(runtime.IssueConstraint, cut(strings.ToValidUTF8(err.Error(), "\uFFFD"), 200), "")
}

// Ptr returns a pointer to a value that was read.
func Ptr[T any](v T) *T { return &v } //nolint:modernize // new(expr) is newer than the modules that generated code lives in
