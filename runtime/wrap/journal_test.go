package wrap_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/runtimetest"
	"github.com/toolgen/toolgen/runtime/wrap"
)

// ledger is a toolset whose effects are lines of a file, as those of a service
// elsewhere would outlive the agent.
type ledger struct {
	path string
	die  string // the arguments of the call in which the process ends, before or after the effect
}

func (l *ledger) lines() []string {
	data, err := os.ReadFile(l.path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(data))
}

func (l *ledger) write(line string) {
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	if _, err := f.WriteString(line + "\n"); err != nil {
		panic(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		panic(err)
	}
}

func (l *ledger) Tools(context.Context) ([]runtime.Tool, error) {
	list, refund := knows("list"), knows("refund")
	list.def.Hints.ReadOnly = runtime.Yes
	list.call = func(context.Context, json.RawMessage) (*runtime.Result, error) {
		return runtime.TextResult(strings.Join(l.lines(), " ")), nil
	}
	refund.def.Approval = runtime.Always
	write := knows("write")
	effect := func(name string) func(context.Context, json.RawMessage) (*runtime.Result, error) {
		return func(_ context.Context, args json.RawMessage) (*runtime.Result, error) {
			if l.die == "before "+string(args) {
				panic(errDied)
			}
			l.write(name + string(args))
			if l.die == "after "+string(args) {
				panic(errDied)
			}
			return runtime.TextResult("wrote " + string(args)), nil
		}
	}
	write.call, refund.call = effect("write"), effect("refund")
	return []runtime.Tool{list, write, refund}, nil
}

var errDied = errors.New("died")

func (l *ledger) start(t *testing.T, store runtime.JournalStore, version string) (*runtime.Registry, *runtime.Run, error) {
	t.Helper()
	registry, err := runtime.NewRegistry(l)
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context(), runtime.Journal(store, "r1", version))
	if err == nil {
		t.Cleanup(func() { _ = run.Close() })
	}
	return registry, run, err
}

func one(t *testing.T, run *runtime.Run, name, args string) runtime.Outcome {
	t.Helper()
	out, _ := run.Call(t.Context(), runtime.Call{ID: name + args, Name: name, Args: json.RawMessage(args)})
	if len(out) != 1 {
		t.Fatalf("%d outcomes", len(out))
	}
	return out[0]
}

// TestR34Replay begins a run again: calls that were made are replayed in the order of
// their kind, others are made.
func TestR34Replay(t *testing.T) {
	t.Parallel()
	l := &ledger{path: filepath.Join(t.TempDir(), "ledger")}
	store := wrap.DirStore(filepath.Join(t.TempDir(), "journal"))
	_, run, err := l.start(t, store, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.start(t, store, "v1"); err == nil {
		t.Error("two runs of one name at one time")
	} else if held, ok := errors.AsType[*runtime.RunHeldError](err); !ok || held.Run != "r1" || held.Owner == "" {
		t.Errorf("%v", err)
	}
	script := [][2]string{{"list", "{}"}, {"write", "1"}, {"list", "{}"}, {"write", "1"}}
	want := []string{"", "wrote 1", "write1", "wrote 1"}
	play := func(run *runtime.Run, replayed bool) {
		t.Helper()
		for i, s := range script {
			if o := one(t, run, s[0], s[1]); text(o) != want[i] || o.Replayed != replayed {
				t.Errorf("call %d: %q, replayed %v; want %q, %v", i, text(o), o.Replayed, want[i], replayed)
			}
		}
	}
	play(run, false)
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	_, again, err := l.start(t, store, "v1")
	if err != nil {
		t.Fatal(err)
	}
	play(again, true)
	if o := one(t, again, "write", "2"); text(o) != "wrote 2" || o.Replayed {
		t.Errorf("a new call: %q, %v", text(o), o.Replayed)
	}
	if got := l.lines(); !slices.Equal(got, []string{"write1", "write1", "write2"}) {
		t.Errorf("effects %v", got)
	}
	if err := again.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, fresh, err := l.start(t, store, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if o := one(t, fresh, "write", "2"); o.Replayed {
		t.Error("a finished run is replayed")
	}
}

// TestR34Unknown has calls of which nobody knows whether they ran: what is safe is
// made again, what isn't waits for a person, who lets it run, brings its result or
// fails it, once.
func TestR34Unknown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		die     string
		verdict runtime.Verdict
		effects []string
		want    string
	}{
		"before, runs again": {"before 1", runtime.Approve, []string{"write1"}, "wrote 1"},
		"after, has run":     {"after 1", runtime.UseResult, []string{"write1"}, "it had run"},
		"before, is failed":  {"before 1", runtime.Deny, nil, "failed a reviewer declined this call"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &ledger{path: filepath.Join(t.TempDir(), "ledger"), die: c.die}
			store := wrap.DirStore(filepath.Join(t.TempDir(), "journal"))
			_, run, err := l.start(t, store, "v1")
			if err != nil {
				t.Fatal(err)
			}
			if o := one(t, run, "write", "1"); o.Kind != runtime.Fatal {
				t.Fatalf("%s", text(o))
			}
			if err := run.Close(); err != nil {
				t.Fatal(err)
			}
			l.die = ""
			registry, again, err := l.start(t, store, "v1")
			if err != nil {
				t.Fatal(err)
			}
			if o := one(t, again, "write", "1"); o.Kind != runtime.Pending || o.Reason != "unknown_outcome" {
				t.Fatalf("%s %s", o.Reason, text(o))
			}
			state, err := again.State()
			if err != nil {
				t.Fatal(err)
			}
			d := again.Pending()[0].Decide(c.verdict)
			if c.verdict == runtime.UseResult {
				d.Result = runtime.TextResult("it had run")
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			resumed, out, err := registry.Resume(t.Context(), state, []runtime.Decision{d}, runtime.Journal(store, "r1", "v1"))
			if err != nil || text(out[0]) != c.want || !slices.Equal(l.lines(), c.effects) {
				t.Fatalf("%v, %v; effects %v", out, err, l.lines())
			}
			if err := resumed.Close(); err != nil {
				t.Fatal(err)
			}
			if _, _, err := registry.Resume(t.Context(), state, []runtime.Decision{d}, runtime.Journal(store, "r1", "v1")); err == nil {
				t.Error("the decision works twice")
			}
			_, third, err := l.start(t, store, "v1")
			if err != nil {
				t.Fatal(err)
			}
			if o := one(t, third, "write", "1"); text(o) != c.want || !o.Replayed || !slices.Equal(l.lines(), c.effects) {
				t.Errorf("begun again: %q, %v; effects %v", text(o), o.Replayed, l.lines())
			}
		})
	}
}

