package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/toolgen/toolgen/runtime"
)

// static is a tool as generated code has it: its definition is a variable with
// a hash, its type a pointer to a toolset.
type static struct{ def *runtime.Definition }

func (s static) Definition() *runtime.Definition { return s.def }

func (s static) Call(context.Context, json.RawMessage) (*runtime.Result, error) {
	return runtime.TextResult(s.def.Name), nil
}

type staticSet struct{ tools []runtime.Tool }

func (s *staticSet) Tools(context.Context) ([]runtime.Tool, error) { return s.tools, nil }

// thousand is a toolset of a thousand generated tools.
func thousand() *staticSet {
	set := &staticSet{}
	for i := range 1000 {
		set.tools = append(set.tools, static{&runtime.Definition{
			Name:  fmt.Sprintf("orders_refund_order_%d", i),
			Input: json.RawMessage(`{"type":"object","properties":{}}`), SchemaHash: "c0ffee",
		}})
	}
	return set
}

// BenchmarkRegister1000 makes a registry of a thousand tools.
func BenchmarkRegister1000(b *testing.B) {
	set := thousand()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := runtime.NewRegistry(set); err != nil {
			b.Fatal(err)
		}
	}
}

// TestRegister1000 holds the registry of a thousand tools to a bound of
// allocations, none per tool.
func TestRegister1000(t *testing.T) {
	set := thousand()
	n := testing.AllocsPerRun(10, func() {
		if _, err := runtime.NewRegistry(set); err != nil {
			t.Fatal(err)
		}
	})
	if n > 30 {
		t.Errorf("%.0f allocations, want at most 30", n)
	}
}

// TestR17CallAllocations counts what a run adds to a call: F12 of the bars.
func TestR17CallAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates: make test counts without it")
	}
	nothing := &runtime.Result{}
	run := start(t, set{returning(nothing, nil)}, runtime.MaxCalls(1<<40))
	ctx := t.Context()
	if n := testing.AllocsPerRun(1000, func() { _, _ = run.Call(ctx, runtime.Call{ID: "1", Name: "x"}) }); n > 3 {
		t.Errorf("a run adds %v allocations to a call, want at most 3", n)
	}
}

// BenchmarkCall is what a run adds to a call of a tool that does nothing.
func BenchmarkCall(b *testing.B) {
	run := start(b, set{returning(runtime.TextResult("x"), nil)}, runtime.MaxCalls(1<<40), runtime.MaxResults(1<<40))
	if _, err := run.Step(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := run.Call(b.Context(), runtime.Call{ID: "1", Name: "x"}); err != nil {
			b.Fatal(err)
		}
	}
}
