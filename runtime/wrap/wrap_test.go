package wrap_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/runtimetest"
	"github.com/toolgen/toolgen/runtime/wrap"
)

type fake struct {
	def  runtime.Definition
	call func(ctx context.Context, args json.RawMessage) (*runtime.Result, error)
}

func (f *fake) Definition() *runtime.Definition { return &f.def }

func (f *fake) Call(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
	return f.call(ctx, args)
}

func (f *fake) Validate(context.Context, json.RawMessage) error { return nil }

// knows answers by what the tool knows itself as.
func knows(name string) *fake {
	return &fake{
		def: runtime.Definition{Name: name, Title: name, Description: "Does " + name + ".", Input: json.RawMessage(`{"type":"object"}`)},
		call: func(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
			if !json.Valid(args) || len(args) == 0 {
				return nil, runtime.Retryf("not JSON")
			}
			info, _ := runtime.CallFrom(ctx)
			return runtime.TextResult(name + " as " + info.Tool), nil
		},
	}
}

// set is a toolset that can be opened, told and asked.
type set struct {
	tools  []runtime.Tool
	opened int
	closed int
}

func newSet(fakes ...*fake) *set {
	s := &set{}
	for _, f := range fakes {
		s.tools = append(s.tools, f)
	}
	return s
}

func (s *set) Tools(context.Context) ([]runtime.Tool, error) { return s.tools, nil }
func (s *set) Open(context.Context) error                    { s.opened++; return nil }
func (s *set) Close() error                                  { s.closed++; return nil }
func (s *set) ID() string                                    { return "set" }
func (s *set) Instructions(context.Context) ([]runtime.Instruction, error) {
	return []runtime.Instruction{{Text: "be kind"}}, nil
}

func start(t *testing.T, ts runtime.Toolset, opts ...runtime.Option) *runtime.Run {
	t.Helper()
	registry, err := runtime.NewRegistry(ts)
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Close() })
	return run
}

func names(t *testing.T, run *runtime.Run) string {
	t.Helper()
	tools, err := run.Step(t.Context())
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, tool := range tools {
		all = append(all, tool.Definition().Name)
	}
	return strings.Join(all, " ")
}

func call(t *testing.T, run *runtime.Run, name, args string) runtime.Outcome {
	t.Helper()
	out, err := run.Call(t.Context(), runtime.Call{ID: "1", Name: name, Args: json.RawMessage(args)})
	if len(out) == 0 {
		t.Fatal(err)
	}
	return out[0]
}

func text(o runtime.Outcome) string {
	if o.Result == nil {
		return string(o.Kind) + " " + o.Message
	}
	all := []string{string(o.Result.Structured)}
	for _, b := range o.Result.Blocks {
		all = append(all, b.Text)
	}
	return strings.Join(all, "")
}

// wrappers are all of them, each as it does next to nothing.
func wrappers() map[string]func(runtime.Toolset) runtime.Toolset {
	return map[string]func(runtime.Toolset) runtime.Toolset{
		"filter": func(ts runtime.Toolset) runtime.Toolset {
			return wrap.Filter(ts, func(context.Context, *runtime.Definition) bool { return true })
		},
		"prefix": func(ts runtime.Toolset) runtime.Toolset { return wrap.Prefix(ts, "p") },
		"rename": func(ts runtime.Toolset) runtime.Toolset { return wrap.Rename(ts, nil) },
		"prepare": func(ts runtime.Toolset) runtime.Toolset {
			return wrap.Prepare(ts, func(_ context.Context, defs []*runtime.Definition) []*runtime.Definition { return defs })
		},
		"combine":    func(ts runtime.Toolset) runtime.Toolset { return wrap.Combine(ts) },
		"meta":       func(ts runtime.Toolset) runtime.Toolset { return wrap.Meta(ts, map[string]string{"k": "v"}) },
		"describe":   func(ts runtime.Toolset) runtime.Toolset { return wrap.Describe(ts, nil) },
		"timeout":    func(ts runtime.Toolset) runtime.Toolset { return wrap.Timeout(ts, time.Minute) },
		"sequential": wrap.Sequential,
		"retries":    func(ts runtime.Toolset) runtime.Toolset { return wrap.Retries(ts, 2) },
		"truncate":   func(ts runtime.Toolset) runtime.Toolset { return wrap.Truncate(ts, 4096) },
		"intercept": func(ts runtime.Toolset) runtime.Toolset {
			return wrap.Intercept(ts, func(ctx context.Context, _ runtime.Tool, args json.RawMessage, next wrap.Next) (*runtime.Result, error) {
				return next(ctx, args)
			})
		},
		"search": wrap.Search,
		"log":    func(ts runtime.Toolset) runtime.Toolset { return wrap.Log(ts, discard) },
		"cache":  func(ts runtime.Toolset) runtime.Toolset { return wrap.Cache(ts, 0, 0) },
		"approve": func(ts runtime.Toolset) runtime.Toolset {
			return wrap.Approve(ts, func(context.Context, *runtime.Definition, json.RawMessage) (string, bool) { return "", false })
		},
		"spill": func(ts runtime.Toolset) runtime.Toolset { return wrap.Spill(ts, "") },
		"mask": func(ts runtime.Toolset) runtime.Toolset {
			return wrap.Mask(ts, wrap.MaskRule{Pattern: regexp.MustCompile("hunter2")})
		},
	}
}

