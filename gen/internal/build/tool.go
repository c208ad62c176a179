package build

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/discover"
	"github.com/toolgen/toolgen/gen/internal/doccomment"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
	"github.com/toolgen/toolgen/gen/internal/schema"
	runtimeschema "github.com/toolgen/toolgen/runtime/schema"
)

// toolBuilder builds the model of one hook.
type toolBuilder struct {
	*builder
	hook   *discover.Hook
	tool   *model.Tool
	walker *schema.Walker
	doc    *doccomment.Doc
	texts  map[string]text // of parameters and their fields, from directives and yaml
	roots  []model.Type

	attached map[*ast.CommentGroup]bool // comments of the parameter list that belong to a parameter
}

// text is prose with its place.
type text struct {
	value string
	pos   diag.Position
}

func (t *toolBuilder) errorf(pos diag.Position, code diag.Code, hint, format string, args ...any) {
	t.diags.Errorf(pos, code, hint, "tool "+t.tool.Name+": "+format, args...)
}

// build fills in the tool. It reports false if there was an error.
func (t *toolBuilder) build() bool {
	before := countErrors(t.diags)
	t.walker.Use(schema.Options{SnakeFields: t.hook.Settings.FieldNames == "snake", OmitFields: t.hook.Settings.UnsupportedFields == "omit"})
	if !runtimeschema.ValidName(t.tool.Name) {
		t.errorf(t.namePos(), diag.ToolName, "name it with name=", "the name is not valid: it must match ^[A-Za-z_][A-Za-z0-9_-]{0,63}$")
	}
	t.prose()
	t.hints()
	t.limits()
	t.errors()
	t.nameConflict()
	sig := t.hook.Method.Signature()
	receiver := receiverType(t.hook.Receiver.Name)
	if schema.Nameable(sig, t.walker.Output()) {
		t.tool.Signature = schema.Signature(sig, receiver)
	}
	t.params(sig)
	t.results(sig)
	if countErrors(t.diags) > before {
		return false
	}
	if !t.visible() {
		return false
	}
	hash, err := runtimeschema.Hash([]byte(t.tool.Input), outputBytes(t.tool.Output))
	if err != nil {
		t.errorf(t.tool.Pos, diag.TypeUnsupported, "", "%s", err)
		return false
	}
	t.tool.SchemaHash = hash
	return true
}

// namePos is where the tool's name was given, else the hook.
func (t *toolBuilder) namePos() diag.Position {
	if d := t.hook.Directive("expose"); d != nil {
		if arg, ok := d.Value("name"); ok {
			return arg.Pos
		}
	}
	if c := t.hook.Config; c != nil && c.Name.IsSet() {
		return c.Name.Pos
	}
	return t.tool.Pos
}

// nameConflict refuses a name that is set in two places.
func (t *toolBuilder) nameConflict() {
	d, c := t.hook.Directive("expose"), t.hook.Config
	if d == nil || c == nil || !c.Name.IsSet() {
		return
	}
	if arg, ok := d.Value("name"); ok && arg.Value != c.Name.Value {
		t.errorf(arg.Pos, diag.Conflict, "drop one", "its name is set here and in toolgen.yaml")
		t.diags.Relate(c.Name.Pos, "the other place")
	}
}

// visible checks whatever a model reads, wherever it came from.
func (t *toolBuilder) visible() bool {
	before := countErrors(t.diags)
	t.checkText(t.hook.Pos, "title", t.tool.Title)
	t.checkText(t.hook.Pos, "input schema", t.tool.Input)
	t.checkText(t.hook.Pos, "output schema", t.tool.Output)
	return countErrors(t.diags) == before
}

