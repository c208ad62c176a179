package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/internal/fixture"
	"github.com/toolgen/toolgen/runtime/internal/fixture/fixturetools"
	"github.com/toolgen/toolgen/runtime/secret"
	"github.com/toolgen/toolgen/runtime/wrap"
)

type sandbox struct {
	name string
	log  *[]string
	err  error
}

func (s *sandbox) Close(ctx context.Context) error {
	if _, ok := ctx.Deadline(); !ok {
		return errors.New("no deadline")
	}
	*s.log = append(*s.log, "close "+s.name)
	return s.err
}

type scopeKey string

// TestR4PerRun opens state once for concurrent calls, again after a failure, and
// closes it in reverse when the run is.
func TestR4PerRun(t *testing.T) {
	t.Parallel()
	var log []string
	var mu sync.Mutex
	fails := true
	opened := func(ctx context.Context, name string) (*sandbox, error) {
		return runtime.PerRun(ctx, scopeKey(name), func(context.Context) (*sandbox, error) {
			mu.Lock()
			defer mu.Unlock()
			if name == "b" && fails {
				fails = false
				return nil, errors.New("not yet")
			}
			log = append(log, "open "+name)
			return &sandbox{name, &log, fmt.Errorf("closing %s", name)}, nil
		})
	}
	run := start(t, set{newFake("x", func(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
		s, err := opened(ctx, string(args))
		if err != nil {
			return nil, runtime.Failedf("%s", err)
		}
		return runtime.TextResult(s.name), nil
	})})
	var batch []runtime.Call
	for i := range 8 {
		batch = append(batch, runtime.Call{ID: strconv.Itoa(i), Name: "x", Args: json.RawMessage("a")})
	}
	if out, err := run.Call(t.Context(), batch...); err != nil || kinds(out) != strings.TrimSuffix(strings.Repeat("ok ", 8), " ") {
		t.Fatalf("%s, %v", kinds(out), err)
	}
	for _, want := range []string{"failed", "ok"} {
		if out, err := run.Call(t.Context(), runtime.Call{ID: "1", Name: "x", Args: json.RawMessage("b")}); err != nil || kinds(out) != want {
			t.Fatalf("%s, %v; want %s", kinds(out), err, want)
		}
	}
	if err := run.Close(); err == nil || err.Error() != "closing b\nclosing a" {
		t.Errorf("close errors %v", err)
	}
	if err := run.Close(); err == nil {
		t.Error("the second close has another error than the first")
	}
	if want := []string{"open a", "open b", "close b", "close a"}; !slices.Equal(log, want) {
		t.Errorf("%v, want %v", log, want)
	}
	if _, err := opened(t.Context(), "a"); err == nil {
		t.Error("state of a run outside of one")
	}
}

// vault is a toolset with a secret, which appears with the first call.
type vault struct {
	set
	secret.Masker
}

// TestR6MasksBeforeBounds masks results and messages of all toolsets with the
// secrets of all, before they are cut, and withholds what can't be masked.
func TestR6MasksBeforeBounds(t *testing.T) {
	v := &vault{}
	say := func(r *runtime.Result, err error) *fake {
		return newFake("x", func(ctx context.Context, _ json.RawMessage) (*runtime.Result, error) {
			v.Add(secret.New("hunter2"))
			if runtime.MaskerFrom(ctx).Mask("a hunter2") != "a [redacted]" {
				return nil, errors.New("the tool's context has no masker")
			}
			return r, err
		})
	}
	long := strings.Repeat("x", 1000) + "hunter2" + strings.Repeat("y", 1000)
	for name, c := range map[string]struct {
		tool *fake
		want string
	}{
		"text":       {say(runtime.TextResult("it is hunter2"), nil), "it is [redacted]"},
		"structured": {say(&runtime.Result{Structured: json.RawMessage(`{"a":"hunter2"}`)}, nil), `{"a":"[redacted]"}`},
		"link":       {say(&runtime.Result{Blocks: []runtime.Block{{Kind: runtime.Link, URI: "x://hunter2", Name: "hunter2"}}}, nil), "x://[redacted] [redacted]"},
		"cut":        {say(runtime.TextResult(long), nil), strings.Repeat("x", 969)},
		"retry":      {say(nil, runtime.Retryf("not hunter2")), "not [redacted]"},
		"failed":     {say(nil, runtime.Failedf("not hunter2")), "not [redacted]"},
		"withheld":   {say(&runtime.Result{Structured: json.RawMessage(`"unmaskable`)}, nil), "tool x failed"},
	} {
		t.Run(name, func(t *testing.T) {
			registry, err := runtime.NewRegistry(set{c.tool}, v)
			if err != nil {
				t.Fatal(err)
			}
			run, err := registry.Start(t.Context(), runtime.MaxResult(1024), runtime.ErrorsEndCall())
			if err != nil {
				t.Fatal(err)
			}
			defer run.Close()
			out, err := run.Call(t.Context(), calls("x")...)
			if err != nil {
				t.Fatal(err)
			}
			shown := out[0].Message
			if r := out[0].Result; r != nil {
				all := []string{string(r.Structured)}
				for _, b := range r.Blocks {
					all = append(all, strings.TrimSpace(b.Text+b.URI+" "+b.Name))
				}
				shown = strings.Join(all, "")
			}
			if !strings.HasPrefix(shown, c.want) || strings.Contains(shown, "hunter") || strings.Contains(shown, "unmaskable") {
				t.Errorf("got %q, want %q", shown, c.want)
			}
		})
	}
}

