package schema

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/directive"
	"github.com/toolgen/toolgen/gen/internal/doccomment"
	"github.com/toolgen/toolgen/gen/internal/model"
)

// A jsonField is one property of a struct, as encoding/json finds it.
type jsonField struct {
	name      string
	field     *types.Var
	steps     []model.Step
	promoted  bool
	index     []int // of fields, from the outermost struct
	tagged    bool  // the name is in a json tag
	omitEmpty bool
	omitZero  bool
	quoted    bool
}

// optional reports whether the field is below an embedded pointer, which may
// be nil.
func (f *jsonField) optional() bool {
	return slices.ContainsFunc(f.steps, func(s model.Step) bool { return !s.Pointer.IsZero() })
}

// fieldsOf lists the properties of a struct by encoding/json's rules: embedded
// fields are promoted; of several with one name the least deep wins, among
// those the tagged one; if that doesn't decide, none.
func (w *Walker) fieldsOf(s *types.Struct, at Site) []jsonField {
	byName := make(map[string][]jsonField)
	var order []string
	for _, f := range w.collect(s, nil, nil, map[string]bool{}) {
		if _, seen := byName[f.name]; !seen {
			order = append(order, f.name)
		}
		byName[f.name] = append(byName[f.name], f)
	}
	var out []jsonField
	for _, name := range order {
		f, ok := dominant(byName[name])
		if !ok {
			w.diags.Notef(at.Pos, diag.FieldAmbiguous, "%s: two embedded fields are called %s, so it is left out, as JSON does", at.What, name)
			continue
		}
		selected, _, _ := types.LookupFieldOrMethod(s, true, f.field.Pkg(), f.field.Name())
		f.promoted = selected == f.field
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b jsonField) int { return slices.Compare(a.index, b.index) })
	return out
}

func dominant(list []jsonField) (jsonField, bool) {
	slices.SortStableFunc(list, func(a, b jsonField) int {
		if len(a.index) != len(b.index) {
			return len(a.index) - len(b.index)
		}
		if a.tagged != b.tagged {
			if a.tagged {
				return -1
			}
			return 1
		}
		return 0
	})
	if len(list) > 1 && len(list[0].index) == len(list[1].index) && list[0].tagged == list[1].tagged {
		return jsonField{}, false
	}
	return list[0], true
}

// collect lists the fields of a struct and of those embedded in it. A type
// that embeds itself ends the descent.
func (w *Walker) collect(s *types.Struct, steps []model.Step, index []int, within map[string]bool) []jsonField {
	var out []jsonField
	for i := range s.NumFields() {
		field := s.Field(i)
		tag := reflect.StructTag(s.Tag(i)).Get("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		at := append(slices.Clone(index), i)
		if field.Embedded() && name == "" {
			if inner, step, ok := embedded(field); ok {
				key := types.TypeString(field.Type(), nil)
				if !within[key] {
					within[key] = true
					out = append(out, w.collect(inner, withStep(steps, step), at, within)...)
					delete(within, key)
				}
				continue
			}
		}
		if !field.Exported() {
			continue
		}
		f := jsonField{
			name: name, field: field, steps: steps, index: at, tagged: name != "",
			omitEmpty: hasOption(options, "omitempty"), omitZero: hasOption(options, "omitzero"), quoted: hasOption(options, "string"),
		}
		if name == "" {
			f.name = w.propertyName(field)
		}
		out = append(out, f)
	}
	return out
}

// withStep adds a step, unless generated code can't name it: Go promotes the
// fields of an unexported embedded struct by themselves.
func withStep(steps []model.Step, step model.Step) []model.Step {
	if !token.IsExported(step.Go) {
		return steps
	}
	return append(slices.Clone(steps), step)
}

func hasOption(options, name string) bool {
	return slices.Contains(strings.Split(options, ","), name)
}

// embedded returns the struct that an embedded field promotes the fields of.
// An embedded pointer to an unexported type can't be made by other packages,
// and types with a form of their own are fields like any other.
func embedded(field *types.Var) (*types.Struct, model.Step, bool) {
	step := model.Step{Go: field.Name()}
	t := types.Unalias(field.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
		step.Pointer = GoType(t)
		if !field.Exported() {
			return nil, step, false
		}
	}
	n, ok := t.(*types.Named)
	if !ok || ownForm(n, In) != "" || ownForm(n, Out) != "" {
		return nil, step, false
	}
	s, ok := n.Underlying().(*types.Struct)
	return s, step, ok
}

// A fieldComment is what the comments at a field say.
type fieldComment struct {
	text   string
	hidden bool
}

// fieldComment reads the directive, doc comment and line comment of a field,
// in this order of precedence, then its tags.
func (w *Walker) fieldComment(field *types.Var) fieldComment {
	var c fieldComment
	decl, ok := w.program.Decl(field).(*ast.Field)
	if !ok {
		return c
	}
	found, diags := directive.Parse(w.program.Fset, directive.Field, decl.Doc, decl.Comment)
	pkg := w.program.Package(field.Pkg().Path())
	if pkg != nil && pkg.Source {
		*w.diags = append(*w.diags, diags...)
	}
	for _, d := range found {
		switch d.Name {
		case "hide":
			c.hidden = true
		case "param":
			if words := d.Positional(); len(words) > 0 {
				c.text = words[0].Value
			}
		}
	}
	if c.text == "" {
		c.text = prose(field.Name(), decl.Doc, decl.Comment)
	}
	if c.text == "" && decl.Tag != nil {
		c.text = tagProse(decl.Tag.Value)
	}
	return c
}

// tagProse reads the description from the tags of other tools.
func tagProse(literal string) string {
	tag := reflect.StructTag(strings.Trim(literal, "`"))
	for _, key := range []string{"jsonschema_description", "description", "doc"} {
		if text := tag.Get(key); text != "" {
			return text
		}
	}
	for part := range strings.SplitSeq(tag.Get("jsonschema"), ",") {
		if text, ok := strings.CutPrefix(part, "description="); ok {
			return text
		}
	}
	return ""
}

// prose returns the first of the comments that says something, as one text.
func prose(name string, groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := doccomment.Parse(doccomment.Text(g), name, nil).Text; text != "" {
			return text
		}
	}
	return ""
}

// importable reports whether the package with path from may import path.
func importable(path, from string) bool {
	i := strings.LastIndex("/"+path+"/", "/internal/")
	if i < 0 {
		return true
	}
	parent := strings.TrimSuffix(("/" + path)[:i], "/")
	return strings.HasPrefix("/"+from+"/", parent+"/")
}
