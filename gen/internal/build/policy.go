package build

import (
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/directive"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
	"github.com/toolgen/toolgen/gen/internal/schema"
)

// options are the choices of toolgen.yaml for the types of this tool.
func (t *toolBuilder) options() schema.Options {
	set := t.hook.Settings
	o := schema.Options{
		SnakeFields: set.FieldNames == "snake", OmitFields: set.UnsupportedFields == "omit", NanoSeconds: set.Duration == "ns",
	}
	if c := t.hook.Receiver.Config; c != nil {
		o.RequiredDoc = c.RequiredDoc
		o.Enums, o.Schemas, o.Implementations = make(map[string]string), make(map[string]schema.Key), make(map[string][]string)
		for _, i := range c.Implementations {
			o.Implementations[i.Name.Value] = i.List
		}
		for _, e := range c.Enums {
			o.Enums[e.Name.Value] = e.Value.Value
		}
		for _, s := range c.Schemas {
			o.Schemas[s.Name.Value] = schema.Key{Name: "schema", Value: s.Value.Value, Pos: s.Value.Pos}
		}
	}
	return o
}

// symbol finds what a pin, guard or approval refers to: a method of the
// receiver, something of the hook package, or, as path.Name, of another.
func (t *toolBuilder) symbol(word config.Text) (obj types.Object, method bool) {
	pkg, name := t.hook.Receiver.Package.Types, word.Value
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		other := t.program.Package(name[:i])
		if other == nil || other.Types == nil {
			t.errorf(word.Pos, diag.UnknownName, "write the import path and the name: example.com/shop/policy.Check", "there is no package %s", name[:i])
			return nil, false
		}
		if other.Reaches(t.walker.Output()) {
			t.errorf(word.Pos, diag.ImportsOutput, "move it to another package", "package %s imports the output", other.Path)
			return nil, false
		}
		pkg, name = other.Types, name[i+1:]
	} else if fn, _, _ := types.LookupFieldOrMethod(receiverType(t.hook.Receiver.Name), true, pkg, name); fn != nil {
		if m, ok := fn.(*types.Func); ok && m.Exported() {
			return m, true
		}
	}
	obj = pkg.Scope().Lookup(name)
	if obj == nil || !obj.Exported() {
		var known []string
		for _, n := range pkg.Scope().Names() {
			if pkg.Scope().Lookup(n).Exported() {
				known = append(known, n)
			}
		}
		t.errorf(word.Pos, diag.UnknownName, hintNear(name, known), "package %s has no exported %s", pkg.Name(), name)
		return nil, false
	}
	return obj, false
}

// wordOf is an argument of a directive as a word of toolgen.yaml would be.
func wordOf(a directive.Arg) config.Text { return config.Text{Value: a.Value, Pos: a.Pos} }

func goSymbol(obj types.Object) model.GoType {
	return model.GoType{Kind: model.Named, Package: obj.Pkg().Path(), Name: obj.Name()}
}

// pin resolves how the host sets a parameter.
func (t *toolBuilder) pin(v named, w *pinWords, param *model.Param) {
	param.Pin, param.Go = &model.Pin{}, naming.Exported(v.name)
	typ := v.Type()
	switch {
	case !schema.Nameable(typ, t.walker.Output()):
		t.errorf(w.pos, diag.TypeUnexported, "expose a wrapper", "pinned parameter %s has a type that generated code can't name", v.name)
	case w.value.IsSet():
		param.Pin.Value = t.pinValue(typ, w.value)
	case w.constant.IsSet():
		obj, _ := t.symbol(w.constant)
		if obj == nil {
			return
		}
		if _, isVar := obj.(*types.Var); isVar && sharesMemory(obj.Type(), 0) {
			t.errorf(w.constant.Pos, diag.DirectiveArgument, "write a function that makes a new one, and pin it with from=", "pin %s: a hook could change %s for all calls", v.name, w.constant.Value)
			return
		}
		c, isConst := obj.(*types.Const)
		_, isVar := obj.(*types.Var)
		fits := types.AssignableTo(obj.Type(), typ) || isConst && fitsConst(c, typ)
		if !fits || !isConst && !isVar {
			t.errorf(w.constant.Pos, diag.DirectiveArgument, "name a constant or variable of that type", "pin %s: %s is no %s", v.name, w.constant.Value, types.TypeString(typ, (*types.Package).Name))
			return
		}
		param.Pin.Symbol = goSymbol(obj)
	case w.from.IsSet():
		t.pinFrom(v, w.from, param.Pin)
	default:
		field := naming.Exported(w.option.Value)
		if !token.IsIdentifier(field) {
			t.errorf(w.option.Pos, diag.YAMLValue, "write a Go name", "pin_option: %q can't be a field", w.option.Value)
			return
		}
		param.Pin.Option = field
		t.optionField(model.GoField{Name: field, Type: schema.GoType(typ)}, w.option.Pos)
	}
}

