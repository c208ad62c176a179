package sqltool

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolgen/toolgen/runtime"
)

// maxTold is how many bytes a model is told of a problem.
const maxTold = 2 << 10

// told is a problem as a model is told it: below the RetryError or FailedError, for
// check_query, which returns it.
type told struct {
	class   Class
	message string
	cause   error
}

func (t *told) Error() string { return t.message }
func (t *told) Unwrap() error { return t.cause }

// words are what is said of each class of problems that a model can do something about,
// after the engine's own words.
var words = map[Class]string{
	UnknownTable:    "list_tables shows what there is",
	UnknownColumn:   "get_schema shows the columns",
	TooBig:          "ask for fewer or shorter columns",
	Conflict:        "nothing was changed; send it again",
	UnknownFunction: "use another",
}

// problem makes the error of a call of what an engine says, or a guard.
func (t *Toolset) problem(name string, p Problem, cause error) error {
	message := p.Message
	switch p.Class {
	case ConnectionLost:
		if errors.Is(cause, context.Canceled) {
			return cause
		}
		return &ConnectionError{Connection: t.id, MayHaveRun: p.MayHaveRun, Err: cause}
	case "":
		return cause
	case Permission:
		return &runtime.FailedError{Message: name + ": the database denies it to this login; repeating is no use", Cause: &told{p.Class, "the database denies it to this login", cause}}
	case TimedOut:
		message = fmt.Sprintf("stopped after %s: filter on an indexed column, aggregate or add LIMIT", t.options.Timeout)
	case UnknownTable:
		if message == "" {
			message = fmt.Sprintf("there is no table %s that may be used", p.Name)
		}
	}
	if more := words[p.Class]; more != "" {
		if message != "" {
			message += ": "
		}
		message += more
	}
	if len(message) > maxTold {
		message = message[:maxTold] + "…"
	}
	e := runtime.Retryf("%s: %s", name, message)
	e.Cause = &told{p.Class, message, cause}
	return e
}
