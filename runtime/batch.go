package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A batch is the calls of one model response on their way: resolved, checked,
// counted, run.
type batch struct {
	run      *Run
	outcomes []Outcome // Kind is "" until it is known
	entries  []*entry  // by call; nil: unknown
	ordinals []int     // among equal calls of the run
	reserved []bool    // it counts in the budgets
	started  []bool
	again    []bool            // a person has said that it is to run though it may have
	asked    []json.RawMessage // the arguments that the model sent
	decided  []*Decision
	masker   Masker
	step     int
	fatal    atomic.Bool

	single struct { // the room for one call, the common case
		entries [1]*entry
		ordinal [1]int
		flags   [3]bool
		asked   [1]json.RawMessage
	}
}

// newBatch resolves the calls of a batch.
func (r *Run) newBatch(l *listing, calls []Call) *batch {
	b := &batch{run: r, outcomes: make([]Outcome, len(calls)), masker: l.masker}
	if n := len(calls); n == 1 {
		b.entries, b.ordinals, b.asked = b.single.entries[:], b.single.ordinal[:], b.single.asked[:]
		b.reserved, b.started, b.again = b.single.flags[:1:1], b.single.flags[1:2:2], b.single.flags[2:]
	} else {
		flags := make([]bool, 3*n)
		b.entries, b.ordinals, b.asked = make([]*entry, n), make([]int, n), make([]json.RawMessage, n)
		b.reserved, b.started, b.again = flags[:n:n], flags[n:2*n:2*n], flags[2*n:]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b.step = r.steps
	for i, c := range calls {
		o := &b.outcomes[i]
		o.Call, o.Attempt, b.asked[i] = c, r.spent.corrections[c.Name]+1, c.Args
		e, ok := l.find(c.Name)
		switch {
		case !ok && l.waiting[c.Name] != "":
			b.classify(o, Retryf("tool %s is not loaded: find it with %s first", c.Name, l.waiting[c.Name]))
			o.Reason = NotLoaded
		case !ok:
			b.classify(o, unknownTool(c.Name, l))
			o.Reason = UnknownTool
		case r.spent.disabled[c.Name]:
			b.classify(o, &FailedError{Code: OverBudget, Message: "tool " + c.Name + " is not available any more in this run: its corrections are used up"})
			b.entries[i] = e
		default:
			b.entries[i] = e
			if r.journal != nil {
				c.Args = b.canonical(i) // equal calls are those that mean the same
			}
			b.ordinals[i] = r.ordinal(&c)
		}
	}
	return b
}

// waiting is how many calls would run.
func (b *batch) waiting() int {
	n := 0
	for i := range b.outcomes {
		if b.outcomes[i].Kind == "" {
			n++
		}
	}
	return n
}

func (b *batch) waitingFor(tool string) int {
	n := 0
	for i := range b.outcomes {
		if b.outcomes[i].Kind == "" && b.outcomes[i].Name == tool {
			n++
		}
	}
	return n
}

// definition is that of a tool of the batch; nil: there is none.
func (b *batch) definition(name string) *Definition {
	for _, e := range b.entries {
		if e != nil && e.def.Name == name {
			return e.def
		}
	}
	return nil
}

// check validates the arguments of calls that a person would be asked about, or
// that are journaled: none is asked about arguments that are wrong. For all others
// the tool's own check is the same.
func (b *batch) check(ctx context.Context) {
	for i := range b.outcomes {
		o, e := &b.outcomes[i], b.entries[i]
		if o.Kind != "" || e.def.Approval == Never && b.run.journal == nil || b.decision(i) != nil {
			continue
		}
		if err := b.validate(ctx, i, o.Args); err != nil {
			b.classify(o, err)
			b.quoteNothing(ctx, i)
			b.maskError(i)
		}
	}
}

// validate checks arguments without calling the tool.
func (b *batch) validate(ctx context.Context, i int, args json.RawMessage) error {
	v, ok := AsTool[Validator](b.entries[i].tool)
	if !ok {
		return nil
	}
	c := b.context(ctx, i, time.Now())
	defer c.end(context.Canceled)
	return b.run.workers.await(c, job{ctx: c, args: args, do: func(ctx context.Context, args json.RawMessage) (*Result, error) {
		return nil, v.Validate(ctx, args)
	}}).err
}

// execute runs the groups between barriers one after the other. A pending barrier
// holds what follows it; after a fatal outcome nothing more starts.
func (b *batch) execute(ctx context.Context) {
	if len(b.outcomes) == 1 {
		b.one(ctx, 0)
		return
	}
	held := false
	for _, group := range b.groups() {
		if held {
			b.hold(group)
			continue
		}
		b.parallel(ctx, group)
		held = b.alone(group[0]) && b.outcomes[group[0]].Kind == Pending
	}
}

func (b *batch) hold(group []int) {
	for _, i := range group {
		if b.outcomes[i].Kind == "" {
			b.outcomes[i].Kind = Held
		}
	}
}

func (b *batch) alone(i int) bool { return b.entries[i] != nil && b.entries[i].def.Sequential }

// groups splits a batch into those that run one after the other: a sequential
// call is a group of its own.
func (b *batch) groups() [][]int {
	var groups [][]int
	open := false
	for i := range b.entries {
		alone := b.alone(i)
		if alone || !open {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], i)
		open = !alone
	}
	return slices.Clip(groups)
}

func (b *batch) parallel(ctx context.Context, group []int) {
	if len(group) == 1 { // nothing to wait for
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
	case o.Kind != "":
		return
	case b.fatal.Load() && !b.run.options.errorsEndCall:
		fail(o, Canceled, errNotStarted)
		return
	case ctx.Err() != nil:
		fail(o, Canceled, context.Cause(ctx))
	default:
		b.invoke(ctx, i)
	}
	if o.Kind == Fatal {
		b.fatal.Store(true)
	}
}

func (b *batch) decision(i int) *Decision {
	if b.decided == nil {
		return nil
	}
	return b.decided[i]
}

func (b *batch) setDecision(i int, d *Decision) {
	if b.decided == nil {
		b.decided = make([]*Decision, len(b.outcomes))
	}
	b.decided[i] = d
}