// sharesMemory reports whether a copy of a value leads to the same memory.
func sharesMemory(t types.Type, depth int) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return false
	case *types.Array:
		return depth > 10 || sharesMemory(u.Elem(), depth+1)
	case *types.Struct:
		for f := range u.Fields() {
			if depth > 10 || sharesMemory(f.Type(), depth+1) {
				return types.TypeString(t, nil) != "time.Time"
			}
		}
		return false
	default:
		return true
	}
}

func fitsConst(c *types.Const, typ types.Type) bool {
	basic, ok := c.Type().(*types.Basic)
	if !ok || basic.Info()&types.IsUntyped == 0 {
		return false
	}
	u, ok := typ.Underlying().(*types.Basic)
	if !ok {
		return false
	}
	switch c.Val().Kind() {
	case constant.String:
		return u.Info()&types.IsString != 0
	case constant.Bool:
		return u.Info()&types.IsBoolean != 0
	default:
		return schema.InRange(u, c.Val())
	}
}

func (t *toolBuilder) pinValue(typ types.Type, word config.Text) *model.Literal {
	l, err := t.walker.Literal(typ, word.Value)
	if err != nil {
		t.errorf(word.Pos, diag.DirectiveArgument, "write a value of its type, or use const= or from=", "pin: %s", err)
		return nil
	}
	return &l
}

// nestedPin resolves the pin of a field, which is a value.
func (t *toolBuilder) nestedPin(path string, w *pinWords) *model.Pin {
	if !w.value.IsSet() {
		t.errorf(w.pos, diag.DirectiveArgument, "write a value", "pin %s: a field is pinned to a value", path)
		return nil
	}
	typ := t.fieldType(path)
	if typ == nil {
		t.errorf(w.pos, diag.TextUnknown, "name a field of a struct, also within lists and maps, but of no array or option", "pin: there is no field %s that could be set", path)
		return nil
	}
	return &model.Pin{Value: t.pinValue(typ, w.value)}
}

// fieldType follows a path from a parameter through the fields of structs.
func (t *toolBuilder) fieldType(path string) types.Type {
	names := strings.Split(path, ".")
	i := slices.IndexFunc(t.parameters, func(v named) bool { return v.name == names[0] })
	if i < 0 {
		return nil
	}
	typ := t.parameters[i].Type()
	for _, name := range names[1:] {
		if typ = t.walker.FieldType(typ, name); typ == nil {
			return nil
		}
	}
	return typ
}

// pinFrom resolves func(context.Context) (T, error).
func (t *toolBuilder) pinFrom(v named, word config.Text, pin *model.Pin) {
	obj, method := t.symbol(word)
	if obj == nil {
		return
	}
	fn, ok := obj.(*types.Func)
	if !ok || !isSource(fn.Signature(), v.Type()) {
		t.errorf(word.Pos, diag.DirectiveArgument, "give it that form", "pin %s: %s is no func(context.Context) (%s, error)", v.name, word.Value, types.TypeString(v.Type(), (*types.Package).Name))
		return
	}
	if results := t.hook.Method.Signature().Results(); results.Len() == 0 || types.TypeString(results.At(results.Len()-1).Type(), nil) != "error" {
		t.errorf(word.Pos, diag.ResultShape, "let it return an error", "pin %s: %s can fail, and the method can't say so", v.name, word.Value)
	}
	if method {
		pin.Method = fn.Name()
		return
	}
	pin.Func = goSymbol(fn)
}

