package wrap

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/schema"
)

// SearchTool is the name of the tool that [Search] adds.
const SearchTool = "search_tools"

// How many tools a search finds.
const (
	searchDefault = 5
	searchMost    = 20
)

// Search keeps tools whose definition says Defer out of the list and adds one that
// finds them: a model with hundreds of tools is shown those that it asks for. What is
// found joins the list from the next step on, after the others, in the order in
// which it was found. A call of a tool that is kept back says how to find it. Without
// such tools nothing changes.
func Search(ts runtime.Toolset) runtime.Toolset { return &searching{inner: ts} }

type searching struct{ inner runtime.Toolset }

// found is what a run has found.
type found struct {
	mu    sync.Mutex
	names []string
	last  []runtime.Tool // the list of the last step
}

// RunScoped implements [runtime.RunScoped].
func (*searching) RunScoped() {}

// Unwrap implements [runtime.ToolsetWrapper].
func (s *searching) Unwrap() []runtime.Toolset { return []runtime.Toolset{s.inner} }

func (s *searching) state(ctx context.Context) (*found, error) {
	return runtime.PerRun(ctx, s, func(context.Context) (*found, error) { return &found{}, nil })
}

// Tools implements [runtime.Toolset].
func (s *searching) Tools(ctx context.Context) ([]runtime.Tool, error) {
	tools, err := s.inner.Tools(ctx)
	if err != nil {
		return nil, err
	}
	state, err := s.state(ctx)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	var out []runtime.Tool
	deferred := make(map[string]runtime.Tool)
	for _, t := range tools {
		if def := t.Definition(); def.Defer {
			deferred[def.Name] = t
		} else {
			out = append(out, t)
		}
	}
	if len(deferred) == 0 {
		return tools, nil
	}
	out = append(out, s.tool())
	for _, name := range state.names {
		if t := deferred[name]; t != nil {
			out = append(out, t)
		}
	}
	if slices.Equal(out, state.last) {
		return state.last, nil
	}
	state.last = out
	return out, nil
}

// Unloaded implements [runtime.Unloading].
func (s *searching) Unloaded(ctx context.Context) (names []string, search string) {
	state, err := s.state(ctx)
	if err != nil {
		return nil, SearchTool
	}
	tools, err := s.inner.Tools(ctx)
	if err != nil {
		return nil, SearchTool
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	for _, t := range tools {
		if def := t.Definition(); def.Defer && !slices.Contains(state.names, def.Name) {
			names = append(names, def.Name)
		}
	}
	return names, SearchTool
}

func (s *searching) tool() runtime.Tool { return searchTool{s} }

// searchTool finds tools.
type searchTool struct{ searching *searching }

var searchDefinition = &runtime.Definition{
	Name:        SearchTool,
	Description: "Finds tools that are not in the list yet, by words of what they do. Those that are found can be called from the next step on.",
	Input: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"words of what the tool is to do","minLength":1},` +
		`"limit":{"type":"integer","description":"how many at most","minimum":1,"maximum":20,"default":5}},"required":["query"],"additionalProperties":false}`),
	Output: json.RawMessage(`{"type":"object","properties":{"tools":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},` +
		`"description":{"type":"string"}},"required":["name","description"]}},"total":{"type":"integer","description":"how many fit"}},"required":["tools","total"]}`),
	Hints: runtime.Hints{ReadOnly: runtime.Yes, OpenWorld: runtime.No, Idempotent: runtime.Yes},
}

// Definition implements [runtime.Tool].
func (searchTool) Definition() *runtime.Definition { return searchDefinition }

// hit is a tool that fits.
type hit struct {
	Name        string `json:"name"`
	Description string `json:"description"`

	score int
}

// Validate implements [runtime.Validator].
func (searchTool) Validate(_ context.Context, args json.RawMessage) error {
	_, _, err := searchArgs(args)
	return err
}

// Call implements [runtime.Tool].
func (t searchTool) Call(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
	query, limit, err := searchArgs(args)
	if err != nil {
		return nil, err
	}
	tools, err := t.searching.inner.Tools(ctx)
	if err != nil {
		return nil, err
	}
	state, err := t.searching.state(ctx)
	if err != nil {
		return nil, err
	}
	hits := search(tools, query)
	shown := hits[:min(limit, len(hits))]
	state.mu.Lock()
	for _, h := range shown {
		if !slices.Contains(state.names, h.Name) {
			state.names = append(state.names, h.Name)
		}
	}
	state.mu.Unlock()
	out, err := json.Marshal(struct {
		Tools []hit `json:"tools"`
		Total int   `json:"total"`
	}{append([]hit{}, shown...), len(hits)})
	if err != nil {
		return nil, err
	}
	return &runtime.Result{Structured: out}, nil
}

func searchArgs(args json.RawMessage) (query string, limit int, err error) {
	in := struct {
		Query string `json:"query"`
		Limit *int   `json:"limit"`
	}{}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return "", 0, runtime.Retryf("%s: want an object with query, and limit if need be: %s", SearchTool, err)
	}
	limit = searchDefault
	if in.Limit != nil {
		limit = *in.Limit
	}
	switch {
	case strings.TrimSpace(in.Query) == "":
		return "", 0, runtime.Retryf("%s: /query: want words of what the tool is to do", SearchTool)
	case limit < 1 || limit > searchMost:
		return "", 0, runtime.Retryf("%s: /limit: want 1 to %d, got %d", SearchTool, searchMost, limit)
	}
	return in.Query, limit, nil
}

// search scores the tools that are kept back: a word of the query in the name
// counts three, in the title two, in the description or the name of an argument
// one.
func search(tools []runtime.Tool, query string) []hit {
	wanted := words(query)
	var hits []hit
	for _, t := range tools {
		def := t.Definition()
		if !def.Defer {
			continue
		}
		name, title, prose := words(def.Name), words(def.Title), append(words(def.Description), arguments(def)...)
		score := 0
		for _, w := range wanted {
			for _, in := range []struct {
				words  []string
				weight int
			}{{name, 3}, {title, 2}, {prose, 1}} {
				if slices.Contains(in.words, w) {
					score += in.weight
				}
			}
		}
		if score > 0 {
			hits = append(hits, hit{def.Name, def.Description, score})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(b.score-a.score, strings.Compare(a.Name, b.Name)) })
	return hits
}

// words are those of a text, in lower case, each once, without the plural.
func words(text string) []string {
	out := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range out {
		if len(w) > 3 {
			out[i] = strings.TrimSuffix(w, "s")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// arguments are the words in the names of a tool's arguments.
func arguments(def *runtime.Definition) []string {
	var in struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if canonical, err := schema.Compact(def.Input); err != nil || json.Unmarshal(canonical, &in) != nil {
		return nil
	}
	var out []string
	for name := range in.Properties {
		out = append(out, words(name)...)
	}
	return out
}
