// Package wrap has wrappers: functions that make a toolset of a toolset. They
// choose and rename tools, set what a definition leaves open, and stand before and
// after calls.
//
//	orders := wrap.Prefix(wrap.Filter(shop, wrap.ReadOnly), "shop")
//	logged := wrap.Log(orders, slog.Default())
//
// The order is yours: Filter(Prefix(x)) sees names with the prefix. A wrapper hides
// nothing of what it wraps: what toolsets and tools can besides is found through
// Unwrap, and errors pass as they are. What must hold whatever the order, logs and
// approvals, a run asks for at its own place.
//
// Wrappers keep no state but what they remember of the last list, so one may serve
// many runs; what belongs to a run is kept under [runtime.PerRun].
//
// The standard library only. Limits, traces and stores that need more have
// packages of their own.
package wrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/schema"
)

// wrapped is a toolset with its list changed.
type wrapped struct {
	inner  runtime.Toolset
	change func(ctx context.Context, tools []runtime.Tool) ([]runtime.Tool, error)
	always bool // change depends on more than the list

	mu  sync.Mutex
	was []runtime.Tool // the last list, and what it became
	out []runtime.Tool
}

// Tools implements [runtime.Toolset]. The same list is changed once.
func (w *wrapped) Tools(ctx context.Context) ([]runtime.Tool, error) {
	tools, err := w.inner.Tools(ctx)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	was, out := w.was, w.out
	w.mu.Unlock()
	if !w.always && out != nil && same(tools, was) {
		return out, nil
	}
	if out, err = w.change(ctx, tools); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if same(tools, w.was) && slices.Equal(out, w.out) {
		return w.out, nil // the very same, so that a run need not look at it again
	}
	w.was, w.out = tools, out
	return out, nil
}

// same reports whether two lists are one and the same.
func same(a, b []runtime.Tool) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Unwrap implements [runtime.ToolsetWrapper].
func (w *wrapped) Unwrap() []runtime.Toolset { return []runtime.Toolset{w.inner} }

// tool is a tool with another definition.
type tool struct {
	runtime.Tool

	definition *runtime.Definition
}

// Definition implements [runtime.Tool].
func (t *tool) Definition() *runtime.Definition { return t.definition }

// Unwrap implements [runtime.ToolWrapper].
func (t *tool) Unwrap() runtime.Tool { return t.Tool }

// redefine returns a toolset whose definitions are changed copies.
func redefine(ts runtime.Toolset, change func(def *runtime.Definition) error) runtime.Toolset {
	return &wrapped{inner: ts, change: func(_ context.Context, tools []runtime.Tool) ([]runtime.Tool, error) {
		out := make([]runtime.Tool, len(tools))
		for i, t := range tools {
			def := *t.Definition()
			if err := change(&def); err != nil {
				return nil, err
			}
			out[i] = &tool{t, &def}
		}
		return out, nil
	}}
}

// Filter keeps the tools of which keep says so; the others can't be called, and a
// model doesn't learn that they exist. It is asked at each step.
func Filter(ts runtime.Toolset, keep func(ctx context.Context, def *runtime.Definition) bool) runtime.Toolset {
	return &wrapped{inner: ts, always: true, change: func(ctx context.Context, tools []runtime.Tool) ([]runtime.Tool, error) {
		out := make([]runtime.Tool, 0, len(tools))
		for _, t := range tools {
			if keep(ctx, t.Definition()) {
				out = append(out, t)
			}
		}
		return out, nil
	}}
}

// ReadOnly is a filter that keeps tools which say that they change nothing.
func ReadOnly(_ context.Context, def *runtime.Definition) bool {
	return def.Hints.ReadOnly == runtime.Yes
}

// Names is a filter that keeps the tools with these names, and none without any.
func Names(names ...string) func(context.Context, *runtime.Definition) bool {
	return func(_ context.Context, def *runtime.Definition) bool { return slices.Contains(names, def.Name) }
}

// ByHints is a filter that keeps tools whose hints are those that want has; Unknown
// there asks nothing.
func ByHints(want runtime.Hints) func(context.Context, *runtime.Definition) bool {
	fits := func(want, have runtime.Hint) bool { return want == runtime.Unknown || want == have }
	return func(_ context.Context, def *runtime.Definition) bool {
		h := def.Hints
		return fits(want.ReadOnly, h.ReadOnly) && fits(want.Destructive, h.Destructive) && fits(want.Idempotent, h.Idempotent) && fits(want.OpenWorld, h.OpenWorld)
	}
}

