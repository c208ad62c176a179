package runtime

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/toolgen/toolgen/runtime/schema"
)

// leastKey is how many bytes a key for states has at least: those of SHA-256.
const leastKey = 32

// StateKey signs states, and refuses those that were altered or not signed. A
// state that comes back from a client without it is no authorization: whoever
// holds it could have written it.
func StateKey(key []byte) Option { return func(o *options) { o.stateKey = bytes.Clone(key) } }

// stateVersion is that of the form of states.
const stateVersion = 1

// state is a run that waits, as it is kept.
type state struct {
	Version     int            `json:"version"`
	Run         string         `json:"run"`
	Step        int            `json:"step"`
	Order       []string       `json:"order"` // ids of the batch's calls
	Pending     []PendingCall  `json:"pending"`
	Held        []heldCall     `json:"held"`
	Done        []Outcome      `json:"done"`
	Usage       Usage          `json:"usage"`
	Corrections map[string]int `json:"corrections,omitempty"`
	Disabled    []string       `json:"disabled,omitempty"`
	Ordinals    map[uint64]int `json:"ordinals,omitempty"` // of equal calls, by hash
	MAC         string         `json:"mac,omitempty"`
}

// heldCall is a call that a barrier holds back.
type heldCall struct {
	Call

	Ordinal int `json:"ordinal,omitempty"`
}

// interruption is the batch of which calls wait.
type interruption struct {
	pending []PendingCall
	held    []heldCall
	done    []Outcome
	order   []string
}

// Pending returns the calls that wait, with arguments masked for whoever decides.
func (r *Run) Pending() []PendingCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waits == nil {
		return nil
	}
	out := slices.Clone(r.waits.pending)
	for i := range out {
		out[i].Args = r.listed.masker.shown(out[i].Args)
	}
	return out
}

// shown masks arguments for a person; none, where that fails.
func (m Masker) shown(args json.RawMessage) json.RawMessage {
	masked, err := m.MaskJSON(args)
	if err != nil {
		return json.RawMessage(`"withheld"`)
	}
	return masked
}

// State returns the run as JSON, from which [Registry.Resume] goes on, in this
// process or another: the calls that wait, what is done of their batch, and what
// was spent. It holds arguments and results as they are: keep it as you keep
// those.
func (r *Run) State() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waits == nil {
		return nil, errors.New("the run waits for nothing: there is no state to keep")
	}
	s := state{
		Version: stateVersion, Run: r.options.id, Step: r.steps, Order: r.waits.order, Pending: r.waits.pending, Held: r.waits.held, Done: r.waits.done,
		Usage: r.spent.usage(r.began), Corrections: r.spent.corrections, Disabled: slices.Sorted(maps.Keys(r.spent.disabled)), Ordinals: r.ordinals,
	}
	return s.encode(r.options.stateKey)
}

func (s *state) encode(key []byte) ([]byte, error) {
	s.MAC = ""
	if key != nil {
		plain, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		s.MAC = sign(plain, key)
	}
	return json.Marshal(s)
}

func sign(data, key []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

func parseState(data, key []byte) (*state, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var s state
	if err := dec.Decode(&s); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("state: version %d is not known", s.Version)
	}
	mac := s.MAC
	switch {
	case key == nil && mac != "":
		return nil, errors.New("state: it is signed: give StateKey")
	case key == nil:
		return &s, nil
	}
	s.MAC = ""
	plain, err := json.Marshal(&s)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal([]byte(mac), []byte(sign(plain, key))) {
		return nil, errors.New("state: its signature is not that of StateKey: it was altered, or not signed")
	}
	return &s, nil
}

// pendingCall describes a call that waits.
func (b *batch) pendingCall(i int, p *PendingError) PendingCall {
	o, kind := &b.outcomes[i], p.Kind
	if kind == PendingApproval {
		kind = ""
	}
	again := 0
	if kind == PendingUnknown {
		again = b.run.journal.count(b.callRecord(i) + approvedAgain)
	}
	return PendingCall{
		Again: again, CallID: o.ID, Tool: o.Name, Args: o.Args, ArgsSHA256: argsHash(o.Args), SchemaSHA256: b.entries[i].def.SchemaHash, Kind: kind,
		Reason: b.masker.Mask(p.Reason), Expires: p.Expires, Ordinal: b.ordinals[i],
	}
}

