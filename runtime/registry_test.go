package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/secret"
)

func TestR1Names(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sets []runtime.Toolset
		want []string // in the error; none: there is no error
	}{
		"fine":             {[]runtime.Toolset{set{answer("a"), answer("b-2")}, set{answer("_c")}}, nil},
		"twice":            {[]runtime.Toolset{set{answer("a")}, named{set{answer("a")}, "shop"}}, []string{"a of runtime_test.set", "a of shop", "wrap.Prefix"}},
		"equal but case":   {[]runtime.Toolset{set{answer("get"), answer("Get")}}, []string{"get", "Get", "same name"}},
		"empty":            {[]runtime.Toolset{set{answer("")}}, []string{"not valid"}},
		"dot":              {[]runtime.Toolset{set{answer("a.b")}}, []string{`"a.b"`}},
		"digit first":      {[]runtime.Toolset{set{answer("1a")}}, []string{"not valid"}},
		"65 characters":    {[]runtime.Toolset{set{answer(strings.Repeat("a", 65))}}, []string{"not valid"}},
		"64 characters":    {[]runtime.Toolset{set{answer(strings.Repeat("a", 64))}}, nil},
		"nil toolset":      {[]runtime.Toolset{nil}, []string{"toolset 1 is nil"}},
		"two IDs":          {[]runtime.Toolset{named{set{answer("a")}, "x"}, named{set{answer("b")}, "x"}}, []string{`ID "x"`}},
		"no schema":        {[]runtime.Toolset{set{{def: runtime.Definition{Name: "a"}}}}, []string{"input schema"}},
		"schema no object": {[]runtime.Toolset{set{{def: runtime.Definition{Name: "a", Input: json.RawMessage("true")}}}}, []string{"not a JSON object"}},
		"hints": {[]runtime.Toolset{set{{def: runtime.Definition{
			Name: "a", Input: json.RawMessage("{}"), Hints: runtime.Hints{ReadOnly: runtime.Yes, Destructive: runtime.Yes},
		}}}}, []string{"read-only and destructive"}},
		"failing": {[]runtime.Toolset{failing{}}, []string{"runtime_test.failing", "no list"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := runtime.NewRegistry(c.sets...)
			if (err != nil) != (c.want != nil) {
				t.Fatalf("error is %v", err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q doesn't say %q", err, part)
				}
			}
		})
	}
}

type named struct {
	set

	id string
}

func (n named) ID() string { return n.id }

type failing struct{}

func (failing) Tools(context.Context) ([]runtime.Tool, error) { return nil, errors.New("no list") }

// opener is a toolset that is opened and closed.
type opener struct {
	set

	name string
	log  *[]string
	fail *bool
}

func (o *opener) Open(context.Context) error {
	*o.log = append(*o.log, "open "+o.name)
	if o.fail != nil && *o.fail {
		return errors.New(o.name + " is down")
	}
	return nil
}

func (o *opener) Close() error {
	*o.log = append(*o.log, "close "+o.name)
	return nil
}

// wrapped is a wrapper that hides nothing.
type wrapped struct{ inner runtime.Toolset }

func (w wrapped) Tools(ctx context.Context) ([]runtime.Tool, error) { return w.inner.Tools(ctx) }
func (w wrapped) Unwrap() []runtime.Toolset                         { return []runtime.Toolset{w.inner} }

func TestR3Open(t *testing.T) {
	t.Parallel()
	var log []string
	down := true
	first := &opener{set{answer("a")}, "1", &log, nil}
	registry, err := runtime.NewRegistry(wrapped{wrapped{first}}, &opener{set{answer("b")}, "2", &log, nil}, &opener{set{answer("c")}, "3", &log, &down})
	if err != nil {
		t.Fatal(err)
	}
	if len(log) != 0 {
		t.Fatalf("NewRegistry opened: %v", log)
	}
	run, err := registry.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Step(t.Context()); err == nil || !strings.Contains(err.Error(), "3 is down") {
		t.Errorf("error is %v", err)
	}
	down = false
	for range 2 {
		if tools, err := run.Step(t.Context()); err != nil || len(tools) != 3 {
			t.Fatalf("%d tools, %v", len(tools), err)
		}
	}
	if err := errors.Join(registry.Close(), registry.Close()); err != nil {
		t.Fatal(err)
	}
	want := []string{"open 1", "open 2", "open 3", "close 2", "close 1", "open 1", "open 2", "open 3", "close 3", "close 2", "close 1"}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Error(diff)
	}
	if found, ok := runtime.As[*opener](wrapped{wrapped{first}}); !ok || found != first {
		t.Errorf("As found %v, %t", found, ok)
	}
}