// TestR34OtherCode replays nothing that another version did, or that came after a
// call which is new: what is read-only is made again, what isn't asks.
func TestR34OtherCode(t *testing.T) {
	t.Parallel()
	l := &ledger{path: filepath.Join(t.TempDir(), "ledger")}
	store := wrap.DirStore(filepath.Join(t.TempDir(), "journal"))
	_, run, err := l.start(t, store, "v1")
	if err != nil {
		t.Fatal(err)
	}
	one(t, run, "list", "{}")
	one(t, run, "write", "1")
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	_, other, err := l.start(t, store, "v2")
	if err != nil {
		t.Fatal(err)
	}
	if o := one(t, other, "list", "{}"); text(o) != "write1" || o.Replayed {
		t.Errorf("list: %q, %v; want what is there now", text(o), o.Replayed)
	}
	if o := one(t, other, "write", "1"); o.Reason != "unknown_outcome" {
		t.Errorf("write: %s", text(o))
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	_, strayed, err := l.start(t, store, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if o := one(t, strayed, "write", "2"); text(o) != "wrote 2" {
		t.Errorf("a new call: %s", text(o))
	}
	if _, err := strayed.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := one(t, strayed, "write", "1"); o.Reason != "unknown_outcome" {
		t.Errorf("after a call that is new: %s", text(o))
	}
}

// TestR34ApproveOnce approves, crashes and begins again: nobody is asked twice.
func TestR34ApproveOnce(t *testing.T) {
	t.Parallel()
	l := &ledger{path: filepath.Join(t.TempDir(), "ledger")}
	store := wrap.DirStore(filepath.Join(t.TempDir(), "journal"))
	registry, run, err := l.start(t, store, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if o := one(t, run, "refund", "1"); o.Kind != runtime.Pending {
		t.Fatal(text(o))
	}
	state, err := run.State()
	if err != nil {
		t.Fatal(err)
	}
	d := run.Pending()[0].Decide(runtime.Approve)
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 2 { // the second time as after a crash
		resumed, out, err := registry.Resume(t.Context(), state, []runtime.Decision{d}, runtime.Journal(store, "r1", "v1"))
		if err != nil || text(out[0]) != "wrote 1" || out[0].Replayed != (i == 1) {
			t.Fatalf("%d: %+v, %v", i, out, err)
		}
		if err := resumed.Close(); err != nil {
			t.Fatal(err)
		}
	}
	d.Verdict = runtime.Deny
	if _, _, err := registry.Resume(t.Context(), state, []runtime.Decision{d}, runtime.Journal(store, "r1", "v1")); err == nil {
		t.Error("another decision about a call that was decided")
	}
	_, again, err := l.start(t, store, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if o := one(t, again, "refund", "1"); text(o) != "wrote 1" || !o.Replayed || !slices.Equal(l.lines(), []string{"refund1"}) {
		t.Errorf("%q, %v; effects %v", text(o), o.Replayed, l.lines())
	}
}

func TestR34DirStore(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "journal")
	runtimetest.JournalStore(t, func() runtime.JournalStore { return wrap.DirStore(dir) })
	for _, key := range []string{"", "../x", "a/b", "A", ".."} {
		if _, err := wrap.DirStore(dir).Put(t.Context(), "r", key, nil); err == nil && key != ".." {
			t.Errorf("key %q is taken", key)
		}
	}
	checkFiles(t, dir)
}

// TestR34FinishedTooLate closes a run before it is finished: nobody holds it any more,
// so that nothing of it is deleted, and that is said.
func TestR34FinishedTooLate(t *testing.T) {
	t.Parallel()
	l := &ledger{path: filepath.Join(t.TempDir(), "ledger")}
	store := wrap.DirStore(filepath.Join(t.TempDir(), "journal"))
	_, run, err := l.start(t, store, "v1")
	if err != nil {
		t.Fatal(err)
	}
	one(t, run, "write", "1")
	if err := errors.Join(run.Close(), run.Close()); err != nil {
		t.Fatal(err)
	}
	if err := run.Finish(t.Context()); err == nil {
		t.Error("no error")
	}
	_, again, err := l.start(t, store, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if o := one(t, again, "write", "1"); !o.Replayed {
		t.Errorf("%s", text(o))
	}
	if err := errors.Join(again.Finish(t.Context()), again.Close()); err != nil {
		t.Error(err)
	}
}

// TestR34LateNote has another process begin a call after this one has looked what there
// is, as one whose lease ran out while it slept: what isn't safe to repeat asks.
func TestR34LateNote(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		l := &ledger{path: filepath.Join(t.TempDir(), "ledger"), die: "before 1"}
		dir := filepath.Join(t.TempDir(), "journal")
		_, slow, err := l.start(t, noLease{wrap.DirStore(dir)}, "v1")
		if err != nil {
			t.Fatal(err)
		}
		_, run, err := l.start(t, noLease{wrap.DirStore(dir)}, "v1")
		if err != nil {
			t.Fatal(err)
		}
		if late {
			one(t, slow, "write", "1")
		}
		l.die = ""
		o, want := one(t, run, "write", "1"), "wrote 1"
		if late {
			want = "pending unknown_outcome"
		}
		if text(o) != want && string(o.Kind)+" "+string(o.Reason) != want {
			t.Errorf("late %v: %s %s %s, want %s", late, o.Kind, o.Reason, text(o), want)
		}
	}
}

// noLease gives a run to everybody.
type noLease struct{ runtime.JournalStore }

func (noLease) Lease(context.Context, string, string, time.Duration) error { return nil }

// asker is a tool that itself asks for approval, once it has been called.
type asker struct{ calls atomic.Int32 }

func (a *asker) Tools(context.Context) ([]runtime.Tool, error) {
	ask := knows("ask")
	ask.call = func(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
		a.calls.Add(1)
		if info, _ := runtime.CallFrom(ctx); !info.Approved {
			return nil, &runtime.PendingError{Kind: runtime.PendingApproval, Reason: "it is much"}
		}
		return runtime.TextResult("done " + string(args)), nil
	}
	return []runtime.Tool{ask}, nil
}

// TestR34ToolAsks approves what a tool asks for itself, of two calls at once. A decision
// that is about other arguments uses up neither.
func TestR34ToolAsks(t *testing.T) {
	t.Parallel()
	a := &asker{}
	registry, err := runtime.NewRegistry(a)
	if err != nil {
		t.Fatal(err)
	}
	journal := runtime.Journal(wrap.DirStore(filepath.Join(t.TempDir(), "journal")), "r1", "v1")
	run, err := registry.Start(t.Context(), journal)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Call(t.Context(), runtime.Call{ID: "1", Name: "ask", Args: json.RawMessage("1")}, runtime.Call{ID: "2", Name: "ask", Args: json.RawMessage("2")}); err != nil {
		t.Fatal(err)
	}
	state, err := run.State()
	if err != nil {
		t.Fatal(err)
	}
	decisions := []runtime.Decision{run.Pending()[0].Decide(runtime.Approve), run.Pending()[1].Decide(runtime.Approve)}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	stale := slices.Clone(decisions)
	stale[1].ArgsSHA256 = stale[0].ArgsSHA256
	if _, _, err := registry.Resume(t.Context(), state, stale, journal); err == nil {
		t.Error("a decision about other arguments is no error")
	}
	resumed, out, err := registry.Resume(t.Context(), state, decisions, journal)
	if err != nil || text(out[0]) != "done 1" || text(out[1]) != "done 2" || a.calls.Load() != 4 {
		t.Fatalf("%+v, %v; %d calls", out, err, a.calls.Load())
	}
	if err := resumed.Close(); err != nil {
		t.Fatal(err)
	}
}
