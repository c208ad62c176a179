package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolgen/toolgen/runtime"
)

// calls makes a batch of calls, of one tool each.
func calls(names ...string) []runtime.Call {
	out := make([]runtime.Call, len(names))
	for i, name := range names {
		out[i] = runtime.Call{ID: strconv.Itoa(i), Name: name}
	}
	return out
}

// moody is a tool that says retry as long as *bad.
func moody(name string, bad *bool) *fake {
	return newFake(name, func(context.Context, json.RawMessage) (*runtime.Result, error) {
		if *bad {
			return nil, runtime.Retryf("again")
		}
		return runtime.TextResult("ok"), nil
	})
}

// corrections calls a tool that is never right until the run ends, and returns how
// many corrections the model had.
func corrections(t *testing.T, run *runtime.Run, name string) (n int, err error) {
	t.Helper()
	for n = range 20 {
		if _, err = run.Call(t.Context(), calls(name)...); err != nil {
			return n, err
		}
	}
	return n, nil
}

func TestR8RetryBudget(t *testing.T) {
	t.Parallel()
	bad := true
	tool := func(name string, retries int) *fake {
		f := moody(name, &bad)
		f.def.Retries = retries
		return f
	}
	for name, c := range map[string]struct {
		retries int
		opts    []runtime.Option
		want    int
	}{
		"the default":                   {0, nil, 3},
		"the run's":                     {0, []runtime.Option{runtime.Retries(5)}, 5},
		"the run's none":                {0, []runtime.Option{runtime.Retries(0)}, 0},
		"the definition's over the run": {2, []runtime.Option{runtime.Retries(5)}, 2},
		"the definition's none":         {-1, nil, 0},
		"the run's for the tool":        {2, []runtime.Option{runtime.RetriesOf("x", 4)}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := corrections(t, start(t, set{tool("x", c.retries)}, c.opts...), "x")
			var spent *runtime.RetryBudgetError
			if n != c.want || !errors.As(err, &spent) || spent.Tool != "x" || spent.Last.Error() != "again" {
				t.Errorf("%d corrections, then %v; want %d", n, err, c.want)
			}
		})
	}
}

// TestR8Refill has a success fill the budget up again, and a batch take one at
// most.
func TestR8Refill(t *testing.T) {
	t.Parallel()
	bad := false
	run := start(t, set{moody("x", &bad)})
	for range 3 {
		for _, now := range []bool{true, true, true, false} {
			bad = now
			if _, err := run.Call(t.Context(), calls("x")...); err != nil {
				t.Fatal(err)
			}
		}
	}
	bad = true
	if _, err := run.Call(t.Context(), calls("x", "x", "x", "x", "x")...); err != nil {
		t.Fatal(err)
	}
	if n, err := corrections(t, run, "x"); n != 2 || err == nil {
		t.Errorf("after five wrong calls in a batch %d corrections are left, %v; want 2", n, err)
	}
	if _, err := run.Call(t.Context(), calls("x")...); err == nil {
		t.Error("the run goes on")
	}
	mixed := start(t, set{newFake("x", func(_ context.Context, args json.RawMessage) (*runtime.Result, error) {
		if string(args) == "1" {
			return runtime.TextResult("ok"), nil
		}
		return nil, runtime.Retryf("again")
	})}, runtime.Retries(1))
	for range 5 {
		if _, err := mixed.Call(t.Context(), runtime.Call{ID: "1", Name: "x"}, runtime.Call{ID: "2", Name: "x", Args: json.RawMessage("1")}); err != nil {
			t.Fatalf("a batch with a success spends nothing: %v", err)
		}
	}
}

func TestR8UnknownNamesShareABudget(t *testing.T) {
	t.Parallel()
	run := start(t, set{answer("x")})
	for i, name := range []string{"a", "b", "c", "d"} {
		_, err := run.Call(t.Context(), calls(name)...)
		var spent *runtime.RetryBudgetError
		if last := i == 3; last != errors.As(err, &spent) || last && spent.Tool != "" {
			t.Errorf("name %d: %v", i+1, err)
		}
	}
}

