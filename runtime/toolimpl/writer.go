package toolimpl

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/schema"
)

const (
	maxWritten = 8 << 20  // bytes of one result before the run bounds it
	keepBuffer = 64 << 10 // bytes of scratch that go back to the pool
	smallBytes = 256      // of a result that shares an allocation with its Result
)

// A Writer appends one result. It comes from [Write] and is gone after
// [Writer.Result].
type Writer struct {
	buf   []byte
	depth int
	tool  string
	err   error
}

var writers = sync.Pool{New: func() any { return &Writer{buf: make([]byte, 0, 1024)} }}

// Write returns a writer for the result of a tool.
func Write(tool string) *Writer {
	w, _ := writers.Get().(*Writer)
	w.buf, w.depth, w.tool, w.err = w.buf[:0], 0, tool, nil
	return w
}

// Result ends writing and returns what was written as a structured result, or
// a [runtime.FailedError] that says which value can't be sent.
func (w *Writer) Result() (*runtime.Result, error) {
	return w.end(nil)
}

// TextResult is Result for a string: its text block is the string itself.
func (w *Writer) TextResult(text string) (*runtime.Result, error) {
	return w.end([]runtime.Block{{Kind: runtime.Text, Text: strings.ToValidUTF8(text, "\uFFFD")}})
}

func (w *Writer) end(blocks []runtime.Block) (*runtime.Result, error) {
	err := w.err
	var result *runtime.Result
	if err == nil {
		result = own(w.buf)
		result.Blocks = blocks
	}
	if cap(w.buf) > keepBuffer {
		w.buf = make([]byte, 0, 1024)
	}
	writers.Put(w)
	return result, err
}

// own copies a result out of the scratch buffer: a small one in the same
// allocation as its Result.
func own(buf []byte) *runtime.Result {
	if len(buf) > smallBytes {
		return &runtime.Result{Structured: slices.Clone(json.RawMessage(buf))}
	}
	var s struct {
		result runtime.Result
		bytes  [smallBytes]byte
	}
	p := &s
	n := copy(p.bytes[:], buf)
	p.result.Structured = p.bytes[:n:n]
	return &p.result
}

// Done is the result of a hook that returns nothing but an error.
func Done() *runtime.Result {
	return &runtime.Result{
		Blocks:     []runtime.Block{{Kind: runtime.Text, Text: "done"}},
		Structured: json.RawMessage(`{"ok":true}`),
	}
}

// Nothing is the error of a hook that returned a nil pointer and no error.
func Nothing(tool string) error {
	return runtime.Failedf("%s returned nothing", tool)
}

// fail ends writing: the value that comes next can't be sent. The cause is for
// the host: it may name Go types, or worse.
func (w *Writer) fail(why string, cause error) {
	if w.err == nil {
		message := fmt.Sprintf("tool %s: the result at %q can't be sent: %s", w.tool, cut(pointerInto(w.buf), maxPointer), why)
		w.err = &runtime.FailedError{Message: message, Cause: cause}
	}
}

// over ends writing when the result has become too large, and reports whether
// writing has ended. What was written is dropped then, so that the rest of a
// large value takes no memory.
func (w *Writer) over() bool {
	if len(w.buf) > maxWritten && w.err == nil {
		w.err = runtime.Failedf("tool %s: the result is larger than 8 MiB; ask for less", w.tool)
	}
	if w.err != nil {
		w.buf = w.buf[:1]
	}
	return w.err != nil
}

// open begins an object or array. It reports false where nothing more is to be
// written: a cycle in the data would never end.
func (w *Writer) open(bracket byte) bool {
	if w.depth == maxDepth {
		w.fail("it is nested deeper than 100 levels", nil)
	}
	if len(w.buf) > 0 && w.over() {
		return false
	}
	w.depth++
	w.buf = append(w.buf, bracket)
	return true
}

// Object begins an object, and reports whether to write it: if so, its end is
// [Writer.EndObject].
func (w *Writer) Object() bool { return w.open('{') }

// EndObject ends an object.
func (w *Writer) EndObject() {
	w.depth--
	w.buf = append(w.buf, '}')
}