func isSource(sig *types.Signature, typ types.Type) bool {
	in, out := sig.Params(), sig.Results()
	return in.Len() == 1 && isContext(in.At(0).Type()) && out.Len() == 2 && schema.IsError(out.At(1).Type()) && types.AssignableTo(out.At(0).Type(), typ)
}

// optionField adds a field to what the toolset's constructor takes.
func (t *toolBuilder) optionField(f model.GoField, pos diag.Position) {
	for _, o := range t.toolset.Options {
		if o.Name == f.Name {
			if !reflect.DeepEqual(o.Type, f.Type) {
				t.errorf(pos, diag.Conflict, "pin one to something else", "two tools pin %s by an option, to values of different types", f.Name)
			}
			return
		}
	}
	t.toolset.Options = append(t.toolset.Options, f)
}

// policies resolves guards and approval.
func (t *toolBuilder) policies() {
	for i := range t.hook.Directives {
		d := &t.hook.Directives[i]
		if words := d.Positional(); d.Name == "guard" {
			names := make([]config.Text, len(words))
			for j, w := range words {
				names[j] = wordOf(w)
			}
			t.guard(names[0], names[1:])
		}
	}
	c := t.hook.Config
	if c != nil {
		for _, g := range c.Guards {
			var names []config.Text
			for _, n := range g.List {
				names = append(names, config.Text{Value: n, Pos: g.Value.Pos})
			}
			t.guard(g.Name, names)
		}
	}
	t.approval()
}

// guard resolves func(context.Context, T…) error.
func (t *toolBuilder) guard(word config.Text, names []config.Text) {
	g, sig, ok := t.guardFunc(word)
	if !ok {
		return
	}
	if sig.Results().Len() != 1 || !schema.IsError(sig.Results().At(0).Type()) || sig.Params().Len() != len(names)+1 {
		t.errorf(word.Pos, diag.DirectiveArgument, "give it that form", "guard %s is no func(context.Context, %d values) error", word.Value, len(names))
		return
	}
	for i, n := range names {
		j := slices.IndexFunc(t.parameters, func(v named) bool { return v.name == n.Value })
		switch {
		case j < 0:
			t.errorf(n.Pos, diag.TextUnknown, hintNear(n.Value, t.paramNames()), "guard: there is no parameter %s", n.Value)
			return
		case !types.AssignableTo(t.parameters[j].Type(), sig.Params().At(i+1).Type()):
			t.errorf(n.Pos, diag.DirectiveArgument, "let it take that type", "guard %s takes a %s for %s, which is a %s", word.Value,
				types.TypeString(sig.Params().At(i+1).Type(), (*types.Package).Name), n.Value, types.TypeString(t.parameters[j].Type(), (*types.Package).Name))
			return
		}
		g.Params = append(g.Params, t.parameters[j].index)
	}
	for _, i := range g.Params {
		if i < len(t.tool.Params) && !guardable(&t.tool.Params[i]) {
			t.errorf(word.Pos, diag.DirectiveArgument, "name values that a model sends", "guard %s: parameter %s is not offered, or can be read only once", word.Value, t.parameters[i].name)
			return
		}
	}
	t.tool.Guards = append(t.tool.Guards, g)
}

// guardable reports whether a guard can look at an argument: what is read once
// would be used up, and options are no values.
func guardable(p *model.Param) bool {
	return p.Offered() && p.Form != model.Optional && p.Type.Kind != model.Content && p.Type.Kind != model.Feed
}

