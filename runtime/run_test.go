package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgen/toolgen/runtime"
)

// fake is a hand-written tool.
type fake struct {
	def  runtime.Definition
	call func(ctx context.Context, args json.RawMessage) (*runtime.Result, error)
}

func (f *fake) Definition() *runtime.Definition { return &f.def }

func (f *fake) Call(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
	return f.call(ctx, args)
}

func newFake(name string, call func(ctx context.Context, args json.RawMessage) (*runtime.Result, error)) *fake {
	return &fake{def: runtime.Definition{Name: name, Input: json.RawMessage(`{"type":"object"}`)}, call: call}
}

func answer(text string) *fake {
	return newFake(text, func(context.Context, json.RawMessage) (*runtime.Result, error) { return runtime.TextResult(text), nil })
}

type set []*fake

func (s set) Tools(context.Context) ([]runtime.Tool, error) {
	out := make([]runtime.Tool, len(s))
	for i, f := range s {
		out[i] = f
	}
	return out, nil
}

func start(tb testing.TB, tools set, opts ...runtime.Option) *runtime.Run {
	tb.Helper()
	registry, err := runtime.NewRegistry(tools)
	if err != nil {
		tb.Fatal(err)
	}
	run, err := registry.Start(context.Background(), opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = run.Close() }) // in a bubble of synctest no goroutine may be left
	return run
}

// one makes one call.
func one(tb testing.TB, f *fake, opts ...runtime.Option) runtime.Outcome {
	tb.Helper()
	out, _ := start(tb, set{f}, opts...).Call(context.Background(), runtime.Call{ID: "1", Name: f.def.Name})
	if len(out) != 1 {
		tb.Fatalf("%d outcomes, want 1", len(out))
	}
	return out[0]
}

// returning is a tool that returns what is given.
func returning(r *runtime.Result, err error) *fake {
	return newFake("x", func(context.Context, json.RawMessage) (*runtime.Result, error) { return r, err })
}

type badPrinter struct{}

func (badPrinter) String() string { panic("again") }

func TestR7Outcomes(t *testing.T) {
	t.Parallel()
	secret := errors.New("password is hunter2")
	var nilRetry *runtime.RetryError
	for name, c := range map[string]struct {
		tool    *fake
		kind    runtime.Kind
		reason  runtime.Reason
		message string
	}{
		"result":        {returning(runtime.TextResult("a"), nil), runtime.OK, "", ""},
		"nil":           {returning(nil, nil), runtime.Fatal, "tool_error", "tool x failed (ref "},
		"retry":         {returning(nil, runtime.Retryf("bad %d", 1)), runtime.Retry, "tool_retry", "bad 1"},
		"wrapped retry": {returning(nil, fmt.Errorf("x: %w", runtime.Retryf("bad"))), runtime.Retry, "tool_retry", "bad"},
		"issues":        {returning(nil, &runtime.RetryError{Message: "m", Issues: []runtime.Issue{{Code: runtime.IssueType}}}), runtime.Retry, "invalid_arguments", "m"},
		"failed":        {returning(nil, runtime.Failedf("gone")), runtime.Failed, "tool_failed", "gone"},
		"code":          {returning(nil, &runtime.FailedError{Message: "down", Code: runtime.Unavailable}), runtime.Failed, "unavailable", "down"},
		"pending":       {returning(nil, &runtime.PendingError{Kind: runtime.PendingApproval}), runtime.Pending, "approval", ""},
		"error":         {returning(nil, secret), runtime.Fatal, "tool_error", "tool x failed (ref "},
		"typed nil":     {returning(nil, nilRetry), runtime.Fatal, "tool_error", "tool x failed (ref "},
		"panic":         {newFake("x", func(context.Context, json.RawMessage) (*runtime.Result, error) { panic(secret) }), runtime.Fatal, "panic", "tool x failed (ref "},
		"panic printer": {newFake("x", func(context.Context, json.RawMessage) (*runtime.Result, error) { panic(badPrinter{}) }), runtime.Fatal, "panic", "tool x failed (ref "},
		"goexit": {newFake("x", func(context.Context, json.RawMessage) (*runtime.Result, error) {
			goruntime.Goexit()
			return &runtime.Result{}, nil
		}), runtime.Fatal, "panic", "tool x failed (ref "},
		"long message":   {returning(nil, runtime.Failedf("%s", strings.Repeat("é", 9000))), runtime.Failed, "tool_failed", strings.Repeat("é", 4096)},
		"unknown result": {returning(&runtime.Result{}, nil), runtime.OK, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := one(t, c.tool)
			if o.Kind != c.kind || o.Reason != c.reason || !strings.HasPrefix(o.Message, c.message) {
				t.Errorf("got %s, %q, %.80q; want %s, %q, %.80q", o.Kind, o.Reason, o.Message, c.kind, c.reason, c.message)
			}
			if strings.Contains(o.Message, "hunter2") {
				t.Errorf("the message tells the model an error that is not for it: %s", o.Message)
			}
			if o.Kind != runtime.OK && o.Err == nil {
				t.Error("the host gets no error")
			}
			if o.Err != nil {
				_ = o.Err.Error() // must not panic, whatever was passed to panic
			}
		})
	}
}

