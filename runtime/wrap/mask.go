package wrap

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/toolgen/toolgen/runtime"
)

// A MaskRule takes out what a pattern finds in the strings of results, or what is at
// a path of a structured result; exactly one is set.
type MaskRule struct {
	Pattern *regexp.Regexp // in texts, and in strings of the structured result
	Path    string         // names with dots between, * for each element: customers.*.email
}

// masked stands in the place of what is taken out.
const masked = "[redacted]"

// Mask takes out what rules find in results, on top of the secrets that a run masks
// anyway. A rule that is wrong is an error of Tools. A result that can't be masked
// is withheld.
func Mask(ts runtime.Toolset, rules ...MaskRule) runtime.Toolset {
	return Each(ts, func(t runtime.Tool) (runtime.Tool, error) {
		for i, r := range rules {
			if (r.Pattern == nil) == (r.Path == "") {
				return nil, fmt.Errorf("mask: rule %d needs a pattern or a path", i+1)
			}
		}
		return &intercepted{t, func(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
			r, err := t.Call(ctx, args)
			if err != nil || r == nil {
				return r, err
			}
			return maskResult(r, rules)
		}}, nil
	})
}

func maskResult(r *runtime.Result, rules []MaskRule) (*runtime.Result, error) {
	c := *r
	c.Blocks = make([]runtime.Block, len(r.Blocks))
	for i, b := range r.Blocks {
		b.Text, b.URI, b.Name = maskText(b.Text, rules), maskText(b.URI, rules), maskText(b.Name, rules)
		c.Blocks[i] = b
	}
	if r.Structured == nil {
		return &c, nil
	}
	dec := json.NewDecoder(strings.NewReader(string(r.Structured)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("mask: the result is withheld: %w", err)
	}
	v = maskValue(v, rules)
	for _, rule := range rules {
		if rule.Path != "" {
			v = maskPath(v, strings.Split(rule.Path, "."))
		}
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("mask: the result is withheld: %w", err)
	}
	c.Structured = json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
	return &c, nil
}

func maskText(text string, rules []MaskRule) string {
	for _, r := range rules {
		if r.Pattern != nil && text != "" {
			text = r.Pattern.ReplaceAllLiteralString(text, masked)
		}
	}
	return text
}

// maskValue masks strings wherever they are, those of keys too.
func maskValue(v any, rules []MaskRule) any {
	switch v := v.(type) {
	case string:
		return maskText(v, rules)
	case []any:
		for i := range v {
			v[i] = maskValue(v[i], rules)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[maskText(key, rules)] = maskValue(value, rules)
		}
		return out
	}
	return v
}

func maskPath(v any, path []string) any {
	if len(path) == 0 {
		return masked
	}
	switch v := v.(type) {
	case []any:
		if path[0] == "*" {
			for i := range v {
				v[i] = maskPath(v[i], path[1:])
			}
		}
	case map[string]any:
		for key := range v {
			if path[0] == "*" || path[0] == key {
				v[key] = maskPath(v[key], path[1:])
			}
		}
	}
	return v
}
