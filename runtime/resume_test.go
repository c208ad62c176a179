package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolgen/toolgen/runtime"
)

// refunds are tools of a shop; refund needs approval and takes positive cents.
type refunds struct {
	paid []string // arguments of refund
	info runtime.CallInfo
}

func (s *refunds) Tools(context.Context) ([]runtime.Tool, error) { return s.tools(), nil }

func (s *refunds) tools() []runtime.Tool {
	refund := newFake("refund", func(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
		s.info, _ = runtime.CallFrom(ctx)
		s.paid = append(s.paid, string(args))
		return &runtime.Result{Structured: json.RawMessage(`{"paid":true}`)}, nil
	})
	refund.def.Approval = runtime.Always
	refund.def.Sequential = true
	return []runtime.Tool{validating{refund}, answer("x"), newFake("fetch", func(context.Context, json.RawMessage) (*runtime.Result, error) {
		return nil, &runtime.PendingError{Kind: runtime.PendingExternal, Reason: "runs elsewhere"}
	})}
}

type validating struct{ *fake }

func (validating) Validate(_ context.Context, args json.RawMessage) error {
	if strings.Contains(string(args), "-") {
		return runtime.Retryf("cents must be positive")
	}
	return nil
}

func (s *refunds) start(t *testing.T, opts ...runtime.Option) (*runtime.Registry, *runtime.Run) {
	t.Helper()
	registry, err := runtime.NewRegistry(s)
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context(), append([]runtime.Option{runtime.ID("r1")}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Close() })
	return registry, run
}

func kinds(out []runtime.Outcome) string {
	var all []string
	for _, o := range out {
		all = append(all, string(o.Kind))
	}
	return strings.Join(all, " ")
}

func refundCall(id, cents string) runtime.Call {
	return runtime.Call{ID: id, Name: "refund", Args: json.RawMessage(`{"cents":` + cents + `}`)}
}

// TestR28Resume approves one of three calls, then denies another, in another
// registry each time, as another process would.
func TestR28Resume(t *testing.T) {
	t.Parallel()
	first := &refunds{}
	_, run := first.start(t)
	out, err := run.Call(t.Context(), runtime.Call{ID: "a", Name: "x"}, refundCall("b", "1"), refundCall("c", "2"), runtime.Call{ID: "d", Name: "x"})
	if err != nil || kinds(out) != "ok pending held held" {
		t.Fatalf("%s, %v", kinds(out), err)
	}
	if _, err := run.Call(t.Context(), runtime.Call{ID: "e", Name: "x"}); err == nil || !strings.Contains(err.Error(), "waits for decisions") {
		t.Errorf("a run that waits takes calls: %v", err)
	}
	state, err := run.State()
	if err != nil {
		t.Fatal(err)
	}
	pending := run.Pending()
	if len(pending) != 1 || pending[0].CallID != "b" || pending[0].Reason != "calls of tool refund need approval" {
		t.Fatalf("%+v", pending)
	}

	second := &refunds{}
	registry, _ := second.start(t)
	decision := pending[0].Decide(runtime.Approve)
	resumed, out, err := registry.Resume(t.Context(), state, []runtime.Decision{decision})
	if err != nil || kinds(out) != "ok ok pending held" {
		t.Fatalf("%s, %v", kinds(out), err)
	}
	if resumed.ID() != "r1" || len(second.paid) != 1 || second.paid[0] != `{"cents":1}` || !second.info.Approved || second.info.Overridden {
		t.Errorf("run %s paid %v, %+v", resumed.ID(), second.paid, second.info)
	}
	if got := resumed.Usage(); got.Calls != 2 {
		t.Errorf("usage %+v; want x and refund", got)
	}
	var stale *runtime.StaleApprovalError
	if _, _, err := registry.Resume(t.Context(), state, []runtime.Decision{decision}); !errors.As(err, &stale) || len(second.paid) != 1 {
		t.Errorf("a decision worked twice: %v, %v", err, second.paid)
	}

	state, err = resumed.State()
	if err != nil {
		t.Fatal(err)
	}
	third := &refunds{}
	registry, _ = third.start(t)
	pending = resumed.Pending()
	no := pending[0].Decide(runtime.Deny)
	no.Message = "ask the customer first"
	last, out, err := registry.Resume(t.Context(), state, []runtime.Decision{no})
	if err != nil || kinds(out) != "ok ok failed ok" || len(third.paid) != 0 {
		t.Fatalf("%s, %v", kinds(out), err)
	}
	if o := out[2]; o.Reason != "denied" || o.Message != "a reviewer declined this call: ask the customer first" {
		t.Errorf("%s %q", o.Reason, o.Message)
	}
	if out, err := last.Call(t.Context(), runtime.Call{ID: "e", Name: "x"}); err != nil || kinds(out) != "ok" {
		t.Errorf("the run doesn't go on: %v", err)
	}
	if _, err := last.State(); err == nil {
		t.Error("a run that waits for nothing has a state")
	}
}

