package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

const refPrefix = "#/$defs/"

// Assemble returns a schema that stands by itself, and the paths of those
// descriptions that have no place. A struct that is used once
// stands where it is used; one that is used more often, or that contains
// itself, goes under $defs. Descriptions of nested properties replace those of
// their fields; their names are paths with dots.
func (w *Walker) Assemble(root *jsonschema.Schema, dir Direction, descriptions map[string]string) (out *jsonschema.Schema, refused []string) {
	a := assembler{defs: w.defs[dir], uses: make(map[string]int), recursive: make(map[string]bool), kept: jsonschema.Definitions{}}
	a.count(root, nil)
	if name, ok := strings.CutPrefix(root.Ref, refPrefix); ok { // a root is an object, not a reference
		a.copy(root)
		out = describe(a.copy(a.defs[name]), root.Description)
	} else {
		out = a.copy(root)
	}
	for _, path := range slices.Sorted(maps.Keys(descriptions)) {
		if !a.describe(out, strings.Split(path, "."), descriptions[path]) {
			refused = append(refused, path)
		}
	}
	for name, s := range a.kept {
		out.Definitions = with(out.Definitions, name, s)
	}
	return out, refused
}

func with(defs jsonschema.Definitions, name string, s *jsonschema.Schema) jsonschema.Definitions {
	if defs == nil {
		defs = jsonschema.Definitions{}
	}
	defs[name] = s
	return defs
}

type assembler struct {
	defs      map[string]*jsonschema.Schema
	uses      map[string]int
	recursive map[string]bool
	kept      jsonschema.Definitions
}

// count counts how often each definition is used, and finds those that contain
// themselves.
func (a *assembler) count(s *jsonschema.Schema, within []string) {
	if name, ok := strings.CutPrefix(s.Ref, refPrefix); ok {
		if slices.Contains(within, name) {
			a.recursive[name] = true
			return
		}
		if a.uses[name]++; a.uses[name] > 1 {
			return
		}
		a.count(a.defs[name], append(within, name))
		return
	}
	for _, sub := range subschemas(s) {
		a.count(sub, within)
	}
}

func subschemas(s *jsonschema.Schema) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	if s.Items != nil {
		out = append(out, s.Items)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties != jsonschema.FalseSchema {
		out = append(out, s.AdditionalProperties)
	}
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			out = append(out, p.Value)
		}
	}
	return slices.Concat(out, s.AnyOf, s.OneOf, s.AllOf)
}

func (a *assembler) copies(list []*jsonschema.Schema) []*jsonschema.Schema {
	out := slices.Clone(list)
	for i := range out {
		out[i] = a.copy(out[i])
	}
	return out
}

// copy copies a schema with references resolved or kept.
func (a *assembler) copy(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil || s == jsonschema.FalseSchema {
		return s
	}
	if name, ok := strings.CutPrefix(s.Ref, refPrefix); ok {
		if a.uses[name] == 1 && !a.recursive[name] {
			return describe(a.copy(a.defs[name]), s.Description)
		}
		if _, done := a.kept[name]; !done {
			a.kept[name] = nil // breaks the cycle
			a.kept[name] = a.copy(a.defs[name])
		}
		c := *s
		return &c
	}
	c := *s
	c.Items = a.copy(s.Items)
	c.AnyOf, c.OneOf, c.AllOf = a.copies(s.AnyOf), a.copies(s.OneOf), a.copies(s.AllOf)
	c.AdditionalProperties = a.copy(s.AdditionalProperties)
	if s.Properties != nil {
		c.Properties = jsonschema.NewProperties()
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			c.Properties.Set(p.Key, a.copy(p.Value))
		}
	}
	return &c
}

// describe sets the description of a nested property. A definition on the way
// that is shared is copied to this place; one that contains itself can't be.
func (a *assembler) describe(s *jsonschema.Schema, path []string, text string) bool {
	for s.Items != nil {
		s = s.Items
	}
	if s.Properties == nil {
		return false
	}
	next, ok := s.Properties.Get(path[0])
	if !ok {
		return false
	}
	if name, isRef := strings.CutPrefix(next.Ref, refPrefix); isRef && len(path) > 1 && !a.recursive[name] {
		next = describe(a.copy(a.defs[name]), next.Description)
	}
	if len(path) == 1 {
		c := *next
		c.Description = text
		next = &c
	}
	s.Properties.Set(path[0], next)
	return len(path) == 1 || a.describe(next, path[1:], text)
}

// HasProperty reports whether a path of names, dots between them, leads to a
// property of a schema, and which names there are where it fails.
func (w *Walker) HasProperty(root *jsonschema.Schema, dir Direction, path string) (known []string, ok bool) {
	s := root
	for name := range strings.SplitSeq(path, ".") {
		for s.Items != nil || s.Ref != "" {
			if def, isRef := strings.CutPrefix(s.Ref, refPrefix); isRef {
				s = w.defs[dir][def]
			} else {
				s = s.Items
			}
		}
		if s.Properties == nil {
			return nil, false
		}
		next, found := s.Properties.Get(name)
		if !found {
			return slices.Collect(names(s)), false
		}
		s = next
	}
	return nil, true
}

func names(s *jsonschema.Schema) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for p := s.Properties.Oldest(); p != nil && yield(p.Key); p = p.Next() {
		}
	}
}
