package runtime

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// callContext is the context of one call. It holds all that a call needs to be
// reached by, in one allocation: the deadline, what [CallFrom] and [MaskerFrom]
// return, the run. Its timer and channel are made only if somebody asks for them,
// since most tools never do.
type callContext struct {
	parent   context.Context //nolint:containedctx // it is a context itself
	deadline time.Time       // zero: that of the parent, and all else of it
	run      *Run
	masker   Masker
	info     CallInfo
	args     json.RawMessage
	ordinal  int // among equal calls of the run

	mu     sync.Mutex
	err    error
	done   chan struct{}
	timer  *time.Timer
	detach func() bool // from the parent
	after  []*func()   // see AfterFunc
}

// Deadline implements [context.Context].
func (c *callContext) Deadline() (time.Time, bool) {
	if c.deadline.IsZero() {
		return c.parent.Deadline()
	}
	return c.deadline, true
}

// Value implements [context.Context].
func (c *callContext) Value(key any) any {
	switch key {
	case callKey{}:
		return c
	case runKey{}:
		return c.run
	}
	return c.parent.Value(key)
}

// Err implements [context.Context].
func (c *callContext) Err() error {
	if c.deadline.IsZero() {
		return c.parent.Err()
	}
	c.mu.Lock()
	err := c.err
	c.mu.Unlock()
	switch {
	case err != nil:
		return err
	case c.parent.Err() != nil:
		c.end(c.parent.Err())
	case !time.Now().Before(c.deadline):
		c.end(context.DeadlineExceeded)
	default:
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Done implements [context.Context].
func (c *callContext) Done() <-chan struct{} {
	if c.deadline.IsZero() {
		return c.parent.Done()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		} else {
			c.watch()
		}
	}
	return c.done
}

// AfterFunc calls f in a goroutine of its own once the context has ended. It is
// what package context looks for, so that contexts derived from this one need no
// goroutine to wait for it.
func (c *callContext) AfterFunc(f func()) (stop func() bool) {
	if c.deadline.IsZero() {
		return context.AfterFunc(c.parent, f)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	c.watch()
	entry := &f
	c.after = append(c.after, entry)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for i, other := range c.after {
			if other == entry {
				c.after = append(c.after[:i:i], c.after[i+1:]...)
				return true
			}
		}
		return false
	}
}

// watch waits for the deadline and the parent, once. The mutex is held.
func (c *callContext) watch() {
	if c.timer != nil {
		return
	}
	c.timer = time.AfterFunc(time.Until(c.deadline), func() { c.end(context.DeadlineExceeded) })
	c.detach = context.AfterFunc(c.parent, func() { c.end(c.parent.Err()) })
}

// end ends the context, once.
func (c *callContext) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	if c.timer != nil {
		c.timer.Stop()
		c.detach()
	}
	if c.done != nil {
		close(c.done)
	}
	for _, f := range c.after {
		go (*f)()
	}
	c.after = nil
}
