package toolimpl

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
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

	items     int           // of a stream
	truncated runtime.Limit // what cut it
}

var writers = sync.Pool{New: func() any { return &Writer{buf: make([]byte, 0, 1024)} }}

// Write returns a writer for the result of a tool.
func Write(tool string) *Writer {
	w, _ := writers.Get().(*Writer)
	w.buf, w.depth, w.tool, w.err = w.buf[:0], 0, tool, nil
	w.items, w.truncated = 0, ""
	return w
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

// IntKey begins a property whose name is an integer.
func (w *Writer) IntKey(name int64) { w.MapKey(strconv.FormatInt(name, 10)) }

// UintKey begins a property whose name is an unsigned integer.
func (w *Writer) UintKey(name uint64) { w.MapKey(strconv.FormatUint(name, 10)) }
