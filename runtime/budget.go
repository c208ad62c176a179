package runtime

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Exhaustion is what becomes of a run in which a model has used up a tool's
// corrections.
type Exhaustion uint8

// The values of Exhaustion.
const (
	EndRun  Exhaustion = iota // Call returns a [RetryBudgetError], and the run has ended
	Disable                   // the tool leaves the list, its calls fail, and the run goes on
)

// Usage is what a run has used so far.
type Usage struct {
	Calls       int            `json:"calls"`             // that ran
	ByTool      map[string]int `json:"by_tool,omitempty"` // the same, by tool
	ResultBytes int            `json:"result_bytes"`      // of text and structured results
	Elapsed     time.Duration  `json:"elapsed"`           // since the run began, in nanoseconds
}

// Usage returns what the run has used so far.
func (r *Run) Usage() Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent.usage(r.began)
}

// A BudgetError ends a run that goes on calling after its budget was spent and
// the model was told.
type BudgetError struct {
	Spent string // what is used up
}

// Error says what is used up.
func (e *BudgetError) Error() string { return "the run's budget is spent: " + e.Spent }

// A RetryBudgetError ends a run in which a model has used up a tool's corrections.
type RetryBudgetError struct {
	Tool string // "": names of tools that there are not
	Last error  // the last correction
}

// Error names the tool.
func (e *RetryBudgetError) Error() string {
	if e.Tool == "" {
		return "the model has no correction left for unknown tools: " + e.Last.Error()
	}
	return "tool " + e.Tool + ": the model has no correction left: " + e.Last.Error()
}

// Unwrap returns the last correction.
func (e *RetryBudgetError) Unwrap() error { return e.Last }

// ledger is what a run has spent. Its run's mutex guards it.
type ledger struct {
	calls       int
	byTool      map[string]int
	resultBytes int
	told        bool           // the model knows that nothing is left
	corrections map[string]int // in a row, by tool; "": names of tools that there are not
	disabled    map[string]bool
}

func (l *ledger) usage(began time.Time) Usage {
	return Usage{Calls: l.calls, ByTool: maps.Clone(l.byTool), ResultBytes: l.resultBytes, Elapsed: time.Since(began)}
}

// reserve takes the calls of a batch off the budgets: all of them or, where they
// don't fit, none, and then every call fails with the same words. It returns an
// error when the model was told before that nothing is left.
func (r *Run) reserve(b *batch) error {
	if r.options.noBudgets {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	words, nothingLeft := r.refusal(b)
	if words == "" {
		r.spent.count(b, 1)
		return nil
	}
	for i := range b.outcomes {
		if b.outcomes[i].Kind == "" {
			b.classify(&b.outcomes[i], &FailedError{Code: OverBudget, Message: "not run: " + words})
		}
	}
	if nothingLeft && r.spent.told {
		return &BudgetError{Spent: words}
	}
	r.spent.told = r.spent.told || nothingLeft
	return nil
}

// refusal says why the calls of a batch that would run can't, and whether none
// could; "": they can.
func (r *Run) refusal(b *batch) (words string, nothingLeft bool) {
	o, l := &r.options, &r.spent
	n := b.waiting()
	switch left := o.maxCalls - l.calls; {
	case n == 0:
		return "", false
	case len(b.outcomes) > o.maxBatch:
		return fmt.Sprintf("%d calls in this batch, at most %d are taken at once", len(b.outcomes), o.maxBatch), false
	case n > left:
		return fmt.Sprintf("%d calls in this batch, %d left in this run", n, left), left == 0
	case l.resultBytes >= o.maxResults:
		return fmt.Sprintf("the results of this run have %d bytes, the limit is %d", l.resultBytes, o.maxResults), true
	case o.maxElapsed > 0 && time.Since(r.began) >= o.maxElapsed:
		return fmt.Sprintf("this run has taken %s, the limit is %s", seconds(time.Since(r.began)), seconds(o.maxElapsed)), true
	}
	if len(o.maxCallsOf) == 0 {
		return "", false
	}
	for _, tool := range slices.Sorted(maps.Keys(o.maxCallsOf)) {
		if n, left := b.waitingFor(tool), o.maxCallsOf[tool]-l.byTool[tool]; n > left {
			return fmt.Sprintf("%d calls of tool %s in this batch, %d left in this run", n, tool, left), false
		}
	}
	return "", false
}

// count adds the calls of a batch that would run, or, with -1, gives those back
// that didn't.
func (l *ledger) count(b *batch, sign int) {
	for i := range b.outcomes {
		o := &b.outcomes[i]
		if sign > 0 && o.Kind != "" || sign < 0 && (!b.reserved[i] || b.started[i]) {
			continue
		}
		if sign > 0 {
			b.reserved[i] = true
		}
		l.calls += sign
		if l.byTool == nil {
			l.byTool = make(map[string]int)
		}
		l.byTool[o.Name] += sign
	}
}

// settle books what a batch has used, and returns the error that ends the run, if
// there is one.
func (r *Run) settle(b *batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.options.noBudgets {
		r.spent.count(b, -1)
	}
	for i := range b.outcomes {
		if res := b.outcomes[i].Result; res != nil {
			r.spent.resultBytes += res.size()
		}
	}
	var errs []error
	if !r.options.errorsEndCall {
		for i := range b.outcomes {
			if o := &b.outcomes[i]; o.Kind == Fatal {
				errs = append(errs, fmt.Errorf("tool %s: %w", o.Name, o.Err))
				break
			}
		}
	}
	if !r.options.noBudgets {
		errs = append(errs, r.corrected(b)...)
	}
	return errors.Join(errs...)
}

// corrected counts the corrections of a batch, at most one a tool: a success
// refills the budget. It returns the budgets that are overdrawn.
func (r *Run) corrected(b *batch) []error {
	var verdict map[string]*Outcome // the first correction, or a success, of each tool
	for i := range b.outcomes {
		o := &b.outcomes[i]
		if o.Kind != OK && o.Kind != Retry || o.Kind == OK && r.spent.corrections == nil && verdict == nil {
			continue
		}
		name := o.Name
		if b.entries[i] == nil {
			name = ""
		}
		if verdict == nil {
			verdict = make(map[string]*Outcome)
		}
		if before := verdict[name]; before == nil || o.Kind == OK {
			verdict[name] = o
		}
	}
	var errs []error
	for name, o := range verdict {
		if err := r.correct(name, o, b); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func (r *Run) correct(name string, o *Outcome, b *batch) error {
	l := &r.spent
	if o.Kind == OK {
		delete(l.corrections, name)
		return nil
	}
	l.corrections = with(l.corrections, name, l.corrections[name]+1)
	if l.corrections[name] <= r.retriesOf(name, b.definition(name)) {
		return nil
	}
	if r.options.exhausted == Disable && name != "" {
		if l.disabled == nil {
			l.disabled = make(map[string]bool)
		}
		l.disabled[name] = true
		return nil
	}
	return &RetryBudgetError{Tool: name, Last: o.Err}
}

// retriesOf is how many corrections in a row a model has: by the run's option
// for the tool, its definition, the run's option for all.
func (r *Run) retriesOf(name string, def *Definition) int {
	if n, ok := r.options.retriesOf[name]; ok {
		return n
	}
	switch {
	case def == nil || def.Retries == 0:
		return r.options.retries
	default:
		return max(def.Retries, 0)
	}
}
