// Package runtime is what an agent links: tools, toolsets, the registry that
// gathers them and the run that calls them.
//
// The parts, from the smallest:
//
//   - A [Definition] is what a model sees of a tool: its name, prose and
//     schemas. It never changes.
//   - A [Tool] has a definition and can be called with the JSON that a model
//     sent. Generated code and hand-written toolsets implement it alike.
//   - A [Toolset] is an ordered list of tools that belong together, such as the
//     methods of one hook type or the tools of one database.
//   - A [Registry] is built once from toolsets. It opens nothing, and refuses
//     names that are not valid or that two tools share.
//   - A [Run] is one agent run's use of a registry. Everything that must hold
//     whatever the tool is happens there: names are resolved against the list
//     that the model was shown, panics become errors, deadlines end calls,
//     secrets are masked, results are bounded, and a batch runs in parallel with
//     sequential tools as barriers. It counts calls, results and corrections
//     ([MaxCalls], [Retries]); calls that wait for a person are kept as its state
//     and go on in any process ([Run.State], [Registry.Resume]); with a [Journal]
//     it goes on after a crash.
//
// For every call the order is one, whatever wrappers there are: names, the size of
// the batch, arguments of calls that a person will see, budgets; then for each call
// observers, journal, approval, deadline and tool, mask, bound or spill, journal,
// observers.
//
// A call that runs ends in one of five ways, and the error type says which: a [Result];
// a [RetryError], which the model can correct; a [FailedError], which it can't;
// a [PendingError], which waits for somebody; or any other error, which ends
// the run and of which the model sees a general line only.
//
// Adapters, such as an MCP server, only translate: they show [Run.Step]'s
// definitions, hand calls to [Run.Call] and write down its outcomes.
//
// The package uses the standard library and runtime/schema only; generated code
// adds runtime/toolimpl, which does the same. A program with generated tools
// links nothing else.
package runtime

import (
	"context"
	"encoding/json"
	"iter"
	"reflect"
)

// A Tool is one function that a model can call.
type Tool interface {
	// Definition returns what a model sees of the tool. It returns the same
	// pointer each time, and nobody changes what it points to.
	Definition() *Definition

	// Call runs the tool with arguments as a model sent them: untrusted, not
	// yet checked. Empty, blank and null arguments mean an empty object. It
	// may be called from several goroutines at once.
	//
	// A nil result with a nil error is a fault of the tool. The package
	// comment lists what the error types mean.
	Call(ctx context.Context, args json.RawMessage) (*Result, error)
}

// A Toolset is an ordered list of tools.
type Toolset interface {
	// Tools returns the tools in the order in which a model sees them. The
	// list may change between the steps of a run. The caller does not change
	// the slice.
	Tools(ctx context.Context) ([]Tool, error)
}

// A Validator is a tool that can check arguments without being called. Its
// Validate returns the error that Call would return for arguments that are
// not acceptable, and has no effect. Generated tools have it.
type Validator interface {
	Validate(ctx context.Context, args json.RawMessage) error
}

// An Opener is a toolset that must be opened before its first Tools or Call.
// A registry opens it once, however many wrappers are around it, and tries
// again at the next use if it failed. One that is also an [io.Closer] is
// closed by [Registry.Close].
type Opener interface {
	Open(ctx context.Context) error
}

// An Instructor is a toolset with text for the system prompt of an agent.
type Instructor interface {
	Instructions(ctx context.Context) ([]Instruction, error)
}

// An Instruction is one text of an [Instructor], at most 16 KiB.
type Instruction struct {
	Text    string
	Dynamic bool // differs from run to run: placed after the static ones, for the sake of prompt caches
}

// A Watcher is a toolset that can say that its list, or its instructions, have changed.
// A run doesn't need it: each step lists again. [Registry.Watch] is for those who have
// shown a list to somebody and must say that there is another.
type Watcher interface {
	// Watch calls changed after each change, from any goroutine, until stop is
	// called. It doesn't call it before it returns.
	Watch(changed func()) (stop func())
}

// Identified is a toolset with a name of its own. A registry refuses two
// toolsets with the same one; errors call a toolset by it.
type Identified interface {
	ID() string
}

// A Spiller is a tool whose results are kept elsewhere where they are too large to be
// shown. A run asks it once the result is masked.
type Spiller interface {
	// Spill keeps the text of a result until the run ends. It returns a handle, and
	// says how to read on with it.
	Spill(ctx context.Context, text string) (handle, howTo string, err error)
}

// Unloading is a toolset that keeps tools back until a model has found them: a call
// of one is told so, where any other unknown name is not.
type Unloading interface {
	// Unloaded returns the names that are kept back, and how to find them: the name
	// of a tool.
	Unloaded(ctx context.Context) (names []string, search string)
}

// A ToolsetWrapper is a toolset made of others. [As] and the registry look
// through it, so that no wrapper hides what is below it.
type ToolsetWrapper interface {
	Unwrap() []Toolset
}

// A ToolWrapper is a tool made of another one.
type ToolWrapper interface {
	Unwrap() Tool
}

// As returns the first toolset that implements T: ts itself, else the first
// found below it, depth first.
func As[T any](ts Toolset) (T, bool) {
	for inner := range walk(ts) {
		if t, ok := inner.(T); ok {
			return t, true
		}
	}
	var none T
	return none, false
}

// AsTool returns the first tool that implements T: t itself, else the first
// found by unwrapping it.
func AsTool[T any](t Tool) (T, bool) {
	for t != nil {
		if found, ok := t.(T); ok {
			return found, true
		}
		w, ok := t.(ToolWrapper)
		if !ok {
			break
		}
		t = w.Unwrap()
	}
	var none T
	return none, false
}

// walk yields ts and all toolsets below it, outer ones first.
func walk(ts Toolset) func(yield func(Toolset) bool) {
	var visit func(ts Toolset, yield func(Toolset) bool) bool
	visit = func(ts Toolset, yield func(Toolset) bool) bool {
		if !yield(ts) {
			return false
		}
		w, ok := ts.(ToolsetWrapper)
		if !ok {
			return true
		}
		for _, inner := range w.Unwrap() {
			if !visit(inner, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func(Toolset) bool) { visit(ts, yield) }
}

// each yields every toolset that implements T, of some and of all below them.
func each[T any](toolsets []Toolset) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, ts := range toolsets {
			for inner := range walk(ts) {
				if t, ok := inner.(T); ok && !yield(t) {
					return
				}
			}
		}
	}
}

// ownerName is what errors call a toolset: its ID, else its Go type.
func ownerName(ts any) string {
	if ts, ok := ts.(Toolset); ok {
		if id, ok := As[Identified](ts); ok {
			return id.ID()
		}
	}
	return reflect.TypeOf(ts).String()
}
