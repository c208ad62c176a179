package wrap

import (
	"context"
	"encoding/json"

	"github.com/toolgen/toolgen/runtime"
)

// External makes a toolset of definitions whose calls run elsewhere, such as in a
// browser: each is pending, and [runtime.Registry.Resume] brings its result with
// the verdict [runtime.UseResult].
func External(defs ...*runtime.Definition) runtime.Toolset {
	out := make(fixed, len(defs))
	for i, def := range defs {
		out[i] = external{def}
	}
	return out
}

// fixed is a list of tools that never changes.
type fixed []runtime.Tool

// Tools implements [runtime.Toolset].
func (f fixed) Tools(context.Context) ([]runtime.Tool, error) { return f, nil }

type external struct{ definition *runtime.Definition }

// Definition implements [runtime.Tool].
func (e external) Definition() *runtime.Definition { return e.definition }

// Call implements [runtime.Tool].
func (e external) Call(context.Context, json.RawMessage) (*runtime.Result, error) {
	return nil, &runtime.PendingError{Kind: runtime.PendingExternal, Reason: "tool " + e.definition.Name + " runs elsewhere"}
}
