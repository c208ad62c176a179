package tabular_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/secret"
	"github.com/toolgen/toolgen/runtime/tabular"
)

// golden is the table of what fits: three rows of ten bytes, columns of ten.
var golden = []struct {
	bounds tabular.Bounds
	want   string
}{
	{tabular.Bounds{MaxResultBytes: 9}, `{"column_count":2,"rows":[],"row_count":0,"truncated":true,"truncated_by":"max_result_bytes","hint":"the names of the 2 columns alone are too large: select fewer columns"}`},
	{tabular.Bounds{MaxResultBytes: 19}, `{"columns":["id","s"],"rows":[],"row_count":0,"truncated":true,"truncated_by":"max_result_bytes","hint":"the first row is too large: select narrower columns, the widest is s"}`},
	{tabular.Bounds{MaxResultBytes: 20}, `{"columns":["id","s"],"rows":[[1,"aaaa"]],"row_count":1,"truncated":true,"truncated_by":"max_result_bytes","hint":"stopped after 1 rows by size: select fewer or shorter columns, or aggregate"}`},
	{tabular.Bounds{MaxResultBytes: 31}, `{"columns":["id","s"],"rows":[[1,"aaaa"],[1,"aaaa"]],"row_count":2,"truncated":true,"truncated_by":"max_result_bytes","hint":"stopped after 2 rows by size: select fewer or shorter columns, or aggregate"}`},
	{tabular.Bounds{MaxResultBytes: 41}, `{"columns":["id","s"],"rows":[[1,"aaaa"],[1,"aaaa"]],"row_count":2,"truncated":true,"truncated_by":"max_result_bytes","hint":"stopped after 2 rows by size: select fewer or shorter columns, or aggregate"}`},
	{tabular.Bounds{MaxResultBytes: 42}, `{"columns":["id","s"],"rows":[[1,"aaaa"],[1,"aaaa"],[1,"aaaa"]],"row_count":3}`},
	{tabular.Bounds{MaxRows: 2}, `{"columns":["id","s"],"rows":[[1,"aaaa"],[1,"aaaa"]],"row_count":2,"truncated":true,"truncated_by":"max_rows","hint":"these are the first 2 rows: aggregate, filter, or page with LIMIT and OFFSET"}`},
	{tabular.Bounds{MaxRows: 3}, `{"columns":["id","s"],"rows":[[1,"aaaa"],[1,"aaaa"],[1,"aaaa"]],"row_count":3}`},
}

func TestS12Bounds(t *testing.T) {
	t.Parallel()
	for _, c := range golden {
		w := tabular.New(t.Context(), []string{"id", "s"}, c.bounds)
		for range 3 {
			if !w.Row(tabular.AppendInt(nil, 1), tabular.AppendText(nil, "aaaa")) {
				break
			}
		}
		r := w.Finish(false, -1)
		if diff := cmp.Diff(c.want, string(r.Structured)); diff != "" {
			t.Errorf("%+v:\n%s", c.bounds, diff)
		}
		if r.Truncated != strings.Contains(c.want, "truncated") || !json.Valid(r.Structured) {
			t.Errorf("%+v: truncated %v by %s", c.bounds, r.Truncated, r.TruncatedBy)
		}
	}
}

