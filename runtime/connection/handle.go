package connection

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/secret"
)

// How long a handle uses what it has opened without asking whether the connection has
// changed, how long it waits after a failure, and how long opening may take.
const (
	lookAfter  = 5 * time.Minute
	retryAfter = time.Second
	openWithin = 30 * time.Second
)

// A Handle is what a toolset opens with a connection, and opens anew when that changes:
// a pool, a client, a session. It is opened at the first [Handle.Get], once for all who
// ask meanwhile; a failure is their error, and that of who asks within a second.
//
// Whether the connection has changed is looked at after five minutes, and when a source
// that watches says so. Calls go on with what is open until the new one is; the old one
// is closed once its last user has released it. Where the connection can't be resolved,
// or the new one not be opened, the old one serves on. A call that learns that its
// credentials aren't taken any more says so by [Lease.Invalidate]: the next one waits
// for a new one.
//
// A handle is safe for concurrent use.
type Handle[T any] struct {
	source Source
	open   func(ctx context.Context, c *Connection) (T, error)
	masker secret.Masker

	mu       sync.Mutex
	current  *generation[T] // nil: there is none
	opening  chan struct{}  // closed at the end of the attempt that runs; nil: none does
	cancel   func()         // of that attempt
	failed   error          // of the last attempt
	failedAt time.Time
	closed   int    // how often
	unwatch  func() // nil: it isn't watched

	changed atomic.Bool // the source says so
}

// generation is what was opened with one state of the connection.
type generation[T any] struct {
	value   T
	with    *Connection
	looked  time.Time // when that was the state
	users   int
	invalid bool
	retired bool // another one is in its place
}

// NewHandle returns a handle; it resolves and opens nothing. Open opens what the
// connection says, under a context that ends with it; what it returns is closed if it
// is an [io.Closer].
func NewHandle[T any](s Source, open func(ctx context.Context, c *Connection) (T, error)) *Handle[T] {
	return &Handle[T]{source: s, open: open}
}

// A Lease is the use of what a handle has opened, for one call.
type Lease[T any] struct {
	Value T

	handle *Handle[T]
	of     *generation[T]
	once   sync.Once
}

// Get opens, where that wasn't done, and returns a lease, to be released. It waits at
// the longest until ctx ends.
func (h *Handle[T]) Get(ctx context.Context) (*Lease[T], error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		if g := h.current; g != nil && !g.invalid {
			if h.changed.Load() || time.Since(g.looked) >= lookAfter {
				h.attempt() //nolint:contextcheck // it is for all who wait
			}
			g.users++
			return &Lease[T]{Value: g.value, handle: h, of: g}, nil
		}
		if !h.attempt() && h.opening == nil { //nolint:contextcheck // see above
			return nil, h.failed
		}
		closed := h.closed
		if err := h.wait(ctx); err != nil {
			return nil, err
		}
		if h.closed != closed {
			return nil, fmt.Errorf("connection %s: it was closed meanwhile", h.source.ID())
		}
		if g := h.current; (g == nil || g.invalid) && h.failed != nil {
			return nil, h.failed
		}
	}
}

// wait waits for the attempt that runs. The mutex is held before and after.
func (h *Handle[T]) wait(ctx context.Context) error {
	opening := h.opening
	h.mu.Unlock()
	defer h.mu.Lock()
	select {
	case <-opening:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("connection %s: %w", h.source.ID(), context.Cause(ctx))
	}
}

// attempt begins to resolve and open, unless somebody does, or it failed just now. The
// mutex is held.
func (h *Handle[T]) attempt() bool {
	if h.opening != nil || h.failed != nil && time.Since(h.failedAt) < retryAfter {
		return false
	}
	h.watch()
	h.opening = make(chan struct{})
	ctx, cancel := context.WithTimeout(context.Background(), openWithin)
	h.cancel = cancel
	go h.renew(ctx, cancel, h.current, h.closed)
	return true
}

// watch has a source that can do so tell of changes, from the first attempt on.
func (h *Handle[T]) watch() {
	w, ok := h.source.(runtime.Watcher)
	if !ok || h.unwatch != nil {
		return
	}
	h.unwatch = w.Watch(func() { h.changed.Store(true) })
}

