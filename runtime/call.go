package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// A Call is one call of a tool, as a model asked for it.
type Call struct {
	ID   string          `json:"id"` // unique in its batch
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
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
	NotLoaded        Reason = "not_loaded"        // Retry: the tool is to be found by search first
	NoResult         Reason = "timeout"           // Retry: it is safe to call again
	ToolRetry        Reason = "tool_retry"        // Retry: the tool says so
	ToolError        Reason = "tool_error"        // Fatal: an error that is none of this package's
	Panicked         Reason = "panic"             // Fatal
	Canceled         Reason = "canceled"          // Fatal: the caller's context ended
)

// An Outcome is how one call ended.
type Outcome struct {
	Call

	Kind     Kind          `json:"kind"`
	Reason   Reason        `json:"reason,omitempty"`   // more exactly; empty for OK and Held
	Result   *Result       `json:"result,omitempty"`   // OK
	Message  string        `json:"message,omitempty"`  // Retry, Failed, Fatal: for the model
	Err      error         `json:"-"`                  // for the host: the error behind Retry, Failed, Pending and Fatal
	Attempt  int           `json:"attempt,omitempty"`  // from 1: one more than the corrections in a row before it
	Elapsed  time.Duration `json:"elapsed,omitempty"`  // from the start of the call to its outcome
	Replayed bool          `json:"replayed,omitempty"` // it ran before, and its outcome was kept
}

// CallInfo is what a tool can know about the call that it serves.
type CallInfo struct {
	ID          string // as the model or the adapter gave it
	Tool        string
	Attempt     int    // from 1: one more than the corrections in a row before it
	LastAttempt bool   // a correction more, and the run ends
	RunID       string // of the run
	Step        int    // of the run, from 1

	// IdempotencyKey is the same for the same call of the same run, however often
	// it is made again: 32 hexadecimal characters. Two equal calls have different
	// ones.
	IdempotencyKey string

	Approved   bool // by a person
	Overridden bool // with arguments that the person changed
}

type callKey struct{}

// CallFrom returns the call that ctx belongs to, and false outside of one.
func CallFrom(ctx context.Context) (CallInfo, bool) {
	c, ok := ctx.Value(callKey{}).(*callContext)
	if !ok {
		return CallInfo{}, false
	}
	info := c.info
	info.IdempotencyKey = idempotencyKey(info.RunID, info.Tool, c.args, c.ordinal)
	if name, ok := ctx.Value(nameKey{}).(string); ok {
		info.Tool = name
	}
	return info, true
}

type nameKey struct{}

// CallAs returns a context in which [CallFrom] has another name of the tool: that
// by which a wrapper's inner tool knows itself.
func CallAs(ctx context.Context, tool string) context.Context {
	return context.WithValue(ctx, nameKey{}, tool)
}

func idempotencyKey(run, tool string, args json.RawMessage, ordinal int) string {
	h := sha256.New()
	for _, part := range []string{run, tool, strconv.Itoa(ordinal)} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	h.Write(args)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

type callerKey struct{}

// A CallerInfo is on whose behalf calls are made.
type CallerInfo struct {
	ID     string   // "": nobody knows
	Scopes []string // what they may do, as whoever authenticated them says
}

// WithCaller returns a context for [Run.Call] by which tools know on whose
// behalf they are called. An adapter sets it once it has authenticated somebody.
func WithCaller(ctx context.Context, c CallerInfo) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// Caller returns on whose behalf a tool is called; the zero value where nobody
// was authenticated.
func Caller(ctx context.Context) CallerInfo {
	c, _ := ctx.Value(callerKey{}).(CallerInfo)
	return c
}

type progressKey struct{}

// WithProgress returns a context for [Run.Call] whose tools' progress is given to
// report, from any goroutine.
func WithProgress(ctx context.Context, report func(call CallInfo, done, total float64, text string)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress tells how far a call is: done of total, 0 where that isn't known, and
// what is being done. Where nobody listens it does nothing.
func Progress(ctx context.Context, done, total float64, text string) {
	report, ok := ctx.Value(progressKey{}).(func(CallInfo, float64, float64, string))
	if !ok || report == nil {
		return
	}
	if call, ok := CallFrom(ctx); ok {
		report(call, done, total, clip(MaskerFrom(ctx).Mask(text), maxMessage))
	}
}

func checkIDs(calls []Call) error {
	if len(calls) == 1 && calls[0].ID != "" {
		return nil
	}
	if len(calls) == 0 {
		return errors.New("the batch has no call")
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
