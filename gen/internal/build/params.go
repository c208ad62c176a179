package build

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"unicode"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
	"github.com/toolgen/toolgen/gen/internal/schema"
	runtimeschema "github.com/toolgen/toolgen/runtime/schema"
)

// site is where a parameter is, for diagnostics.
func (t *toolBuilder) site(v *types.Var, name string) schema.Site {
	pos := t.hook.Pos
	hint := "list its implementations, set unsupported_fields: omit if it is a field, or hide the parameter (params: {" + name + ": {hide: true}}) if the method takes its zero value"
	if t.hook.Receiver.Own {
		if p := t.program.Pos(v); p.IsValid() {
			pos = p
		}
		hint = "hide it (//toolgen:hide " + name + ") or expose a wrapper"
	}
	return schema.Site{Pos: pos, What: "tool " + t.tool.Name + ": parameter " + name, Hint: hint}
}

// params walks the parameters and makes the input schema.
func (t *toolBuilder) params(sig *types.Signature) {
	root := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
	goNames := naming.NewScope()
	t.attached = make(map[*ast.CommentGroup]bool)
	for _, v := range t.parameters {
		param := model.Param{Variadic: sig.Variadic() && v.index == sig.Params().Len()-1}
		if t.notOffered(v, &param) {
			t.tool.Params = append(t.tool.Params, param)
			continue
		}
		if v.name == "" {
			hint := "say what it is called: param_names: [a, b]"
			if t.hook.Receiver.Own {
				hint = "name it"
			}
			t.errorf(t.site(v.Var, "").Pos, diag.ParameterUnnamed, hint, "parameter %d has no name", v.index+1)
			continue
		}
		t.param(v, param, root, goNames)
	}
	t.unknownParams(root)
	t.lostComments()
	var nested map[string]string
	for path, text := range t.texts {
		if strings.Contains(path, ".") {
			if nested == nil {
				nested = make(map[string]string)
			}
			nested[propertyPath(path)] = text.value
		}
	}
	assembled, refused := t.walker.Assemble(root, schema.In, nested)
	t.examples(assembled)
	t.tool.Input = schema.Encode(assembled)
	for path, text := range t.texts {
		_, exists := t.walker.HasProperty(root, schema.In, propertyPath(path))
		if exists && slices.Contains(refused, propertyPath(path)) {
			t.errorf(text.pos, diag.TextUnknown, "describe it at the field", "%s is of a type that contains itself, which can't be described for one tool", path)
		}
	}
}

// notOffered fills in a parameter that a model doesn't send, and reports
// whether it is one.
func (t *toolBuilder) notOffered(v named, param *model.Param) bool {
	said := t.said[v.name]
	param.Param, param.Pos = schema.GoType(v.Type()), t.site(v.Var, v.name).Pos
	defer func() {
		if said != nil && len(said.Keys) > 0 && !param.Offered() {
			t.errorf(said.Keys[0].Pos, diag.DirectiveArgument, "drop it", "parameter %s is not sent by a model, so %s says nothing", v.name, said.Keys[0].Name)
		}
	}()
	switch {
	case isContext(v.Type()):
		t.tool.Context = true
		*param = model.Param{Form: model.Context}
		return true
	case said != nil && said.Hidden:
		param.Form, param.Name = model.Hidden, naming.Snake(v.name)
		t.checkHidden(v, param.Variadic)
	case said != nil && said.pin != nil:
		param.Form, param.Name = model.Pinned, naming.Snake(v.name)
		t.pin(v, said.pin, param)
	case said != nil && said.collect:
		t.collect(v, param)
	case isWriter(v.Type()):
		t.capture(v, param)
	case param.Variadic && isOpaque(v.Type()) && (said == nil || len(said.options) == 0):
		param.Form, param.Name = model.Hidden, naming.Snake(v.name)
		t.diags.Notef(t.site(v.Var, v.name).Pos, diag.OptionsHidden, "tool %s: the variadic parameter %s, %s, is not offered", t.tool.Name, v.name, types.TypeString(v.Type(), (*types.Package).Name))
	default:
		return false
	}
	return true
}

// isOpaque recognises the slice of functions, or of interfaces with methods,
// of a variadic parameter.
func isOpaque(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	switch u := s.Elem().Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Interface:
		return u.NumMethods() > 0
	}
	return false
}

// propertyPath turns a Go parameter's path into that of its property.
func propertyPath(path string) string {
	first, rest, dots := strings.Cut(path, ".")
	if !dots {
		return naming.Snake(first)
	}
	return naming.Snake(first) + "." + rest
}

