package schema

import (
	"go/types"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
)

// structure walks a struct. What it returns refers to a definition, which
// [Walker.Assemble] puts in its place or under $defs.
func (w *Walker) structure(t types.Type, u *types.Struct, dir Direction, at Site) (Value, bool) {
	e := w.entry(t, func() *model.Codec { return &model.Codec{Kind: model.Struct, Go: GoType(t)} })
	v := Value{model.Type{Kind: model.Struct, Go: e.codec.Go, Codec: e.codec.Name}, &jsonschema.Schema{Ref: refPrefix + e.codec.Name}}
	if e.done[dir] {
		return v, w.again(e, t, dir, at)
	}
	e.done[dir] = true
	w.undo = append(w.undo, func() { e.done[dir], e.failed[dir] = false, false })
	reported := len(*w.diags)
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	if dir == In {
		s.AdditionalProperties = jsonschema.FalseSchema
	}
	w.defs[dir][e.codec.Name] = s
	fields := w.fieldsOf(t, u, dir, at)
	ok := true
	var list, fixed []model.Field
	var hosts []string
	folded := make(map[string]string, len(fields))
	for _, f := range fields {
		field, schema, outcome := w.field(f, w.isOwn(t), dir, at)
		switch outcome {
		case refused:
			ok = false
			continue
		case hidden:
			hosts = append(hosts, f.name)
			if field.Preset != nil {
				fixed = append(fixed, field)
			}
			continue
		case leftOut:
			continue
		}
		if twin, twice := folded[strings.ToLower(field.Name)]; twice {
			w.diags.Errorf(w.fieldSite(f, w.isOwn(t), at).Pos, diag.PropertyCase, "rename one in its json tag", "%s: the properties %s and %s are equal but for case", at.What, twin, field.Name)
			ok = false
		}
		folded[strings.ToLower(field.Name)] = field.Name
		list = append(list, field)
		s.Properties.Set(field.Name, schema)
		if field.Required {
			s.Required = append(s.Required, field.Name)
		}
	}
	if dir == In {
		e.codec.Read, e.codec.Hosts, e.codec.Fixed = list, hosts, fixed
	} else {
		e.codec.Write = list
	}
	mark(e.codec, dir)
	if ok && len(list) == 0 && u.NumFields() > 0 && dir == In {
		w.diags.Errorf(at.Pos, diag.TypeEmpty, at.Hint, "%s has type %s, which has no field that a model could send", at.What, spell(t))
		ok = false
	}
	w.settle(e, dir, ok, reported)
	return v, ok
}

// isOwn reports whether a type is declared in the user's own module.
func (w *Walker) isOwn(t types.Type) bool {
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return true
	}
	pkg := w.program.Package(n.Obj().Pkg().Path())
	return pkg != nil && pkg.Source
}

type outcome int

const (
	kept outcome = iota
	leftOut
	hidden
	refused
)

