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
	m, ok := w.members(t, u, s, dir, at)
	if dir == In {
		e.codec.Read, e.codec.Hosts, e.codec.Fixed = m.list, m.hosts, m.fixed
		e.codec.Presets = w.presets(e.codec)
	} else {
		e.codec.Write = m.list
	}
	e.codec.Omitted[dir] = m.omitted
	mark(e.codec, dir)
	ok = ok && !w.isVoid(t, u, len(m.list)+len(m.fixed), dir, at)
	w.settle(e, dir, ok, reported)
	return v, ok
}

// members are the fields of a struct by what becomes of them.
type members struct {
	list    []model.Field // what a model sends or gets
	fixed   []model.Field // what the host sets, other than to zero
	hosts   []string      // names of all that the host sets
	omitted []string      // names of what can't be sent or shown
}

// members walks the fields of a struct and puts them into its schema.
func (w *Walker) members(t types.Type, u *types.Struct, s *jsonschema.Schema, dir Direction, at Site) (m members, ok bool) {
	fields := w.fieldsOf(t, u, dir, at)
	ok = true
	folded := make(map[string]string, len(fields))
	for _, f := range fields {
		field, schema, outcome := w.field(f, w.isOwn(t), dir, at)
		switch outcome {
		case refused:
			ok = false
			continue
		case hidden:
			m.hosts = append(m.hosts, f.name)
			if field.Preset != nil {
				m.fixed = append(m.fixed, field)
			}
			continue
		case leftOut:
			m.omitted = append(m.omitted, f.name)
			continue
		}
		if twin, twice := folded[strings.ToLower(field.Name)]; twice {
			w.diags.Errorf(w.fieldSite(f, w.isOwn(t), at).Pos, diag.PropertyCase, "rename one in its json tag", "%s: the properties %s and %s are equal but for case", at.What, twin, field.Name)
			ok = false
		}
		folded[strings.ToLower(field.Name)] = field.Name
		m.list = append(m.list, field)
		s.Properties.Set(field.Name, schema)
		if field.Required {
			s.Required = append(s.Required, field.Name)
		}
	}
	return m, ok
}

// isVoid reports an argument of which no field can be sent.
func (w *Walker) isVoid(t types.Type, u *types.Struct, fields int, dir Direction, at Site) bool {
	if fields > 0 || u.NumFields() == 0 || dir == Out {
		return false
	}
	w.diags.Errorf(at.Pos, diag.TypeEmpty, at.Hint, "%s has type %s, which has no field that a model could send", at.What, spell(t))
	return true
}

// presets notes which fields of a struct hold structs with presets, and reports
// whether the struct has any itself.
func (w *Walker) presets(c *model.Codec) bool {
	found := len(c.Fixed) > 0
	for i := range c.Read {
		f := &c.Read[i]
		f.Inner = w.Inner(f.Type)
		found = found || f.Preset != nil || f.Inner != ""
	}
	return found
}

// Inner returns the codec of the presets within a value that isn't sent; "":
// there are none. What a pointer points to is made only where the host has
// pinned something within: a default alone makes nothing.
func (w *Walker) Inner(t model.Type) string {
	switch {
	case t.Kind == model.Struct && w.codec(t.Codec).Presets:
		return t.Codec
	case t.Kind == model.Pointer && t.Elem.Kind == model.Struct && w.pinned(t.Elem.Codec):
		return t.Elem.Codec
	}
	return ""
}

// Demands reports whether an object must be sent because the host has pinned
// something in it, and it has properties besides that must be sent: it can't be
// made without them.
func (w *Walker) Demands(t model.Type) bool {
	if t.Kind == model.Pointer {
		t = *t.Elem
	}
	return t.Kind == model.Struct && w.pinned(t.Codec) && slices.ContainsFunc(w.codec(t.Codec).Read, func(f model.Field) bool { return f.Required })
}

// pinned reports whether the host sets a field of a struct, or of one within.
func (w *Walker) pinned(codec string) bool {
	c := w.codec(codec)
	if len(c.Fixed) > 0 {
		return true
	}
	for i := range c.Read {
		if inner := c.Read[i].Inner; inner != "" && w.pinned(inner) {
			return true
		}
	}
	return false
}