// TestR28Stale refuses decisions and states that are not what they were about;
// nothing runs, and the state is as good as before.
func TestR28Stale(t *testing.T) {
	t.Parallel()
	shop := &refunds{}
	registry, run := shop.start(t)
	if _, err := run.Call(t.Context(), refundCall("b", "1")); err != nil {
		t.Fatal(err)
	}
	state, err := run.State()
	if err != nil {
		t.Fatal(err)
	}
	good := run.Pending()[0].Decide(runtime.Approve)
	for name, change := range map[string]func(d *runtime.Decision, state *[]byte){
		"another call":    func(d *runtime.Decision, _ *[]byte) { d.CallID = "z" },
		"other arguments": func(d *runtime.Decision, _ *[]byte) { d.ArgsSHA256 = strings.Repeat("0", 64) },
		"other schema":    func(d *runtime.Decision, _ *[]byte) { d.SchemaSHA256 = strings.Repeat("0", 64) },
		"altered arguments": func(_ *runtime.Decision, s *[]byte) {
			*s = bytes.Replace(*s, []byte(`"cents":1`), []byte(`"cents":9`), 1)
		},
		"no such tool": func(_ *runtime.Decision, s *[]byte) {
			*s = bytes.Replace(*s, []byte(`"tool":"refund"`), []byte(`"tool":"y"`), 1)
		},
		"bad override": func(d *runtime.Decision, _ *[]byte) { d.Args = json.RawMessage(`{"cents":-1}`) },
		"no verdict":   func(d *runtime.Decision, _ *[]byte) { d.Verdict = "" },
		"no result":    func(d *runtime.Decision, _ *[]byte) { d.Verdict = runtime.UseResult },
		"not JSON":     func(_ *runtime.Decision, s *[]byte) { *s = (*s)[1:] },
		"a new field":  func(_ *runtime.Decision, s *[]byte) { *s = append([]byte(`{"new":1,`), (*s)[1:]...) },
		"another version": func(_ *runtime.Decision, s *[]byte) {
			*s = bytes.Replace(*s, []byte(`"version":1`), []byte(`"version":2`), 1)
		},
	} {
		d, altered := good, bytes.Clone(state)
		change(&d, &altered)
		resumed, out, err := registry.Resume(t.Context(), altered, []runtime.Decision{d})
		if err == nil || resumed != nil || out != nil || len(shop.paid) != 0 {
			t.Errorf("%s: %v, %v, paid %v", name, out, err, shop.paid)
		}
	}
	if _, out, err := registry.Resume(t.Context(), state, []runtime.Decision{good}); err != nil || kinds(out) != "ok" {
		t.Errorf("after all that: %v, %v", out, err)
	}
}

// TestR28Override runs with the arguments of a reviewer, and says so.
func TestR28Override(t *testing.T) {
	t.Parallel()
	shop := &refunds{}
	registry, run := shop.start(t)
	if _, err := run.Call(t.Context(), refundCall("b", "100")); err != nil {
		t.Fatal(err)
	}
	state, err := run.State()
	if err != nil {
		t.Fatal(err)
	}
	d := run.Pending()[0].Decide(runtime.Approve)
	d.Args = json.RawMessage(`{"cents":50}`)
	_, out, err := registry.Resume(t.Context(), state, []runtime.Decision{d})
	if err != nil || kinds(out) != "ok" {
		t.Fatalf("%v, %v", out, err)
	}
	blocks := out[0].Result.Blocks
	if len(blocks) != 2 || blocks[0].Text != `{"paid":true}` || blocks[1].Text != `[a reviewer changed the arguments to {"cents":50}]` || shop.paid[0] != `{"cents":50}` || !shop.info.Overridden {
		t.Errorf("%+v, paid %v, %+v", blocks, shop.paid, shop.info)
	}
}