// field walks one field of a struct.
func (w *Walker) field(f jsonField, own bool, dir Direction, at Site) (field model.Field, s *jsonschema.Schema, out outcome) {
	w.At(join(w.path, f.name), func() { field, s, out = w.fieldAt(f, own, dir, at) })
	return field, s, out
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// settingAt merges what stands at a field with what the tool at hand says of
// it.
func (w *Walker) settingAt(f jsonField, dir Direction) Setting {
	s := *w.fieldSetting(f.field, f.tag)
	given := w.options.settings[dir][w.path]
	if given == nil {
		return s
	}
	s.Keys = slices.Concat(s.Keys, given.Keys)
	s.Hidden, s.Pin = s.Hidden || given.Hidden, given.Pin
	w.applied[w.path] = true
	if given.Text != "" {
		s.Text = given.Text
	}
	return s
}

func (w *Walker) fieldAt(f jsonField, own bool, dir Direction, at Site) (model.Field, *jsonschema.Schema, outcome) {
	site := w.fieldSite(f, own, at)
	setting := w.settingAt(f, dir)
	switch {
	case dir == In && setting.Pin != nil:
		return model.Field{Name: f.name, Go: f.field.Name(), Embedded: f.steps, Promoted: f.promoted, Preset: setting.Pin.Value}, nil, hidden
	case dir == In && setting.Hidden:
		return model.Field{}, nil, hidden
	case setting.Hidden && w.options.settings[dir][w.path] != nil: // redacted for this tool
		return model.Field{}, nil, leftOut
	}
	required := w.isRequired(f, own, &setting)
	if dir == Out && isEmptyStruct(f.field.Type()) {
		w.diags.Notef(site.Pos, diag.FieldOmitted, "%s has no exported field and is left out", site.What)
		return model.Field{}, nil, leftOut
	}
	reported := len(*w.diags)
	v, outcome := w.fieldValue(f, required, dir, site)
	if outcome != kept {
		return model.Field{}, nil, outcome
	}
	if setting.Has("schema") {
		w.saidBySchema(reported)
	}
	field := model.Field{
		Name: f.name, Go: f.field.Name(), Embedded: f.steps, Promoted: f.promoted, Type: v.Type, Required: required, Quoted: f.quoted && quotable(v.Type),
		Nullable: !required || v.Type.Kind.Nilable(), OmitEmpty: f.omitEmpty, Secret: setting.Has("secret"),
	}
	if f.omitZero {
		if field.OmitZero = zeroTest(f.field.Type()); field.OmitZero == "" && dir == Out {
			w.diags.Notef(site.Pos, diag.TagConflict, "%s can't be compared with its zero value: omitzero has no effect", site.What)
		}
	}
	s, ok := w.fieldSchema(f, v, &field, &setting, dir, site)
	if !ok {
		return field, nil, refused
	}
	if dir == Out {
		field.Required = !f.omitEmpty && !f.omitZero && !v.Type.Kind.LeftOut() && !f.optional()
	}
	w.checkName(field.Name, site)
	return field, s, kept
}

// fieldSchema applies what is said of a field to its schema, and to what the
// decoder checks.
func (w *Walker) fieldSchema(f jsonField, v Value, field *model.Field, setting *Setting, dir Direction, site Site) (*jsonschema.Schema, bool) {
	if field.Quoted {
		return &jsonschema.Schema{Type: "string", Description: Sentences(setting.Text, v.Schema.Description), Pattern: quotedPattern(v.Type)}, true
	}
	v.Schema = describe(v.Schema, setting.Text)
	if dir == Out { // results are as they are
		return v.Schema, true
	}
	s, rules, ok := w.Constrain(f.field.Type(), v, setting.Keys, site)
	field.Rules = rules
	if k, given := setting.Get("default"); given && ok {
		preset, err := w.Literal(f.field.Type(), k.Value)
		field.Preset = &preset
		ok = err == nil
	}
	return s, ok
}

func (w *Walker) fieldSite(f jsonField, own bool, at Site) Site {
	site := Site{Pos: at.Pos, What: at.What + "." + f.field.Name(), Hint: at.Hint}
	if own {
		tool, _, _ := strings.Cut(at.What, ": ")
		site.Pos = w.program.Pos(f.field)
		site.What = tool + ": field " + f.field.Name()
		site.Hint = "hide it (//toolgen:hide above the field)"
	}
	return site
}

// fieldValue walks the type of a field. Where unsupported fields are left out,
// a walk that fails is taken back with all that it reported.
func (w *Walker) fieldValue(f jsonField, required bool, dir Direction, site Site) (Value, outcome) {
	if !w.options.OmitFields {
		v, ok := w.Walk(f.field.Type(), dir, site)
		if !ok {
			return v, refused
		}
		return v, kept
	}
	before, reported := len(w.undo), len(*w.diags)
	v, ok := w.Walk(f.field.Type(), dir, site)
	switch {
	case ok:
		return v, kept
	case dir == In && required:
		return v, refused // and what is wrong with it stays reported
	}
	w.takeBack(before, reported)
	w.diags.Notef(site.Pos, diag.FieldOmitted, "%s has type %s and is left out", site.What, spell(f.field.Type()))
	return v, leftOut
}

// isRequired applies the rule: a name in a json tag without omitempty or
// omitzero; no tag at all in your own package, where somebody else's means the
// zero value by leaving a field out. What is said at the field decides first.
func (w *Walker) isRequired(f jsonField, own bool, setting *Setting) bool {
	switch {
	case setting.Has("default") || setting.Has("optional"):
		return false
	case setting.Has("required") || w.saysRequired(setting.Text):
		return !f.optional()
	}
	if _, pointer := types.Unalias(f.field.Type()).(*types.Pointer); pointer || f.optional() || f.omitEmpty || f.omitZero {
		return false
	}
	return f.tagged || own
}

// saysRequired finds the words by which a package's prose says so.
func (w *Walker) saysRequired(text string) bool {
	return slices.ContainsFunc(w.options.RequiredDoc, func(words string) bool { return words != "" && strings.Contains(text, words) })
}

// quotable reports whether `json:",string"` has a meaning here. On strings, whose
// quoting twice nobody wants a model to do, it is not heeded.
func quotable(t model.Type) bool {
	if t.Kind == model.Pointer {
		t = *t.Elem
	}
	return t.Kind == model.Int || t.Kind == model.Uint || t.Kind == model.Float || t.Kind == model.Bool
}

func quotedPattern(t model.Type) string {
	if t.Kind == model.Pointer {
		t = *t.Elem
	}
	switch t.Kind {
	case model.Int:
		return "^-?(0|[1-9][0-9]*)$"
	case model.Uint:
		return "^(0|[1-9][0-9]*)$"
	case model.Bool:
		return "^(true|false)$"
	default:
		return ""
	}
}

// zeroTest says how omitzero finds the zero value.
func zeroTest(t types.Type) string {
	methods := types.NewMethodSet(types.NewPointer(t))
	if m := methods.Lookup(nil, "IsZero"); m != nil && types.TypeString(m.Type(), nil) == "func() bool" {
		return "method"
	}
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Pointer, *types.Interface:
		return "nil"
	}
	if types.Comparable(t) {
		return "compare"
	}
	return ""
}

