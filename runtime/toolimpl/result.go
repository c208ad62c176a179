package toolimpl

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgen/toolgen/runtime"
)

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
		if w.truncated != "" {
			w.mark(result)
		}
	}
	if cap(w.buf) > keepBuffer {
		w.buf = make([]byte, 0, 1024)
	}
	writers.Put(w)
	return result, err
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