func TestR10FatalEndsTheRun(t *testing.T) {
	t.Parallel()
	tools := set{returning(nil, errors.New("broken")), answer("fine")}
	run := start(t, tools)
	out, err := run.Call(t.Context(), runtime.Call{ID: "1", Name: "x"})
	if err == nil || out[0].Kind != runtime.Fatal {
		t.Fatalf("got %v, %v; want a fatal outcome and an error", out, err)
	}
	if _, err := run.Call(t.Context(), runtime.Call{ID: "2", Name: "fine"}); err == nil {
		t.Error("a run that has ended takes calls")
	}
	server := start(t, tools, runtime.ErrorsEndCall())
	if _, err := server.Call(t.Context(), runtime.Call{ID: "1", Name: "x"}); err != nil {
		t.Errorf("with ErrorsEndCall: %v", err)
	}
	if out, err := server.Call(t.Context(), runtime.Call{ID: "2", Name: "fine"}); err != nil || out[0].Kind != runtime.OK {
		t.Errorf("with ErrorsEndCall the next call ends as %v, %v; want ok", out, err)
	}
}

func TestR12UnknownName(t *testing.T) {
	t.Parallel()
	run := start(t, set{answer("refund"), answer("cancel")})
	out, err := run.Call(t.Context(), runtime.Call{ID: "1", Name: "refnd"}, runtime.Call{ID: "2", Name: "Refund"})
	if err != nil {
		t.Fatal(err)
	}
	want := `unknown tool "refnd"; did you mean refund? You can call: cancel, refund`
	if out[0].Kind != runtime.Retry || out[0].Reason != "unknown_tool" || out[0].Message != want {
		t.Errorf("got %s %q %q; want retry unknown_tool %q", out[0].Kind, out[0].Reason, out[0].Message, want)
	}
	if out[1].Kind != runtime.Retry {
		t.Errorf("a name in another case resolves: %v", out[1])
	}
}

func TestR10CallIDs(t *testing.T) {
	t.Parallel()
	ran := false
	run := start(t, set{newFake("x", func(context.Context, json.RawMessage) (*runtime.Result, error) {
		ran = true
		return runtime.TextResult(""), nil
	})})
	for _, calls := range [][]runtime.Call{
		{{Name: "x"}},
		{{ID: "1", Name: "x"}, {ID: "1", Name: "x"}},
		{{ID: "1", Name: "x"}, {Name: "x"}},
	} {
		if _, err := run.Call(t.Context(), calls...); err == nil {
			t.Errorf("%v: no error", calls)
		}
	}
	if ran {
		t.Error("a batch with wrong ids ran")
	}
}

func TestR10SequentialIsABarrier(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, log := 0, []string{}
		tool := func(name string) *fake {
			return newFake(name, func(context.Context, json.RawMessage) (*runtime.Result, error) {
				mu.Lock()
				running++
				log = append(log, fmt.Sprintf("%s with %d", name, running))
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return runtime.TextResult(name), nil
			})
		}
		alone := tool("s")
		alone.def.Sequential = true
		run := start(t, set{tool("a"), alone, tool("b"), tool("c")})
		var calls []runtime.Call
		for _, name := range []string{"a", "s", "b", "c"} {
			calls = append(calls, runtime.Call{ID: name, Name: name})
		}
		begin := time.Now()
		out, err := run.Call(t.Context(), calls...)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(log[2:])
		if diff := cmp.Diff([]string{"a with 1", "s with 1"}, log[:2]); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("took %s, want 3s: a, then s alone, then b and c together", took)
		}
		for i, o := range out {
			if o.ID != calls[i].ID || o.Kind != runtime.OK || o.Elapsed != time.Second {
				t.Errorf("outcome %d is %s of %s after %s", i, o.Kind, o.ID, o.Elapsed)
			}
		}
	})
}

