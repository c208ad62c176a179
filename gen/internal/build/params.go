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
	hint := "set unsupported_fields: omit if it is a field, or hide the parameter (params: {" + name + ": {hide: true}}) if the method takes its zero value"
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
	hidden := t.hidden()
	t.attached = make(map[*ast.CommentGroup]bool)
	for i := range sig.Params().Len() {
		v := sig.Params().At(i)
		if isContext(v.Type()) {
			t.tool.Context = true
			t.tool.Params = append(t.tool.Params, model.Param{Context: true})
			continue
		}
		name := naming.Snake(v.Name())
		param := model.Param{Variadic: sig.Variadic() && i == sig.Params().Len()-1}
		if _, hide := hidden[v.Name()]; hide {
			delete(hidden, v.Name())
			param.Hidden, param.Name = true, name
			param.Type = model.Type{Go: schema.GoType(v.Type())}
			t.checkHidden(v, param.Variadic)
			t.tool.Params = append(t.tool.Params, param)
			continue
		}
		if v.Name() == "" || v.Name() == "_" {
			t.errorf(t.site(v, "").Pos, diag.ParameterUnnamed, "name it", "parameter %d has no name", i+1)
			continue
		}
		t.param(v, name, param, root, goNames)
	}
	t.unknownParams(root, hidden)
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
	t.tool.Input = schema.Encode(assembled)
	for path, text := range t.texts {
		_, exists := t.walker.HasProperty(root, schema.In, propertyPath(path))
		if exists && slices.Contains(refused, propertyPath(path)) {
			t.errorf(text.pos, diag.TextUnknown, "describe it at the field", "%s is of a type that contains itself, which can't be described for one tool", path)
		}
	}
}

// propertyPath turns a Go parameter's path into that of its property.
func propertyPath(path string) string {
	first, rest, dots := strings.Cut(path, ".")
	if !dots {
		return naming.Snake(first)
	}
	return naming.Snake(first) + "." + rest
}

// param walks one parameter.
func (t *toolBuilder) param(v *types.Var, name string, param model.Param, root *jsonschema.Schema, goNames *naming.Scope) {
	site := t.site(v, v.Name())
	if !validParam(name) {
		t.errorf(site.Pos, diag.ParameterName, "rename it", "parameter %s: the argument name %q must match ^[a-zA-Z_][a-zA-Z0-9_]{0,63}$", v.Name(), name)
		return
	}
	if _, twice := root.Properties.Get(name); twice {
		t.errorf(site.Pos, diag.PropertyTwice, "rename one", "two parameters are called %s in JSON", name)
		return
	}
	value, ok := t.walker.Walk(v.Type(), schema.In, site)
	if !ok {
		return
	}
	param.Doc = t.paramText(v.Name(), name)
	param.Field = model.Field{
		Name: name, Go: goNames.Name(naming.Exported(v.Name())), Type: value.Type,
		Required: !param.Variadic && value.Type.Kind != model.Pointer && !t.walker.AllOptional(value.Type),
	}
	param.Nullable = !param.Required || value.Type.Kind.Nilable()
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

func validParam(name string) bool {
	if name == "" || len(name) > 64 || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r > unicode.MaxASCII || r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func isContext(typ types.Type) bool { return types.TypeString(typ, nil) == "context.Context" }

// hidden returns the Go names of the parameters that are not offered.
func (t *toolBuilder) hidden() map[string]diag.Position {
	out := make(map[string]diag.Position)
	for _, d := range t.hook.Directives {
		if d.Name == "hide" {
			word := d.Positional()[0]
			out[word.Value] = word.Pos
		}
	}
	if c := t.hook.Config; c != nil {
		for _, p := range c.Params {
			if p.Hide {
				out[p.Name.Value] = p.Name.Pos
			}
		}
	}
	return out
}

// checkHidden refuses a hidden parameter whose zero value can't be written, and
// warns of one whose zero value is nil: few hooks expect that.
func (t *toolBuilder) checkHidden(v *types.Var, variadic bool) {
	if !variadic && !schema.Nameable(v.Type(), t.walker.Output()) {
		t.errorf(t.site(v, v.Name()).Pos, diag.TypeUnexported, "expose a wrapper", "hidden parameter %s has a type that generated code can't name", v.Name())
	}
	switch v.Type().Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Map:
		if !variadic {
			t.diags.Warnf(t.site(v, v.Name()).Pos, diag.HiddenReference, "make sure that it accepts nil", "tool %s: parameter %s is hidden: the method gets nil", t.tool.Name, v.Name())
		}
	}
}

// unknownParams reports settings of parameters that aren't there.
func (t *toolBuilder) unknownParams(root *jsonschema.Schema, hidden map[string]diag.Position) {
	names := t.paramNames()
	for name, pos := range hidden {
		if strings.Contains(name, ".") {
			t.errorf(pos, diag.TextUnknown, "hide a field where it is declared, or set unsupported_fields: omit", "hide %s: only whole parameters can be hidden for one tool", name)
			continue
		}
		t.errorf(pos, diag.TextUnknown, hintNear(name, names), "hide: there is no parameter %s", name)
	}
	for path, text := range t.texts {
		first, _, dots := strings.Cut(path, ".")
		if !slices.Contains(names, first) {
			t.errorf(text.pos, diag.TextUnknown, hintNear(first, names), "there is no parameter %s", first)
			continue
		}
		if !dots {
			continue
		}
		if known, ok := t.walker.HasProperty(root, schema.In, propertyPath(path)); !ok {
			last := path[strings.LastIndexByte(path, '.')+1:]
			t.errorf(text.pos, diag.TextUnknown, hintNear(last, known), "there is no field %s", path)
		}
	}
}

func hintNear(name string, names []string) string {
	return strings.TrimPrefix(runtimeschema.DidYouMean(name, names), "; ")
}

func (t *toolBuilder) paramNames() []string {
	var out []string
	for v := range t.hook.Method.Signature().Params().Variables() {
		if !isContext(v.Type()) {
			out = append(out, v.Name())
		}
	}
	return out
}
