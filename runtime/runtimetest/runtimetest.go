// Package runtimetest checks toolsets, as testing/fstest checks file systems: what
// every toolset owes to a run, whoever wrote it.
//
//	func TestConformance(t *testing.T) {
//		runtimetest.Toolset(t, mytools.New(…))
//	}
package runtimetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/schema"
)

// endsWithin is how long a call may go on after its context has ended.
const endsWithin = time.Second

// An Option changes what is checked.
type Option func(*check)

// Args gives arguments with which a tool can be called for good; tools without any
// are called with hostile ones only.
func Args(tool, args string) Option {
	return func(c *check) { c.args[tool] = append(c.args[tool], json.RawMessage(args)) }
}

// Brief leaves out arguments of a megabyte, for a test of very many toolsets.
func Brief() Option { return func(c *check) { c.brief = true } }

// check is one check of one toolset.
type check struct {
	testing.TB

	toolset runtime.Toolset
	args    map[string][]json.RawMessage
	brief   bool
}

// Toolset checks that the list is stable and its definitions are valid; that tools
// can be called by many at once (run it with the race detector) and end when their
// context does; that it can be opened again after it was closed; that results are
// bounded; and that no arguments, however wrong, end a run.
func Toolset(tb testing.TB, ts runtime.Toolset, opts ...Option) {
	tb.Helper()
	c := &check{TB: tb, toolset: ts, args: make(map[string][]json.RawMessage)}
	for _, o := range opts {
		o(c)
	}
	registry, err := runtime.NewRegistry(ts)
	if err != nil {
		tb.Errorf("no registry: %v", err)
		return
	}
	for range 2 { // open, close, open again
		c.run(registry)
		if err := registry.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	}
}

func (c *check) run(registry *runtime.Registry) {
	c.Helper()
	run, err := registry.Start(context.Background(), runtime.NoBudgets(), runtime.ErrorsEndCall())
	if err != nil {
		c.Fatal(err)
	}
	defer func() {
		if err := run.Close(); err != nil {
			c.Errorf("close the run: %v", err)
		}
	}()
	tools, err := run.Step(context.Background())
	if err != nil {
		c.Errorf("step: %v", err)
		return
	}
	c.stable(run, tools)
	for _, t := range tools {
		c.definition(t.Definition())
		c.hostile(run, t.Definition().Name)
		c.canceled(t)
	}
	c.parallel(run)
}

// stable lists again: the same names in the same order, the same definitions.
func (c *check) stable(run *runtime.Run, tools []runtime.Tool) {
	c.Helper()
	again, err := run.Step(context.Background())
	if err != nil {
		c.Errorf("the second step: %v", err)
		return
	}
	if before, now := names(tools), names(again); !slices.Equal(before, now) {
		c.Errorf("the list was %v and is %v", before, now)
		return
	}
	for i, t := range tools {
		if first := t.Definition(); first != t.Definition() {
			c.Errorf("tool %s has another definition each time", t.Definition().Name)
		}
		if before, now := t.Definition(), again[i].Definition(); !bytes.Equal(before.Input, now.Input) || before.Description != now.Description {
			c.Errorf("tool %s has changed between two steps", before.Name)
		}
	}
}

func names(tools []runtime.Tool) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = t.Definition().Name
	}
	return out
}

// definition checks what a model sees.
func (c *check) definition(def *runtime.Definition) {
	c.Helper()
	for what, raw := range map[string]json.RawMessage{"input": def.Input, "output": def.Output} {
		if raw == nil && what == "output" {
			continue
		}
		var s struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(raw, &s); err != nil || s.Type != "object" {
			c.Errorf("tool %s: its %s schema is no object: %v", def.Name, what, err)
		}
	}
	if hash, err := schema.Hash(def.Input, def.Output); err != nil || def.SchemaHash != hash {
		c.Errorf("tool %s: its schema hash is %s, want %s, %v", def.Name, def.SchemaHash, hash, err)
	}
	if strings.TrimSpace(def.Description) == "" {
		c.Errorf("tool %s has no description", def.Name)
	}
}

// wrong are arguments that no tool takes, or that try it.
var wrong = []string{
	"{", "null", "[]", "1", `"x"`, "\xff", `{"a":1}{"a":2}`, `{"\u0000":"\u0000"}`, `{"query":"'; DROP TABLE x; --"}`, `{"path":"../../../../etc/passwd"}`,
	strings.Repeat("[", 100_000), `{"x":"` + strings.Repeat("é", 1<<20) + `"}`, `{"limit":1e999}`, `{"a":1,"a":2}`, `{"x":"` + "\\ud800" + `"}`,
}

// hostile calls a tool with wrong arguments: none may end the run.
func (c *check) hostile(run *runtime.Run, name string) {
	c.Helper()
	for _, args := range wrong {
		if c.brief && len(args) > 1000 {
			continue
		}
		c.one(run, name, json.RawMessage(args))
	}
	for _, args := range c.args[name] {
		c.one(run, name, args)
	}
}

func (c *check) one(run *runtime.Run, name string, args json.RawMessage) {
	c.Helper()
	out, err := run.Call(context.Background(), runtime.Call{ID: "1", Name: name, Args: args})
	if err != nil {
		c.Errorf("tool %s with %.60q: %v", name, args, err)
		return
	}
	o := &out[0]
	if o.Kind == runtime.Fatal {
		c.Errorf("tool %s with %.60q ends a run: %v", name, args, o.Err)
	}
	if len(o.Message) > 8<<10 {
		c.Errorf("tool %s with %.60q: a message of %d bytes", name, args, len(o.Message))
	}
	if o.Result != nil {
		n := len(o.Result.Structured)
		for _, b := range o.Result.Blocks {
			n += len(b.Text)
		}
		if n > 2*runtime.DefaultMaxResult {
			c.Errorf("tool %s with %.60q: a result of %d bytes", name, args, n)
		}
	}
}

// canceled calls a tool with a context that has ended: it has to return.
func (c *check) canceled(t runtime.Tool) {
	c.Helper()
	if t.Definition().NoContext {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	args := json.RawMessage("{}")
	if given := c.args[t.Definition().Name]; len(given) > 0 {
		args = given[0]
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // what it makes of a context that is no run's is its own
		_, _ = t.Call(ctx, args)
	}()
	timer := time.NewTimer(10 * endsWithin) // a shared machine may be slow
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		c.Errorf("tool %s goes on after its context has ended", t.Definition().Name)
	}
}

// parallel calls all tools at once from several batches.
func (c *check) parallel(run *runtime.Run) {
	c.Helper()
	var batch []runtime.Call
	tools, err := run.Step(context.Background())
	if err != nil {
		c.Errorf("step: %v", err)
		return
	}
	for _, t := range tools {
		for _, args := range append([]json.RawMessage{json.RawMessage("{}")}, c.args[t.Definition().Name]...) {
			batch = append(batch, runtime.Call{ID: strconv.Itoa(len(batch)), Name: t.Definition().Name, Args: args})
		}
	}
	if len(batch) == 0 {
		return
	}
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			out, err := run.Call(context.Background(), batch...)
			if err == nil && len(out) != len(batch) {
				err = fmt.Errorf("%d outcomes of %d calls", len(out), len(batch))
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		c.Errorf("in parallel: %v", err)
	}
}