// renew makes one attempt, from what was open, and how often it had been closed, when
// that began.
func (h *Handle[T]) renew(ctx context.Context, cancel func(), before *generation[T], closed int) {
	changed := h.changed.Swap(false)
	var with *Connection
	var value *T
	err := fmt.Errorf("connection %s: what opens it has ended its goroutine", h.source.ID())
	defer func() { // come Goexit
		cancel()
		if err != nil && changed {
			h.changed.Store(true) // it is still to be looked at
		}
		if old := h.install(with, value, err, before, closed); old != nil {
			_ = closeValue(*old) // its users have what they came for
		}
	}()
	with, value, err = h.resolve(ctx, before)
}

// install puts what an attempt has brought in its place, and returns what is to be
// closed: not under the mutex, since that takes its time.
func (h *Handle[T]) install(with *Connection, value *T, err error, before *generation[T], closed int) (old *T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed != closed { // nobody waits for it
		return value
	}
	close(h.opening)
	h.opening, h.failed = nil, err
	switch {
	case err != nil:
		h.failedAt = time.Now()
	case value == nil: // nothing has changed
		before.looked = time.Now()
	default:
		h.current = &generation[T]{value: *value, with: with, looked: time.Now()}
		return before.retire()
	}
	return nil
}

// resolve resolves the connection and opens it, unless what is open was opened with the
// same. Secrets are known before anything is done with them.
func (h *Handle[T]) resolve(ctx context.Context, before *generation[T]) (with *Connection, value *T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &runtime.PanicError{Value: v, Stack: debug.Stack()}
		}
		if err != nil {
			err = h.masker.Error(fmt.Errorf("connection %s: %w", h.source.ID(), err))
		}
	}()
	c, err := h.source.Connection(ctx)
	if err != nil {
		return nil, nil, err
	}
	h.masker.Add(c.Secrets()...)
	if before != nil && !h.isInvalid(before) && c.equal(before.with) {
		return c, nil, nil
	}
	opened, err := h.open(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	return c, &opened, nil
}

func (h *Handle[T]) isInvalid(g *generation[T]) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return g.invalid
}

// retire says that another is in its place, and returns what is to be closed, where it
// has no users. The mutex is held.
func (g *generation[T]) retire() *T {
	if g == nil {
		return nil
	}
	if g.retired = true; g.users > 0 {
		return nil
	}
	return &g.value
}

func closeValue(v any) (err error) {
	c, ok := v.(io.Closer)
	if !ok {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = &runtime.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return c.Close()
}

// Release says that the call is done with the value. It may be called twice.
func (l *Lease[T]) Release() {
	l.once.Do(func() {
		h := l.handle
		h.mu.Lock()
		l.of.users--
		last := l.of.retired && l.of.users == 0
		h.mu.Unlock()
		if last {
			_ = closeValue(l.of.value) // nobody is left who could be told
		}
	})
}

// Invalidate says that the value is of no use any more: its credentials aren't taken.
// The next Get opens anew, once, however many calls say so of one value.
func (l *Lease[T]) Invalidate() {
	l.handle.mu.Lock()
	defer l.handle.mu.Unlock()
	l.of.invalid = true
}

// FindSecrets implements [runtime.Secrets], for the toolset to pass on: those of every
// state that the connection has had.
func (h *Handle[T]) FindSecrets(text string) []runtime.Span { return h.masker.FindSecrets(text) }

// Close closes what is open, now or when its last user is done, and ends an attempt that
// runs. A Get after it opens again.
func (h *Handle[T]) Close() error {
	old := h.shut()
	if old == nil {
		return nil
	}
	return h.masker.Error(closeValue(*old))
}

// shut forgets what is open, and returns what is to be closed.
func (h *Handle[T]) shut() *T {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed++
	if h.unwatch != nil {
		h.unwatch()
		h.unwatch = nil
	}
	if h.opening != nil {
		h.cancel()
		close(h.opening)
		h.opening = nil
	}
	g := h.current
	h.current, h.failed = nil, nil
	return g.retire()
}
