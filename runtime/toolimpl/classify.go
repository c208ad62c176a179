package toolimpl

import (
	"errors"

	"github.com/toolgen/toolgen/runtime"
)

// Classify returns a hook's error as what its author declared it to be: a
// [runtime.RetryError] if it is one of retry, a [runtime.FailedError] if it is
// one of failed. The model sees its text then. Any other error is returned as
// it is, and the model sees nothing of it.
func Classify(err error, retry, failed []error) error {
	for _, target := range retry {
		if errors.Is(err, target) {
			return &runtime.RetryError{Message: err.Error(), Cause: err}
		}
	}
	for _, target := range failed {
		if errors.Is(err, target) {
			return &runtime.FailedError{Message: err.Error(), Cause: err}
		}
	}
	return err
}