// TestR35HostErrors masks what a host reads of outcomes and of the end of a run, and
// finds what the errors are all the same.
func TestR35HostErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("dial u:hunter2@h")
	for name, call := range map[string]func() (*runtime.Result, error){
		"error":  func() (*runtime.Result, error) { return nil, fmt.Errorf("open: %w", broken) },
		"panic":  func() (*runtime.Result, error) { panic(broken) },
		"retry":  func() (*runtime.Result, error) { return nil, runtime.Retryf("not hunter2") },
		"failed": func() (*runtime.Result, error) { return nil, &runtime.FailedError{Message: "no", Cause: broken} },
	} {
		v := &vault{set: set{newFake("x", func(context.Context, json.RawMessage) (*runtime.Result, error) { return call() })}}
		v.Add(secret.New("hunter2"))
		registry, err := runtime.NewRegistry(v)
		if err != nil {
			t.Fatal(err)
		}
		run, err := registry.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out, ended := run.Call(t.Context(), calls("x")...)
		_, later := run.Call(t.Context(), calls("x")...)
		shown := fmt.Sprintf("%v %+v %v %+v %v", out[0].Err, out[0].Err, ended, ended, later)
		if strings.Contains(shown, "hunter2") {
			t.Errorf("%s: %s", name, shown)
		}
		if (name == "error" || name == "failed") && !errors.Is(out[0].Err, broken) {
			t.Errorf("%s: the cause is lost", name)
		}
		if _, ok := errors.AsType[*runtime.PanicError](out[0].Err); ok != (name == "panic") {
			t.Errorf("%s: a panic? %v", name, ok)
		}
		_ = run.Close()
	}
}

