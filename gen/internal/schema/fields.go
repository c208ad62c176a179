package schema

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/directive"
	"github.com/toolgen/toolgen/gen/internal/doccomment"
	"github.com/toolgen/toolgen/gen/internal/model"
)

// A jsonField is one property of a struct, as encoding/json finds it.
type jsonField struct {
	name      string
	field     *types.Var
	tag       string // the whole
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
func (w *Walker) fieldsOf(t types.Type, s *types.Struct, dir Direction, at Site) []jsonField {
	byName := make(map[string][]jsonField)
	var order []string
	c := collector{walker: w, dir: dir, at: at, within: make(map[string]bool)}
	c.collect(s, nil, nil)
	for _, f := range c.found {
		if _, seen := byName[f.name]; !seen {
			order = append(order, f.name)
		}
		byName[f.name] = append(byName[f.name], f)
	}
	var out []jsonField
	for _, name := range order {
		f, ok := dominant(byName[name])
		if list := byName[name]; len(list) > 1 && len(list[1].index) == 1 {
			ok = false // dominant has put the least deep ones first
		}
		if !ok {
			w.ambiguous(byName[name], name, at)
			continue
		}
		selected, _, _ := types.LookupFieldOrMethod(t, true, f.field.Pkg(), f.field.Name())
		f.promoted = selected == f.field // a method may stand before it
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

// ambiguous reports a property that JSON leaves out because two fields claim
// it. Of the struct itself that is a mistake, of embedded ones a custom.
func (w *Walker) ambiguous(list []jsonField, name string, at Site) {
	if len(list[0].index) == 1 {
		w.diags.Errorf(at.Pos, diag.PropertyTwice, "name one in a json tag", "%s: two fields are called %s in JSON", at.What, name)
		return
	}
	w.diags.Notef(at.Pos, diag.FieldAmbiguous, "%s: two embedded fields are called %s, so it is left out, as JSON does", at.What, name)
}

// A collector lists the fields of a struct and of those embedded in it.
type collector struct {
	walker *Walker
	dir    Direction
	at     Site
	within map[string]bool // types on the way: one that embeds itself ends the descent
	tag    string          // of the field at hand
	found  []jsonField
}

func (c *collector) collect(s *types.Struct, steps []model.Step, index []int) {
	for i := range s.NumFields() {
		field := s.Field(i)
		c.tag = s.Tag(i)
		tag := reflect.StructTag(s.Tag(i)).Get("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !validTag(name) {
			name = ""
		}
		here := append(slices.Clone(index), i)
		if field.Embedded() && name == "" && c.embedded(field, steps, here) || !field.Exported() {
			continue
		}
		f := jsonField{
			name: name, field: field, tag: s.Tag(i), steps: steps, index: here, tagged: name != "",
			omitEmpty: hasOption(options, "omitempty"), omitZero: hasOption(options, "omitzero"), quoted: hasOption(options, "string"),
		}
		if name == "" {
			f.name = c.walker.propertyName(field)
		}
		c.found = append(c.found, f)
	}
}

// embedded collects the fields of an embedded struct, and reports whether it
// is one.
func (c *collector) embedded(field *types.Var, steps []model.Step, index []int) bool {
	inner, step, ok := embedded(field)
	if !ok {
		if inner != nil {
			c.walker.diags.Notef(c.at.Pos, diag.FieldOmitted, "%s: the embedded %s is left out: other packages can't reach through a pointer of an unexported type", c.at.What, field.Name())
		}
		return inner != nil
	}
	if c.dir == In && c.walker.fieldSetting(field, c.tag).Hidden {
		return true
	}
	key := types.TypeString(field.Type(), nil)
	if !c.within[key] {
		c.within[key] = true
		c.collect(inner, withStep(steps, step), index)
		delete(c.within, key)
	}
	return true
}

// validTag is encoding/json's rule for a name in a tag.
func validTag(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
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

// embedded returns the struct whose fields an embedded field promotes, whether
// or not that encodes itself; none if it is something else. It isn't ok for a
// pointer to an unexported type, through which other packages can't reach.
func embedded(field *types.Var) (s *types.Struct, step model.Step, ok bool) {
	step = model.Step{Go: field.Name()}
	t := types.Unalias(field.Type())
	p, pointer := t.(*types.Pointer)
	if pointer {
		t = types.Unalias(p.Elem())
		step.Pointer = GoType(t)
	}
	n, ok := t.(*types.Named)
	if !ok {
		return nil, step, false
	}
	s, ok = n.Underlying().(*types.Struct)
	return s, step, ok && (!pointer || field.Exported())
}

// fieldSetting reads what stands at a field: its directives, doc comment and
// line comment, in this order of precedence, then its tags.
func (w *Walker) fieldSetting(field *types.Var, tag string) *Setting {
	if s, ok := w.fields[field]; ok {
		return s
	}
	s := &Setting{Pos: w.program.Pos(field)}
	w.fields[field] = s
	decl, ok := w.program.Decl(field).(*ast.Field)
	if ok {
		found, diags := directive.Parse(w.program.Fset, directive.Field, decl.Doc, decl.Comment)
		if pkg := w.program.Package(field.Pkg().Path()); pkg != nil && pkg.Source {
			*w.diags = append(*w.diags, diags...)
		}
		s.read(found)
		if s.Text == "" {
			s.Text = prose(field.Name(), decl.Doc, decl.Comment)
		}
	}
	w.readTags(s, field, tag)
	return s
}

// read takes up the directives at a field or parameter.
func (s *Setting) read(found []directive.Directive) {
	for i := range found {
		d := &found[i]
		switch d.Name {
		case "hide":
			s.Hidden = true
		case "schema":
			word := d.Positional()[0]
			s.Keys = append(s.Keys, Key{Name: "schema", Value: word.Value, Pos: word.Pos})
		case "param":
			text, keys := Words(d.Args)
			s.Keys = append(s.Keys, keys...)
			if text != "" {
				s.Text = text
			}
		}
	}
}

// Words splits the words after a parameter's name: flags and keys with values
// are keys, the word that is left is prose.
func Words(args []directive.Arg) (text string, keys []Key) {
	for _, a := range args {
		switch {
		case a.Key != "":
			keys = append(keys, Key{Name: a.Key, Value: a.Value, Pos: a.Pos})
		case slices.Contains(directive.Flags, a.Value):
			keys = append(keys, Key{Name: a.Value, Value: "true", Pos: a.Pos})
		default:
			text = a.Value
		}
	}
	return text, keys
}

// prose returns the first of the comments that says something, as one text.
func prose(name string, groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := doccomment.Parse(doccomment.Text(directive.Prose(g)), name, nil).Text; text != "" {
			return text
		}
	}
	return ""
}

// summary is the first paragraph of a comment.
func summary(name string, g *ast.CommentGroup) string {
	return doccomment.Parse(doccomment.Text(directive.Prose(g)), name, nil).Summary()
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

// FieldType returns the type of the field that a property of a struct is; nil:
// there is none.
func (w *Walker) FieldType(t types.Type, name string) types.Type {
	for { // settings reach through what holds structs
		holder, ok := t.Underlying().(interface{ Elem() types.Type })
		if _, array := t.Underlying().(*types.Array); array || !ok {
			break // the elements of an array are there even where it isn't sent
		}
		t = holder.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var quiet diag.List
	reporting := w.diags
	w.diags = &quiet
	defer func() { w.diags = reporting }()
	for _, f := range w.fieldsOf(t, s, In, Site{}) {
		if f.name == name {
			return f.field.Type()
		}
	}
	return nil
}