// guardFunc finds a function that takes a context first.
func (t *toolBuilder) guardFunc(word config.Text) (model.Guard, *types.Signature, bool) {
	obj, method := t.symbol(word)
	fn, ok := obj.(*types.Func)
	if obj == nil {
		return model.Guard{}, nil, false
	}
	if !ok || fn.Signature().Variadic() || fn.Signature().Params().Len() == 0 || !isContext(fn.Signature().Params().At(0).Type()) {
		t.errorf(word.Pos, diag.DirectiveArgument, "name a function whose first parameter is a context", "%s can't be called with a context and arguments", word.Value)
		return model.Guard{}, nil, false
	}
	if method {
		return model.Guard{Method: fn.Name()}, fn.Signature(), true
	}
	return model.Guard{Func: goSymbol(fn)}, fn.Signature(), true
}

// approval resolves who decides about a call.
func (t *toolBuilder) approval() {
	var when config.Text
	if d := t.hook.Directive("approve"); d != nil {
		t.tool.Approve = true
		if a, ok := d.Value("when"); ok {
			when = wordOf(a)
		}
	}
	if c := t.hook.Config; c != nil && c.Approve.IsSet() && c.Approve.Value != "false" {
		t.tool.Approve = true
		if c.Approve.Value != "true" {
			when = t.agreed(when, c.Approve, "when it is to be approved is")
		}
	}
	if !when.IsSet() {
		return
	}
	g, sig, ok := t.guardFunc(when)
	if !ok {
		return
	}
	for i := range t.tool.Params {
		if guardable(&t.tool.Params[i]) {
			g.Params = append(g.Params, i)
		}
	}
	good := sig.Params().Len() == len(g.Params)+1 && sig.Results().Len() == 1 && types.TypeString(sig.Results().At(0).Type(), nil) == "bool"
	for n := 0; good && n < len(g.Params); n++ {
		good = types.AssignableTo(t.parameters[g.Params[n]].Type(), sig.Params().At(n+1).Type())
	}
	if !good {
		t.errorf(when.Pos, diag.DirectiveArgument, "give it that form", "approve: %s is no %s", when.Value, t.wantedForm(g.Params))
		return
	}
	t.tool.When = &g
}

// wantedForm spells the function that is asked whether a call is to be approved.
func (t *toolBuilder) wantedForm(params []int) string {
	list := []string{"context.Context"}
	for _, i := range params {
		list = append(list, types.TypeString(t.parameters[i].Type(), (*types.Package).Name))
	}
	return "func(" + strings.Join(list, ", ") + ") bool"
}

// retries is how many corrections in a row a model has; -1: none.
func (t *toolBuilder) retries() {
	var word config.Text
	if d := t.hook.Directive("retries"); d != nil {
		word = wordOf(d.Positional()[0])
	}
	if c := t.hook.Config; c != nil && c.Retries.IsSet() {
		word = t.agreed(word, c.Retries, "its retries are")
	}
	if !word.IsSet() {
		return
	}
	n, err := strconv.Atoi(word.Value)
	if err != nil || n < 0 || n > 100 {
		t.errorf(word.Pos, diag.DirectiveArgument, "write a number from 0 to 100", "retries: %q is no count", word.Value)
		return
	}
	if n == 0 {
		n = -1
	}
	t.tool.Retries = n
}

// examples adds the arguments that directives and yaml give as examples, and
// those of the doc comment; each must fit the schema.
func (t *toolBuilder) examples(root *jsonschema.Schema) {
	var words []config.Text
	for i := range t.hook.Directives {
		if d := &t.hook.Directives[i]; d.Name == "example" {
			words = append(words, wordOf(d.Positional()[0]))
		}
	}
	if c := t.hook.Config; c != nil {
		words = append(words, c.Examples...)
	}
	for _, e := range t.doc.Examples {
		words = append(words, config.Text{Value: e, Pos: t.hook.Pos})
	}
	for _, w := range words {
		value, err := schema.Example(root, w.Value)
		if err != nil {
			t.errorf(w.Pos, diag.DirectiveArgument, "mend it", "the example doesn't fit the schema: %s", err)
			continue
		}
		root.Examples = append(root.Examples, value)
	}
}