// TestR35Arguments sends a secret where it is no good: what a model and a log read of it
// quotes no beginning of it either.
func TestR35Arguments(t *testing.T) {
	t.Parallel()
	const long = "ghp_Zx81kQpL0vTnR4uYb7cWmE2sJh6dKfA9gXoQ1wPz3N5tRy"
	var m secret.Masker
	m.Add(secret.New(long))
	registry, err := runtime.NewRegistry(secret.With(fixturetools.NewService(&fixture.Service{}), &m), secret.With(set{
		newFake("plain", func(context.Context, json.RawMessage) (*runtime.Result, error) {
			return nil, &runtime.RetryError{Message: "got " + long[:40], Issues: []runtime.Issue{{Code: runtime.IssueType, Want: "a number"}}}
		}),
	}, &m))
	if err != nil {
		t.Fatal(err)
	}
	for _, journal := range []bool{false, true} {
		opts := []runtime.Option{runtime.ID("r")}
		if journal {
			opts = append(opts, runtime.Journal(wrap.DirStore(t.TempDir()), "r", "v1"))
		}
		run, err := registry.Start(t.Context(), opts...)
		if err != nil {
			t.Fatal(err)
		}
		for name, args := range map[string]string{
			"fixture_small": `{"city":"a","days":"` + long + `","unit":"c","` + long + `":1}`, "plain": `{"a":"` + long + `"}`,
		} {
			out, err := run.Call(t.Context(), runtime.Call{ID: "1", Name: name, Args: json.RawMessage(args)})
			if err != nil || out[0].Kind != runtime.Retry || strings.Contains(out[0].Message+out[0].Err.Error(), long[:12]) && name != "plain" || strings.Contains(out[0].Message, long[:12]) {
				t.Errorf("%s: %+v, %v", name, out, err)
			}
			if name == "fixture_small" && !strings.Contains(out[0].Message, `/days: want an integer, got the string "[redacted]"`) {
				t.Errorf("%s", out[0].Message)
			}
		}
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestR35Fields masks all that is text in an outcome.
func TestR35Fields(t *testing.T) {
	t.Parallel()
	v := &vault{set: set{
		newFake("x", func(context.Context, json.RawMessage) (*runtime.Result, error) {
			return &runtime.Result{
				Meta: map[string]string{"hunter2": "hunter2"}, Handle: "hunter2", Hint: "hunter2", TruncatedBy: "hunter2",
				Blocks: []runtime.Block{{Kind: runtime.Image, MIME: "image/hunter2", URI: "hunter2", Name: "hunter2", Text: "hunter2"}},
			}, nil
		}),
		newFake("y", func(context.Context, json.RawMessage) (*runtime.Result, error) {
			return nil, &runtime.FailedError{Code: "hunter2", Message: "hunter2"}
		}),
	}}
	v.Add(secret.New("hunter2"))
	registry, err := runtime.NewRegistry(v)
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.Call(t.Context(), calls("x", "y")...)
	if raw, _ := json.Marshal(out); err != nil || strings.Contains(string(raw), "hunter2") {
		t.Errorf("%s, %v", raw, err)
	}
}

// watched is a tool with an observer of its own.
type watched struct {
	runtime.Tool

	name string
	log  *[]string
}

func (w watched) Unwrap() runtime.Tool { return w.Tool }

func (w watched) Before(ctx context.Context, call runtime.Call) context.Context {
	info, _ := runtime.CallFrom(ctx)
	*w.log = append(*w.log, w.name+" before "+call.ID+" of "+info.Tool)
	if w.name == "panics" {
		panic("x")
	}
	return context.WithValue(ctx, scopeKey("seen"), w.name)
}

func (w watched) After(_ context.Context, o runtime.Outcome) {
	*w.log = append(*w.log, w.name+" after "+string(o.Kind))
	if w.name == "panics" {
		panic("x")
	}
}

// TestR13Observers asks all observers around a tool, outer ones first and last,
// and loses what they panic with.
func TestR13Observers(t *testing.T) {
	t.Parallel()
	var log []string
	tool := newFake("x", func(ctx context.Context, _ json.RawMessage) (*runtime.Result, error) {
		seen, _ := ctx.Value(scopeKey("seen")).(string)
		log = append(log, "call with "+seen)
		return runtime.TextResult("ok"), nil
	})
	registry, err := runtime.NewRegistry(tools{watched{watched{watched{tool, "inner", &log}, "panics", &log}, "outer", &log}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := run.Call(t.Context(), calls("x")...); err != nil || kinds(out) != "ok" {
		t.Fatalf("%v, %v", out, err)
	}
	want := []string{
		"outer before 0 of x", "panics before 0 of x", "inner before 0 of x", "call with inner", "inner after ok", "panics after ok", "outer after ok",
	}
	if !slices.Equal(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
	if err := run.Close(); err != nil {
		t.Error(err)
	}
}

// TestR13ObserversOff asks no observer while all of a tool are off, and all of them
// once one is on.
func TestR13ObserversOff(t *testing.T) {
	t.Parallel()
	var log []string
	on := false
	inner := switchable{watched{answer("x"), "inner", &log}, &on}
	never := false
	registry, err := runtime.NewRegistry(tools{switchable{watched{inner, "outer", &log}, &never}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if out, err := run.Call(t.Context(), calls("x")...); err != nil || kinds(out) != "ok" {
			t.Fatalf("%v, %v", out, err)
		}
		log = append(log, "-")
		on = true
	}
	if want := []string{"-", "outer before 0 of x", "inner before 0 of x", "inner after ok", "outer after ok", "-"}; !slices.Equal(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
}

type switchable struct {
	watched

	on *bool
}

func (s switchable) Enabled(context.Context) bool { return *s.on }

// TestR8Context gives tools the caller, and hosts their progress.
func TestR8Context(t *testing.T) {
	t.Parallel()
	run := start(t, set{newFake("x", func(ctx context.Context, _ json.RawMessage) (*runtime.Result, error) {
		runtime.Progress(ctx, 1, 2, "half of it")
		return runtime.TextResult(runtime.Caller(ctx).ID), nil
	})})
	ctx := runtime.WithCaller(t.Context(), runtime.CallerInfo{ID: "ann", Scopes: []string{"read"}})
	var got string
	ctx = runtime.WithProgress(ctx, func(c runtime.CallInfo, done, total float64, text string) {
		got = fmt.Sprint(c.Tool, " ", done, " of ", total, ": ", text)
	})
	out, err := run.Call(ctx, calls("x")...)
	if err != nil || out[0].Result.Blocks[0].Text != "ann" || got != "x 1 of 2: half of it" {
		t.Errorf("%v, %v, %q", out, err, got)
	}
	if runtime.Progress(t.Context(), 1, 1, ""); runtime.Caller(t.Context()).ID != "" {
		t.Error("there is a caller outside of a call")
	}
}

// TestR1StepIsTheSame returns the very same list while no toolset changes, without
// an allocation.
func TestR1StepIsTheSame(t *testing.T) {
	list := tools{answer("a"), answer("b")}
	registry, err := runtime.NewRegistry(list)
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { _, _ = run.Step(ctx) }); n != 0 {
		t.Errorf("a step that changes nothing allocates %v times", n)
	}
}
