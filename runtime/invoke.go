package runtime

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolgen/toolgen/runtime/schema"
)

var errNilResult = errors.New("the tool returned neither a result nor an error")

// context makes the context of a call of the batch, with its deadline.
func (b *batch) context(parent context.Context, i int, now time.Time) *callContext {
	c := b.describe(parent, i)
	timeout := b.run.options.timeout
	if def := b.entries[i].def; def.Timeout > 0 {
		timeout = def.Timeout
	}
	c.deadline = now.Add(timeout)
	if d, ok := parent.Deadline(); ok && d.Before(c.deadline) {
		c.deadline = d
	}
	return c
}

// describe makes a context that knows the call and has no deadline of its own.
func (b *batch) describe(parent context.Context, i int) *callContext {
	o, e := &b.outcomes[i], b.entries[i]
	c := &callContext{parent: parent, run: b.run, masker: b.masker, args: b.asked[i], ordinal: b.ordinals[i]}
	c.info = CallInfo{ID: o.ID, Tool: o.Name, Attempt: o.Attempt, RunID: b.run.options.id, Step: b.step}
	c.info.LastAttempt = !b.run.options.noBudgets && o.Attempt > b.run.retriesOf(o.Name, e.def)
	if d := b.decision(i); d != nil {
		c.info.Approved, c.info.Overridden = d.Verdict == Approve, d.Args != nil
	}
	return c
}

// invoke takes one call to its outcome, in an order that no wrapper changes:
// observers, approval, deadline and tool, mask, bound, observers.
func (b *batch) invoke(ctx context.Context, i int) {
	o, e := &b.outcomes[i], b.entries[i]
	b.started[i] = true
	start := time.Now()
	observed := e.observed(ctx)
	if observed {
		ctx = beforeAll(b.describe(ctx, i), e.observers, o.Call) //nolint:contextcheck // it is derived from ctx
	}
	b.answer(ctx, i, start)
	b.quoteNothing(ctx, i)
	b.maskError(i)
	o.Elapsed = time.Since(start)
	if o.Kind == Pending {
		b.started[i] = false // it costs nothing until it runs
	}
	if !observed {
		return
	}
	for _, observer := range slices.Backward(e.observers) {
		after(ctx, observer, *o)
	}
}

