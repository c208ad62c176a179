package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolgen/toolgen/runtime/schema"
)

// DefaultTimeout is the deadline of a call unless the run or the tool's
// definition sets another.
const DefaultTimeout = 60 * time.Second

// maxParallel bounds how many calls of a batch run at once.
const maxParallel = 16

// An Option sets how a run behaves.
type Option func(*options)

type options struct {
	timeout       time.Duration
	maxResult     int
	errorsEndCall bool
}

// Timeout sets the deadline of calls whose definition has none. The default is
// [DefaultTimeout]; d must be positive.
func Timeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// MaxResult sets the bound of results, in bytes of text and structured part,
// of tools whose definition has none. The default is [DefaultMaxResult]; n
// must be at least 1024, so that a mark of truncation fits.
func MaxResult(n int) Option { return func(o *options) { o.maxResult = n } }

// ErrorsEndCall makes an error that would end the run end its call only. It is
// for servers, whose client owns the agent run.
func ErrorsEndCall() Option { return func(o *options) { o.errorsEndCall = true } }

// A Run is one agent run's use of a registry. It is safe for concurrent use.
type Run struct {
	registry *Registry
	options  options

	mu     sync.Mutex
	listed *listing // of the latest step
	ended  error    // why no call is taken any more

	corrections map[string]int // in a row, by tool
}

// Start begins a run. It opens nothing and lists nothing: the first Step does.
func (r *Registry) Start(_ context.Context, opts ...Option) (*Run, error) {
	o := options{timeout: DefaultTimeout, maxResult: DefaultMaxResult}
	for _, opt := range opts {
		opt(&o)
	}
	switch {
	case o.timeout <= 0:
		return nil, fmt.Errorf("run: timeout %s is not positive", o.timeout)
	case o.maxResult < leastResult:
		return nil, fmt.Errorf("run: a result of at most %d bytes leaves no room for a mark of truncation: give it %d", o.maxResult, leastResult)
	}
	return &Run{registry: r, options: o}, nil
}

var errClosed = errors.New("the run is closed")

// Close ends the run: calls that come later are an error. It may be called
// twice.
func (r *Run) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended = errClosed
	}
	return nil
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
	ended := r.ended
	r.mu.Unlock()
	if ended != nil {
		return nil, ended
	}
	opening, err := r.registry.opened.open(ctx, r.registry.toolsets)
	if err != nil {
		return nil, err
	}
	l, err := list(ctx, r.registry.toolsets)
	if err != nil {
		return nil, err
	}
	l.opening = opening
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listed = l
	return l, nil
}

// A Call is one call of a tool, as a model asked for it.
type Call struct {
	ID   string // unique in its batch
	Name string
	Args json.RawMessage
}

// A Kind says how a call ended.
type Kind string

// The ways in which a call ends.
const (
	OK      Kind = "ok"      // Result has it
	Retry   Kind = "retry"   // the model can do better: Message says how
	Failed  Kind = "failed"  // for good: Message says why
	Pending Kind = "pending" // it did not run and waits for somebody
	Held    Kind = "held"    // it did not run: a sequential call before it is pending
	Fatal   Kind = "fatal"   // Err says what happened; Message is what a model may see
)

// A Reason says more exactly how a call ended: one of these, or the
// [FailureCode] of a FailedError, or the [PendingKind] of a PendingError.
type Reason string

// The reasons besides.
const (
	InvalidArguments Reason = "invalid_arguments" // Retry
	UnknownTool      Reason = "unknown_tool"      // Retry
	NoResult         Reason = "timeout"           // Retry: it is safe to call again
	ToolRetry        Reason = "tool_retry"        // Retry: the tool says so
	ToolError        Reason = "tool_error"        // Fatal: an error that is none of this package's
	Panicked         Reason = "panic"             // Fatal
	Canceled         Reason = "canceled"          // Fatal: the caller's context ended
)

// An Outcome is how one call ended.
type Outcome struct {
	Call
	Kind    Kind
	Reason  Reason        // more exactly; empty for OK and Held
	Result  *Result       // OK
	Message string        // Retry, Failed, Fatal: for the model
	Err     error         // for the host: the error behind Retry, Failed, Pending and Fatal
	Elapsed time.Duration // from the start of the call to its outcome
}

// Call runs one batch of calls, those that a model asked for in one response,
// and returns their outcomes in the same order. Calls run in parallel, at most
// 16 at once; a sequential tool waits for those before it and runs alone.
//
// The error is for the host: ids that are empty or there twice (nothing ran), a
// run that has ended, an outcome of kind Fatal, or a [RetryBudgetError]: these two
// end the run, and the outcomes are returned with them.
func (r *Run) Call(ctx context.Context, calls ...Call) ([]Outcome, error) {
	if err := checkIDs(calls); err != nil {
		return nil, err
	}
	l, err := r.current(ctx)
	if err != nil {
		return nil, err
	}
	b := newBatch(r.options, l, calls)
	b.run(ctx)
	if err := r.settle(b.outcomes); err != nil || r.options.errorsEndCall {
		return b.outcomes, err
	}
	return b.outcomes, r.end(r.spend(b))
}

func checkIDs(calls []Call) error {
	if len(calls) == 1 && calls[0].ID != "" {
		return nil
	}
	seen := make(map[string]bool, len(calls))
	for i, c := range calls {
		if c.ID == "" {
			return fmt.Errorf("call %d of the batch (%s) has no ID", i+1, c.Name)
		}
		if seen[c.ID] {
			return fmt.Errorf("two calls of the batch have the ID %q", c.ID)
		}
		seen[c.ID] = true
	}
	return nil
}

// current returns the list that calls resolve against. A run without a step
// makes one, and so does one whose registry was closed since.
func (r *Run) current(ctx context.Context) (*listing, error) {
	r.mu.Lock()
	l, ended := r.listed, r.ended
	r.mu.Unlock()
	switch {
	case ended != nil:
		return nil, ended
	case l != nil && l.opening == r.registry.opened.current():
		return l, nil
	default:
		return r.step(ctx)
	}
}

// settle ends the run if an outcome is fatal.
func (r *Run) settle(outcomes []Outcome) error {
	if r.options.errorsEndCall {
		return nil
	}
	for i := range outcomes {
		if o := &outcomes[i]; o.Kind == Fatal {
			return r.end(fmt.Errorf("tool %s: %w", o.Name, o.Err))
		}
	}
	return nil
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

// barriers splits a batch into groups that run one after the other: a
// sequential call is a group of its own.
func barriers(tools []Tool) [][]int {
	var groups [][]int
	open := false
	for i, t := range tools {
		alone := t != nil && t.Definition().Sequential
		if alone || !open {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], i)
		open = !alone
	}
	return slices.Clip(groups)
}

// Definition returns the definition of a tool of the current step.
func (r *Run) Definition(ctx context.Context, name string) (*Definition, bool) {
	l, err := r.current(ctx)
	if err != nil {
		return nil, false
	}
	t, ok := l.find(name)
	if !ok {
		return nil, false
	}
	return t.Definition(), true
}
