// Package limit has wrappers that spare what is behind tools: how many calls at once,
// how many in a time, none while it is down, and again where that is safe.
package limit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sony/gobreaker/v2"
	"golang.org/x/time/rate"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/wrap"
)

// Concurrency has at most n calls of all tools run at once; the others wait, under
// their deadline.
func Concurrency(ts runtime.Toolset, n int) runtime.Toolset {
	slots := make(chan struct{}, max(n, 0))
	return around(ts, func(runtime.Tool) (wrap.Interceptor, error) {
		if n < 1 {
			return nil, fmt.Errorf("concurrency: %d is no number of calls: filter the tools out instead", n)
		}
		return func(ctx context.Context, _ runtime.Tool, args json.RawMessage, next wrap.Next) (*runtime.Result, error) {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			defer func() { <-slots }()
			return next(ctx, args)
		}, nil
	})
}

// around makes an interceptor for each tool.
func around(ts runtime.Toolset, interceptor func(t runtime.Tool) (wrap.Interceptor, error)) runtime.Toolset {
	return wrap.Each(ts, func(t runtime.Tool) (runtime.Tool, error) {
		i, err := interceptor(t)
		if err != nil {
			return nil, err
		}
		return &limited{t, i}, nil
	})
}

type limited struct {
	runtime.Tool

	intercept wrap.Interceptor
}

// Call implements [runtime.Tool].
func (l *limited) Call(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
	return l.intercept(ctx, l.Tool, args, l.Tool.Call)
}

// Unwrap implements [runtime.ToolWrapper].
func (l *limited) Unwrap() runtime.Tool { return l.Tool }

// patience is how long a call waits for its turn.
const patience = 5 * time.Second

// Rate has at most n calls of all tools begin in a time. A call waits up to five
// seconds for its turn; one that would wait longer fails and says when to try again.
func Rate(ts runtime.Toolset, n int, per time.Duration) runtime.Toolset {
	var limiter *rate.Limiter
	if n > 0 && per > 0 {
		limiter = rate.NewLimiter(rate.Limit(float64(n)/per.Seconds()), n)
	}
	return around(ts, func(runtime.Tool) (wrap.Interceptor, error) {
		if limiter == nil {
			return nil, fmt.Errorf("rate: %d calls in %s is no rate", n, per)
		}
		return func(ctx context.Context, _ runtime.Tool, args json.RawMessage, next wrap.Next) (*runtime.Result, error) {
			turn := limiter.Reserve()
			wait := turn.Delay()
			if wait > patience {
				turn.Cancel()
				return nil, runtime.Failedf("limited to %d calls %s; try again in %ds", n, perWords(per), int(wait.Seconds()+1))
			}
			timer := time.NewTimer(wait)
			defer timer.Stop()
			select {
			case <-timer.C:
				return next(ctx, args)
			case <-ctx.Done():
				turn.Cancel()
				return nil, ctx.Err()
			}
		}, nil
	})
}

func perWords(d time.Duration) string {
	switch d {
	case time.Second:
		return "a second"
	case time.Minute:
		return "a minute"
	case time.Hour:
		return "an hour"
	}
	return "in " + d.String()
}

// When a breaker opens, and for how long.
const (
	failuresInARow = 5
	openFor        = 30 * time.Second
)

// Breaker has calls of a tool fail at once while what is behind it is down: after five
// errors in a row that are none of the model's, for 30 seconds, then with one trial.
func Breaker(ts runtime.Toolset) runtime.Toolset {
	return around(ts, func(t runtime.Tool) (wrap.Interceptor, error) {
		name := t.Definition().Name
		breaker := gobreaker.NewCircuitBreaker[*runtime.Result](gobreaker.Settings{
			Name: name, MaxRequests: 1, Timeout: openFor,
			ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failuresInARow },
			IsSuccessful: func(err error) bool { return !isDown(err) },
		})
		return func(ctx context.Context, _ runtime.Tool, args json.RawMessage, next wrap.Next) (*runtime.Result, error) {
			r, err := breaker.Execute(func() (*runtime.Result, error) { return next(ctx, args) })
			if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
				return nil, &runtime.FailedError{Code: runtime.Unavailable, Message: "tool " + name + " is unavailable; try again in " + strconv.Itoa(int(openFor.Seconds())) + "s", Cause: err}
			}
			return r, err
		}, nil
	})
}

// isDown reports an error that tells of what is behind the tool, not of the call.
func isDown(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	if _, retry := errors.AsType[*runtime.RetryError](err); retry {
		return false
	}
	if _, pending := errors.AsType[*runtime.PendingError](err); pending {
		return false
	}
	if failed, ok := errors.AsType[*runtime.FailedError](err); ok {
		return failed.Code == runtime.Unavailable || isTransient(failed.Cause)
	}
	return true
}

// isTransient reports an error that says so by itself.
func isTransient(err error) bool {
	var temporary interface{ Temporary() bool }
	var after interface{ RetryAfter() time.Duration }
	return errors.As(err, &temporary) && temporary.Temporary() || errors.As(err, &after)
}

// tries is how often a call is made, the first time counted.
const tries = 4

// Backoff makes a call again, up to three times and each time later, whose error says
// that it is transient: by a method Temporary() bool, or RetryAfter() time.Duration,
// which is heeded. It is for tools that are read-only or idempotent; any other is an
// error of Tools, since it could do twice what was asked once.
func Backoff(ts runtime.Toolset) runtime.Toolset {
	return around(ts, func(t runtime.Tool) (wrap.Interceptor, error) {
		if h := t.Definition().Hints; h.ReadOnly != runtime.Yes && h.Idempotent != runtime.Yes {
			return nil, fmt.Errorf("backoff: tool %s is neither read-only nor idempotent: filter it out, or hint it", t.Definition().Name)
		}
		return func(ctx context.Context, _ runtime.Tool, args json.RawMessage, next wrap.Next) (*runtime.Result, error) {
			return backoff.Retry(ctx, func() (*runtime.Result, error) {
				r, err := next(ctx, args)
				if err == nil || !isTransient(err) {
					return r, permanent(err)
				}
				var after interface{ RetryAfter() time.Duration }
				if errors.As(err, &after) {
					return nil, &waiting{error: err, backoff: &backoff.RetryAfterError{Duration: after.RetryAfter()}}
				}
				return nil, err
			}, backoff.WithMaxTries(tries))
		}, nil
	})
}

func permanent(err error) error {
	if err == nil {
		return nil
	}
	return backoff.Permanent(err)
}

// waiting is an error that says when to try again, in the words of the library.
type waiting struct {
	error

	backoff *backoff.RetryAfterError
}

// Unwrap returns both.
func (w *waiting) Unwrap() []error { return []error{w.error, w.backoff} }