// answer fills in the outcome of a call.
func (b *batch) answer(parent context.Context, i int, begin time.Time) {
	o, e := &b.outcomes[i], b.entries[i]
	defer func() { // an error's own Is, As, Unwrap or Error may panic, and a masker
		if v := recover(); v != nil {
			fail(o, Panicked, &PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	if b.run.journal != nil {
		known, err := b.recall(parent, i)
		if err != nil {
			b.classify(o, err)
		}
		if known || err != nil {
			return
		}
		defer func() {
			if err := b.record(parent, i); err != nil {
				fail(o, ToolError, err)
			}
		}()
	}
	if e.def.Approval != Never {
		if err := b.approve(parent, i); err != nil {
			b.classify(o, err)
			return
		}
		begin = time.Now() // a person has taken the time before
	}
	if err := b.begin(parent, i); err != nil {
		b.classify(o, err)
		return
	}
	c := b.context(parent, i, begin)
	defer c.end(context.Canceled)
	r := b.run.workers.await(c, job{ctx: c, tool: e.tool, args: o.Args})
	switch {
	case r.err != nil && errors.Is(parent.Err(), context.Canceled):
		fail(o, Canceled, fmt.Errorf("%w (%w)", context.Cause(parent), r.err))
	case r.err != nil:
		b.classify(o, r.err)
		if o.Kind == Fatal && o.Reason == ToolError && c.Err() != nil {
			b.classify(o, timedOut(e.def, c.deadline.Sub(begin), r.err)) // whatever a tool makes of the end of its context
		}
	case r.result == nil:
		fail(o, ToolError, errNilResult)
	default:
		b.bring(c, i, r.result) //nolint:contextcheck // it is derived from parent
	}
}

// seconds writes a timeout as people say it: 60s, 0.25s.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Round(time.Millisecond).Seconds(), 'g', -1, 64) + "s"
}

func timedOut(def *Definition, timeout time.Duration, cause error) error {
	if def.Hints.safeToRepeat() {
		e := Retryf("tool %s: no result within %s; it is safe to call again", def.Name, seconds(timeout))
		e.Cause = cause
		return e
	}
	return &FailedError{
		Code:    TimedOut,
		Message: fmt.Sprintf("tool %s: no result within %s; it may have run: check before calling it again", def.Name, seconds(timeout)),
		Cause:   cause,
	}
}

// bring masks and bounds a result, which then is the call's outcome.
func (b *batch) bring(ctx context.Context, i int, r *Result) {
	o, def := &b.outcomes[i], b.entries[i].def
	limit := b.run.options.maxResult
	if def.MaxResult > 0 {
		limit = def.MaxResult
	}
	masked, err := b.masker.Result(r)
	if err != nil {
		fail(o, ToolError, fmt.Errorf("the result can't be masked, and is withheld: %w", err))
		return
	}
	bounded, err := b.spilled(ctx, i, masked, limit)
	if err == nil && bounded == nil {
		bounded, err = bound(def.Name, masked, limit)
	}
	if err != nil {
		b.classify(o, err)
		return
	}
	if d := b.decision(i); d != nil && d.Args != nil {
		bounded = withNote(bounded, "[a reviewer changed the arguments to "+clip(string(b.masker.shown(d.Args)), maxMessage)+"]")
	}
	o.Kind, o.Result = OK, bounded
}

// spillHead is how much of a result that is kept elsewhere is shown.
const spillHead = 4 << 10

// spilled has a result kept elsewhere that is too large, and returns what is shown of
// it; nil: it isn't, or can't.
func (b *batch) spilled(ctx context.Context, i int, r *Result, limit int) (*Result, error) {
	if r.size() <= limit {
		return nil, nil //nolint:nilnil // see above
	}
	if text, ok := r.mirrored(); ok && max(len(text), len(r.Structured)) <= limit {
		return nil, nil //nolint:nilnil // see above
	}
	s, ok := AsTool[Spiller](b.entries[i].tool)
	if !ok {
		return nil, nil //nolint:nilnil // see above
	}
	text := r.text()
	handle, howTo, err := s.Spill(ctx, text)
	if err != nil {
		return nil, err
	}
	c := *r
	c.Structured, c.Truncated, c.TruncatedBy, c.TotalBytes, c.Handle = nil, true, LimitResultBytes, len(text), handle
	c.Hint = fmt.Sprintf("%d of %d bytes are shown; handle %s: %s", min(spillHead, len(text)), len(text), handle, howTo)
	c.Blocks = []Block{{Kind: Text, Text: clip(text, spillHead) + "\n[" + c.Hint + "]"}}
	for _, block := range r.Blocks {
		if block.Text == "" { // media has a bound of its own
			c.Blocks = append(c.Blocks, block)
		}
	}
	return bound(b.entries[i].def.Name, &c, max(limit, spillHead+leastResult))
}

// withNote ends a result with a line of text.
func withNote(r *Result, note string) *Result {
	c := *r
	if len(r.Blocks) == 0 && r.Structured != nil {
		c.Blocks = []Block{{Kind: Text, Text: string(compact(r.Structured))}}
	}
	c.Blocks = append(slices.Clip(c.Blocks), Block{Kind: Text, Text: note})
	return &c
}

// classify fills in the outcome of a call that returned an error.
func (b *batch) classify(out *Outcome, err error) {
	var (
		retry   *RetryError
		failed  *FailedError
		pending *PendingError
		panicky *PanicError
	)
	out.Err = err
	switch {
	case errors.As(err, &retry) && retry != nil: // a nil pointer in an error says nothing
		out.Kind, out.Reason, out.Message = Retry, retryReason(retry), b.message(retry.Message)
	case errors.As(err, &failed) && failed != nil:
		out.Kind, out.Reason, out.Message = Failed, Reason(b.masker.Mask(string(failed.Code))), b.message(failed.Message)
		if failed.Code == "" {
			out.Reason = Reason(ToolFailed)
		}
	case errors.As(err, &pending) && pending != nil:
		out.Kind, out.Reason = Pending, Reason(pending.Kind)
	case errors.As(err, &panicky) && panicky != nil:
		fail(out, Panicked, err)
	default:
		fail(out, ToolError, err)
	}
}

// maskError takes secrets out of what the host is told of an outcome, too: it logs that.
func (b *batch) maskError(i int) { b.outcomes[i].Err = b.masker.Error(b.outcomes[i].Err) }

// quoteNothing words the message about bad arguments anew where they have a secret.
func (b *batch) quoteNothing(ctx context.Context, i int) {
	o := &b.outcomes[i]
	defer func() {
		if recover() != nil { // a masker's own
			o.Message = unacceptable(o.Name)
		}
	}()
	if retry, ok := errors.AsType[*RetryError](o.Err); ok && retry != nil && o.Kind == Retry && b.masker.secrets != nil {
		if o.Message = b.problems(ctx, i, retry); o.Message != b.message(retry.Message) {
			o.Err = &maskedError{o.Message, o.Err}
		}
	}
}

// problems is the message of what is wrong with a call's arguments. It quotes the
// beginnings of values, of which half a secret would not be found: where there is a
// secret among them, the tool is asked about arguments without.
func (b *batch) problems(ctx context.Context, i int, retry *RetryError) string {
	args := b.outcomes[i].Args
	masked, err := b.masker.MaskJSON(args)
	if len(retry.Issues) == 0 || err == nil && string(masked) == string(args) {
		return b.message(retry.Message)
	}
	if err == nil {
		if again, ok := errors.AsType[*RetryError](b.validate(ctx, i, masked)); ok && again != nil {
			return b.message(again.Message)
		}
	}
	parts := []string{unacceptable(b.outcomes[i].Name)}
	for _, issue := range retry.Issues {
		if issue.Want != "" {
			parts = append(parts, "want "+issue.Want)
		}
	}
	return b.message(strings.Join(parts, "; "))
}

func unacceptable(tool string) string { return "tool " + tool + ": the arguments are not acceptable" }

// message masks and bounds what a model reads of an error.
func (b *batch) message(text string) string { return clip(b.masker.Mask(text), maxMessage) }

func retryReason(e *RetryError) Reason {
	switch {
	case len(e.Issues) > 0:
		return InvalidArguments
	case errors.Is(e.Cause, context.DeadlineExceeded):
		return NoResult
	default:
		return ToolRetry
	}
}

// fail makes an outcome fatal. The model sees a reference, by which the host
// finds the error in its log, and nothing of the error itself.
func fail(out *Outcome, reason Reason, err error) {
	ref := make([]byte, 4)
	_, _ = rand.Read(ref) // never fails, says crypto/rand
	out.Kind, out.Reason, out.Err, out.Result = Fatal, reason, err, nil
	out.Message = fmt.Sprintf("tool %s failed (ref %s)", out.Name, hex.EncodeToString(ref))
}

// compact is JSON without white space; as it is, where it is none.
func compact(raw json.RawMessage) json.RawMessage {
	if out, err := schema.Compact(raw); err == nil {
		return out
	}
	return raw
}
