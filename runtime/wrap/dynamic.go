package wrap

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/toolgen/toolgen/runtime"
)

// A Lifetime is how long what [Dynamic] returns is used.
type Lifetime uint8

// The lifetimes.
const (
	PerRun  Lifetime = iota // it is made at the first step of a run, and closed when the run is
	PerStep                 // it is asked for at each step
)

// Dynamic makes a toolset as a run goes on: whose tools depend on who is served, or
// on what happened before. Nil is no tools. What it returns is opened before it is
// used and closed after; the same toolset again stays open. One that can't be
// opened is an error of the step, and leaves nothing open.
func Dynamic(open func(ctx context.Context) (runtime.Toolset, error), lifetime Lifetime) runtime.Toolset {
	return &dynamic{open: open, lifetime: lifetime}
}

type dynamic struct {
	open     func(ctx context.Context) (runtime.Toolset, error)
	lifetime Lifetime
}

// RunScoped implements [runtime.RunScoped].
func (*dynamic) RunScoped() {}

// held is what a run has of a dynamic toolset.
type held struct {
	mu       sync.Mutex
	made     bool
	toolset  runtime.Toolset
	closeAll func() error
}

// Tools implements [runtime.Toolset].
func (d *dynamic) Tools(ctx context.Context) ([]runtime.Tool, error) {
	h, err := runtime.PerRun(ctx, d, func(context.Context) (*held, error) { return &held{}, nil })
	if err != nil {
		return nil, fmt.Errorf("dynamic: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.made || d.lifetime == PerStep {
		if err := h.renew(ctx, d.open); err != nil {
			return nil, err
		}
	}
	if h.toolset == nil {
		return nil, nil
	}
	return h.toolset.Tools(ctx)
}

// renew asks for the toolset. The old one is closed once the new one is open.
func (h *held) renew(ctx context.Context, open func(ctx context.Context) (runtime.Toolset, error)) error {
	ts, err := open(ctx)
	if err != nil {
		return fmt.Errorf("dynamic: %w", err)
	}
	if h.made && identical(ts, h.toolset) {
		return nil
	}
	closeAll := func() error { return nil }
	if ts != nil {
		if closeAll, err = runtime.Open(ctx, ts); err != nil {
			return fmt.Errorf("dynamic: %w", err)
		}
	}
	was := h.closeAll
	h.made, h.toolset, h.closeAll = true, ts, closeAll
	if was != nil {
		if err := was(); err != nil {
			return fmt.Errorf("dynamic: close the toolset of the last step: %w", err)
		}
	}
	return nil
}

func identical(a, b runtime.Toolset) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

// Close closes what is open, at the end of the run.
func (h *held) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closeAll == nil {
		return nil
	}
	err := h.closeAll()
	h.closeAll, h.toolset = nil, nil
	return err
}
