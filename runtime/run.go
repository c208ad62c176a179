package runtime

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"github.com/toolgen/toolgen/runtime/schema"
)

// maxParallel bounds how many calls of a batch run at once.
const maxParallel = 16

// A Run is one agent run's use of a registry. It is safe for concurrent use.
type Run struct {
	registry *Registry
	options  options
	began    time.Time
	workers  workers
	scoped   scope
	batches  sync.WaitGroup
	journal  *journal // nil: none is kept

	mu       sync.Mutex
	listed   *listing // of the latest step
	steps    int
	ended    error // why no call is taken any more
	waits    *interruption
	spent    ledger
	ordinals map[uint64]int // of equal calls, by hash
	closing  sync.Once
	closeErr error
}

// Start begins a run. It opens nothing and lists nothing: the first Step does.
//
// With a [Journal] it takes the run's lease.
func (r *Registry) Start(ctx context.Context, opts ...Option) (*Run, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	return newRun(ctx, r, o)
}

func newRun(ctx context.Context, r *Registry, o options) (*Run, error) {
	run := &Run{registry: r, options: o, began: time.Now()}
	if o.journal == nil {
		return run, nil
	}
	var err error
	run.journal, err = openJournal(ctx, &o, func(err error) { _ = run.end(err) })
	return run, err
}

// ID returns the name of the run.
func (r *Run) ID() string { return r.options.id }

var errClosed = errors.New("the run is closed")

// Close ends the run: calls that come later are an error, those that run are
// waited for, and what was opened with [PerRun] is closed, the latest first. It
// may be called twice. Its error changes no outcome.
func (r *Run) Close() error { return r.shut(nil) }

// shut closes the run, once, and does what is to be done last with its journal.
func (r *Run) shut(last func() error) error {
	r.closing.Do(func() {
		r.mu.Lock()
		if r.ended == nil {
			r.ended = errClosed
		}
		r.mu.Unlock()
		r.batches.Wait()
		r.workers.close()
		r.closeErr = r.scoped.close()
		if r.journal != nil {
			r.closeErr = errors.Join(r.closeErr, r.journal.close(last))
		}
	})
	return r.closeErr
}

// Step returns the tools for the next step of the model. Calls resolve against
// this list until the next Step. The caller doesn't change the slice.
func (r *Run) Step(ctx context.Context) ([]Tool, error) {
	l, err := r.step(ctx)
	if err != nil {
		return nil, err
	}
	return l.tools, nil
}

func (r *Run) step(ctx context.Context) (*listing, error) {
	r.mu.Lock()
	ended, last, disabled := r.ended, r.listed, len(r.spent.disabled)
	r.mu.Unlock()
	if ended != nil {
		return nil, ended
	}
	opening, err := r.registry.opened.open(ctx, r.registry.toolsets)
	if err != nil {
		return nil, err
	}
	if r.registry.scoped {
		ctx = context.WithValue(ctx, runKey{}, r)
	}
	l, err := relist(ctx, r.registry.toolsets, last)
	if err != nil {
		return nil, err
	}
	if disabled > 0 {
		l = r.withoutDisabled(l)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l.opening = opening
	r.listed = l
	r.steps++
	return l, nil
}

// withoutDisabled leaves out tools of which the model has used up the
// corrections.
func (r *Run) withoutDisabled(l *listing) *listing {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := &listing{masker: l.masker, waiting: l.waiting}
	out.grow(len(l.tools))
	for i, t := range l.tools {
		if name := t.Definition().Name; !r.spent.disabled[name] {
			out.put(l.owners[i], l.entries[i])
		}
	}
	return out
}

// Call runs one batch of calls, those that a model asked for in one response,
// and returns their outcomes in the same order. Calls run in parallel, at most
// 16 at once; a sequential tool waits for those before it and runs alone.
//
// The error is for the host: ids that are empty or there twice (nothing ran), a
// run that has ended or waits for decisions, an outcome of kind Fatal, a
// [RetryBudgetError] or a [BudgetError]: these three end the run, and the outcomes
// are returned with them.
func (r *Run) Call(ctx context.Context, calls ...Call) ([]Outcome, error) {
	if err := checkIDs(calls); err != nil {
		return nil, err
	}
	l, err := r.current(ctx)
	if err != nil {
		return nil, err
	}
	return r.finish(ctx, r.newBatch(l, calls))
}

// finish takes a batch from its resolved calls to its outcomes.
func (r *Run) finish(ctx context.Context, b *batch) ([]Outcome, error) {
	r.mu.Lock()
	if r.ended != nil {
		r.mu.Unlock()
		return nil, r.ended
	}
	r.batches.Add(1)
	r.mu.Unlock()
	defer r.batches.Done()
	b.check(ctx)
	if err := r.reserve(b); err != nil {
		return b.outcomes, r.end(err)
	}
	b.execute(ctx)
	r.interrupted(b)
	return b.outcomes, r.end(r.settle(b))
}

// current returns the list that calls resolve against. A run without a step
// makes one, and so does one whose registry was closed since.
func (r *Run) current(ctx context.Context) (*listing, error) {
	r.mu.Lock()
	l, ended, waits := r.listed, r.ended, r.waits
	r.mu.Unlock()
	switch {
	case ended != nil:
		return nil, ended
	case waits != nil:
		return nil, fmt.Errorf("the run waits for decisions about %d calls: keep its State, and Resume it", len(waits.pending))
	case l != nil && l.opening == r.registry.opened.current():
		return l, nil
	default:
		return r.step(ctx)
	}
}

// end ends the run because of an error, if there is one, and returns it.
func (r *Run) end(err error) error {
	if err == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended = fmt.Errorf("the run has ended: %w", err)
	}
	return err
}

// ordinal is how often the same call was made before in the run. The mutex is held.
// The hash is the same in every process, for a run that goes on in another one; calls
// that share one by accident only count on.
func (r *Run) ordinal(c *Call) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.Name)) // never fails
	_, _ = h.Write([]byte{0})
	_, _ = h.Write(c.Args)
	if r.ordinals == nil {
		r.ordinals = make(map[uint64]int)
	}
	key := h.Sum64()
	n := r.ordinals[key]
	r.ordinals[key] = n + 1
	return n
}

// unknownTool is what a model is told that calls a tool which it was not shown.
func unknownTool(name string, l *listing) *RetryError {
	const most = 50
	names := l.names()
	shown := strings.Join(names[:min(most, len(names))], ", ")
	if n := len(names) - most; n > 0 {
		shown += fmt.Sprintf(" and %d more", n)
	}
	near := "."
	if n := schema.Nearest(name, names, 1); len(n) > 0 {
		near = "; did you mean " + n[0] + "?"
	}
	return Retryf("unknown tool %q%s You can call: %s", clip(name, 64), near, shown)
}

// Definition returns the definition of a tool of the current step.
func (r *Run) Definition(ctx context.Context, name string) (*Definition, bool) {
	l, err := r.current(ctx)
	if err != nil {
		return nil, false
	}
	e, ok := l.find(name)
	if !ok {
		return nil, false
	}
	return e.def, true
}
