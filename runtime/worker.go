package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// A job is what a worker does for a call.
type job struct {
	ctx  context.Context //nolint:containedctx // it goes from one goroutine to another
	tool Tool
	args json.RawMessage
	do   func(ctx context.Context, args json.RawMessage) (*Result, error) // nil: call the tool
}

type reply struct {
	result *Result
	err    error
	gone   bool // the worker's goroutine has ended
}

// A worker is a goroutine that runs tools, one after the other, so that one which
// ignores its context, or ends its goroutine, hurts nobody but itself.
type worker struct {
	jobs    chan job
	replies chan reply  // buffered: an abandoned worker must not block for ever
	timer   *time.Timer // of whoever waits for it
}

// workers are those of a run that have nothing to do.
type workers struct {
	mu     sync.Mutex
	idle   []*worker
	closed bool
}

// idleFor is how long a worker waits for more to do.
const idleFor = time.Second

func (p *workers) get() *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return w
	}
	w := &worker{jobs: make(chan job, 1), replies: make(chan reply, 1), timer: time.NewTimer(time.Hour)}
	w.timer.Stop()
	go w.loop(p)
	return w
}

// put takes back a worker that has replied.
func (p *workers) put(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= maxParallel {
		close(w.jobs)
		return
	}
	p.idle = append(p.idle, w)
}

// remove takes an idle worker out, and reports whether it was one.
func (p *workers) remove(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.idle {
		if other == w {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			return true
		}
	}
	return false
}

func (p *workers) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		close(w.jobs)
	}
	p.idle = nil
}

func (w *worker) loop(p *workers) {
	idle := time.NewTimer(idleFor)
	defer idle.Stop()
	for {
		idle.Reset(idleFor)
		select {
		case j, more := <-w.jobs:
			if !more {
				return
			}
			w.work(j)
		case <-idle.C:
			if p.remove(w) {
				return
			}
		}
	}
}

// work calls the tool and sends exactly one reply, come a panic or Goexit.
func (w *worker) work(j job) {
	r := reply{gone: true}
	defer func() {
		if v := recover(); v != nil {
			r = reply{err: &PanicError{Value: v, Stack: debug.Stack()}}
		} else if r.gone {
			r.err = &PanicError{Stack: debug.Stack()}
		}
		w.replies <- r
	}()
	if j.do != nil {
		r.result, r.err = j.do(j.ctx, j.args)
	} else {
		r.result, r.err = j.tool.Call(j.ctx, j.args)
	}
	r.gone = false
}

// grace is how long a call may go on after its deadline or cancellation before
// it is abandoned: the outcome is reported and a late result dropped.
const grace = 5 * time.Second

// await has a worker do a job and waits for it, at the longest for the grace
// after the end of the call's context. It returns the worker, unless that is lost.
func (p *workers) await(ctx *callContext, j job) reply {
	w := p.get()
	w.jobs <- j
	w.timer.Reset(time.Until(ctx.deadline) + grace)
	defer w.timer.Stop()
	canceled := ctx.parent.Done()
	for {
		select {
		case r := <-w.replies:
			if !r.gone {
				p.put(w)
			}
			return r
		case <-canceled:
			canceled = nil
			w.timer.Reset(grace)
		case <-w.timer.C:
			close(w.jobs) // it ends if the tool ever returns
			ctx.end(context.DeadlineExceeded)
			return reply{err: fmt.Errorf("abandoned: the tool did not return within %s of the end of its context: %w", grace, ctx.Err())}
		}
	}
}
