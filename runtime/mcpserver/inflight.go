package mcpserver

import (
	"context"
	"sync"
	"time"
)

// inFlight counts the calls that are running, for an end that waits for them.
type inFlight struct {
	kill   context.CancelFunc
	killed context.Context //nolint:containedctx // the longest that any call lasts

	mu     sync.Mutex
	n      int
	ending bool
	idle   chan struct{} // closed when no call runs after the end has begun
}

func newInFlight() *inFlight {
	f := &inFlight{idle: make(chan struct{})}
	f.killed, f.kill = context.WithCancel(context.Background())
	return f
}

// begin counts a call in, and returns the context to run it under. It reports
// false when no calls are taken any more.
func (f *inFlight) begin(ctx context.Context) (context.Context, func(), bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ending {
		return nil, nil, false
	}
	f.n++
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(f.killed, cancel)
	return ctx, func() {
		stop()
		cancel()
		f.done()
	}, true
}

func (f *inFlight) done() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n--; f.n == 0 && f.ending {
		close(f.idle)
	}
}

// end takes no more calls and waits for those that run, at the longest for
// drain; then it cancels them and waits for lastWait.
func (f *inFlight) end(ctx context.Context) {
	f.mu.Lock()
	if !f.ending {
		if f.ending = true; f.n == 0 {
			close(f.idle)
		}
	}
	f.mu.Unlock()
	f.wait(ctx, drain)
	f.kill()
	f.wait(context.WithoutCancel(ctx), lastWait)
}

func (f *inFlight) wait(ctx context.Context, most time.Duration) {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-f.idle:
	case <-t.C:
	case <-ctx.Done():
	}
}
