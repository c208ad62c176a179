package lock

import (
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
)

// Places returns a function for [Compare] that finds what a change is about in
// the sources: the parameter or field that a pointer leads to, as deep as there
// is one, else the tool. A tool that isn't there any more is at the lock file.
func Places(packages []*model.Package, file string) func(tool, pointer string) diag.Position {
	tools := make(map[string]func(pointer string) diag.Position)
	for _, p := range packages {
		all := codecsOf(p)
		for i := range p.Toolsets {
			for j := range p.Toolsets[i].Tools {
				t := &p.Toolsets[i].Tools[j]
				tools[t.Name] = func(pointer string) diag.Position { return all.place(t, pointer) }
			}
		}
	}
	return func(tool, pointer string) diag.Position {
		if find := tools[tool]; find != nil {
			return find(pointer)
		}
		return diag.Position{File: file}
	}
}

func (all codecs) place(t *model.Tool, pointer string) diag.Position {
	side, roots := model.Reading, make([]model.Field, 0, len(t.Params))
	rest, isResult := strings.CutPrefix(pointer, resultPointer)
	if isResult {
		side, roots = model.Writing, all.resultFields(t)
	} else {
		for i := range t.Params {
			roots = append(roots, t.Params[i].Field)
		}
	}
	at := t.Pos
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		name := pointerUnescape.Replace(part)
		i := slices.IndexFunc(roots, func(f model.Field) bool { return f.Name == name })
		if i < 0 {
			break
		}
		if roots[i].Pos.IsValid() {
			at = roots[i].Pos
		}
		roots = all.fieldsWithin(roots[i].Type, side)
	}
	return at
}

var pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")

// resultFields are the properties of a result: those of its struct, or the
// results by their names.
func (all codecs) resultFields(t *model.Tool) []model.Field {
	var out []model.Field
	for i := range t.Results {
		r := &t.Results[i]
		if within := all.fieldsWithin(r.Type, model.Writing); r.Name == "" {
			out = append(out, within...)
		}
		out = append(out, model.Field{Name: r.Name, Type: r.Type})
	}
	return out
}

// fieldsWithin are the fields of a struct, or of that in a list or map; of an
// interface its implementations, whose value is the struct.
func (all codecs) fieldsWithin(t model.Type, side int) []model.Field {
	for range 100 { // deeper types are refused
		switch c := all[t.Codec]; {
		case t.Elem != nil:
			t = *t.Elem
		case c == nil:
			return nil
		case c.Elems[side] != nil:
			t = *c.Elems[side]
		case c.Kind == model.Union:
			var out []model.Field
			for _, v := range c.Variants[side] {
				out = append(out, model.Field{Name: v.Name, Type: v.Type})
			}
			return append(out, model.Field{Name: "value"})
		default:
			return slices.Concat(fields(c, side), []model.Field{{Name: "value", Type: t}}) // of an implementation
		}
	}
	return nil
}
