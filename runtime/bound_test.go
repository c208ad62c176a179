package runtime_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolgen/toolgen/runtime"
)

// elements is a JSON array of n strings of 1 KiB.
func elements(n int) string {
	return "[" + strings.Repeat(`"`+strings.Repeat("x", 1022)+`",`, n-1) + `"` + strings.Repeat("x", 1022) + `"]`
}

func TestR6Bounds(t *testing.T) {
	t.Parallel()
	const limit = 64 << 10
	for name, c := range map[string]struct {
		result *runtime.Result
		cut    bool
		fails  string
	}{
		"short":             {runtime.TextResult("x"), false, ""},
		"exactly":           {runtime.TextResult(strings.Repeat("x", limit)), false, ""},
		"one more":          {runtime.TextResult(strings.Repeat("x", limit+1)), true, ""},
		"runes":             {runtime.TextResult(strings.Repeat("é", limit/2+1)), true, ""},
		"two texts":         {&runtime.Result{Blocks: []runtime.Block{{Kind: runtime.Text, Text: strings.Repeat("x", limit)}, {Kind: runtime.Text, Text: "y"}}}, true, ""},
		"array":             {&runtime.Result{Structured: json.RawMessage(elements(1000))}, true, ""},
		"envelope":          {&runtime.Result{Structured: json.RawMessage(`{"result":` + elements(1000) + `}`)}, true, ""},
		"envelope spaced":   {&runtime.Result{Structured: json.RawMessage(`{ "a[" : ` + elements(1000) + ` }`)}, true, ""},
		"one huge element":  {&runtime.Result{Structured: json.RawMessage(`["` + strings.Repeat("x", limit) + `"]`)}, false, "the limit is 65536; ask for less"},
		"two members":       {&runtime.Result{Structured: json.RawMessage(`{"n":1,"items":` + elements(1000) + `}`)}, false, "the limit is 65536; ask for less"},
		"string result":     {stringResult(strings.Repeat("x", limit+1)), true, ""},
		"string fits twice": {stringResult(strings.Repeat("x", limit-100)), false, ""},
		"string escapes":    {stringResult(strings.Repeat("\x01", limit)), true, ""},
		"media":             {&runtime.Result{Blocks: []runtime.Block{{Kind: runtime.Image, Data: make([]byte, 5<<20+1)}}}, false, "bytes of media"},
		"blocks":            {&runtime.Result{Blocks: make([]runtime.Block, 9)}, false, "9 blocks"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := one(t, returning(c.result, nil))
			if c.fails != "" {
				if o.Kind != runtime.Failed || !strings.Contains(o.Message, c.fails) {
					t.Errorf("got %s %q; want failed with %q", o.Kind, o.Message, c.fails)
				}
				return
			}
			if o.Kind != runtime.OK {
				t.Fatalf("got %s %q", o.Kind, o.Message)
			}
			checkBounded(t, o.Result, c.cut, limit)
		})
	}
}

func stringResult(text string) *runtime.Result {
	structured, err := json.Marshal(map[string]string{"result": text})
	if err != nil {
		panic(err)
	}
	return &runtime.Result{Blocks: []runtime.Block{{Kind: runtime.Text, Text: text}}, Structured: structured}
}

func checkBounded(t *testing.T, r *runtime.Result, cut bool, limit int) {
	t.Helper()
	if r.Truncated != cut {
		t.Errorf("truncated: %t, want %t", r.Truncated, cut)
	}
	text := 0
	for _, b := range r.Blocks {
		text += len(b.Text)
		if !utf8.ValidString(b.Text) {
			t.Error("a rune was cut")
		}
	}
	if text > limit || len(r.Structured) > limit {
		t.Errorf("%d bytes of text, %d structured, want at most %d", text, len(r.Structured), limit)
	}
	if r.Structured != nil && !json.Valid(r.Structured) {
		t.Errorf("not valid JSON: %.60s…", r.Structured)
	}
	if !cut {
		return
	}
	if r.TruncatedBy != runtime.LimitResultBytes || r.TotalBytes <= limit/2 || r.Hint == "" {
		t.Errorf("cut by %q, %d bytes in all, hint %q", r.TruncatedBy, r.TotalBytes, r.Hint)
	}
	if len(r.Blocks) == 1 && !strings.HasSuffix(r.Blocks[0].Text, fmt.Sprintf("of %d bytes; max_result_bytes]", r.TotalBytes)) {
		t.Errorf("the text ends in %q", r.Blocks[0].Text[len(r.Blocks[0].Text)-60:])
	}
}

func TestR6BoundKeepsAPrefix(t *testing.T) {
	t.Parallel()
	o := one(t, returning(&runtime.Result{Structured: json.RawMessage(`{"result":` + elements(1000) + `}`)}, nil))
	var got struct{ Result []string }
	if err := json.Unmarshal(o.Result.Structured, &got); err != nil {
		t.Fatal(err)
	}
	if n := len(got.Result); n != 63 {
		t.Errorf("%d elements are left, want 63: as many as fit", n)
	}
}
