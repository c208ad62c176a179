package toolimpl_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/toolimpl"
)

// written is what a writer makes of one value.
func written(t *testing.T, write func(w *toolimpl.Writer)) (string, error) {
	t.Helper()
	w := toolimpl.Write("x")
	w.Object()
	w.Key("v")
	write(w)
	w.EndObject()
	r, err := w.Result()
	if err != nil {
		if _, ok := errors.AsType[*runtime.FailedError](err); !ok {
			t.Fatalf("error is %T: %v", err, err)
		}
		return "", err
	}
	if !json.Valid(r.Structured) {
		t.Fatalf("not valid JSON: %s", r.Structured)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(r.Structured), `{"v":`), `}`), nil
}

// standard is what encoding/json makes of it, <>& left alone.
func standard(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestR16AgainstStandard(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	floats := []float64{0, math.Copysign(0, -1), 1, -1.5, 1e-6, 9.99e-7, 1e20, 1e21, 1e-9, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, 1.0 / 3}
	for range 20_000 {
		if f := math.Float64frombits(random.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			floats = append(floats, f)
		}
	}
	for _, f := range floats {
		if got, _ := written(t, func(w *toolimpl.Writer) { w.Float64(f) }); got != standard(t, f) {
			t.Errorf("%v is written %s, want %s", f, got, standard(t, f))
		}
		small := float32(f)
		if math.IsInf(float64(small), 0) {
			continue
		}
		if got, _ := written(t, func(w *toolimpl.Writer) { w.Float32(small) }); got != standard(t, small) {
			t.Errorf("%v is written %s, want %s", small, got, standard(t, small))
		}
	}
	for _, s := range []string{"", "a", `"\/`, "<&>", "\x00\x1f\x7f\b\f\n\r\t", "é€😀", "a\xffb", "\xed\xa0\x80"} {
		got, _ := written(t, func(w *toolimpl.Writer) { w.String(s) })
		var back, want string
		if err := json.Unmarshal([]byte(got), &back); err != nil {
			t.Fatal(err)
		}
		_ = json.Unmarshal([]byte(standard(t, s)), &want)
		if back != want {
			t.Errorf("%q is written %s, which is read as %q, want %q", s, got, back, want)
		}
	}
	now := time.Date(2026, 3, 1, 10, 0, 0, 123, time.FixedZone("", 3600))
	for _, v := range []any{nil, true, "x", 1, int64(-5), 1.5, json.Number("1e3"), []any{1, nil}, map[string]any{"b": 1, "a": "<"}, now, json.RawMessage(` { "a" : 1 } `), map[string]string{"<": "&"}, struct{ A []int }{}} {
		if got, err := written(t, func(w *toolimpl.Writer) { w.Any(v) }); got != standard(t, v) {
			t.Errorf("%v is written %s, %v, want %s", v, got, err, standard(t, v))
		}
	}
}

type failingText struct{}

func (failingText) MarshalText() ([]byte, error) { return nil, errors.New("secret=hunter2") }

func TestR16Refuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write func(w *toolimpl.Writer)
		want  string
	}{
		"nan":         {func(w *toolimpl.Writer) { w.Float64(math.NaN()) }, `at "/v" can't be sent: NaN`},
		"inf":         {func(w *toolimpl.Writer) { w.Float32(float32(math.Inf(1))) }, `+Inf`},
		"quoted nan":  {func(w *toolimpl.Writer) { w.Quote(); w.Float64(math.NaN()); w.Quote() }, `at "/v"`},
		"raw":         {func(w *toolimpl.Writer) { w.Raw(json.RawMessage(`{"a":}`)) }, "not valid JSON"},
		"raw utf8":    {func(w *toolimpl.Writer) { w.Raw(json.RawMessage("\"\xff\"")) }, "not valid JSON"},
		"raw twice":   {func(w *toolimpl.Writer) { w.Raw(json.RawMessage(`{"a":1,"a":2}`)) }, "key twice"},
		"raw two":     {func(w *toolimpl.Writer) { w.Raw(json.RawMessage(`1 2`)) }, "not valid JSON"},
		"year":        {func(w *toolimpl.Writer) { w.Time(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)) }, "RFC 3339"},
		"number":      {func(w *toolimpl.Writer) { w.Number("1x") }, "not a number"},
		"text":        {func(w *toolimpl.Writer) { w.Text(failingText{}) }, "its type can't write it"},
		"chan":        {func(w *toolimpl.Writer) { w.Any(make(chan int)) }, "JSON can't express its type"},
		"long array":  {func(w *toolimpl.Writer) { writeMany(w, 5<<20) }, "larger than 8 MiB"},
		"long string": {func(w *toolimpl.Writer) { w.String(strings.Repeat("x", 9<<20)); w.Key("w"); w.Null() }, "larger than 8 MiB"},
	} {
		_, err := written(t, c.write)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", name, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "chan int")) {
			t.Errorf("%s: the message tells the model what is not for it: %v", name, err)
		}
	}
}

func writeMany(w *toolimpl.Writer, n int) {
	if !w.Array() {
		return
	}
	for range n {
		if !w.Element() {
			return
		}
		w.Int(10)
	}
	w.EndArray()
}

func TestR16PointerOfFailure(t *testing.T) {
	t.Parallel()
	w := toolimpl.Write("x")
	w.Object()
	w.Key("a")
	w.Array()
	for range 3 {
		w.Element()
		w.Object()
		w.Key("b")
		w.String(`",[{`)
		w.MapKey("c/d")
		if w.Object() {
			w.EndObject()
		}
		w.EndObject()
	}
	w.Element()
	w.Object()
	w.MapKey("e/f")
	w.Float64(math.Inf(-1))
	_, err := w.Result()
	if err == nil || !strings.Contains(err.Error(), `"/a/3/e~1f"`) {
		t.Errorf("got %v; want the pointer /a/3/e~1f", err)
	}
}