// Key begins a property whose name needs no escape in JSON.
func (w *Writer) Key(name string) {
	if w.over() {
		return
	}
	if w.buf[len(w.buf)-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"', ':')
}

// MapKey begins a property with any name.
func (w *Writer) MapKey(name string) {
	if w.over() {
		return
	}
	if w.buf[len(w.buf)-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(schema.AppendString(w.buf, name), ':')
}

// Array begins an array, and reports whether to write it: if so, its end is
// [Writer.EndArray].
func (w *Writer) Array() bool { return w.open('[') }

// EndArray ends an array.
func (w *Writer) EndArray() {
	w.depth--
	w.buf = append(w.buf, ']')
}

// Element begins an element of an array, and reports whether to write it.
func (w *Writer) Element() bool {
	if w.over() {
		return false
	}
	if w.buf[len(w.buf)-1] != '[' {
		w.buf = append(w.buf, ',')
	}
	return true
}

// Null writes null.
func (w *Writer) Null() { w.buf = append(w.buf, "null"...) }

// Bool writes a boolean.
func (w *Writer) Bool(v bool) { w.buf = strconv.AppendBool(w.buf, v) }

// String writes a string. Bytes that are not UTF-8 become U+FFFD.
func (w *Writer) String(v string) { w.buf = schema.AppendString(w.buf, v) }

// Int writes an integer, exactly.
func (w *Writer) Int(v int64) { w.buf = strconv.AppendInt(w.buf, v, 10) }

// Uint writes an unsigned integer, exactly.
func (w *Writer) Uint(v uint64) { w.buf = strconv.AppendUint(w.buf, v, 10) }

// Quote writes a quote: one before and one after a number or boolean make it
// the string that `json:",string"` asks for.
func (w *Writer) Quote() { w.buf = append(w.buf, '"') }

// Float64 writes a number as encoding/json does. NaN and infinities are an
// error: JSON has none.
func (w *Writer) Float64(v float64) { w.float(v, 64) }

// Float32 writes a number of 32 bits.
func (w *Writer) Float32(v float32) { w.float(float64(v), 32) }

func (w *Writer) float(v float64, bits int) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.fail(fmt.Sprintf("%v is no number in JSON", v), nil)
		return
	}
	// The bounds are those of ECMAScript's Number-to-string conversion.
	format := byte('f')
	if abs := math.Abs(v); abs != 0 {
		if bits == 64 && (abs < 1e-6 || abs >= 1e21) || bits == 32 && (float32(abs) < 1e-6 || float32(abs) >= 1e21) {
			format = 'e'
		}
	}
	w.buf = strconv.AppendFloat(w.buf, v, format, -1, bits)
	if n := len(w.buf); format == 'e' && w.buf[n-4] == 'e' && w.buf[n-3] == '-' && w.buf[n-2] == '0' {
		w.buf[n-2] = w.buf[n-1] // 1e-09 as 1e-9
		w.buf = w.buf[:n-1]
	}
}

// Number writes a number that was kept as text.
func (w *Writer) Number(v json.Number) {
	if v == "" {
		v = "0" // its zero value, as encoding/json has it
	}
	probe := Reader{data: []byte(v)}
	if _, ok := probe.scanNumber(); !ok || probe.pos != len(v) {
		w.fail("it is not a number of JSON", nil)
		return
	}
	w.buf = append(w.buf, v...)
}

// Bytes writes a string of padded standard base64; nil is "".
func (w *Writer) Bytes(v []byte) {
	w.buf = append(w.buf, '"')
	w.buf = base64.StdEncoding.AppendEncode(w.buf, v)
	w.buf = append(w.buf, '"')
}

// Time writes a date and time as RFC 3339 has it.
func (w *Writer) Time(v time.Time) {
	w.Quote()
	b, err := v.AppendText(w.buf)
	if err != nil {
		w.fail("RFC 3339 can't express the time", err)
		return
	}
	w.buf = b
	w.Quote()
}

// Duration writes a duration as Go does, such as 1h30m0s.
func (w *Writer) Duration(v time.Duration) {
	w.buf = append(append(append(w.buf, '"'), v.String()...), '"')
}

// Error writes an error's text; nil is null.
func (w *Writer) Error(v error) {
	if v == nil || isNil(v) {
		w.Null()
		return
	}
	w.String(v.Error())
}