// TestR8Disable takes a tool out of the list, and the run goes on.
func TestR8Disable(t *testing.T) {
	t.Parallel()
	bad := true
	run := start(t, set{moody("x", &bad), answer("y")}, runtime.OnExhausted(runtime.Disable), runtime.Retries(1))
	var out []runtime.Outcome
	for range 3 {
		var err error
		if out, err = run.Call(t.Context(), calls("x")...); err != nil {
			t.Fatal(err)
		}
	}
	if o := out[0]; o.Kind != runtime.Failed || o.Reason != "budget" || !strings.Contains(o.Message, "not available any more") {
		t.Errorf("got %s %s %q", o.Kind, o.Reason, o.Message)
	}
	tools, err := run.Step(t.Context())
	if err != nil || len(tools) != 1 || tools[0].Definition().Name != "y" {
		t.Errorf("the next list is %v, %v; want y alone", tools, err)
	}
	if out, err := run.Call(t.Context(), calls("y")...); err != nil || out[0].Kind != runtime.OK {
		t.Errorf("y: %v, %v", out, err)
	}
}

// TestR8CallKnows gives a tool its attempt, and whether it is the last.
func TestR8CallKnows(t *testing.T) {
	t.Parallel()
	var seen []runtime.CallInfo
	run := start(t, set{newFake("x", func(ctx context.Context, _ json.RawMessage) (*runtime.Result, error) {
		info, _ := runtime.CallFrom(ctx)
		seen = append(seen, info)
		if info.LastAttempt {
			return nil, runtime.Failedf("no")
		}
		return nil, runtime.Retryf("again")
	})}, runtime.ID("r1"), runtime.Retries(2))
	for range 3 {
		out, err := run.Call(t.Context(), calls("x")...)
		if err != nil {
			t.Fatal(err)
		}
		if out[0].Attempt != len(seen) {
			t.Errorf("the outcome is of attempt %d, want %d", out[0].Attempt, len(seen))
		}
	}
	keys := make(map[string]bool)
	for i, info := range seen {
		if info.Attempt != i+1 || info.LastAttempt != (i == 2) || info.RunID != "r1" || info.Step != 1 {
			t.Errorf("call %d: %+v", i+1, info)
		}
		keys[info.IdempotencyKey] = true
	}
	if len(keys) != 3 {
		t.Errorf("%d keys of three equal calls, want 3", len(keys))
	}
}

func TestR9Budgets(t *testing.T) {
	var ran atomic.Int32
	tool := func(name string) *fake {
		return newFake(name, func(context.Context, json.RawMessage) (*runtime.Result, error) {
			ran.Add(1)
			return runtime.TextResult(strings.Repeat("x", 100)), nil
		})
	}
	for name, c := range map[string]struct {
		opt   runtime.Option
		first []string // fits
		then  []string // doesn't
		words string
		ends  bool // and nothing is left
	}{
		"calls":       {runtime.MaxCalls(5), []string{"x", "x", "x"}, []string{"x", "x", "y"}, "not run: 3 calls in this batch, 2 left in this run", false},
		"no call":     {runtime.MaxCalls(3), []string{"x", "x", "x"}, []string{"x"}, "not run: 1 calls in this batch, 0 left in this run", true},
		"batch":       {runtime.MaxBatch(2), []string{"x", "x"}, []string{"x", "x", "x"}, "not run: 3 calls in this batch, at most 2 are taken at once", false},
		"of one tool": {runtime.MaxCallsOf("x", 2), []string{"x"}, []string{"x", "y", "x"}, "not run: 2 calls of tool x in this batch, 1 left in this run", false},
		"results":     {runtime.MaxResults(250), []string{"x", "x", "x"}, []string{"x"}, "not run: the results of this run have 300 bytes, the limit is 250", true},
	} {
		t.Run(name, func(t *testing.T) {
			run := start(t, set{tool("x"), tool("y")}, c.opt)
			ran.Store(0)
			if _, err := run.Call(t.Context(), calls(c.first...)...); err != nil || int(ran.Load()) != len(c.first) {
				t.Fatalf("%d ran, %v", ran.Load(), err)
			}
			for range 2 {
				ran.Store(0)
				out, err := run.Call(t.Context(), calls(c.then...)...)
				if _, spent := errors.AsType[*runtime.BudgetError](err); spent {
					break
				}
				if err != nil || ran.Load() != 0 {
					t.Fatalf("%d ran, %v; want none", ran.Load(), err)
				}
				for _, o := range out {
					if o.Kind != runtime.Failed || o.Reason != "budget" || o.Message != c.words {
						t.Errorf("got %s %s %q; want %q", o.Kind, o.Reason, o.Message, c.words)
					}
				}
			}
			_, err := run.Call(t.Context(), calls("y")...)
			if ended := err != nil; ended != c.ends {
				t.Errorf("the run goes on with %v", err)
			}
			if got := run.Usage(); got.Calls < len(c.first) || got.ByTool["x"] != len(c.first) {
				t.Errorf("usage %+v", got)
			}
		})
	}
}

