package runtime

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"
)

// grace is how long a call may go on after its deadline or cancellation before
// it is abandoned: the outcome is reported and a late result dropped.
const grace = 5 * time.Second

var errNilResult = errors.New("the tool returned neither a result nor an error")

type reply struct {
	result *Result
	err    error
}

// CallInfo is what a tool can know about the call that it serves.
type CallInfo struct {
	ID   string // as the model or the adapter gave it
	Tool string
}

type callKey struct{}

// CallFrom returns the call that ctx belongs to, and false outside of one.
func CallFrom(ctx context.Context) (CallInfo, bool) {
	info, ok := ctx.Value(callKey{}).(CallInfo)
	return info, ok
}

// invoke calls one tool and fills in its outcome. The tool has a goroutine of
// its own, so that one which ignores its context, or ends its goroutine, hurts
// nobody but itself.
func invoke(parent context.Context, o options, t Tool, out *Outcome) {
	def := t.Definition()
	start := time.Now()
	defer func() { out.Elapsed = time.Since(start) }()

	timeout := o.timeout
	if def.Timeout > 0 {
		timeout = def.Timeout
	}
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	if d, ok := ctx.Deadline(); ok {
		timeout = d.Sub(start) // the parent's, if that is earlier
	}
	ctx = context.WithValue(ctx, callKey{}, CallInfo{ID: out.ID, Tool: out.Name})

	var r reply
	if t.Definition().Approval != Never {
		r.err = guardedApproval(ctx, t, out.Call)
	}
	if r.err == nil {
		r = await(ctx, t, out.Call)
	}
	defer func() { // an error's own Is, As, Unwrap or Error may panic
		if v := recover(); v != nil {
			fail(out, Panicked, &PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	switch {
	case r.err != nil && errors.Is(parent.Err(), context.Canceled):
		fail(out, Canceled, fmt.Errorf("%w (%w)", context.Cause(parent), r.err))
	case r.err != nil:
		classify(out, r.err)
		if out.Kind == Fatal && out.Reason == ToolError && ctx.Err() != nil {
			classify(out, timedOut(def, timeout, r.err)) // whatever a tool makes of the end of its context
		}
	case r.result == nil:
		fail(out, ToolError, errNilResult)
	default:
		finish(out, def, o, r.result)
	}
}

// guardedApproval is approve, come a panic in the tool's own code.
func guardedApproval(ctx context.Context, t Tool, call Call) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return approve(ctx, t, call)
}

// await runs the call and waits for it, at the longest for the grace after the
// end of its context.
func await(ctx context.Context, t Tool, call Call) reply {
	done := make(chan reply, 1) // buffered: an abandoned call must not block for ever
	go guarded(ctx, t, call, done)
	select {
	case r := <-done:
		return r
	case <-ctx.Done():
	}
	abandon := time.NewTimer(grace)
	defer abandon.Stop()
	select {
	case r := <-done:
		return r
	case <-abandon.C:
		return reply{err: fmt.Errorf("abandoned: the tool did not return within %s of the end of its context: %w", grace, ctx.Err())}
	}
}

// guarded calls the tool and sends exactly one reply, come a panic or Goexit.
func guarded(ctx context.Context, t Tool, call Call, done chan<- reply) {
	var r reply
	returned := false
	defer func() {
		if !returned {
			r = reply{err: &PanicError{Value: recover(), Stack: debug.Stack()}}
		}
		done <- r
	}()
	r.result, r.err = t.Call(ctx, call.Args)
	returned = true
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

// finish bounds a result.
func finish(out *Outcome, def *Definition, o options, r *Result) {
	limit := o.maxResult
	if def.MaxResult > 0 {
		limit = def.MaxResult
	}
	bounded, err := bound(def.Name, r, limit)
	if err != nil {
		classify(out, err)
		return
	}
	out.Kind, out.Result = OK, bounded
}

// classify fills in the outcome of a call that returned an error.
func classify(out *Outcome, err error) {
	var (
		retry   *RetryError
		failed  *FailedError
		pending *PendingError
		panicky *PanicError
	)
	out.Err = err
	switch {
	case errors.As(err, &retry) && retry != nil: // a nil pointer in an error says nothing
		out.Kind, out.Reason, out.Message = Retry, retryReason(retry), clip(retry.Message, maxMessage)
	case errors.As(err, &failed) && failed != nil:
		out.Kind, out.Reason, out.Message = Failed, Reason(failed.Code), clip(failed.Message, maxMessage)
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
	out.Kind, out.Reason, out.Err = Fatal, reason, err
	out.Message = fmt.Sprintf("tool %s failed (ref %s)", out.Name, hex.EncodeToString(ref))
}
