package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	goruntime "runtime"
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
	rested  bool        // it was idle when the sweeper came
}

// workers are those of a run that have nothing to do.
type workers struct {
	mu      sync.Mutex
	idle    []*worker // the longest idle first
	closed  bool
	sweeper *time.Timer // ends those that are idle for long; nil: there are none
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
	w := &worker{jobs: make(chan job, 1), replies: make(chan reply, 1)}
	go w.loop()
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
	w.rested = false
	p.idle = append(p.idle, w)
	if p.sweeper == nil {
		p.sweeper = time.AfterFunc(idleFor, p.sweep)
	}
}

// sweep ends workers that have been idle since it came last, and comes again while there are
// others.
func (p *workers) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 && p.idle[0].rested {
		close(p.idle[0].jobs)
		p.idle = p.idle[1:]
	}
	for _, w := range p.idle {
		w.rested = true
	}
	p.sweeper = nil
	if len(p.idle) > 0 && !p.closed {
		p.sweeper = time.AfterFunc(idleFor, p.sweep)
	}
}

func (p *workers) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		close(w.jobs)
	}
	p.idle = nil
	if p.sweeper != nil {
		p.sweeper.Stop()
	}
}

func (w *worker) loop() {
	for j := range w.jobs {
		w.work(j)
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
	goruntime.Gosched() // to the worker: most tools are done before anything needs to wait
	select {
	case r := <-w.replies:
		return p.replied(w, r)
	default:
	}
	if w.timer == nil {
		w.timer = time.NewTimer(time.Until(ctx.deadline) + grace)
	} else {
		w.timer.Reset(time.Until(ctx.deadline) + grace)
	}
	defer w.timer.Stop()
	canceled := ctx.parent.Done()
	for {
		select {
		case r := <-w.replies:
			return p.replied(w, r)
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

func (p *workers) replied(w *worker, r reply) reply {
	if !r.gone {
		p.put(w)
	}
	return r
}
