package toolimpl

import (
	"errors"

	"github.com/toolgen/toolgen/runtime"
)

// A Match reports whether an error is one that a hook's author named.
type Match func(error) bool

// Is matches an error variable.
func Is(target error) Match { return func(err error) bool { return errors.Is(err, target) } }

// As matches an error type. It is a [Match].
func As[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// Classify returns a hook's error as what its author declared it to be: a
// [runtime.RetryError] if it is one of retry, a [runtime.FailedError] if it is
// one of failed. The model sees its text then. Any other error is returned as
// it is, and the model sees nothing of it.
func Classify(err error, retry, failed []Match) error {
	for _, matches := range retry {
		if matches(err) {
			return &runtime.RetryError{Message: err.Error(), Cause: err}
		}
	}
	for _, matches := range failed {
		if matches(err) {
			return &runtime.FailedError{Message: err.Error(), Cause: err}
		}
	}
	return err
}