// TestR9Elapsed has a run take no more calls after a time.
func TestR9Elapsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		run := start(t, set{answer("x")}, runtime.MaxElapsed(time.Minute))
		time.Sleep(59 * time.Second)
		if out, err := run.Call(t.Context(), calls("x")...); err != nil || out[0].Kind != runtime.OK {
			t.Errorf("got %v, %v", out, err)
		}
		time.Sleep(time.Second)
		out, err := run.Call(t.Context(), calls("x")...)
		if err != nil || out[0].Message != "not run: this run has taken 60s, the limit is 60s" {
			t.Errorf("got %v, %v", out, err)
		}
	})
}

// TestR9NothingSpent has calls that never ran cost nothing: unknown ones, those
// that wait, and those that a fatal one kept from starting.
func TestR9NothingSpent(t *testing.T) {
	t.Parallel()
	waits := answer("waits")
	waits.def.Approval = runtime.Always
	last := answer("last")
	last.def.Sequential = true
	began := make(chan struct{})
	x := newFake("x", func(context.Context, json.RawMessage) (*runtime.Result, error) {
		close(began)
		return runtime.TextResult("x"), nil
	})
	broken := newFake("broken", func(context.Context, json.RawMessage) (*runtime.Result, error) {
		<-began // else x might never start
		return nil, errors.New("broken")
	})
	run := start(t, set{waits, last, broken, x}, runtime.MaxCalls(2))
	if _, err := run.Call(t.Context(), calls("nobody", "x", "broken", "last")...); err != nil {
		t.Fatal(err)
	}
	if got := run.Usage(); got.Calls != 0 {
		t.Errorf("a batch of three in a run of two: %d were spent", got.Calls)
	}
	run = start(t, set{waits, last, broken, x}, runtime.MaxCalls(3))
	if _, err := run.Call(t.Context(), calls("nobody", "x", "broken", "last")...); err == nil {
		t.Fatal("no error")
	}
	if got := run.Usage(); got.Calls != 2 || got.ByTool["last"] != 0 {
		t.Errorf("usage %+v; want x and broken", got)
	}
	run = start(t, set{waits, answer("x")})
	if _, err := run.Call(t.Context(), calls("waits", "x")...); err != nil {
		t.Fatal(err)
	}
	if got := run.Usage(); got.Calls != 1 || got.ByTool["waits"] != 0 {
		t.Errorf("usage %+v; want x alone", got)
	}
}

func TestR9NoBudgets(t *testing.T) {
	t.Parallel()
	bad := true
	run := start(t, set{moody("x", &bad)}, runtime.NoBudgets())
	for range 300 {
		if _, err := run.Call(t.Context(), calls("x")...); err != nil {
			t.Fatal(err)
		}
	}
}

func TestR9OptionsAreChecked(t *testing.T) {
	t.Parallel()
	registry, err := runtime.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	for name, opt := range map[string]runtime.Option{
		"timeout": runtime.Timeout(0), "result": runtime.MaxResult(1023), "calls": runtime.MaxCalls(0), "batch": runtime.MaxBatch(0), "results": runtime.MaxResults(0),
		"elapsed": runtime.MaxElapsed(-1), "retries": runtime.Retries(-1), "retries of": runtime.RetriesOf("x", -1), "calls of": runtime.MaxCallsOf("x", 0),
		"key": runtime.StateKey([]byte("short")),
	} {
		if _, err := registry.Start(t.Context(), opt); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
