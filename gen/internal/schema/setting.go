package schema

import (
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
)

// A Setting is what directives, tags and toolgen.yaml say of one property.
type Setting struct {
	Text   string
	Hidden bool
	Pin    *model.Pin // the host sets it
	Keys   []Key
	Pos    diag.Position
}

// A Key is one keyword with its value: a constraint, or what else the table of
// keys knows.
type Key struct {
	Name, Value string
	List        []string // of yaml: values that may have commas
	Pos         diag.Position
	Policy      bool // of confine: it only ever tightens
	Tag         bool // of another tool's struct tag
}

// words returns the values of a list.
func (k *Key) words() []string {
	if k.List != nil {
		return k.List
	}
	return strings.Split(k.Value, ",")
}

// Get returns the value of the last key of that name.
func (s *Setting) Get(name string) (Key, bool) {
	if s == nil {
		return Key{}, false
	}
	for _, k := range slices.Backward(s.Keys) {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

// IsConfined reports whether there is a policy.
func (s *Setting) IsConfined() bool {
	return slices.ContainsFunc(s.Keys, func(k Key) bool { return k.Policy })
}

// Has reports whether a flag is set.
func (s *Setting) Has(name string) bool {
	_, ok := s.Get(name)
	return ok
}

// Settings are those of one tool, by path: names of properties with dots
// between them.
type Settings map[string]*Setting

// ConfinedBelow reports whether there is a policy for a property within path.
func (s Settings) ConfinedBelow(path string) bool {
	return s.below(path, (*Setting).IsConfined)
}

// HostBelow reports whether a property within path is pinned or confined.
func (s Settings) HostBelow(path string) bool {
	return s.below(path, func(setting *Setting) bool { return setting.Pin != nil || setting.IsConfined() })
}

// Below reports whether there is a setting for a property within path.
func (s Settings) Below(path string) bool {
	if path == "" {
		return len(s) > 0
	}
	return s.below(path, func(*Setting) bool { return true })
}

func (s Settings) below(path string, is func(*Setting) bool) bool {
	for p, setting := range s {
		if strings.HasPrefix(p, path+".") && is(setting) {
			return true
		}
	}
	return false
}
