package toolimpl

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/toolgen/toolgen/runtime/schema"
)

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
