package runtime

import (
	"fmt"
	"time"
)

// A RetryError says that the model can do better: its arguments were wrong, or
// the call should be made again. The model sees Message.
type RetryError struct {
	Message string  // what is wrong and what to do, in words a model can act on; at most 8 KiB are shown
	Issues  []Issue // the same, one problem each, for programs; may be nil
	Cause   error   // for the host only; may be nil
}

// Error returns the message.
func (e *RetryError) Error() string {
	if e == nil {
		return "a nil *RetryError"
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *RetryError) Unwrap() error {
	if e == nil { // a tool that returns a nil *RetryError as an error
		return nil
	}
	return e.Cause
}

// Retryf returns a RetryError with a formatted message.
func Retryf(format string, args ...any) *RetryError {
	return &RetryError{Message: fmt.Sprintf(format, args...)}
}

// An Issue is one thing wrong with the arguments of a call.
type Issue struct {
	Pointer string    `json:"pointer"`        // JSON Pointer (RFC 6901) to the value; "" is the whole
	Code    IssueCode `json:"code"`           // what kind of problem
	Want    string    `json:"want,omitempty"` // what is acceptable
	Got     string    `json:"got,omitempty"`  // what was sent, at most 40 characters; never a secret
}

// An IssueCode is the kind of an [Issue].
type IssueCode string

// The kinds of problems with arguments.
const (
	IssueSyntax     IssueCode = "syntax"     // not JSON
	IssueMissing    IssueCode = "missing"    // a required property is absent
	IssueUnknown    IssueCode = "unknown"    // a property that the schema doesn't have
	IssueDuplicate  IssueCode = "duplicate"  // a property sent twice
	IssueType       IssueCode = "type"       // another kind of value
	IssueNull       IssueCode = "null"       // null where a value is needed
	IssueRange      IssueCode = "range"      // a number out of its range
	IssueLength     IssueCode = "length"     // too short or too long
	IssuePattern    IssueCode = "pattern"    // a string that doesn't match
	IssueFormat     IssueCode = "format"     // a string that isn't a date, an address …
	IssueEnum       IssueCode = "enum"       // not one of the allowed values
	IssueDepth      IssueCode = "depth"      // nested too deeply
	IssueSize       IssueCode = "size"       // too large
	IssueUTF8       IssueCode = "utf8"       // not valid text
	IssueConstraint IssueCode = "constraint" // refused by the hook package's own type
)

// A FailedError says that the call failed for good, and that the run goes on.
// The model sees Message.
type FailedError struct {
	Message string
	Code    FailureCode // "": tool_failed
	Cause   error       // for the host only; may be nil
}

// Error returns the message.
func (e *FailedError) Error() string {
	if e == nil {
		return "a nil *FailedError"
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *FailedError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Cause
}

// Failedf returns a FailedError with a formatted message.
func Failedf(format string, args ...any) *FailedError {
	return &FailedError{Message: fmt.Sprintf(format, args...)}
}

// A FailureCode tells failures apart; it is the Reason of their [Outcome].
type FailureCode string

// The kinds of failures.
const (
	ToolFailed  FailureCode = "tool_failed" // the tool says so
	TimedOut    FailureCode = "timeout"     // no result within the deadline
	Unavailable FailureCode = "unavailable" // a system that the tool needs is down
	OverBudget  FailureCode = "budget"      // it did not run: the run has no more of something
	Denied      FailureCode = "denied"      // it did not run: a person said no
	Expired     FailureCode = "expired"     // it did not run: nobody decided in time
)

// A PendingError says that the call did not run and waits for somebody.
type PendingError struct {
	Kind    PendingKind
	Reason  string    // for the person who decides
	Expires time.Time // zero: never
}

// Error says what the call waits for.
func (e *PendingError) Error() string {
	return fmt.Sprintf("waiting (%s): %s", e.Kind, e.Reason)
}

// A PendingKind says for whom a pending call waits.
type PendingKind string

// The kinds of waiting.
const (
	PendingApproval PendingKind = "approval"        // a person must approve it
	PendingExternal PendingKind = "external"        // the host brings the result
	PendingUnknown  PendingKind = "unknown_outcome" // it may have run before a crash: a person must find out
)

// A PanicError is a panic, or a call of runtime.Goexit, in a tool.
type PanicError struct {
	Value any // what was passed to panic; nil for Goexit
	Stack []byte
}

// Error returns the text of the panic's value, without the stack.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return "the tool ended its goroutine"
	}
	return "panic: " + printed(e.Value)
}

// printed formats a panic's value; its own methods may panic in turn.
func printed(v any) (s string) {
	defer func() {
		if recover() != nil {
			s = fmt.Sprintf("a %T, which can't be printed", v)
		}
	}()
	return fmt.Sprint(v)
}
