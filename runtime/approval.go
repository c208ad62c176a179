package runtime

import (
	"context"
	"encoding/json"
	"errors"
)

// Policy is implemented by a tool whose definition says [Ask]: it decides which
// calls a person must approve, and tells that person why; an empty reason says
// nothing.
type Policy interface {
	NeedsApproval(ctx context.Context, args json.RawMessage) (reason string, needed bool)
}

// approve returns a PendingError for a call that waits for a person. No person
// is asked about arguments that are wrong: those are the model's to mend.
func approve(ctx context.Context, t Tool, call Call) error {
	def := t.Definition()
	if def.Approval == Never {
		return nil
	}
	if v, ok := AsTool[Validator](t); ok {
		if err := v.Validate(ctx, call.Args); err != nil {
			return err
		}
	}
	reason, needed := "", true
	if p, ok := AsTool[Policy](t); ok && def.Approval == Ask {
		reason, needed = p.NeedsApproval(ctx, call.Args)
	}
	if !needed {
		return nil
	}
	if reason == "" {
		reason = "calls of tool " + def.Name + " need approval"
	}
	return &PendingError{Kind: PendingApproval, Reason: reason}
}

// RetryBudgetError ends a run in which a model has used up a tool's corrections.
type RetryBudgetError struct {
	Tool string
	Last error // the last correction
}

// Error names the tool.
func (e *RetryBudgetError) Error() string {
	return "tool " + e.Tool + ": the model has no correction left: " + e.Last.Error()
}

// Unwrap returns the last correction.
func (e *RetryBudgetError) Unwrap() error { return e.Last }

// spend counts the corrections of a batch, at most one a tool: a success refills
// the budget. It returns an error when one is overdrawn.
func (r *Run) spend(b *batch) error {
	verdict := make(map[string]bool) // by tool: a success
	last := make(map[string]error)
	for i := range b.outcomes {
		o, t := &b.outcomes[i], b.tools[i]
		if t == nil || t.Definition().Retries == 0 || o.Kind != OK && o.Kind != Retry {
			continue
		}
		verdict[o.Name] = verdict[o.Name] || o.Kind == OK
		if o.Kind == Retry {
			last[o.Name] = o.Err
		}
	}
	if len(verdict) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for i := range b.outcomes {
		name := b.outcomes[i].Name
		ok, counts := verdict[name]
		if !counts {
			continue
		}
		delete(verdict, name)
		if r.corrections == nil {
			r.corrections = make(map[string]int)
		}
		if ok {
			delete(r.corrections, name)
			continue
		}
		r.corrections[name]++
		if r.corrections[name] > max(b.tools[i].Definition().Retries, 0) {
			errs = append(errs, &RetryBudgetError{Tool: name, Last: last[name]})
		}
	}
	return errors.Join(errs...)
}