// param walks one parameter that a model sends.
func (t *toolBuilder) param(v named, param model.Param, root *jsonschema.Schema, goNames *naming.Scope) {
	site, name := t.site(v.Var, v.name), naming.Snake(v.name)
	if !validParam(name) {
		t.errorf(site.Pos, diag.ParameterName, "rename it", "parameter %s: the argument name %q must match ^[a-zA-Z_][a-zA-Z0-9_]{0,63}$", v.name, name)
		return
	}
	if _, twice := root.Properties.Get(name); twice {
		t.errorf(site.Pos, diag.PropertyTwice, "rename one", "two parameters are called %s in JSON", name)
		return
	}
	text, keys := t.paramText(v.name, name)
	said := schema.Setting{Keys: keys}
	if s := t.said[v.name]; s != nil {
		said.Keys = slices.Concat(said.Keys, s.Keys)
	}
	param.Doc = text
	var value schema.Value
	ok := true
	t.walker.At(name, func() { value, ok = t.argument(v, &param, &said, site) })
	if !ok {
		return
	}
	t.warnID(v, value.Type, site)
	param.Field = model.Field{
		Name: name, Go: goNames.Name(naming.Exported(v.name)), Type: value.Type, Rules: param.Rules, Secret: said.Has("secret"), Pos: site.Pos,
		Required: !param.Variadic && value.Type.Kind != model.Pointer && !t.walker.AllOptional(value.Type),
	}
	t.presence(v, &param, &said)
	if param.Form == model.Value {
		param.Inner = t.walker.Inner(value.Type)
	}
	if k, given := said.Get("default"); given && t.inner.HostBelow(name) {
		t.errorf(k.Pos, diag.Conflict, "give defaults to the fields themselves", "parameter %s has a default, and something in it is pinned or confined", v.name)
	}
	param.Nullable = schema.Nullable(&param.Field)
	s := *value.Schema
	if param.Doc != "" {
		s.Description = schema.Sentences(param.Doc, s.Description)
	}
	root.Properties.Set(name, &s)
	if param.Required {
		root.Required = append(root.Required, name)
	}
	t.tool.Params = append(t.tool.Params, param)
	t.roots = append(t.roots, value.Type)
}

// argument walks what a model sends for a parameter, and applies its keys.
func (t *toolBuilder) argument(v named, param *model.Param, said *schema.Setting, site schema.Site) (schema.Value, bool) {
	typ := v.Type()
	var value schema.Value
	var ok bool
	switch s := t.said[v.name]; {
	case s != nil && len(s.options) > 0:
		if len(said.Keys) > 0 {
			t.errorf(said.Keys[0].Pos, diag.DirectiveArgument, "name an option: "+v.name+".NAME", "parameter %s is an object of options, which has no %s of its own", v.name, said.Keys[0].Name)
		}
		return t.functional(v, s.options, param, site)
	case isCallback(typ):
		t.errorf(site.Pos, diag.Callback, "collect it (//toolgen:collect "+v.name+") or hide it", "parameter %s is a callback, %s", v.name, types.TypeString(typ, (*types.Package).Name))
		return value, false
	default:
		value, ok = t.walker.Walk(typ, schema.In, site)
	}
	if !ok {
		return value, false
	}
	if k, given := said.Get("encoding"); given {
		if value.Type.Kind != model.Content || k.Value != "base64" {
			t.errorf(k.Pos, diag.DirectiveArgument, "write encoding=base64 at an io.Reader", "encoding %s of parameter %s", k.Value, v.name)
			return value, false
		}
		value.Type.Base, value.Schema = model.Bytes, &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
	}
	value.Schema, param.Rules, ok = t.walker.Constrain(typ, value, said.Keys, site)
	return value, ok
}