// IsEmpty reports whether a result is a struct that shows nothing.
func (w *Walker) IsEmpty(t model.Type) bool {
	if t.Kind == model.Pointer {
		t = *t.Elem
	}
	return t.Kind == model.Struct && len(w.codec(t.Codec).Write) == 0
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

// Setting walks a value of which the tool at hand may say something, by its
// path: one that is no field of a struct.
func (w *Walker) Setting(path string, t types.Type, at Site) (v Value, rules []model.Rule, ok bool) {
	w.At(path, func() { v, ok = w.Walk(t, In, at) })
	given := w.options.settings[In][path]
	if !ok || given == nil {
		return v, nil, ok
	}
	w.applied[path] = true
	for _, k := range given.Keys {
		if k.Name == "default" || k.Name == "required" || k.Name == "optional" {
			w.diags.Errorf(k.Pos, diag.DirectiveArgument, "drop it: an option that isn't sent is not applied", "%s: %s", at.What, k.Name)
			return v, nil, false
		}
	}
	if given.Hidden || given.Pin != nil {
		w.diags.Errorf(given.Pos, diag.DirectiveTarget, "leave its constructor out of options", "%s: an option that is not offered", at.What)
		return v, nil, false
	}
	v.Schema, rules, ok = w.Constrain(t, v, given.Keys, at)
	return v, rules, ok
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
		OmitEmpty: f.omitEmpty, Secret: setting.Has("secret"), Pos: site.Pos,
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
	field.Required = field.Required || dir == In && w.Demands(v.Type)
	field.Nullable = Nullable(&field)
	if dir == Out {
		field.Required = !f.omitEmpty && !f.omitZero && !v.Type.Kind.LeftOut() && !f.optional()
	}
	w.checkName(field.Name, site)
	return field, s, kept
}

// Nullable reports whether null may stand for a property: where it need not be
// sent, and for a list or map that may be empty.
func Nullable(f *model.Field) bool {
	if !f.Required {
		return true
	}
	for _, r := range f.Rules {
		if r.Func == "MinItems" || r.Func == "MinProperties" {
			return false
		}
	}
	return f.Type.Kind.Nilable() && f.Type.Kind != model.Pointer
}

// Contradiction reports a value that is said to be required and not to be.
func (w *Walker) Contradiction(s *Setting, at Site) {
	k, required := s.Get("required")
	if required && (s.Has("optional") || s.Has("default")) && !k.Tag {
		w.diags.Errorf(k.Pos, diag.Conflict, "drop one", "%s is both required and optional", at.What)
	}
}

// fieldSchema applies what is said of a field to its schema, and to what the
// decoder checks.
func (w *Walker) fieldSchema(f jsonField, v Value, field *model.Field, setting *Setting, dir Direction, site Site) (*jsonschema.Schema, bool) {
	quoted := func(s *jsonschema.Schema) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Description: Sentences(setting.Text, s.Description), Pattern: quotedPattern(v.Type)}
	}
	if dir == Out { // results are as they are
		if field.Quoted {
			return quoted(v.Schema), true
		}
		return describe(v.Schema, setting.Text), true
	}
	w.Contradiction(setting, site)
	if !field.Quoted {
		v.Schema = describe(v.Schema, setting.Text)
	}
	s, rules, ok := w.Constrain(f.field.Type(), v, setting.Keys, site)
	field.Rules = rules
	if field.Quoted { // what a schema can't say of a string, words do
		s = quoted(&jsonschema.Schema{Description: Sentences(v.Schema.Description, bounds(s))})
	}
	if k, given := setting.Get("default"); given && w.options.settings[In].HostBelow(w.path) {
		w.diags.Errorf(k.Pos, diag.Conflict, "give defaults to the fields themselves", "%s has a default, and something in it is pinned or confined", site.What)
		ok = false
	} else if given && ok {
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
	case setting.Has("default"):
		return false
	case setting.IsConfined() || w.options.settings[In].ConfinedBelow(w.path): // a policy holds for what isn't sent too
		return !f.optional()
	case setting.Has("optional"):
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
