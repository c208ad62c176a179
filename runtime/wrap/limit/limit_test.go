package limit_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/runtimetest"
	"github.com/toolgen/toolgen/runtime/wrap/limit"
)

type tool struct {
	def  runtime.Definition
	call func(ctx context.Context) (*runtime.Result, error)
}

func (t *tool) Definition() *runtime.Definition { return &t.def }

func (t *tool) Call(ctx context.Context, _ json.RawMessage) (*runtime.Result, error) {
	return t.call(ctx)
}

func (t *tool) Tools(context.Context) ([]runtime.Tool, error) { return []runtime.Tool{t}, nil }

func newTool(call func(ctx context.Context) (*runtime.Result, error)) *tool {
	return &tool{runtime.Definition{Name: "x", Description: "Does x.", Input: json.RawMessage(`{"type":"object"}`), Hints: runtime.Hints{ReadOnly: runtime.Yes}}, call}
}

func ok(context.Context) (*runtime.Result, error) { return runtime.TextResult("ok"), nil }

func start(t *testing.T, ts runtime.Toolset) *runtime.Run {
	t.Helper()
	registry, err := runtime.NewRegistry(ts)
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context(), runtime.NoBudgets(), runtime.ErrorsEndCall())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Close() })
	return run
}

func batch(t *testing.T, run *runtime.Run, n int) []runtime.Outcome {
	t.Helper()
	calls := make([]runtime.Call, n)
	for i := range calls {
		calls[i] = runtime.Call{ID: strconv.Itoa(i), Name: "x"}
	}
	out, err := run.Call(t.Context(), calls...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestR31Concurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		run := start(t, limit.Concurrency(newTool(func(context.Context) (*runtime.Result, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return runtime.TextResult("ok"), nil
		}), 2))
		begin := time.Now()
		batch(t, run, 6)
		if took := time.Since(begin); most != 2 || took != 3*time.Second {
			t.Errorf("%d at once, in %s; want 2, in 3s", most, took)
		}
	})
}

func TestR31Rate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		run := start(t, limit.Rate(newTool(ok), 2, time.Second))
		begin := time.Now()
		out := batch(t, run, 3)
		if took := time.Since(begin); took != 500*time.Millisecond {
			t.Errorf("the third of two a second waited %s, want 500ms", took)
		}
		for _, o := range out {
			if o.Kind != runtime.OK {
				t.Errorf("%s %s", o.Kind, o.Message)
			}
		}
		slow := start(t, limit.Rate(newTool(ok), 10, 10*time.Minute))
		batch(t, slow, 10)
		if o := batch(t, slow, 1)[0]; o.Kind != runtime.Failed || o.Message != "limited to 10 calls in 10m0s; try again in 61s" {
			t.Errorf("%s %q", o.Kind, o.Message)
		}
		time.Sleep(time.Minute)
		if o := batch(t, slow, 1)[0]; o.Kind != runtime.OK {
			t.Errorf("a minute later: %s %q", o.Kind, o.Message)
		}
	})
}

type transient struct{ after time.Duration }

func (transient) Error() string   { return "busy" }
func (transient) Temporary() bool { return true }

type later struct{ transient }

func (l later) RetryAfter() time.Duration { return l.after }

// TestR31Breaker opens after five errors that are none of the model's, tries once
// after 30 seconds, and closes when that is right.
func TestR31Breaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var fails error
		calls := 0
		run := start(t, limit.Breaker(newTool(func(context.Context) (*runtime.Result, error) {
			calls++
			if fails != nil {
				return nil, fails
			}
			return runtime.TextResult("ok"), nil
		})))
		for _, mine := range []error{runtime.Retryf("again"), runtime.Failedf("no"), &runtime.PendingError{Kind: runtime.PendingExternal}} {
			fails = mine
			for range 10 {
				batch(t, run, 1)
			}
		}
		fails = errors.New("down")
		for range 5 {
			batch(t, run, 1)
		}
		calls = 0
		if o := batch(t, run, 1)[0]; o.Kind != runtime.Failed || o.Reason != "unavailable" || o.Message != "tool x is unavailable; try again in 30s" || calls != 0 {
			t.Errorf("%s %s %q, called %d times", o.Kind, o.Reason, o.Message, calls)
		}
		time.Sleep(31 * time.Second)
		batch(t, run, 1)
		batch(t, run, 1)
		if calls != 1 {
			t.Errorf("half open it was called %d times, want one trial", calls)
		}
		time.Sleep(31 * time.Second)
		fails = nil
		for range 3 {
			if o := batch(t, run, 1)[0]; o.Kind != runtime.OK {
				t.Errorf("%s %q", o.Kind, o.Message)
			}
		}
	})
}

// TestR31Backoff makes calls again that say they may be.
func TestR31Backoff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		fails  int32
		calls  int32
		kind   runtime.Kind
		atMost time.Duration
	}{
		"transient":            {transient{}, 2, 3, runtime.OK, 10 * time.Second},
		"after a time":         {later{transient{3 * time.Second}}, 1, 2, runtime.OK, 3 * time.Second},
		"transient for long":   {transient{}, 100, 4, runtime.Fatal, 20 * time.Second},
		"the model's":          {runtime.Retryf("again"), 100, 1, runtime.Retry, 0},
		"for good":             {errors.New("broken"), 100, 1, runtime.Fatal, 0},
		"transient and failed": {&runtime.FailedError{Message: "no", Cause: transient{}}, 100, 4, runtime.Failed, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var n atomic.Int32
				run := start(t, limit.Backoff(newTool(func(context.Context) (*runtime.Result, error) {
					if n.Add(1) <= c.fails {
						return nil, c.err
					}
					return runtime.TextResult("ok"), nil
				})))
				begin := time.Now()
				o := batch(t, run, 1)[0]
				if took := time.Since(begin); o.Kind != c.kind || n.Load() != c.calls || took > c.atMost {
					t.Errorf("%s %q after %d calls in %s; want %s after %d", o.Kind, o.Message, n.Load(), took, c.kind, c.calls)
				}
			})
		})
	}
	unsafe := newTool(ok)
	unsafe.def.Hints = runtime.Hints{}
	for want, ts := range map[string]runtime.Toolset{
		"neither read-only nor idempotent": limit.Backoff(unsafe), "no number of calls": limit.Concurrency(newTool(ok), 0), "is no rate": limit.Rate(newTool(ok), 0, time.Second),
	} {
		if _, err := runtime.NewRegistry(ts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, ts := range []runtime.Toolset{
		limit.Concurrency(newTool(ok), 1), limit.Rate(newTool(ok), 10_000, time.Second), limit.Breaker(newTool(ok)), limit.Backoff(newTool(ok)),
		limit.Backoff(limit.Breaker(limit.Rate(limit.Concurrency(newTool(ok), 2), 10_000, time.Second))),
	} {
		runtimetest.Toolset(t, ts)
	}
}

// BenchmarkWrapper is what each limit adds to a call that it lets through: F13.
func BenchmarkWrapper(b *testing.B) {
	for name, wrapper := range map[string]func(runtime.Toolset) runtime.Toolset{
		"concurrency": func(ts runtime.Toolset) runtime.Toolset { return limit.Concurrency(ts, 4) },
		"rate":        func(ts runtime.Toolset) runtime.Toolset { return limit.Rate(ts, 1<<30, time.Second) },
		"breaker":     limit.Breaker,
		"backoff":     limit.Backoff,
	} {
		b.Run(name, func(b *testing.B) { runtimetest.Overhead(b, wrapper) })
	}
}