// presence applies what is said of whether an argument must be sent. One that
// need not be is a pointer in the argument struct.
func (t *toolBuilder) presence(v named, param *model.Param, said *schema.Setting) {
	k, hasDefault := said.Get("default")
	t.walker.Contradiction(said, t.site(v.Var, v.name))
	optional, isOptional := said.Get("optional")
	switch {
	case said.Has("required"), said.IsConfined() && !hasDefault, t.demanded(param) && !hasDefault: // a policy holds for what isn't sent too
		param.Required = true
		if said.IsConfined() && isOptional {
			t.errorf(optional.Pos, diag.Conflict, "give it a default, or let it be required", "parameter %s is confined, and need not be sent", v.name)
		}
		return
	case !isOptional && !hasDefault:
		return
	case param.Type.Kind == model.Feed:
		t.errorf(optional.Pos, diag.DirectiveArgument, "drop it: an empty array says the same", "parameter %s is a sequence, which can't be left out", v.name)
		return
	}
	param.Required = false
	if hasDefault && param.Form == model.Value {
		if preset, err := t.walker.Literal(v.Type(), k.Value); err == nil {
			param.Default = &preset
		}
	}
	switch param.Type.Kind {
	case model.Pointer, model.Slice, model.Map, model.Bytes, model.Raw, model.Any, model.Content, model.Union:
		if param.Default != nil && param.Form == model.Value {
			param.Form = model.Pointed // nil is where the default goes
			param.Preset = param.Default
		}
		return
	}
	if param.Form == model.Value {
		elem := param.Type
		param.Form = model.Pointed
		param.Type = model.Type{Kind: model.Pointer, Go: model.GoType{Kind: model.GoPointer, Elem: &elem.Go}, Elem: &elem}
	}
}

// demanded reports whether an argument must be sent for what the host says of
// fields within.
func (t *toolBuilder) demanded(param *model.Param) bool {
	return param.Form != model.Optional && (t.inner.ConfinedBelow(param.Name) || t.walker.Demands(param.Type))
}

// warnID notes an integer that JavaScript clients would round.
func (t *toolBuilder) warnID(v named, typ model.Type, site schema.Site) {
	wide := (typ.Kind == model.Int || typ.Kind == model.Uint) && typ.Bits == 64
	if wide && t.hook.Receiver.Own && (v.name == "id" || strings.HasSuffix(v.name, "ID") || strings.HasSuffix(v.name, "Id")) {
		t.diags.Notef(site.Pos, diag.IntegerID, "tool %s: parameter %s is an integer of 64 bits: JavaScript clients round those beyond 2^53; a string doesn't lose digits", t.tool.Name, v.name)
	}
}

func validParam(name string) bool {
	if name == "" || len(name) > 64 || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r > unicode.MaxASCII || r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func isContext(typ types.Type) bool { return types.TypeString(typ, nil) == "context.Context" }

// checkHidden refuses a hidden parameter whose zero value can't be written, and
// warns of one whose zero value is nil: few hooks expect that.
func (t *toolBuilder) checkHidden(v named, variadic bool) {
	if variadic {
		return
	}
	if !schema.Nameable(v.Type(), t.walker.Output()) {
		t.errorf(t.site(v.Var, v.name).Pos, diag.TypeUnexported, "expose a wrapper", "hidden parameter %s has a type that generated code can't name", v.name)
	}
	switch v.Type().Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Map:
		t.diags.Warnf(t.site(v.Var, v.name).Pos, diag.HiddenReference, "make sure that it accepts nil", "tool %s: parameter %s is hidden: the method gets nil", t.tool.Name, v.name)
	}
}

// unknownParams reports settings of parameters that aren't there.
func (t *toolBuilder) unknownParams(root *jsonschema.Schema) {
	names := t.paramNames()
	paths := make(map[string]diag.Position)
	for path, s := range t.said {
		_, isProperty := t.walker.HasProperty(root, schema.In, propertyPath(path))
		switch {
		case strings.Contains(path, ".") && t.walker.Applied(propertyPath(path)):
		case strings.Contains(path, ".") && isProperty && (s.Hidden || s.pin != nil || len(s.Keys) > 0):
			t.errorf(s.Pos, diag.TextUnknown, "say it of a parameter, of a field, or of an option with one value", "nothing could enforce this of %s", path)
		default:
			paths[path] = s.Pos
		}
	}
	for path, text := range t.texts {
		paths[path] = text.pos
	}
	for path, pos := range paths {
		first, _, dots := strings.Cut(path, ".")
		if !slices.Contains(names, first) {
			t.errorf(pos, diag.TextUnknown, hintNear(first, names), "there is no parameter %s", first)
			continue
		}
		if !dots {
			continue
		}
		if known, ok := t.walker.HasProperty(root, schema.In, propertyPath(path)); !ok {
			last := path[strings.LastIndexByte(path, '.')+1:]
			t.errorf(pos, diag.TextUnknown, hintNear(last, known), "there is no field %s", path)
		}
	}
}

func hintNear(name string, names []string) string {
	return strings.TrimPrefix(runtimeschema.DidYouMean(name, names), "; ")
}

func (t *toolBuilder) paramNames() []string {
	var out []string
	for _, v := range t.parameters {
		if !isContext(v.Type()) {
			out = append(out, v.name)
		}
	}
	return out
}
