package lock

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
)

// A Class says what a change does to those who call the tools.
type Class string

// The classes, worst first.
const (
	Breaking  Class = "breaking"  // a call that was right is wrong now, or does more than it said
	Narrowing Class = "narrowing" // some calls that were right are refused now
	Widening  Class = "widening"  // what was right still is, and more is
	Wording   Class = "wording"   // prose: models act on it
)

// Classes lists the classes, worst first.
var Classes = []Class{Breaking, Narrowing, Widening, Wording}

// A Change is one difference between two surfaces.
type Change struct {
	Class   Class         `json:"class"`
	Tool    string        `json:"tool"`
	Pointer string        `json:"pointer,omitempty"` // into the arguments, or, after "result", into the result; "": the tool
	What    string        `json:"what"`
	Old     string        `json:"old,omitempty"`
	New     string        `json:"new,omitempty"`
	Pos     diag.Position `json:"pos,omitzero"` // in the new sources
}

func (c Change) String() string {
	var b strings.Builder
	if c.Pos.IsValid() {
		b.WriteString(c.Pos.String() + ": ")
	}
	fmt.Fprintf(&b, "%s: %s", c.Class, visible(c.Tool))
	if c.Pointer != "" {
		b.WriteString(" " + visible(c.Pointer))
	}
	b.WriteString(": " + visible(c.What))
	switch {
	case c.Old != "" && c.New != "":
		fmt.Fprintf(&b, ": %s -> %s", visible(c.Old), visible(c.New))
	case c.Old+c.New != "":
		b.WriteString(": " + visible(c.Old+c.New))
	}
	return b.String()
}

// visible replaces what a terminal or a log of CI would act on: a lock may have
// been written by anybody.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// Compare returns the changes from old to fresh, worst first, then by tool and
// pointer. Where gives the position of a tool, or of what a pointer leads to.
func Compare(old, fresh *File, where func(tool, pointer string) diag.Position) ([]Change, error) {
	c := &comparison{where: where, serving: make(map[string]bool)}
	for _, t := range fresh.Tools {
		c.serving[t.Hook] = true
	}
	renamed := c.renames(old, fresh)
	for _, name := range slices.Sorted(maps.Keys(old.Tools)) {
		before := old.Tools[name]
		now, there := fresh.Tools[name]
		switch to := renamed[name]; {
		case to != "":
			now = fresh.Tools[to]
			c.begin(to, before, now)
			c.add(Breaking, "", "the tool is renamed", name, to)
		case !there:
			c.begin(name, before, Tool{})
			c.add(Breaking, "", "the tool is removed", "", "")
			continue
		default:
			c.begin(name, before, now)
		}
		if err := c.tool(); err != nil {
			return nil, fmt.Errorf("tool %s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fresh.Tools)) {
		if _, known := old.Tools[name]; !known && !slices.Contains(slices.Collect(maps.Values(renamed)), name) {
			c.begin(name, Tool{}, fresh.Tools[name])
			c.add(Widening, "", "the tool is new", "", "")
		}
	}
	slices.SortStableFunc(c.changes, func(a, b Change) int {
		return cmp.Or(slices.Index(Classes, a.Class)-slices.Index(Classes, b.Class), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Pointer, b.Pointer))
	})
	return c.changes, nil
}

// comparison collects changes, of one tool at a time.
type comparison struct {
	where   func(tool, pointer string) diag.Position
	changes []Change
	serving map[string]bool // hooks that serve a tool now

	name       string
	old, fresh Tool
}

func (c *comparison) begin(name string, old, fresh Tool) { c.name, c.old, c.fresh = name, old, fresh }

func (c *comparison) add(class Class, pointer, what, old, fresh string) {
	c.changes = append(c.changes, Change{class, c.name, pointer, what, short(old), short(fresh), c.where(c.name, pointer)})
}

// maxShown is how many characters of a value a change shows.
const maxShown = 120

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return s
}

// renames finds tools that are gone and whose hooks serve another name.
func (c *comparison) renames(old, fresh *File) map[string]string {
	byHook := make(map[string]string)
	for name, t := range fresh.Tools {
		if _, known := old.Tools[name]; !known {
			byHook[t.Hook] = name
		}
	}
	out := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(old.Tools)) {
		hook := old.Tools[name].Hook
		if _, still := fresh.Tools[name]; !still && byHook[hook] != "" {
			out[name] = byHook[hook]
			delete(byHook, hook)
		}
	}
	return out
}

func (c *comparison) tool() error {
	if c.old.Hook != c.fresh.Hook {
		class := Wording // the method has moved, or has another name
		if c.serving[c.old.Hook] {
			class = Breaking // it serves another tool: this is another method
		}
		c.add(class, "", "its hook", c.old.Hook, c.fresh.Hook)
	}
	for _, prose := range []struct{ what, old, fresh string }{
		{"its title", c.old.Title, c.fresh.Title},
		{"its description", c.old.Description, c.fresh.Description},
	} {
		if prose.old != prose.fresh {
			c.add(Wording, "", prose.what+" changed", differing(prose.old, prose.fresh), differing(prose.fresh, prose.old))
		}
	}
	c.hints()
	c.limits()
	c.policies()
	return c.schemas()
}

// differing returns a text from the first sentence on in which it differs from
// another.
func differing(text, other string) string {
	n := 0
	for n < len(text) && n < len(other) && text[n] == other[n] {
		n++
	}
	for _, stop := range []string{". ", "\n"} {
		if i := strings.LastIndex(text[:n], stop); i >= 0 {
			return strings.TrimSpace(text[i+len(stop):])
		}
	}
	return text
}

func keys[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	if all == nil {
		all = make(map[string]V)
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

func without(list, rest []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(rest, s) })
}

func (c *comparison) schemas() error {
	oldIn, freshIn, err := decodeBoth(c.old.Input, c.fresh.Input)
	if err != nil {
		return err
	}
	in := walk{comparison: c, oldRoot: oldIn, freshRoot: freshIn, seen: make(map[[2]uintptr]bool)}
	in.schema("", oldIn, freshIn)
	switch {
	case len(c.old.Output) == 0 && len(c.fresh.Output) == 0:
		return nil
	case len(c.old.Output) == 0:
		c.add(Widening, model.ResultPointer, "it has a schema now", "", "")
		return nil
	case len(c.fresh.Output) == 0:
		c.add(Breaking, model.ResultPointer, "it has no schema any more", "", "")
		return nil
	}
	oldOut, freshOut, err := decodeBoth(c.old.Output, c.fresh.Output)
	if err != nil {
		return err
	}
	out := walk{comparison: c, out: true, oldRoot: oldOut, freshRoot: freshOut, seen: make(map[[2]uintptr]bool)}
	out.schema(model.ResultPointer, oldOut, freshOut)
	return nil
}

func decodeBoth(old, fresh json.RawMessage) (a, b map[string]any, err error) {
	if a, err = decode(old); err != nil {
		return nil, nil, err
	}
	b, err = decode(fresh)
	return a, b, err
}

func decode(raw json.RawMessage) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out map[string]any
	if err := dec.Decode(&out); err != nil {
		return nil, fmt.Errorf("its schema is not readable: %w", err)
	}
	return out, nil
}