// argsHash is over canonical JSON, and over the bytes of what is none.
func argsHash(args json.RawMessage) string {
	canonical, err := schema.Canonical(args)
	if err != nil {
		canonical = args
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// interrupted keeps what waits of a batch.
func (r *Run) interrupted(b *batch) {
	if r.options.errorsEndCall || !b.anyPending() {
		return
	}
	var w interruption
	for i := range b.outcomes {
		o := &b.outcomes[i]
		w.order = append(w.order, o.ID)
		switch pending, _ := errors.AsType[*PendingError](o.Err); {
		case o.Kind == Pending && pending != nil:
			w.pending = append(w.pending, b.pendingCall(i, pending))
		case o.Kind == Held:
			w.held = append(w.held, heldCall{o.Call, b.ordinals[i]})
		default:
			w.done = append(w.done, *o)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits = &w
}

func (b *batch) anyPending() bool {
	for i := range b.outcomes {
		if b.outcomes[i].Kind == Pending {
			return true
		}
	}
	return false
}

// Resume goes on with a run that waited, after decisions about any of its calls.
// Those that were approved run, with those that they held back; the rest waits on.
// It returns the outcomes of the whole batch, in the order of its calls, those
// done before among them.
//
// A [StaleApprovalError], arguments of a reviewer that the tool doesn't take, and a
// state that can't be read are errors: nothing has run, and the state is as good
// as before. Other errors are those of [Run.Call].
func (r *Registry) Resume(ctx context.Context, data []byte, decisions []Decision, opts ...Option) (*Run, []Outcome, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, nil, err
	}
	s, err := parseState(data, o.stateKey)
	if err != nil {
		return nil, nil, err
	}
	o.id = s.Run
	run, err := newRun(ctx, r, o)
	if err != nil {
		return nil, nil, err
	}
	run.restore(s)
	l, err := run.step(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, run.Close())
	}
	run.steps = s.Step
	b, err := run.resumed(ctx, s, l, decisions)
	if err == nil && o.journal == nil { // which knows better
		err = r.consume(s.Run, decisions)
	}
	if err != nil {
		return nil, nil, errors.Join(err, run.Close())
	}
	outcomes, err := run.finish(ctx, b)
	return run, outcomes, err
}

func (r *Run) restore(s *state) {
	r.began = time.Now().Add(-s.Usage.Elapsed)
	r.ordinals = s.Ordinals
	r.spent = ledger{calls: s.Usage.Calls, byTool: s.Usage.ByTool, resultBytes: s.Usage.ResultBytes, corrections: s.Corrections}
	for _, name := range s.Disabled {
		if r.spent.disabled == nil {
			r.spent.disabled = make(map[string]bool)
		}
		r.spent.disabled[name] = true
	}
}

// resumed makes the batch anew, with what is known of its calls.
func (r *Run) resumed(ctx context.Context, s *state, l *listing, decisions []Decision) (*batch, error) {
	calls := make([]Call, len(s.Order))
	for i, id := range s.Order {
		calls[i].ID = id
		if j := slices.IndexFunc(s.Pending, func(p PendingCall) bool { return p.CallID == id }); j >= 0 {
			calls[i] = Call{id, s.Pending[j].Tool, s.Pending[j].Args}
		} else if j := slices.IndexFunc(s.Held, func(c heldCall) bool { return c.ID == id }); j >= 0 {
			calls[i] = s.Held[j].Call
		} else if j := slices.IndexFunc(s.Done, func(o Outcome) bool { return o.ID == id }); j >= 0 {
			calls[i] = s.Done[j].Call
		} else {
			return nil, fmt.Errorf("state: call %s is in its order and nowhere else", id)
		}
	}
	if err := checkIDs(calls); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	counted := maps.Clone(r.ordinals)
	b := r.newBatch(l, calls)
	r.ordinals = counted // the calls were counted when they were made
	for i := range b.outcomes {
		o := &b.outcomes[i]
		if j := slices.IndexFunc(s.Held, func(c heldCall) bool { return c.ID == o.ID }); j >= 0 {
			b.ordinals[i] = s.Held[j].Ordinal
		}
		if j := slices.IndexFunc(s.Done, func(done Outcome) bool { return done.ID == o.ID }); j >= 0 {
			*o = s.Done[j]
		}
	}
	var all []settled
	for i := range s.Pending {
		one, err := b.resumePending(ctx, &s.Pending[i], decisions)
		if err != nil {
			return nil, err
		}
		if one.by != nil {
			all = append(all, one)
		}
	}
	for _, d := range decisions {
		if !slices.ContainsFunc(s.Pending, func(p PendingCall) bool { return p.CallID == d.CallID }) {
			return nil, &StaleApprovalError{CallID: d.CallID, Why: "no such call waits"}
		}
	}
	for _, one := range all { // only now: if one of them can't be applied, none is used up
		if err := b.settleCall(ctx, one); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// settled is a call that waited and a decision that can be applied to it.
type settled struct {
	i   int
	of  *PendingCall
	by  *Decision // nil: it waits on
	end error     // the outcome, of one that was declined
}

// resumePending finds the decision about one call, if there is one, and checks it.
func (b *batch) resumePending(ctx context.Context, p *PendingCall, decisions []Decision) (settled, error) {
	i := slices.IndexFunc(b.outcomes, func(o Outcome) bool { return o.ID == p.CallID })
	if i < 0 {
		return settled{}, fmt.Errorf("state: call %s waits and is not in its order", p.CallID)
	}
	o := &b.outcomes[i]
	b.ordinals[i], b.asked[i] = p.Ordinal, p.Args
	j := slices.IndexFunc(decisions, func(d Decision) bool { return d.CallID == p.CallID })
	switch {
	case !p.Expires.IsZero() && !time.Now().Before(p.Expires):
		b.classify(o, &FailedError{Code: Expired, Message: "the approval of this call has expired: nobody decided in time"})
		return settled{}, nil
	case j < 0:
		o.Kind = "" // the tool may be gone: it waits all the same
		b.classify(o, &PendingError{Kind: cmp.Or(p.Kind, PendingApproval), Reason: p.Reason, Expires: p.Expires})
		return settled{}, nil
	case p.ArgsSHA256 != argsHash(p.Args):
		return settled{}, &StaleApprovalError{CallID: p.CallID, Why: "the arguments are not those that were hashed"}
	}
	d := &decisions[j]
	err := matches(d, p, b.entries[i])
	switch {
	case err != nil:
		return settled{}, err
	case d.Verdict == UseResult && d.Result == nil:
		return settled{}, fmt.Errorf("decision about call %s: %s needs a result", d.CallID, UseResult)
	case d.Verdict == UseResult:
		b.setDecision(i, d)
		return settled{i: i, of: p, by: d}, nil
	case p.Kind == PendingExternal && d.Verdict == Approve: // nothing here can run it
		return settled{}, fmt.Errorf("decision about call %s: it runs elsewhere: bring its result with %s, or %s", d.CallID, UseResult, Deny)
	}
	err = b.decide(ctx, i, d)
	if _, still := errors.AsType[*PendingError](err); still {
		return settled{}, fmt.Errorf("decision about call %s: %w", d.CallID, err)
	}
	return settled{i: i, of: p, by: d, end: err}, nil
}

// settleCall keeps a decision and gives the call the outcome that it has by it, or lets
// it run.
func (b *batch) settleCall(ctx context.Context, s settled) error {
	first, err := b.remember(ctx, s.i, s.by, s.of)
	switch {
	case err != nil:
		return err
	case s.by.Verdict == UseResult:
		b.bring(b.describe(ctx, s.i), s.i, s.by.Result) //nolint:contextcheck // it is derived from ctx
		return b.record(ctx, s.i)
	case s.end != nil:
		b.classify(&b.outcomes[s.i], s.end)
		return b.record(ctx, s.i)
	}
	// A tool that itself asked for approval has begun, and said that it did not run.
	b.again[s.i] = s.of.Kind == PendingUnknown || first
	return nil
}

// maxConsumed is how many decisions a registry remembers, so that none works
// twice in one process.
const maxConsumed = 10_000

// consume marks decisions as used. One that was used before is stale.
func (r *Registry) consume(run string, decisions []Decision) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := make([]string, len(decisions))
	for i, d := range decisions {
		keys[i] = run + "\x00" + d.CallID + "\x00" + d.ArgsSHA256
		if slices.Contains(r.consumed, keys[i]) {
			return &StaleApprovalError{CallID: d.CallID, Why: "the call was decided before"}
		}
	}
	r.consumed = append(r.consumed, keys...)
	if n := len(r.consumed) - maxConsumed; n > 0 {
		r.consumed = slices.Delete(r.consumed, 0, n)
	}
	return nil
}