func TestR10PendingBarrierHolds(t *testing.T) {
	t.Parallel()
	barrier := newFake("s", func(context.Context, json.RawMessage) (*runtime.Result, error) {
		return nil, &runtime.PendingError{Kind: runtime.PendingApproval, Reason: "destructive"}
	})
	barrier.def.Sequential = true
	run := start(t, set{answer("a"), barrier, answer("b")})
	out, err := run.Call(t.Context(), runtime.Call{ID: "1", Name: "a"}, runtime.Call{ID: "2", Name: "s"}, runtime.Call{ID: "3", Name: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if out[0].Kind != runtime.OK || out[1].Kind != runtime.Pending || out[2].Kind != runtime.Held {
		t.Errorf("got %s, %s, %s; want ok, pending, held", out[0].Kind, out[1].Kind, out[2].Kind)
	}
}

func TestR11Deadline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hints  runtime.Hints
		kind   runtime.Kind
		wants  string
		after  time.Duration
		listen bool
	}{
		"listens":      {runtime.Hints{}, runtime.Failed, "no result within 60s; it may have run", time.Minute, true},
		"ignores":      {runtime.Hints{}, runtime.Failed, "it may have run", 65 * time.Second, false},
		"safe to call": {runtime.Hints{ReadOnly: runtime.Yes}, runtime.Retry, "safe to call again", time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				f := newFake("x", func(ctx context.Context, _ json.RawMessage) (*runtime.Result, error) {
					if c.listen {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					<-release
					return runtime.TextResult("late"), nil
				})
				f.def.Hints = c.hints
				begin := time.Now()
				o := one(t, f)
				if o.Kind != c.kind || !strings.Contains(o.Message, c.wants) || o.Reason != "timeout" {
					t.Errorf("got %s %q %q; want %s timeout, with %q", o.Kind, o.Reason, o.Message, c.kind, c.wants)
				}
				if took := time.Since(begin); took != c.after {
					t.Errorf("outcome after %s, want %s", took, c.after)
				}
				close(release)
			})
		})
	}
}

func TestR10CancelMidBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wait := newFake("wait", func(ctx context.Context, _ json.RawMessage) (*runtime.Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		last := answer("last")
		last.def.Sequential = true
		run := start(t, set{wait, answer("quick"), last})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		out, err := run.Call(ctx, runtime.Call{ID: "1", Name: "wait"}, runtime.Call{ID: "2", Name: "quick"}, runtime.Call{ID: "3", Name: "last"})
		if err == nil {
			t.Error("a cancelled batch is no error")
		}
		if out[0].Kind != runtime.Fatal || out[0].Reason != "canceled" || out[1].Kind != runtime.OK || out[2].Reason != "canceled" {
			t.Errorf("got %s %s, %s, %s %s; want fatal canceled, ok, fatal canceled", out[0].Kind, out[0].Reason, out[1].Kind, out[2].Kind, out[2].Reason)
		}
	})
}

func TestR8CallFrom(t *testing.T) {
	t.Parallel()
	var got runtime.CallInfo
	one(t, newFake("x", func(ctx context.Context, _ json.RawMessage) (*runtime.Result, error) {
		got, _ = runtime.CallFrom(ctx)
		return runtime.TextResult(""), nil
	}))
	if len(got.RunID) != 32 || len(got.IdempotencyKey) != 32 {
		t.Errorf("run %q, key %q", got.RunID, got.IdempotencyKey)
	}
	got.RunID, got.IdempotencyKey = "", ""
	if want := (runtime.CallInfo{ID: "1", Tool: "x", Attempt: 1, Step: 1}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, ok := runtime.CallFrom(t.Context()); ok {
		t.Error("there is a call outside of one")
	}
}

func TestR4ClosedRun(t *testing.T) {
	t.Parallel()
	run := start(t, set{answer("x")})
	if err := errors.Join(run.Close(), run.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Call(t.Context(), runtime.Call{ID: "1", Name: "x"}); err == nil {
		t.Error("a closed run takes calls")
	}
}
