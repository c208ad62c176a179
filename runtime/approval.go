package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Policy is implemented by a tool whose definition says [Ask]: it decides which
// calls a person must approve, and tells that person why; an empty reason says
// nothing.
type Policy interface {
	NeedsApproval(ctx context.Context, args json.RawMessage) (reason string, needed bool)
}

// A PendingCall is a call that waits, as the person or program that decides about
// it gets it.
type PendingCall struct {
	CallID       string          `json:"call_id"`
	Tool         string          `json:"tool"`
	Args         json.RawMessage `json:"args,omitempty"` // as the model sent them; masked in [Run.Pending] and for an [ApproveFunc]
	ArgsSHA256   string          `json:"args_sha256"`    // of the canonical arguments, not masked
	SchemaSHA256 string          `json:"schema_sha256"`
	Kind         PendingKind     `json:"kind,omitempty"` // "": approval
	Reason       string          `json:"reason,omitempty"`
	Expires      time.Time       `json:"expires,omitzero"` // zero: never

	Ordinal int `json:"ordinal,omitempty"` // among equal calls of the run
	Again   int `json:"again,omitempty"`   // how often it was decided before that the call, which may have run, runs
}

// A Verdict is what was decided about a call that waits.
type Verdict string

// The verdicts.
const (
	Approve   Verdict = "approve"    // it runs
	Deny      Verdict = "deny"       // it fails, and the model is told
	UseResult Verdict = "use_result" // Result is what it brought, where it ran elsewhere
)

// A Decision is bound to one call, its arguments and the tool's schemas: who
// changes one of them has decided about something else. It works once.
type Decision struct {
	CallID       string          `json:"call_id"`
	ArgsSHA256   string          `json:"args_sha256"`
	SchemaSHA256 string          `json:"schema_sha256"`
	Verdict      Verdict         `json:"verdict"`
	Args         json.RawMessage `json:"args,omitempty"`    // Approve: in the place of the model's, and checked like those
	Message      string          `json:"message,omitempty"` // Deny: for the model
	Result       *Result         `json:"result,omitempty"`  // UseResult
	By           string          `json:"by,omitempty"`      // who decided
	At           time.Time       `json:"at,omitzero"`
}

// Decide returns a decision about the call, with nothing but a verdict.
func (p *PendingCall) Decide(v Verdict) Decision {
	return Decision{CallID: p.CallID, ArgsSHA256: p.ArgsSHA256, SchemaSHA256: p.SchemaSHA256, Verdict: v, At: time.Now()}
}

// An ApproveFunc asks a person while the run waits. Its error leaves the call
// pending.
type ApproveFunc func(ctx context.Context, p PendingCall) (Decision, error)

// Approver has calls that need approval decided in place: the run waits, without
// a deadline but the caller's. Without it such calls are pending, and decided by
// [Registry.Resume].
func Approver(f ApproveFunc) Option { return func(o *options) { o.approver = f } }

// ApproveWithin sets after how long a call that waits for approval has failed. The
// default is never. A tool's own [PendingError] may say less.
func ApproveWithin(d time.Duration) Option { return func(o *options) { o.approveFor = d } }

// A StaleApprovalError says that a decision is not about what would run. Nothing
// ran, and the call still waits.
type StaleApprovalError struct {
	CallID string
	Why    string
}

// Error says what differs.
func (e *StaleApprovalError) Error() string {
	return "the decision about call " + e.CallID + " is stale: " + e.Why
}

// asks returns a PendingError for a call that waits for a person.
func (b *batch) asks(ctx context.Context, i int) error {
	e, o := b.entries[i], &b.outcomes[i]
	if e.def.Approval == Never || b.decision(i) != nil {
		return nil
	}
	reason, needed := "", true
	if p, ok := AsTool[Policy](e.tool); ok && e.def.Approval == Ask {
		c := b.context(ctx, i, time.Now())
		r := b.run.workers.await(c, job{ctx: c, args: o.Args, do: func(ctx context.Context, args json.RawMessage) (*Result, error) {
			reason, needed = p.NeedsApproval(ctx, args)
			return nil, nil //nolint:nilnil // the answer is in the variables
		}})
		c.end(context.Canceled)
		if r.err != nil {
			return r.err
		}
	}
	if !needed {
		return nil
	}
	if reason == "" {
		reason = "calls of tool " + e.def.Name + " need approval"
	}
	return &PendingError{Kind: PendingApproval, Reason: reason}
}

// approve settles whether a call may run: nil, an error that is its outcome, or a
// PendingError.
func (b *batch) approve(ctx context.Context, i int) error {
	err := b.asks(ctx, i)
	pending, waits := errors.AsType[*PendingError](err)
	if !waits || pending == nil {
		return err
	}
	if within := b.run.options.approveFor; within > 0 && pending.Expires.IsZero() {
		pending.Expires = time.Now().Add(within)
	}
	ask := b.run.options.approver
	if ask == nil {
		return err
	}
	p := b.pendingCall(i, pending)
	shown := p
	shown.Args = b.masker.shown(p.Args)
	d, asked := ask(ctx, shown)
	if asked != nil {
		return err // nobody decided
	}
	if err := matches(&d, &p, b.entries[i]); err != nil {
		return err
	}
	err = b.decide(ctx, i, &d)
	if err == nil {
		_, err = b.remember(ctx, i, &d, &p)
	}
	return err
}

// decide applies a decision to a call: nil lets it run.
func (b *batch) decide(ctx context.Context, i int, d *Decision) error {
	o := &b.outcomes[i]
	switch d.Verdict {
	case Approve:
		if d.Args != nil {
			if err := b.validate(ctx, i, d.Args); err != nil {
				return &PendingError{Kind: PendingApproval, Reason: "the arguments that the reviewer gave are not acceptable: " + err.Error()}
			}
			o.Args = d.Args
		}
		b.setDecision(i, d)
		return nil
	case Deny:
		message := "a reviewer declined this call"
		if d.Message != "" {
			message += ": " + d.Message
		}
		b.setDecision(i, d)
		return &FailedError{Code: Denied, Message: message}
	default:
		return &PendingError{Kind: PendingApproval, Reason: fmt.Sprintf("verdict %q is neither %s nor %s", d.Verdict, Approve, Deny)}
	}
}

// matches checks that a decision is about a pending call, and that about what
// would run now.
func matches(d *Decision, p *PendingCall, e *entry) error {
	stale := func(why string) error { return &StaleApprovalError{CallID: d.CallID, Why: why} }
	switch {
	case d.CallID != p.CallID:
		return stale("it is about another call than " + p.CallID)
	case d.ArgsSHA256 != p.ArgsSHA256:
		return stale("the arguments are others")
	case d.SchemaSHA256 != p.SchemaSHA256:
		return stale("the tool's schemas are others")
	case e == nil:
		return stale("there is no tool " + p.Tool + " any more")
	case e.def.SchemaHash != p.SchemaSHA256:
		return stale("the tool's schemas have changed since")
	}
	return nil
}