func isEmptyStruct(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	if n, named := types.Unalias(t).(*types.Named); named && (ownForm(n, Out) != "" || embedsTime(n)) {
		return false
	}
	for f := range s.Fields() {
		if f.Exported() || f.Embedded() {
			return false
		}
	}
	return s.NumFields() > 0
}

// describe returns the schema with a description of its own; what the type
// says by itself follows.
func describe(s *jsonschema.Schema, text string) *jsonschema.Schema {
	if text == "" {
		return s
	}
	c := *s
	c.Description = Sentences(text, s.Description)
	return &c
}

// Sentences joins two texts, either of which may be empty.
func Sentences(first, second string) string {
	switch {
	case first == "" || second == "":
		return first + second
	case strings.ContainsAny(first[len(first)-1:], ".!?:;"):
		return first + " " + second
	default:
		return first + ". " + second
	}
}

func (w *Walker) checkName(name string, at Site) {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
		w.diags.Errorf(at.Pos, diag.ParameterName, "rename it in its json tag", "%s: the property %q has a control character", at.What, name)
	}
}

func (w *Walker) propertyName(field *types.Var) string {
	if w.options.SnakeFields {
		return naming.Snake(field.Name())
	}
	return field.Name()
}

// AllOptional reports whether a type is a struct without a required field: as
// a parameter it may be left out.
func (w *Walker) AllOptional(t model.Type) bool {
	if t.Kind != model.Struct {
		return false
	}
	for _, f := range w.codec(t.Codec).Read {
		if f.Required {
			return false
		}
	}
	return true
}
