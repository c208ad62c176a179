package runtime

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// A batch is the calls of one model response on their way.
type batch struct {
	options  options
	outcomes []Outcome
	tools    []Tool // by call; nil: unknown
	fatal    atomic.Bool
}

func newBatch(o options, l *listing, calls []Call) *batch {
	b := &batch{options: o, outcomes: make([]Outcome, len(calls)), tools: make([]Tool, len(calls))}
	for i, c := range calls {
		b.outcomes[i].Call = c
		if t, ok := l.find(c.Name); ok {
			b.tools[i] = t
		} else {
			classify(&b.outcomes[i], unknownTool(c.Name, l))
			b.outcomes[i].Reason = UnknownTool
		}
	}
	return b
}

// run runs the groups between barriers one after the other. A pending barrier
// holds what follows it; after a fatal outcome nothing more starts.
func (b *batch) run(ctx context.Context) {
	held := false
	for _, group := range barriers(b.tools) {
		if held {
			for _, i := range group {
				if b.tools[i] != nil {
					b.outcomes[i].Kind = Held
				}
			}
			continue
		}
		b.parallel(ctx, group)
		first := group[0]
		alone := b.tools[first] != nil && b.tools[first].Definition().Sequential
		held = alone && b.outcomes[first].Kind == Pending
	}
}

func (b *batch) parallel(ctx context.Context, group []int) {
	if len(group) == 1 { // the common case: nothing to wait for
		b.one(ctx, group[0])
		return
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	for _, i := range group {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			b.one(ctx, i)
		})
	}
	wg.Wait()
}

// errNotStarted is the outcome of calls that came after a fatal one.
var errNotStarted = errors.New("not run: another call ended the run")

func (b *batch) one(ctx context.Context, i int) {
	o := &b.outcomes[i]
	switch {
	case b.tools[i] == nil:
		return
	case b.fatal.Load() && !b.options.errorsEndCall:
		fail(o, Canceled, errNotStarted)
		return
	case ctx.Err() != nil:
		fail(o, Canceled, context.Cause(ctx))
	default:
		invoke(ctx, b.options, b.tools[i], o)
	}
	if o.Kind == Fatal {
		b.fatal.Store(true)
	}
}
