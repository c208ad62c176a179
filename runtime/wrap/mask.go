package wrap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/schema"
)

// A MaskRule takes out what a pattern finds in the strings of results, or what is at
// a path of a structured result; exactly one is set.
type MaskRule struct {
	Pattern *regexp.Regexp // in texts, and in strings of the structured result
	Path    string         // names with dots between, * for each element: customers.*.email
}

// Mask takes out what rules find in results, and patterns in what a model reads of
// errors, on top of the secrets that a run masks anyway. A rule that is wrong is an
// error of Tools. A result that can't be masked is withheld.
func Mask(ts runtime.Toolset, rules ...MaskRule) runtime.Toolset {
	var patterns patternSecrets
	var paths [][]string
	for _, r := range rules {
		if r.Pattern != nil {
			patterns = append(patterns, r.Pattern)
		} else {
			paths = append(paths, strings.Split(r.Path, "."))
		}
	}
	masker := runtime.NewMasker(patterns)
	return Each(ts, func(t runtime.Tool) (runtime.Tool, error) {
		for i, r := range rules {
			if (r.Pattern == nil) == (r.Path == "") {
				return nil, fmt.Errorf("mask: rule %d needs a pattern or a path", i+1)
			}
		}
		return &intercepted{t, func(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
			r, err := t.Call(ctx, args)
			if err != nil || r == nil {
				return r, maskMessage(masker, err)
			}
			return maskResult(r, masker, paths)
		}}, nil
	})
}

// patternSecrets finds what patterns match.
type patternSecrets []*regexp.Regexp

// FindSecrets implements [runtime.Secrets].
func (p patternSecrets) FindSecrets(text string) (spans []runtime.Span) {
	for _, pattern := range p {
		for _, at := range pattern.FindAllStringIndex(text, -1) {
			spans = append(spans, runtime.Span{Start: at[0], End: at[1]})
		}
	}
	return spans
}

// maskMessage masks the message of an error that a model reads.
func maskMessage(m runtime.Masker, err error) error {
	if retry, ok := errors.AsType[*runtime.RetryError](err); ok && retry != nil {
		c := *retry
		c.Message = m.Mask(c.Message)
		return &c
	}
	if failed, ok := errors.AsType[*runtime.FailedError](err); ok && failed != nil {
		c := *failed
		c.Message = m.Mask(c.Message)
		return &c
	}
	return m.Error(err)
}

func maskResult(r *runtime.Result, m runtime.Masker, paths [][]string) (*runtime.Result, error) {
	masked, err := m.Result(r)
	if err == nil && masked.Structured != nil && len(paths) > 0 {
		c := *masked
		c.Structured, err = maskPaths(c.Structured, paths)
		masked = &c
	}
	if err != nil {
		return nil, fmt.Errorf("mask: the result is withheld: %w", err)
	}
	return masked, nil
}

// maskPaths takes out what is at paths, all of which begin at this value.
func maskPaths(raw json.RawMessage, paths [][]string) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(paths) == 0 || len(raw) == 0:
		return raw, nil
	case slices.ContainsFunc(paths, func(p []string) bool { return len(p) == 0 }):
		return json.RawMessage(`"` + runtime.Redacted + `"`), nil
	case raw[0] != '{' && raw[0] != '[':
		return raw, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	out := []byte{raw[0]}
	for first := true; dec.More(); first = false {
		if !first {
			out = append(out, ',')
		}
		key := ""
		if raw[0] == '{' {
			token, err := dec.Token()
			if err != nil {
				return nil, err
			}
			key, _ = token.(string)
			out = append(schema.AppendString(out, key), ':')
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		value, err := maskPaths(value, below(paths, key, raw[0] == '['))
		if err != nil {
			return nil, err
		}
		out = append(out, value...)
	}
	return append(out, raw[len(raw)-1]), nil
}

// below returns the rests of the paths that go through a member of an object, or an
// element of an array.
func below(paths [][]string, key string, element bool) (rests [][]string) {
	for _, p := range paths {
		if p[0] == "*" || !element && p[0] == key {
			rests = append(rests, p[1:])
		}
	}
	return rests
}