func TestR28StateKey(t *testing.T) {
	t.Parallel()
	key, other := bytes.Repeat([]byte("k"), 32), bytes.Repeat([]byte("o"), 32)
	shop := &refunds{}
	registry, run := shop.start(t, runtime.StateKey(key))
	if _, err := run.Call(t.Context(), refundCall("b", "1")); err != nil {
		t.Fatal(err)
	}
	state, err := run.State()
	if err != nil {
		t.Fatal(err)
	}
	decisions := []runtime.Decision{run.Pending()[0].Decide(runtime.Approve)}
	altered := bytes.Replace(state, []byte(`"calls":0`), []byte(`"calls":1`), 1)
	unsigned := &refunds{}
	_, plain := unsigned.start(t)
	if _, err := plain.Call(t.Context(), refundCall("b", "1")); err != nil {
		t.Fatal(err)
	}
	bare, err := plain.State()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		state []byte
		opts  []runtime.Option
	}{
		"altered":     {altered, []runtime.Option{runtime.StateKey(key)}},
		"another key": {state, []runtime.Option{runtime.StateKey(other)}},
		"no key":      {state, nil},
		"not signed":  {bare, []runtime.Option{runtime.StateKey(key)}},
	} {
		if _, out, err := registry.Resume(t.Context(), c.state, decisions, c.opts...); err == nil || len(shop.paid) != 0 {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
	if _, out, err := registry.Resume(t.Context(), state, decisions, runtime.StateKey(key)); err != nil || kinds(out) != "ok" {
		t.Errorf("with the key: %v, %v", out, err)
	}
}

// TestR28Expiry fails a call that nobody decided in time, and never runs it.
func TestR28Expiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shop := &refunds{}
		registry, run := shop.start(t, runtime.ApproveWithin(time.Hour))
		if _, err := run.Call(t.Context(), refundCall("b", "1")); err != nil {
			t.Fatal(err)
		}
		state, err := run.State()
		if err != nil {
			t.Fatal(err)
		}
		d := run.Pending()[0].Decide(runtime.Approve)
		time.Sleep(time.Hour)
		resumed, out, err := registry.Resume(t.Context(), state, []runtime.Decision{d})
		if err != nil || kinds(out) != "failed" || out[0].Reason != "expired" || len(shop.paid) != 0 {
			t.Errorf("%+v, %v, paid %v", out, err, shop.paid)
		}
		if err := resumed.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestR28External brings the result of a call that runs elsewhere.
func TestR28External(t *testing.T) {
	t.Parallel()
	shop := &refunds{}
	registry, run := shop.start(t)
	if out, err := run.Call(t.Context(), runtime.Call{ID: "f", Name: "fetch"}, runtime.Call{ID: "a", Name: "x"}); err != nil || kinds(out) != "pending ok" {
		t.Fatalf("%s, %v", kinds(out), err)
	}
	state, err := run.State()
	if err != nil {
		t.Fatal(err)
	}
	d := run.Pending()[0].Decide(runtime.Approve)
	if _, _, err := registry.Resume(t.Context(), state, []runtime.Decision{d}); err == nil {
		t.Error("approving runs nothing, and is no error")
	}
	d.Verdict, d.Result = runtime.UseResult, runtime.TextResult("fetched")
	_, out, err := registry.Resume(t.Context(), state, []runtime.Decision{d})
	if err != nil || kinds(out) != "ok ok" || out[0].Result.Blocks[0].Text != "fetched" {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestR28Approver asks in place; a person who doesn't answer leaves the call
// pending.
func TestR28Approver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decide func(p runtime.PendingCall) (runtime.Decision, error)
		want   string
	}{
		"yes": {func(p runtime.PendingCall) (runtime.Decision, error) { return p.Decide(runtime.Approve), nil }, "ok"},
		"no":  {func(p runtime.PendingCall) (runtime.Decision, error) { return p.Decide(runtime.Deny), nil }, "failed"},
		"nobody": {func(runtime.PendingCall) (runtime.Decision, error) {
			return runtime.Decision{}, errors.New("no answer")
		}, "pending"},
		"nonsense": {func(p runtime.PendingCall) (runtime.Decision, error) { return p.Decide("perhaps"), nil }, "pending"},
		"other": {func(runtime.PendingCall) (runtime.Decision, error) {
			return runtime.Decision{Verdict: runtime.Approve}, nil
		}, "fatal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shop := &refunds{}
			_, run := shop.start(t, runtime.Approver(func(_ context.Context, p runtime.PendingCall) (runtime.Decision, error) { return c.decide(p) }))
			out, _ := run.Call(t.Context(), refundCall("b", "1"))
			if kinds(out) != c.want || (len(shop.paid) == 1) != (c.want == "ok") {
				t.Errorf("%s, paid %v; want %s", kinds(out), shop.paid, c.want)
			}
		})
	}
}