// TestS12Finish says what is known of rows that weren't read.
func TestS12Finish(t *testing.T) {
	t.Parallel()
	for want, finish := range map[string]func(w *tabular.Writer) *runtime.Result{
		`{"columns":["a"],"rows":[[1]],"row_count":1}`: func(w *tabular.Writer) *runtime.Result { return w.Finish(false, 1) },
		`{"columns":["a"],"rows":[[1]],"row_count":1,"total_rows":9,"truncated":true,"truncated_by":"max_rows","hint":"there are more rows: aggregate, filter, or page with LIMIT and OFFSET"}`: func(w *tabular.Writer) *runtime.Result { return w.Finish(true, 9) },
		`{"columns":["a"],"rows":[[1]],"row_count":1,"hint":"bytes that are not UTF-8 are shown as U+FFFD"}`: func(w *tabular.Writer) *runtime.Result {
			w.Note(tabular.NotClean)
			w.Note(tabular.NotClean)
			return w.Finish(false, -1)
		},
	} {
		w := tabular.New(t.Context(), []string{"a"}, tabular.Bounds{})
		w.Row(tabular.AppendInt(nil, 1))
		if got := string(finish(w).Structured); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// TestS14TooLarge has an engine leave out a cell that can't fit, and cuts long texts
// where cells have a bound.
func TestS14TooLarge(t *testing.T) {
	t.Parallel()
	w := tabular.New(t.Context(), []string{"id", strings.Repeat("é", 100)}, tabular.Bounds{MaxResultBytes: 300})
	if w.Left() != 300-len(`["id",""]`)-200 {
		t.Errorf("%d bytes are left", w.Left())
	}
	if w.TooLarge(1) || w.Row(tabular.AppendInt(nil, 1), tabular.AppendNull(nil)) {
		t.Error("a row follows one that didn't fit")
	}
	if r := w.Finish(false, -1); !strings.Contains(string(r.Structured), `the widest is `+strings.Repeat("é", 32)+`"`) || len(r.Hint) > 200 {
		t.Errorf("%s", r.Structured)
	}
	short := tabular.New(t.Context(), []string{"s"}, tabular.Bounds{MaxCellBytes: 20})
	short.Row(tabular.AppendText(nil, strings.Repeat("é", 100)))
	short.Row(tabular.AppendText(nil, strings.Repeat("\x01", 100)))
	short.Row(tabular.AppendText(nil, "short"))
	var got struct {
		Rows [][]string
		Hint string
	}
	if err := json.Unmarshal(short.Finish(false, -1).Structured, &got); err != nil {
		t.Fatal(err)
	}
	for _, row := range got.Rows {
		if raw, _ := json.Marshal(row[0]); len(tabular.AppendText(nil, row[0])) > 20 {
			t.Errorf("a cell of %s", raw)
		}
	}
	if got.Hint != "long cells are cut" || got.Rows[2][0] != "short" {
		t.Errorf("%+v", got)
	}
}

// TestS12Masks masks before it bounds, columns too, and withholds what can't be masked.
func TestS12Masks(t *testing.T) {
	t.Parallel()
	var masker secret.Masker
	masker.Add(secret.New("hunter2"))
	tool := masked{&masker, func(ctx context.Context) (*runtime.Result, error) {
		w := tabular.New(ctx, []string{"hunter2"}, tabular.Bounds{MaxResultBytes: 32})
		w.Row(tabular.AppendText(nil, "hunter2"))
		w.Row(tabular.AppendText(nil, "x hunter2")) // cut in the middle it would not be found
		r := w.Finish(false, -1)
		broken := tabular.New(ctx, []string{"a"}, tabular.Bounds{})
		if broken.Row(json.RawMessage("{")) || broken.Err() == nil {
			return nil, fmt.Errorf("what is no JSON is shown: %s", broken.Finish(false, -1).Structured)
		}
		return r, nil
	}}
	registry, err := runtime.NewRegistry(tool)
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Close() })
	out, err := run.Call(t.Context(), runtime.Call{ID: "1", Name: "x"})
	if err != nil || !strings.HasPrefix(string(out[0].Result.Structured), `{"columns":["[redacted]"],"rows":[["[redacted]"]],"row_count":1,"truncated":true`) {
		t.Errorf("%+v, %v", out[0].Result, err)
	}
}

type masked struct {
	*secret.Masker

	call func(ctx context.Context) (*runtime.Result, error)
}

func (m masked) Tools(context.Context) ([]runtime.Tool, error) { return []runtime.Tool{m}, nil }

func (masked) Definition() *runtime.Definition {
	return &runtime.Definition{Name: "x", Description: "X.", Input: json.RawMessage(`{"type":"object"}`)}
}

func (m masked) Call(ctx context.Context, _ json.RawMessage) (*runtime.Result, error) {
	return m.call(ctx)
}

func TestS15Cells(t *testing.T) {
	t.Parallel()
	for want, got := range map[string][]byte{
		"9007199254740991":              tabular.AppendInt(nil, 1<<53-1),
		`"9007199254740992"`:            tabular.AppendInt(nil, 1<<53),
		`"-9007199254740992"`:           tabular.AppendInt(nil, -1<<53),
		`"-9223372036854775808"`:        tabular.AppendInt(nil, math.MinInt64),
		`"18446744073709551615"`:        tabular.AppendInteger(nil, "18446744073709551615"),
		"7":                             tabular.AppendInteger(nil, "7"),
		`"NaN"`:                         tabular.AppendFloat(nil, math.NaN(), 64),
		`"Infinity"`:                    tabular.AppendFloat(nil, math.Inf(1), 64),
		`"-Infinity"`:                   tabular.AppendFloat(nil, math.Inf(-1), 64),
		"0.1":                           tabular.AppendFloat(nil, float64(float32(0.1)), 32),
		"1e+21":                         tabular.AppendFloat(nil, 1e21, 64),
		"100000000000000000000":         tabular.AppendFloat(nil, 1e20, 64),
		"-0":                            tabular.AppendFloat(nil, math.Copysign(0, -1), 64),
		`"1.10"`:                        tabular.AppendDecimal(nil, "1.10"),
		`"<é>` + "\ufffd" + `\"\u0001"`: tabular.AppendText(nil, "<é>\xff\"\x01"),
		`{"base64":"AP8="}`:             tabular.AppendBytes(nil, []byte{0, 255}),
		`{"base64":""}`:                 tabular.AppendBytes(nil, nil),
		"null":                          tabular.AppendNull(nil),
		"true":                          tabular.AppendBool(nil, true),
		`["a",` + `"b"` + "]":           append(tabular.AppendText(append(tabular.AppendText([]byte("["), "a"), ','), "b"), ']'),
	} {
		if string(got) != want || !json.Valid(got) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if tabular.Clean("a\xff") || !tabular.Clean("é") {
		t.Error("what is clean isn't, or the other way round")
	}
}