// TestConformance puts every wrapper, and every pair in both orders, around a
// toolset, and finds all below that was there: it opens and closes once, has its
// instructions and ID, its tools are checked, and errors are what they were.
func TestConformance(t *testing.T) {
	t.Parallel()
	for outer, around := range wrappers() {
		for inner, within := range wrappers() {
			fine := knows("fine")
			failing := knows("failing")
			failing.call = func(context.Context, json.RawMessage) (*runtime.Result, error) { return nil, runtime.Failedf("no") }
			fine.def.Hints.ReadOnly, failing.def.Hints.ReadOnly = runtime.Yes, runtime.Yes
			s := newSet(fine, failing)
			ts := around(within(s))
			if outer == inner {
				if outer == "spill" {
					ts = around(s) // two would bring the same tools twice
				}
				runtimetest.Toolset(t, ts)
			} else {
				runtimetest.Toolset(t, ts, runtimetest.Brief())
			}
			if s.opened != 2 || s.closed != 2 {
				t.Errorf("%s around %s: opened %d times and closed %d times, want 2", outer, inner, s.opened, s.closed)
			}
			if in, ok := runtime.As[runtime.Instructor](ts); !ok || in == nil {
				t.Errorf("%s around %s hides the instructions", outer, inner)
			}
			if id, ok := runtime.As[runtime.Identified](ts); !ok || id.ID() != "set" {
				t.Errorf("%s around %s hides the ID", outer, inner)
			}
			run := start(t, ts, runtime.NoBudgets())
			list := strings.Fields(names(t, run))
			if outer == "spill" || inner == "spill" { // it brings two to read with
				list = list[:max(2, len(list)-2)]
			}
			if len(list) != 2 || !strings.HasSuffix(list[0], "fine") || !strings.HasSuffix(list[1], "failing") {
				t.Fatalf("%s around %s: %v", outer, inner, list)
			}
			if o := call(t, run, list[0], "{}"); text(o) != "fine as fine" && !strings.HasPrefix(text(o), "fine as") {
				t.Errorf("%s around %s: %s", outer, inner, text(o))
			}
			if o := call(t, run, list[1], "{}"); o.Kind != runtime.Failed || o.Message != "no" {
				t.Errorf("%s around %s: %s", outer, inner, text(o))
			}
			tools, err := run.Step(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := runtime.AsTool[runtime.Validator](tools[0]); !ok {
				t.Errorf("%s around %s hides the tool's check", outer, inner)
			}
			if err := run.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestR18Filter(t *testing.T) {
	t.Parallel()
	look, change := knows("look"), knows("change")
	look.def.Hints.ReadOnly, change.def.Hints.Destructive = runtime.Yes, runtime.Yes
	for name, c := range map[string]struct {
		keep func(context.Context, *runtime.Definition) bool
		want string
	}{
		"read-only": {wrap.ReadOnly, "look"},
		"names":     {wrap.Names("change", "other"), "change"},
		"no names":  {wrap.Names(), ""},
		"by hints":  {wrap.ByHints(runtime.Hints{Destructive: runtime.Yes}), "change"},
		"all":       {wrap.ByHints(runtime.Hints{}), "look change"},
	} {
		run := start(t, wrap.Filter(newSet(look, change), c.keep), runtime.NoBudgets())
		if got := names(t, run); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if o := call(t, run, "change", "{}"); (o.Kind == runtime.OK) != strings.Contains(c.want, "change") || o.Kind == runtime.Retry && strings.Contains(o.Message, "not loaded") {
			t.Errorf("%s: a tool that is filtered out can be called: %s", name, text(o))
		}
	}
}

func TestR19Prefix(t *testing.T) {
	t.Parallel()
	run := start(t, wrap.Prefix(newSet(knows("x")), "a"))
	if got := text(call(t, run, "a_x", "{}")); got != "x as x" {
		t.Errorf("%q; inside, a tool has its own name", got)
	}
	for _, prefix := range []string{strings.Repeat("p", 63), "a b", ""} {
		if got := names(t, start(t, wrap.Prefix(newSet(knows("x")), prefix))); prefix != "" && !strings.Contains(got, "not valid") {
			t.Errorf("prefix %q: %s", prefix, got)
		}
	}
	_, err := runtime.NewRegistry(wrap.Prefix(fixed{knows("b")}, "a"), fixed{knows("a_b")})
	if err == nil || !strings.Contains(err.Error(), "tool a_b of") || !strings.Contains(err.Error(), "use wrap.Prefix") {
		t.Errorf("a prefix that makes two names one: %v", err)
	}
}

type fixed []runtime.Tool

func (f fixed) Tools(context.Context) ([]runtime.Tool, error) { return f, nil }

func TestR20Rename(t *testing.T) {
	t.Parallel()
	run := start(t, wrap.Rename(newSet(knows("x"), knows("y")), map[string]string{"x": "z"}))
	if got := names(t, run); got != "z y" {
		t.Errorf("got %q", got)
	}
	if got := text(call(t, run, "z", "{}")); got != "x as x" {
		t.Errorf("%q", got)
	}
	swapped := start(t, wrap.Rename(newSet(knows("x"), knows("y")), map[string]string{"x": "y", "y": "x"}))
	if got := names(t, swapped); got != "y x" {
		t.Errorf("swapped: %q", got)
	}
	for want, bad := range map[string]map[string]string{
		"there is no tool xx": {"xx": "z"}, "two tools would be called": {"x": "Y"}, "not valid": {"x": "a b"},
	} {
		if got := names(t, start(t, wrap.Rename(newSet(knows("x"), knows("y")), bad))); !strings.Contains(got, want) {
			t.Errorf("%v: %q, want %q", bad, got, want)
		}
	}
}

func TestR21Prepare(t *testing.T) {
	t.Parallel()
	type defs = []*runtime.Definition
	change := func(f func(d defs) defs) *runtime.Run {
		return start(t, wrap.Prepare(newSet(knows("x"), knows("y")), func(_ context.Context, d defs) defs { return f(d) }))
	}
	run := change(func(d defs) defs {
		d[1].Description = "Better."
		d[1].Input = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
		return d[1:]
	})
	tools, err := run.Step(t.Context())
	if err != nil || len(tools) != 1 || tools[0].Definition().Description != "Better." || len(tools[0].Definition().SchemaHash) != 64 {
		t.Fatalf("%v, %v", tools, err)
	}
	for want, f := range map[string]func(d defs) defs{
		"new, renamed or moved": func(d defs) defs { slices.Reverse(d); return d },
		"n is new":              func(d defs) defs { d[0].Name = "n"; return d },
		"x is new":              func(d defs) defs { return append(d, d[0]) },
		"definition is nil":     func(defs) defs { return defs{nil} },
	} {
		if got := names(t, change(f)); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := names(t, change(func(defs) defs { return nil })); got != "" {
		t.Errorf("none: %q", got)
	}
}

func TestR22Fields(t *testing.T) {
	t.Parallel()
	x := knows("x")
	x.def.Meta = map[string]string{"kept": "1", "k": "old"}
	ts := wrap.Meta(newSet(x, knows("y")), map[string]string{"k": "v"})
	ts = wrap.Truncate(wrap.Defer(wrap.Retries(wrap.Sequential(wrap.Timeout(wrap.Describe(ts, map[string]string{"x": "Better."}), time.Second)), 0)), 2048)
	tools, err := start(t, ts).Step(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := tools[0].Definition()
	if d.Description != "Better." || d.Timeout != time.Second || !d.Sequential || d.Retries != -1 || !d.Defer || d.MaxResult != 2048 || d.Meta["k"] != "v" || d.Meta["kept"] != "1" {
		t.Errorf("%+v", d)
	}
	if x.def.Meta["k"] != "old" || x.def.Description != "Does x." || tools[1].Definition().Description != "Does y." {
		t.Error("the tool's own definition was changed, or another tool's")
	}
	for want, bad := range map[string]runtime.Toolset{
		"is not positive": wrap.Timeout(newSet(x), 0), "is negative": wrap.Retries(newSet(x), -1), "leave no room": wrap.Truncate(newSet(x), 1023),
		"there is no tool z": wrap.Describe(newSet(x), map[string]string{"z": ""}), "toolset 2 is nil": wrap.Combine(newSet(x), nil),
	} {
		registry, err := runtime.NewRegistry(bad)
		if err == nil {
			run, startErr := registry.Start(t.Context())
			if startErr != nil {
				t.Fatal(startErr)
			}
			_, err = run.Step(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestR23Dynamic makes toolsets per run and per step: each is opened before it is
// used, closed when it is replaced or the run ends, and left open while it is the
// same.
func TestR23Dynamic(t *testing.T) {
	t.Parallel()
	a, b := newSet(knows("a")), newSet(knows("b"))
	var next runtime.Toolset = a
	var fails error
	ts := wrap.Dynamic(func(context.Context) (runtime.Toolset, error) { return next, fails }, wrap.PerStep)
	run := start(t, ts)
	for i, c := range []struct {
		next  runtime.Toolset
		fails error
		want  string
		open  [4]int // a opened, a closed, b opened, b closed
	}{
		{a, nil, "a", [4]int{1, 0, 0, 0}},
		{a, nil, "a", [4]int{1, 0, 0, 0}},
		{b, nil, "b", [4]int{1, 1, 1, 0}},
		{a, errors.New("down"), "toolset *wrap.dynamic: dynamic: down", [4]int{1, 1, 1, 0}},
		{nil, nil, "", [4]int{1, 1, 1, 1}},
		{a, nil, "a", [4]int{2, 1, 1, 1}},
	} {
		next, fails = c.next, c.fails
		if got := names(t, run); got != c.want {
			t.Errorf("step %d: %q, want %q", i, got, c.want)
		}
		if got := [4]int{a.opened, a.closed, b.opened, b.closed}; got != c.open {
			t.Errorf("step %d: %v, want %v", i, got, c.open)
		}
	}
	if err := run.Close(); err != nil || a.closed != 2 {
		t.Errorf("%v, closed %d times", err, a.closed)
	}
	made := 0
	once := start(t, wrap.Dynamic(func(context.Context) (runtime.Toolset, error) { made++; return newSet(knows("c")), nil }, wrap.PerRun))
	if names(t, once); names(t, once) != "c" || made != 1 {
		t.Errorf("made %d times for one run", made)
	}
}

func TestR24External(t *testing.T) {
	t.Parallel()
	def := knows("browse").def
	ts := wrap.External(&def)
	registry, err := runtime.NewRegistry(ts)
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.Call(t.Context(), runtime.Call{ID: "1", Name: "browse", Args: json.RawMessage("{}")})
	if err != nil || out[0].Kind != runtime.Pending || out[0].Reason != "external" {
		t.Fatalf("%+v, %v", out, err)
	}
	state, err := run.State()
	if err != nil {
		t.Fatal(err)
	}
	d := run.Pending()[0].Decide(runtime.UseResult)
	d.Result = runtime.TextResult("seen")
	_, out, err = registry.Resume(t.Context(), state, []runtime.Decision{d})
	if err != nil || text(out[0]) != "seen" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestR25Intercept(t *testing.T) {
	t.Parallel()
	var log []string
	note := func(name string) wrap.Interceptor {
		return func(ctx context.Context, tool runtime.Tool, args json.RawMessage, next wrap.Next) (*runtime.Result, error) {
			log = append(log, name+" "+tool.Definition().Name+" "+string(args))
			r, err := next(ctx, json.RawMessage(`{"by":"`+name+`"}`))
			log = append(log, name+" done")
			return r, err
		}
	}
	call(t, start(t, wrap.Intercept(newSet(knows("x")), note("first"), note("second"))), "x", "{}")
	if want := []string{"first x {}", `second x {"by":"first"}`, "second done", "first done"}; !slices.Equal(log, want) {
		t.Errorf("%q, want %q", log, want)
	}
	stop := start(t, wrap.Intercept(newSet(knows("x")), func(context.Context, runtime.Tool, json.RawMessage, wrap.Next) (*runtime.Result, error) {
		return nil, runtime.Failedf("not today")
	}))
	if o := call(t, stop, "x", "{}"); o.Message != "not today" {
		t.Errorf("%s", text(o))
	}
}

// TestR26Search finds tools by the words of their names, titles, prose and
// arguments; what is found joins the list in that order, and stays.
func TestR26Search(t *testing.T) {
	t.Parallel()
	deferred := func(name, title, description, args string) *fake {
		f := knows(name)
		f.def.Defer, f.def.Title, f.def.Description = true, title, description
		f.def.Input = json.RawMessage(`{"type":"object","properties":{` + args + `}}`)
		return f
	}
	run := start(t, wrap.Search(newSet(
		knows("always"), deferred("refund_order", "Refund", "Pays back.", `"cents":{}`), deferred("cancel_order", "Cancel", "Ends orders.", `"id":{}`),
		deferred("weather", "Weather", "Tells the weather of a city.", `"city":{}`),
	)), runtime.NoBudgets())
	if got := names(t, run); got != "always search_tools" {
		t.Fatalf("%q", got)
	}
	if o := call(t, run, "weather", "{}"); o.Kind != runtime.Retry || o.Reason != "not_loaded" || o.Message != "tool weather is not loaded: find it with search_tools first" {
		t.Errorf("%s %s", o.Reason, text(o))
	}
	if o := call(t, run, "wether", "{}"); o.Reason != "unknown_tool" || strings.Contains(o.Message, "weather") {
		t.Errorf("a name that is kept back is told: %s", o.Message)
	}
	if got := text(call(t, run, "search_tools", `{"query":"cities"}`)); got != `{"tools":[],"total":0}` {
		t.Errorf("%s", got)
	}
	if got := text(call(t, run, "search_tools", `{"query":"order cancel cents","limit":1}`)); got != `{"tools":[{"name":"cancel_order","description":"Ends orders."}],"total":2}` {
		t.Errorf("%s", got)
	}
	if o := call(t, run, "cancel_order", "{}"); o.Kind == runtime.OK {
		t.Error("what was found can be called before the next step")
	}
	call(t, run, "search_tools", `{"query":"WEATHER, city"}`)
	call(t, run, "search_tools", `{"query":"refund"}`)
	if got := names(t, run); got != "always search_tools cancel_order weather refund_order" {
		t.Errorf("%q", got)
	}
	if got := text(call(t, run, "weather", "{}")); got != "weather as weather" {
		t.Errorf("%s", got)
	}
	for args, want := range map[string]string{
		`{}`: "/query", `{"query":" "}`: "/query", `{"query":"x","limit":21}`: "/limit", `{"query":"x","limit":0}`: "/limit", `{"q":"x"}`: "want an object", `[`: "want an object",
	} {
		if o := call(t, run, "search_tools", args); o.Kind != runtime.Retry || !strings.Contains(o.Message, want) {
			t.Errorf("%s: %s", args, text(o))
		}
	}
	other := start(t, wrap.Search(newSet(knows("x"))))
	if got := names(t, other); got != "x" {
		t.Errorf("with nothing to find: %q", got)
	}
}

// TestR32Cache keeps results of equal calls for a time, and has those that come at
// once share one; failures are not kept.
func TestR32Cache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		var fails atomic.Bool
		x := knows("x")
		x.def.Hints.ReadOnly = runtime.Yes
		x.call = func(_ context.Context, args json.RawMessage) (*runtime.Result, error) {
			ran.Add(1)
			time.Sleep(time.Second)
			if fails.Load() {
				return nil, runtime.Failedf("down")
			}
			return runtime.TextResult(string(args)), nil
		}
		ts := wrap.Cache(newSet(x), time.Minute, 100)
		run := start(t, ts, runtime.NoBudgets())
		var batch []runtime.Call
		for i, args := range []string{`{"a":1,"b":2}`, `{"b":2, "a":1}`, `{"a":1,"b":2}`, `{"a":2}`} {
			batch = append(batch, runtime.Call{ID: string(rune('a' + i)), Name: "x", Args: json.RawMessage(args)})
		}
		count := func(want int32) {
			t.Helper()
			ran.Store(0)
			if _, err := run.Call(t.Context(), batch...); err != nil {
				t.Fatal(err)
			}
			if got := ran.Load(); got != want {
				t.Errorf("ran %d times, want %d", got, want)
			}
		}
		count(2)
		count(0)
		time.Sleep(time.Minute)
		fails.Store(true)
		count(4) // a failure is nobody else's
		fails.Store(false)
		count(2)
		other := start(t, ts, runtime.NoBudgets())
		ran.Store(0)
		call(t, other, "x", `{"a":2}`)
		if ran.Load() != 1 {
			t.Error("another run has a cache of its own")
		}
		large := start(t, wrap.Cache(newSet(x), time.Minute, 5), runtime.NoBudgets())
		ran.Store(0)
		for range 2 {
			call(t, large, "x", `{"a":1000}`)
		}
		if ran.Load() != 2 {
			t.Error("a result is kept that is larger than the cache")
		}
		shared := wrap.Cache(newSet(x), time.Minute, 100, wrap.KeyBy(func(ctx context.Context) string { return runtime.Caller(ctx).ID }))
		ran.Store(0)
		for _, who := range []string{"ann", "ann", "bob"} {
			run := start(t, shared)
			if _, err := run.Call(runtime.WithCaller(t.Context(), runtime.CallerInfo{ID: who}), batch[3]); err != nil {
				t.Fatal(err)
			}
		}
		if ran.Load() != 2 {
			t.Errorf("ran %d times for two callers", ran.Load())
		}
	})
	if _, err := runtime.NewRegistry(wrap.Cache(fixed{knows("x")}, 0, 0)); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a tool of which nobody knows what it does: %v", err)
	}
}

func TestR33Mask(t *testing.T) {
	t.Parallel()
	x := knows("x")
	x.call = func(context.Context, json.RawMessage) (*runtime.Result, error) {
		return &runtime.Result{
			Blocks:     []runtime.Block{{Kind: runtime.Text, Text: "call 555-1234 "}},
			Structured: json.RawMessage(`{"n":9007199254740993,"customers":[{"email":"a@b","phone":"555-1234","<k>":1}],"email":"c@d"}`),
		}, nil
	}
	run := start(t, wrap.Mask(newSet(x), wrap.MaskRule{Pattern: regexp.MustCompile(`\d{3}-\d{4}`)}, wrap.MaskRule{Path: "customers.*.email"}))
	want := `{"n":9007199254740993,"customers":[{"email":"[redacted]","phone":"[redacted]","<k>":1}],"email":"c@d"}call [redacted] `
	if got := text(call(t, run, "x", "{}")); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for name, err := range map[string]error{"retry": runtime.Retryf("not 555-1234"), "failed": runtime.Failedf("not 555-1234"), "fatal": errors.New("not 555-1234")} {
		x := knows(name)
		x.call = func(context.Context, json.RawMessage) (*runtime.Result, error) { return nil, err }
		run := start(t, wrap.Mask(newSet(x), wrap.MaskRule{Pattern: regexp.MustCompile(`\d{3}-\d{4}`)}), runtime.ErrorsEndCall())
		if o := call(t, run, name, "{}"); strings.Contains(o.Message+o.Err.Error(), "1234") || o.Kind != runtime.Kind(name) {
			t.Errorf("%s: %s %q %v", name, o.Kind, o.Message, o.Err)
		}
	}
	for _, bad := range []wrap.MaskRule{{}, {Pattern: regexp.MustCompile("x"), Path: "y"}} {
		if _, err := runtime.NewRegistry(wrap.Mask(fixed{x}, bad)); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}
