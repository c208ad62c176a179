package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// closeWithin is how long what a run has opened may take to close.
const closeWithin = 10 * time.Second

// PerRun returns what open makes, once for a run and key: a sandbox, a spill
// store. Concurrent callers wait for the first; one that fails leaves nothing, and
// the next tries again. What has a method Close(context.Context) error, or is an
// [io.Closer], is closed when the run is, the latest first. Keys are compared as
// those of a context: use a type of your own.
func PerRun[T any](ctx context.Context, key any, open func(context.Context) (T, error)) (T, error) {
	var none T
	run, ok := ctx.Value(runKey{}).(*Run)
	if !ok {
		return none, errors.New("state of a run outside of its calls: pass on the context that the tool was called with")
	}
	value, err := run.scoped.get(ctx, key, func(ctx context.Context) (any, error) { return open(ctx) })
	if err != nil {
		return none, err
	}
	typed, ok := value.(T)
	if !ok {
		return none, fmt.Errorf("the run's state under %v is a %T, not a %T", key, value, none)
	}
	return typed, nil
}

type runKey struct{}

// RunScoped is a toolset whose Tools asks for [PerRun] state: its context then is
// one of the run. It is looked for below wrappers.
type RunScoped interface {
	RunScoped()
}

// scope is what a run has opened.
type scope struct {
	mu     sync.Mutex
	values map[any]*scoped
	order  []any
	closed bool
}

type scoped struct {
	ready chan struct{} // closed once value or err is there
	value any
	err   error
}

func (s *scope) get(ctx context.Context, key any, open func(context.Context) (any, error)) (any, error) {
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return nil, errClosed
		}
		v := s.values[key]
		if v == nil {
			v = &scoped{ready: make(chan struct{})}
			if s.values == nil {
				s.values = make(map[any]*scoped)
			}
			s.values[key] = v
			s.mu.Unlock()
			s.fill(ctx, key, v, open)
			return v.value, v.err
		}
		s.mu.Unlock()
		select {
		case <-v.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if v.err == nil {
			return v.value, nil
		}
	}
}

// fill opens a value. One that fails, or panics, is forgotten; one that comes
// after the run was closed is closed at once.
func (s *scope) fill(ctx context.Context, key any, v *scoped, open func(context.Context) (any, error)) {
	v.err = errors.New("it ended without a value")
	defer func() {
		s.mu.Lock()
		late := s.closed && v.err == nil
		switch {
		case late:
			v.err = errClosed
		case v.err == nil:
			s.order = append(s.order, key)
		}
		if v.err != nil {
			delete(s.values, key)
		}
		s.mu.Unlock()
		close(v.ready)
		if late {
			_ = closeValue(v.value)
		}
	}()
	v.value, v.err = open(ctx)
}

// close closes what was opened, the latest first.
func (s *scope) close() error {
	s.mu.Lock()
	s.closed = true
	order := s.order
	s.order = nil
	s.mu.Unlock()
	var errs []error
	for _, key := range slices.Backward(order) {
		errs = append(errs, closeValue(s.values[key].value))
	}
	return errors.Join(errs...)
}

// closeValue gives what it closes a context of its own: that of the call which
// opened it has ended.
//
//nolint:contextcheck,nolintlint // see above; that linter reports callers, of which the other knows nothing
func closeValue(v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p}
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	switch c := v.(type) {
	case interface {
		Close(ctx context.Context) error
	}:
		return c.Close(ctx)
	case io.Closer:
		return c.Close()
	}
	return nil
}
