package runtimetest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/toolgen/toolgen/runtime"
)

// nothing is a read-only tool that does nothing.
type nothing struct{}

var nothingDefinition = runtime.Definition{
	Name: "nothing", Description: "Does nothing.",
	Input: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
	Hints: runtime.Hints{ReadOnly: runtime.Yes},
}

var nothingResult = runtime.TextResult("done")

func (nothing) Definition() *runtime.Definition { return &nothingDefinition }

func (nothing) Call(context.Context, json.RawMessage) (*runtime.Result, error) {
	return nothingResult, nil
}

func (n nothing) Validate(context.Context, json.RawMessage) error { return nil }

func (nothing) Tools(context.Context) ([]runtime.Tool, error) { return nothingTools, nil }

var nothingTools = []runtime.Tool{nothing{}}

// Overhead measures what a wrapper, and options of a run, add to a call of a tool that
// does nothing: ratio is the time of a call with them by that of one without, in turns
// of one process, added-ns the difference of the two, allocs/added that of their
// allocations. A wrapper that is nil adds nothing.
func Overhead(b *testing.B, wrapper func(runtime.Toolset) runtime.Toolset, opts ...runtime.Option) {
	b.Helper()
	if wrapper == nil {
		wrapper = func(ts runtime.Toolset) runtime.Toolset { return ts }
	}
	with, without := caller(b, wrapper(nothing{}), opts...), caller(b, nothing{})
	const turn = 100
	var ours, bare []float64
	for b.Loop() {
		ours, bare = append(ours, timed(turn, with)), append(bare, timed(turn, without))
	}
	b.ReportMetric(median(ours)/median(bare), "ratio")
	b.ReportMetric(median(ours)-median(bare), "added-ns")
	b.ReportMetric(testing.AllocsPerRun(100, with)-testing.AllocsPerRun(100, without), "allocs/added")
	b.ReportMetric(0, "ns/op")
}

// caller returns what makes one call.
func caller(b *testing.B, ts runtime.Toolset, opts ...runtime.Option) func() {
	b.Helper()
	registry, err := runtime.NewRegistry(ts)
	if err != nil {
		b.Fatal(err)
	}
	run, err := registry.Start(b.Context(), append(opts, runtime.NoBudgets())...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = run.Close() })
	tools, err := run.Step(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	c := runtime.Call{ID: "1", Name: tools[0].Definition().Name, Args: json.RawMessage("{}")}
	return func() {
		if out, err := run.Call(b.Context(), c); err != nil || out[0].Kind != runtime.OK {
			b.Fatal(out, err)
		}
	}
}

// timed is how many nanoseconds one of n calls takes.
func timed(n int, call func()) float64 {
	start := time.Now()
	for range n {
		call()
	}
	return float64(time.Since(start)) / float64(n)
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}
