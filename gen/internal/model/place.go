package model

import (
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/diag"
)

// ResultPointer begins pointers into a result; others are into the arguments.
const ResultPointer = "result"

// Place finds what a JSON Pointer leads to in the sources: the parameter or
// field, as deep as there is one, else the tool. What is in a list or map has the
// pointer of the list or map, what is in an interface has the name of the
// implementation on its way.
func (p *Package) Place(t *Tool, pointer string) diag.Position {
	return codecs(p.CodecsByName()).place(t, pointer)
}

// CodecsByName returns the codecs by what [Type.Codec] says of them.
func (p *Package) CodecsByName() map[string]*Codec {
	out := make(map[string]*Codec, len(p.Codecs))
	for i := range p.Codecs {
		out[p.Codecs[i].Name] = &p.Codecs[i]
	}
	return out
}

type codecs map[string]*Codec

func (all codecs) place(t *Tool, pointer string) diag.Position {
	side, roots := Reading, make([]Field, 0, len(t.Params))
	rest, isResult := strings.CutPrefix(pointer, ResultPointer)
	if isResult {
		side, roots = Writing, all.resultFields(t)
	} else {
		for i := range t.Params {
			roots = append(roots, t.Params[i].Field)
		}
	}
	at := t.Pos
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		name := pointerUnescape.Replace(part)
		i := slices.IndexFunc(roots, func(f Field) bool { return f.Name == name })
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
func (all codecs) resultFields(t *Tool) []Field {
	var out []Field
	for i := range t.Results {
		r := &t.Results[i]
		if within := all.fieldsWithin(r.Type, Writing); r.Name == "" {
			out = append(out, within...)
		}
		out = append(out, Field{Name: r.Name, Type: r.Type})
	}
	return out
}

// fieldsWithin are the fields of a struct, or of that in a list or map; of an
// interface its implementations, whose value is the struct.
func (all codecs) fieldsWithin(t Type, side int) []Field {
	for range 100 { // deeper types are refused
		switch c := all[t.Codec]; {
		case t.Elem != nil:
			t = *t.Elem
		case c == nil:
			return nil
		case c.Elems[side] != nil:
			t = *c.Elems[side]
		case c.Kind == Union:
			var out []Field
			for _, v := range c.Variants[side] {
				out = append(out, Field{Name: v.Name, Type: v.Type})
			}
			return append(out, Field{Name: "value"})
		default:
			return slices.Concat(c.Fields(side), []Field{{Name: "value", Type: t}}) // of an implementation
		}
	}
	return nil
}