func outputBytes(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

func countErrors(l diag.List) int {
	n := 0
	for _, d := range l {
		if d.Severity == diag.Error {
			n++
		}
	}
	return n
}

// hints gathers the hints of directives and yaml.
func (t *toolBuilder) hints() {
	has := func(name string) bool {
		if t.hook.Directive(name) != nil {
			return true
		}
		c := t.hook.Config
		return c != nil && slices.ContainsFunc(c.Hints, func(h configText) bool { return h.Value == name })
	}
	yes, no := true, false
	set := func(name string, to **bool, value *bool) {
		if has(name) {
			*to = value
		}
	}
	h := &t.tool.Hints
	set("readonly", &h.ReadOnly, &yes)
	set("destructive", &h.Destructive, &yes)
	set("idempotent", &h.Idempotent, &yes)
	set("closedworld", &h.OpenWorld, &no)
	if h.ReadOnly != nil && h.Destructive != nil {
		t.errorf(t.tool.Pos, diag.HintConflict, "drop one", "it is both read-only and destructive")
	}
	t.tool.Sequential = t.hook.Directive("sequential") != nil || t.hook.Config != nil && t.hook.Config.Sequential
}

// limits gathers what bounds a call.
func (t *toolBuilder) limits() {
	t.tool.MaxArgs, t.tool.MaxResult, t.tool.Timeout = t.hook.Settings.MaxArgs, t.hook.Settings.MaxResult, t.hook.Settings.Timeout
	d := t.hook.Directive("timeout")
	if d == nil {
		return
	}
	word := d.Positional()[0]
	timeout, err := time.ParseDuration(word.Value)
	switch {
	case err != nil || timeout <= 0:
		t.errorf(word.Pos, diag.DirectiveArgument, "write a duration like 30s", "%q is no duration", word.Value)
	case t.hook.Config != nil && t.hook.Config.Settings.Timeout != 0 && t.hook.Config.Settings.Timeout != timeout:
		t.errorf(word.Pos, diag.Conflict, "drop one", "its timeout is set here and in toolgen.yaml")
		t.diags.Relate(t.hook.Config.Method.Pos, "the other place")
	default:
		t.tool.Timeout = timeout
	}
}

// site is where a parameter is, for diagnostics.
func (t *toolBuilder) site(v *types.Var, name string) schema.Site {
	pos := t.hook.Pos
	hint := "hide it in toolgen.yaml (params: {" + name + ": {hide: true}})"
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
	k := value.Type.Kind
	param.Nullable = !param.Required || k == model.Slice || k == model.Map || k == model.Bytes
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

// results walks the results and makes the output schema.
func (t *toolBuilder) results(sig *types.Signature) {
	var data []int // indexes of results that are shown
	n := sig.Results().Len()
	for i := range n {
		v := sig.Results().At(i)
		r := model.Result{Name: v.Name(), Go: schema.GoType(v.Type())}
		switch {
		case i == n-1 && isOwnError(v.Type()):
			t.errorf(t.hook.Pos, diag.ResultShape, "return error", "result %d is an error of type %s, which nobody would take for a failure", i+1, types.TypeString(v.Type(), (*types.Package).Name))
			continue
		case i == n-1 && types.TypeString(v.Type(), nil) == "error":
			r.Error = true
		case isHTTPResponse(v.Type()):
			r.Drop = true
			t.diags.Notef(t.hook.Pos, diag.ResultDropped, "tool %s: result %d, %s, is dropped", t.tool.Name, i+1, types.TypeString(v.Type(), (*types.Package).Name))
		default:
			data = append(data, i)
		}
		t.tool.Results = append(t.tool.Results, r)
	}
	if len(data) == 0 {
		return
	}
	t.dataResults(sig, data)
}

func (t *toolBuilder) dataResults(sig *types.Signature, data []int) {
	root := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	for nth, i := range data {
		v := sig.Results().At(i)
		site := schema.Site{Pos: t.hook.Pos, What: fmt.Sprintf("tool %s: result %d", t.tool.Name, i+1), Hint: "expose a wrapper that returns something else"}
		if p := t.program.Pos(v); t.hook.Receiver.Own && v.Name() != "" && p.IsValid() {
			site.Pos = p
		} else if t.hook.Func != nil && t.hook.Receiver.Own {
			site.Pos = t.resultPos(i)
		}
		value, ok := t.walker.Walk(v.Type(), schema.Out, site)
		if !ok {
			continue
		}
		r := &t.tool.Results[i]
		r.Type = value.Type
		t.roots = append(t.roots, value.Type)
		if len(data) == 1 && isObject(value.Type) {
			r.Name = ""
			assembled, _ := t.walker.Assemble(t.described(value.Schema), schema.Out, nil)
			t.tool.Output = schema.Encode(assembled)
			return
		}
		r.Name = resultName(v.Name(), nth, len(data))
		s := value.Schema
		if len(data) == 1 {
			s = t.described(s)
		}
		if _, twice := root.Properties.Get(r.Name); twice {
			t.errorf(site.Pos, diag.PropertyTwice, "rename one", "two results are called %s in JSON", r.Name)
			continue
		}
		root.Properties.Set(r.Name, s)
		if value.Type.Kind != model.Pointer && value.Type.Kind != model.Error {
			root.Required = append(root.Required, r.Name)
		}
	}
	assembled, _ := t.walker.Assemble(root, schema.Out, nil)
	t.tool.Output = schema.Encode(assembled)
}

// described puts what the doc comment says of the result on its schema.
func (t *toolBuilder) described(s *jsonschema.Schema) *jsonschema.Schema {
	if t.doc == nil || t.doc.Returns == "" {
		return s
	}
	c := *s
	c.Description = t.doc.Returns
	return &c
}

// resultPos is where the type of an unnamed result stands.
func (t *toolBuilder) resultPos(i int) diag.Position {
	n := 0
	for _, f := range t.hook.Func.Results.List {
		n += max(len(f.Names), 1)
		if n > i {
			return diag.At(t.program.Fset.Position(f.Type.Pos()))
		}
	}
	return t.hook.Pos
}

// resultName is the property of one of several results, or of one that is no
// object.
func resultName(name string, nth, of int) string {
	switch {
	case of > 1 && name != "" && name != "_":
		return naming.Snake(name)
	case nth == 0:
		return "result"
	default:
		return fmt.Sprintf("result%d", nth+1)
	}
}

// isObject reports whether a result is an object by itself.
func isObject(t model.Type) bool {
	if t.Kind == model.Pointer {
		return isObject(*t.Elem)
	}
	return t.Kind == model.Struct || t.Kind == model.Map
}

// isOwnError recognises an error type other than error itself.
func isOwnError(typ types.Type) bool {
	iface, ok := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	return ok && types.TypeString(typ, nil) != "error" && types.Implements(typ, iface)
}

// isHTTPResponse recognises *http.Response and the wrappers around it that
// API clients return: they hold an open body, not data.
func isHTTPResponse(typ types.Type) bool {
	p, ok := types.Unalias(typ).(*types.Pointer)
	if !ok {
		return false
	}
	if types.TypeString(p, nil) == "*net/http.Response" {
		return true
	}
	s, ok := p.Elem().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if f.Embedded() && types.TypeString(f.Type(), nil) == "*net/http.Response" {
			return true
		}
	}
	return false
}
