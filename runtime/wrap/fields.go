package wrap

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/toolgen/toolgen/runtime"
)

// combined is several toolsets as one.
type combined []runtime.Toolset

// Combine makes one toolset of several, in order. Names that two of them share are
// the registry's to refuse.
func Combine(toolsets ...runtime.Toolset) runtime.Toolset { return combined(toolsets) }

// Tools implements [runtime.Toolset].
func (c combined) Tools(ctx context.Context) ([]runtime.Tool, error) {
	var out []runtime.Tool
	for i, ts := range c {
		if ts == nil {
			return nil, fmt.Errorf("combine: toolset %d is nil: leave it out", i+1)
		}
		tools, err := ts.Tools(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, tools...)
	}
	return out, nil
}

// Unwrap implements [runtime.ToolsetWrapper].
func (c combined) Unwrap() []runtime.Toolset { return c }

// Meta adds to what a host knows of all tools and a model doesn't see. What a tool
// has under a key is replaced.
func Meta(ts runtime.Toolset, meta map[string]string) runtime.Toolset {
	meta = maps.Clone(meta)
	return redefine(ts, func(def *runtime.Definition) error {
		all := maps.Clone(def.Meta)
		if all == nil {
			all = make(map[string]string, len(meta))
		}
		maps.Copy(all, meta)
		def.Meta = all
		return nil
	})
}

// Describe gives tools other descriptions, by their names. A name that no tool has
// is an error of Tools.
func Describe(ts runtime.Toolset, descriptions map[string]string) runtime.Toolset {
	descriptions = maps.Clone(descriptions)
	return &wrapped{inner: ts, change: func(_ context.Context, tools []runtime.Tool) ([]runtime.Tool, error) {
		out := make([]runtime.Tool, len(tools))
		left := maps.Clone(descriptions)
		for i, t := range tools {
			out[i] = t
			if text, ok := descriptions[t.Definition().Name]; ok {
				def := *t.Definition()
				def.Description = text
				out[i] = &tool{t, &def}
				delete(left, def.Name)
			}
		}
		for name := range left {
			return nil, fmt.Errorf("describe: there is no tool %s%s", name, nearest(name, tools))
		}
		return out, nil
	}}
}

// Timeout sets the deadline of all calls; d must be positive.
func Timeout(ts runtime.Toolset, d time.Duration) runtime.Toolset {
	return redefine(ts, func(def *runtime.Definition) error {
		if d <= 0 {
			return fmt.Errorf("timeout: %s is not positive", d)
		}
		def.Timeout = d
		return nil
	})
}

// Sequential has all tools run alone in their batch.
func Sequential(ts runtime.Toolset) runtime.Toolset {
	return redefine(ts, func(def *runtime.Definition) error {
		def.Sequential = true
		return nil
	})
}

// Retries sets how many corrections in a row a model has of each tool; 0 is none.
func Retries(ts runtime.Toolset, n int) runtime.Toolset {
	return redefine(ts, func(def *runtime.Definition) error {
		if n < 0 {
			return fmt.Errorf("retries: %d is negative", n)
		}
		if def.Retries = n; n == 0 {
			def.Retries = -1
		}
		return nil
	})
}

// Defer keeps all tools out of the first list that a model gets, for [Search] to
// find.
func Defer(ts runtime.Toolset) runtime.Toolset {
	return redefine(ts, func(def *runtime.Definition) error {
		def.Defer = true
		return nil
	})
}

// Truncate sets the bound of all results in bytes, at least 1024.
func Truncate(ts runtime.Toolset, maxResult int) runtime.Toolset {
	return redefine(ts, func(def *runtime.Definition) error {
		if maxResult < 1024 {
			return fmt.Errorf("truncate: %d bytes leave no room for a mark: give it 1024", maxResult)
		}
		def.MaxResult = maxResult
		return nil
	})
}
