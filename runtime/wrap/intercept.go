package wrap

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/toolgen/toolgen/runtime"
)

// A Next calls what an interceptor stands before: the next one, or the tool.
type Next func(ctx context.Context, args json.RawMessage) (*runtime.Result, error)

// An Interceptor stands around calls. It may look at the arguments and change them,
// call next or not, and return another result or error.
type Interceptor func(ctx context.Context, t runtime.Tool, args json.RawMessage, next Next) (*runtime.Result, error)

// Intercept puts interceptors around all calls, the first outermost.
func Intercept(ts runtime.Toolset, interceptors ...Interceptor) runtime.Toolset {
	interceptors = slices.Clone(interceptors)
	return Each(ts, func(t runtime.Tool) (runtime.Tool, error) {
		call := Next(t.Call)
		for _, i := range slices.Backward(interceptors) {
			inner := call
			call = func(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
				return i(ctx, t, args, inner)
			}
		}
		return &intercepted{t, call}, nil
	})
}

// intercepted is a tool with another call.
type intercepted struct {
	runtime.Tool

	call Next
}

// Call implements [runtime.Tool].
func (t *intercepted) Call(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
	return t.call(ctx, args)
}

// Unwrap implements [runtime.ToolWrapper].
func (t *intercepted) Unwrap() runtime.Tool { return t.Tool }

// Each replaces every tool: what most wrappers are made of. The replacement has the
// tool in it and says so by Unwrap. An error of replace is one of Tools.
func Each(ts runtime.Toolset, replace func(t runtime.Tool) (runtime.Tool, error)) runtime.Toolset {
	return &wrapped{inner: ts, change: func(_ context.Context, tools []runtime.Tool) ([]runtime.Tool, error) {
		out := make([]runtime.Tool, len(tools))
		for i, t := range tools {
			var err error
			if out[i], err = replace(t); err != nil {
				return nil, err
			}
		}
		return out, nil
	}}
}