// Prefix puts prefix and an underscore before all names. Within a call the tool
// knows itself by its own name. A name that becomes too long is an error of Tools:
// names are never cut.
func Prefix(ts runtime.Toolset, prefix string) runtime.Toolset {
	return &wrapped{inner: ts, change: func(_ context.Context, tools []runtime.Tool) ([]runtime.Tool, error) {
		out := make([]runtime.Tool, len(tools))
		for i, t := range tools {
			var err error
			if out[i], err = renamed(t, prefix+"_"+t.Definition().Name); err != nil {
				return nil, err
			}
		}
		return out, nil
	}}
}

// Rename gives tools other names, the new ones by the old; the others keep theirs. A
// name that no tool has, and one that two would have, are errors of Tools.
func Rename(ts runtime.Toolset, names map[string]string) runtime.Toolset {
	names = maps.Clone(names)
	return &wrapped{inner: ts, change: func(_ context.Context, tools []runtime.Tool) ([]runtime.Tool, error) {
		out := make([]runtime.Tool, len(tools))
		left, taken := maps.Clone(names), make(map[string]bool)
		for i, t := range tools {
			out[i] = t
			if name, ok := names[t.Definition().Name]; ok {
				delete(left, t.Definition().Name)
				var err error
				if out[i], err = renamed(t, name); err != nil {
					return nil, err
				}
			}
			if folded := strings.ToLower(out[i].Definition().Name); taken[folded] {
				return nil, fmt.Errorf("rename: two tools would be called %s", out[i].Definition().Name)
			} else {
				taken[folded] = true
			}
		}
		for name := range left {
			return nil, fmt.Errorf("rename: there is no tool %s%s", name, nearest(name, tools))
		}
		return out, nil
	}}
}

func nearest(name string, tools []runtime.Tool) string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Definition().Name
	}
	return schema.DidYouMean(name, names)
}

// namedTool is a tool with another name, by which it doesn't know itself.
type namedTool struct{ tool }

func renamed(t runtime.Tool, name string) (runtime.Tool, error) {
	if !schema.ValidName(name) {
		return nil, fmt.Errorf("tool %s: the name %q is not valid: it must match ^[A-Za-z_][A-Za-z0-9_-]{0,63}$", t.Definition().Name, name)
	}
	def := *t.Definition()
	def.Name = name
	return &namedTool{tool{t, &def}}, nil
}

// Call implements [runtime.Tool].
func (t *namedTool) Call(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
	return t.Tool.Call(runtime.CallAs(ctx, t.Tool.Definition().Name), args)
}

// Prepare has a function change the list for a step: it may drop tools and return
// changed copies of definitions. Adding, renaming and reordering are errors of
// Tools. A changed input schema guides the model only: what is right the tool's own
// decoder decides.
func Prepare(ts runtime.Toolset, prepare func(ctx context.Context, defs []*runtime.Definition) []*runtime.Definition) runtime.Toolset {
	return &wrapped{inner: ts, always: true, change: func(ctx context.Context, tools []runtime.Tool) ([]runtime.Tool, error) {
		defs := make([]*runtime.Definition, len(tools))
		for i, t := range tools {
			def := *t.Definition() // whoever changes it in place changes a copy
			defs[i] = &def
		}
		out := make([]runtime.Tool, 0, len(tools))
		rest := tools
		for _, def := range prepare(ctx, defs) {
			if def == nil {
				return nil, errors.New("prepare: a definition is nil: leave it out")
			}
			i := slices.IndexFunc(rest, func(t runtime.Tool) bool { return t.Definition().Name == def.Name })
			if i < 0 {
				return nil, fmt.Errorf("prepare: %s is new, renamed or moved: tools may be dropped and described, no more", def.Name)
			}
			was := rest[i].Definition()
			if string(def.Input) != string(was.Input) || string(def.Output) != string(was.Output) {
				changed := *def
				changed.SchemaHash = "" // the registry fills it in
				def = &changed
			}
			out, rest = append(out, &tool{rest[i], def}), rest[i+1:]
		}
		return out, nil
	}}
}
