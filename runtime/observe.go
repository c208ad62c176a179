package runtime

import "context"

// An Observer is a tool that watches its calls: how logs and traces are kept. The
// run asks all observers around and below a tool, at the places that it has for
// them, whatever the order of the wrappers. What an observer panics with is lost.
//
// An observer that also has Enabled(context.Context) bool, as loggers have, costs next
// to nothing while it says false: where all of a tool do, none is asked.
type Observer interface {
	// Before is called before anything is done for a call; the outer observers
	// first. The context that it returns, derived from ctx, is the call's.
	Before(ctx context.Context, call Call) context.Context

	// After is called with the outcome, masked and bounded; the inner observers
	// first.
	After(ctx context.Context, outcome Outcome)
}

// observersOf are those around and below a tool, outer ones first.
func observersOf(t Tool) []Observer {
	var out []Observer
	for t != nil {
		if o, ok := t.(Observer); ok {
			out = append(out, o)
		}
		w, ok := t.(ToolWrapper)
		if !ok {
			break
		}
		t = w.Unwrap()
	}
	return out
}

// switched is an observer that can be off.
type switched interface {
	Enabled(ctx context.Context) bool
}

// switchesOf returns observers all of which can be off, else nothing.
func switchesOf(observers []Observer) []switched {
	var all []switched
	for _, o := range observers {
		s, ok := o.(switched)
		if !ok {
			return nil
		}
		all = append(all, s)
	}
	return all
}

// observed reports whether an observer wants to know of a call.
func (e *entry) observed(ctx context.Context) bool {
	if len(e.switches) == 0 {
		return len(e.observers) > 0
	}
	for _, s := range e.switches {
		if s.Enabled(ctx) {
			return true
		}
	}
	return false
}

func beforeAll(ctx context.Context, observers []Observer, call Call) context.Context {
	for _, o := range observers {
		ctx = before(ctx, o, call) //nolint:fatcontext // each of them adds its own
	}
	return ctx
}

func before(ctx context.Context, o Observer, call Call) (derived context.Context) {
	derived = ctx
	defer func() {
		if recover() != nil || derived == nil {
			derived = ctx
		}
	}()
	return o.Before(ctx, call)
}

func after(ctx context.Context, o Observer, outcome Outcome) {
	defer func() { _ = recover() }()
	o.After(ctx, outcome)
}
