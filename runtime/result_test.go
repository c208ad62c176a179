package runtime_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/internal/fixture"
	"github.com/toolgen/toolgen/runtime/internal/fixture/fixturetools"
)

// TestR5Form pins the form of a result in states and journals, of every kind of block,
// and reads it back.
func TestR5Form(t *testing.T) {
	t.Parallel()
	r := &runtime.Result{
		Blocks: []runtime.Block{
			{Kind: runtime.Text, Text: "<é>"},
			{Kind: runtime.Image, MIME: "image/png", Data: []byte{0, 255}},
			{Kind: runtime.Audio, MIME: "audio/wav", Data: []byte("x")},
			{Kind: runtime.Resource, URI: "file:///a", MIME: "text/plain", Text: "a"},
			{Kind: runtime.Resource, URI: "file:///b", Data: []byte("b")},
			{Kind: runtime.Link, URI: "file:///c", Name: "c", Size: 7},
		},
		Structured: json.RawMessage(`{"n":9007199254740993}`),
		Truncated:  true, TruncatedBy: runtime.LimitResultBytes, TotalBytes: 70_000, Hint: "ask for less", Handle: "h1",
		Meta: map[string]string{"b": "2", "a": "1"},
	}
	const want = `{"blocks":[{"kind":"text","text":"\u003cé\u003e"},{"kind":"image","data":"AP8=","mime":"image/png"},{"kind":"audio","data":"eA==","mime":"audio/wav"},` +
		`{"kind":"resource","text":"a","mime":"text/plain","uri":"file:///a"},{"kind":"resource","data":"Yg==","uri":"file:///b"},{"kind":"link","uri":"file:///c","name":"c","size":7}],` +
		`"structured":{"n":9007199254740993},"truncated":true,"truncated_by":"max_result_bytes","total_bytes":70000,"hint":"ask for less","handle":"h1","meta":{"a":"1","b":"2"}}`
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	var back runtime.Result
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, &back); diff != "" {
		t.Error(diff)
	}
	if nothing, err := json.Marshal(&runtime.Result{}); err != nil || string(nothing) != "{}" {
		t.Errorf("%s, %v", nothing, err)
	}
}

// TestR5OwnsItsBytes makes a thousand calls through pooled scratch after one whose
// result was kept: that is as it was.
func TestR5OwnsItsBytes(t *testing.T) {
	t.Parallel()
	registry, err := runtime.NewRegistry(fixturetools.NewService(&fixture.Service{}))
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context(), runtime.NoBudgets())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Close() })
	call := func(city string) *runtime.Result {
		out, err := run.Call(context.Background(), runtime.Call{ID: "1", Name: "fixture_small", Args: json.RawMessage(`{"city":"` + city + `","days":1,"unit":"c"}`)})
		if err != nil || out[0].Kind != runtime.OK {
			t.Fatalf("%+v, %v", out, err)
		}
		return out[0].Result
	}
	kept := call("Lisbon")
	before, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		call("Oporto")
	}
	after, err := json.Marshal(kept)
	if err != nil || string(after) != string(before) {
		t.Errorf("%s, %v; it was %s", after, err, before)
	}
}