// isNil reports whether an interface holds a nil pointer, on which a method
// with a value receiver panics.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// Raw writes JSON that is there already, without its white space. It is
// checked: a hook's bytes must not break the result. Nil is null.
func (w *Writer) Raw(v json.RawMessage) {
	if v == nil {
		w.Null()
		return
	}
	probe := Reader{data: v}
	probe.skip()
	probe.space()
	compact, err := schema.Compact(v)
	if err != nil || probe.problems.count > 0 || probe.pos < len(v) {
		w.fail("it is not valid JSON, or has a key twice", err)
		return
	}
	w.buf = append(w.buf, compact...)
}

// Text writes a value that formats itself as a string.
func (w *Writer) Text(v encoding.TextMarshaler) {
	text, err := v.MarshalText()
	if err != nil {
		w.fail("its type can't write it", err)
		return
	}
	w.String(string(text))
}

// JSON writes a value that formats itself.
func (w *Writer) JSON(v json.Marshaler) {
	raw, err := v.MarshalJSON()
	if err != nil {
		w.fail("its type can't write it", err)
		return
	}
	w.Raw(raw)
}

// Any writes a value of an interface type: JSON's own kinds, marshalers and
// errors. Any other type goes through encoding/json, the one path that uses
// reflection.
func (w *Writer) Any(v any) {
	switch v := v.(type) {
	case nil:
		w.Null()
	case bool:
		w.Bool(v)
	case string:
		w.String(v)
	case int:
		w.Int(int64(v))
	case int64:
		w.Int(v)
	case float64:
		w.Float64(v)
	case json.Number:
		w.Number(v)
	case []any:
		w.anySlice(v)
	case map[string]any:
		w.anyMap(v)
	case json.RawMessage:
		w.Raw(v)
	default:
		if isNil(v) {
			w.Null()
			return
		}
		w.own(v)
	}
}

// own writes a value by its own methods, else by reflection.
func (w *Writer) own(v any) {
	switch v := v.(type) {
	case json.Marshaler:
		w.JSON(v)
	case encoding.TextMarshaler:
		w.Text(v)
	case error:
		w.String(v.Error())
	default:
		w.reflected(v)
	}
}

func (w *Writer) anySlice(v []any) {
	if !w.Array() {
		return
	}
	for _, e := range v {
		if !w.Element() {
			return
		}
		w.Any(e)
	}
	w.EndArray()
}

func (w *Writer) anyMap(v map[string]any) {
	if !w.Object() {
		return
	}
	for _, k := range SortedKeys(v) {
		w.MapKey(k)
		w.Any(v[k])
	}
	w.EndObject()
}

func (w *Writer) reflected(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		w.fail("JSON can't express its type", err)
		return
	}
	w.Raw(b.Bytes())
}

// SortedKeys returns the keys of a map in order, so that the same map is
// always written the same way: strings by bytes, integers by value.
func SortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// pointerInto returns the JSON Pointer of the value that comes after buf, the
// beginning of a document.
func pointerInto(buf []byte) string {
	type level struct {
		key     string
		n       int
		isArray bool
	}
	var path []level
	for i := 0; i < len(buf); i++ {
		switch c := buf[i]; c {
		case '{', '[':
			path = append(path, level{isArray: c == '['})
		case '}', ']':
			path = path[:len(path)-1]
		case ',':
			path[len(path)-1].n++
		case '"':
			end := i + 1
			for end < len(buf) && buf[end] != '"' {
				if buf[end] == '\\' {
					end++
				}
				end++
			}
			if end+1 < len(buf) && buf[end+1] == ':' {
				path[len(path)-1].key = keyText(buf[i+1 : end])
			}
			i = end
		}
	}
	var b strings.Builder
	for _, l := range path {
		if b.WriteByte('/'); l.isArray {
			b.WriteString(strconv.Itoa(l.n))
		} else {
			b.WriteString(escapePointer(l.key))
		}
	}
	return b.String()
}

// IntKey begins a property whose name is an integer.
func (w *Writer) IntKey(name int64) { w.MapKey(strconv.FormatInt(name, 10)) }

// UintKey begins a property whose name is an unsigned integer.
func (w *Writer) UintKey(name uint64) { w.MapKey(strconv.FormatUint(name, 10)) }