func TestR3Instructions(t *testing.T) {
	t.Parallel()
	registry, err := runtime.NewRegistry(instructor{"now", true}, wrapped{instructor{"always", false}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := registry.Instructions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []runtime.Instruction{{Text: "always"}, {Text: "now", Dynamic: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	long, err := runtime.NewRegistry(instructor{strings.Repeat("x", 16<<10+1), false})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := long.Instructions(t.Context()); err == nil {
		t.Error("an instruction beyond 16 KiB is accepted")
	}
}

type instructor struct {
	text    string
	dynamic bool
}

func (instructor) Tools(context.Context) ([]runtime.Tool, error) { return nil, nil }

func (i instructor) Instructions(context.Context) ([]runtime.Instruction, error) {
	return []runtime.Instruction{{Text: i.text, Dynamic: i.dynamic}}, nil
}

// TestR3Below finds what toolsets can do below a wrapper of several: each of them has
// its instructions, none shows a secret, and each can say that it has changed.
func TestR3Below(t *testing.T) {
	t.Parallel()
	first, second := &telling{instructor: instructor{"the key is hunter2", false}}, &telling{instructor: instructor{"two", false}}
	second.Add(secret.New("hunter2"))
	both := several{first, wrapped{second}}
	registry, err := runtime.NewRegistry(both)
	if err != nil {
		t.Fatal(err)
	}
	got, err := registry.Instructions(t.Context())
	if err != nil || len(got) != 2 || got[0].Text != "the key is [redacted]" || got[1].Text != "two" {
		t.Errorf("%v, %v", got, err)
	}
	n := 0
	stop := registry.Watch(func() { n++ })
	first.changed()
	second.changed()
	if n != 2 {
		t.Errorf("told of %d changes, want 2", n)
	}
	if stop(); first.changed != nil || second.changed != nil {
		t.Error("they are still watched")
	}
}

type several []runtime.Toolset

func (several) Tools(context.Context) ([]runtime.Tool, error) { return nil, nil }
func (s several) Unwrap() []runtime.Toolset                   { return s }

type telling struct {
	instructor
	secret.Masker

	changed func()
}

func (w *telling) Watch(changed func()) (stop func()) {
	w.changed = changed
	return func() { w.changed = nil }
}

// TestR2Hints reads a hint that nobody gave as the worst case, and one that was given
// as it is.
func TestR2Hints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hint     runtime.Hint
		ifFalse  bool // of Or(false)
		ifTrue   bool
		repeated bool // a call that ran out of time is said to be safe to call again
	}{
		{runtime.Unknown, false, true, false},
		{runtime.Yes, true, true, true},
		{runtime.No, false, false, false},
	} {
		if got := [2]bool{c.hint.Or(false), c.hint.Or(true)}; got != [2]bool{c.ifFalse, c.ifTrue} {
			t.Errorf("%d: %v", c.hint, got)
		}
		for _, hints := range []runtime.Hints{{ReadOnly: c.hint}, {Idempotent: c.hint}} {
			slow := newFake("x", func(ctx context.Context, _ json.RawMessage) (*runtime.Result, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
			slow.def.Hints, slow.def.Timeout = hints, time.Millisecond
			if o := one(t, slow); (o.Kind == runtime.Retry) != c.repeated {
				t.Errorf("%+v: %s %s", hints, o.Kind, o.Message)
			}
		}
	}
}

func TestR1SchemaHash(t *testing.T) {
	t.Parallel()
	f := answer("a")
	tools, err := start(t, set{f}).Step(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f.def.SchemaHash != "" {
		t.Error("the tool's own definition was changed")
	}
	if hash := tools[0].Definition().SchemaHash; len(hash) != 64 {
		t.Errorf("hash is %q", hash)
	}
	if inner, ok := runtime.AsTool[*fake](tools[0]); !ok || inner != f {
		t.Error("the tool can't be found below its definition")
	}
}
