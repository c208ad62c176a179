package build

import (
	"go/types"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
	"github.com/toolgen/toolgen/gen/internal/schema"
)

// defaultItems is how many items of a stream are shown, unless toolgen.yaml or
// a directive says otherwise.
const defaultItems = 1000

func isWriter(t types.Type) bool { return types.TypeString(t, nil) == "io.Writer" }

// isCallback recognises func(T), func(T) error and func(T) bool.
func isCallback(t types.Type) bool {
	sig, ok := t.Underlying().(*types.Signature)
	if !ok || sig.Params().Len() != 1 || sig.Variadic() || sig.Results().Len() > 1 || isStream(t) {
		return false
	}
	if sig.Results().Len() == 0 {
		return !isPointerToStruct(sig.Params().At(0).Type()) // func(*Options) configures
	}
	r := types.TypeString(sig.Results().At(0).Type(), nil)
	return r == "error" || r == "bool"
}

func isPointerToStruct(t types.Type) bool {
	p, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	_, ok = p.Elem().Underlying().(*types.Struct)
	return ok
}

// capture makes what is written to an io.Writer the result.
func (t *toolBuilder) capture(v named, param *model.Param) {
	param.Form = model.Captured
	if !t.setExtra(v) {
		return
	}
	results := t.hook.Method.Signature().Results()
	for i, isDropped := range t.dropped(results.Len()) {
		if !schema.IsError(results.At(i).Type()) && !isDropped {
			t.errorf(t.site(v.Var, v.name).Pos, diag.WriterResult, "hide it, or expose a wrapper that returns one of both", "parameter %s, an io.Writer, stands beside data results", v.name)
			return
		}
	}
	bytes := model.GoType{Kind: model.GoSlice, Elem: &model.GoType{Kind: model.Named, Name: "byte"}}
	t.extra = &model.Result{Go: bytes, Type: model.Type{Kind: model.Bytes, Go: bytes}, Extra: true}
}

// setExtra reports whether there is room for a result that the method doesn't
// return.
func (t *toolBuilder) setExtra(v named) bool {
	if t.extra != nil {
		t.errorf(t.site(v.Var, v.name).Pos, diag.ResultShape, "hide one", "parameter %s: only one writer or callback can be the result", v.name)
	}
	return t.extra == nil
}

// collect makes what a callback is called with the result.
func (t *toolBuilder) collect(v named, param *model.Param) {
	param.Form = model.Collect
	site := t.site(v.Var, v.name)
	if !isCallback(v.Type()) {
		t.errorf(site.Pos, diag.DirectiveArgument, "name a func(T), func(T) error or func(T) bool", "collect: parameter %s has type %s", v.name, types.TypeString(v.Type(), (*types.Package).Name))
		return
	}
	if !t.setExtra(v) {
		return
	}
	sig := v.Type().Underlying().(*types.Signature) //nolint:forcetypeassert // it is a callback
	elem := sig.Params().At(0).Type()
	value, ok := t.walker.Walk(elem, schema.Out, site)
	if !ok {
		return
	}
	t.roots = append(t.roots, value.Type)
	param.Callback = &model.Callback{Elem: value.Type, Max: t.maxItems()}
	if sig.Results().Len() == 1 {
		param.Callback.Returns = types.TypeString(sig.Results().At(0).Type(), nil)
	}
	collected := model.GoType{Kind: model.Named, Package: toolimplPath, Name: "Collected", Args: []model.GoType{schema.GoType(elem)}}
	t.extra = &model.Result{Name: "items", Go: collected, Type: value.Type, Extra: true, Stream: &model.Stream{Max: t.maxItems()}}
	t.extraSchema = value.Schema
}

const toolimplPath = "github.com/toolgen/toolgen/runtime/toolimpl"

// functional walks the constructors of functional options that are offered: an
// object with a property for each.
func (t *toolBuilder) functional(v named, names []config.Text, param *model.Param, site schema.Site) (schema.Value, bool) {
	param.Form, param.Param = model.Optional, schema.GoType(v.Type())
	elem := v.Type()
	s, slice := elem.Underlying().(*types.Slice)
	if slice {
		elem = s.Elem()
	}
	o := optionWalk{toolBuilder: t, param: param, local: t.walker.Local(t.tool.Ident + naming.Exported(v.name)), site: site, path: naming.Snake(v.name)}
	if makes := t.builderOf(names, elem); makes != nil {
		if slice && !param.Variadic {
			t.errorf(names[0].Pos, diag.DirectiveArgument, "expose a wrapper", "options: parameter %s is a list of builders", v.name)
			return schema.Value{}, false
		}
		return o.local.Value(), o.setters(names, makes)
	}
	if !slice {
		t.errorf(names[0].Pos, diag.DirectiveArgument, "expose a wrapper", "options: parameter %s takes one option, and no list", v.name)
		return schema.Value{}, false
	}
	ok := true
	for _, name := range names {
		ok = o.constructor(name, elem) && ok
	}
	return o.local.Value(), ok
}

// An optionWalk makes an object of the functional options of one parameter.
type optionWalk struct {
	*toolBuilder

	param *model.Param
	local *schema.Local
	site  schema.Site
	path  string // of the object
}

// builderOf returns the function that makes a builder, if the names are that
// function and methods of what it returns.
func (t *toolBuilder) builderOf(names []config.Text, option types.Type) *types.Func {
	if len(names) < 2 {
		return nil
	}
	n, ok := elemType(option).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return nil
	}
	fn, ok := t.program.Complete(n.Obj().Pkg()).Scope().Lookup(names[0].Value).(*types.Func)
	if !ok || !fn.Exported() || fn.Signature().Results().Len() != 1 || !types.AssignableTo(fn.Signature().Results().At(0).Type(), option) {
		return nil
	}
	if types.NewMethodSet(fn.Signature().Results().At(0).Type()).Lookup(nil, names[1].Value) == nil {
		return nil
	}
	return fn
}

func elemType(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.Unalias(t)
}

// setters walks a function that makes a builder, whose parameters are required,
// and methods that set something on it.
func (o *optionWalk) setters(names []config.Text, makes *types.Func) bool {
	built := makes.Signature().Results().At(0).Type()
	b := &model.Builder{Func: goSymbol(makes), Spread: makes.Signature().Variadic()}
	o.param.Builder = b
	var ok bool
	if b.Params, ok = o.required(makes, o.local, names[0]); !ok {
		return false
	}
	methods := types.NewMethodSet(built)
	for _, name := range names[1:] {
		fn := (*types.Func)(nil)
		if m := methods.Lookup(nil, name.Value); m != nil {
			fn, _ = m.Obj().(*types.Func)
		}
		if fn == nil {
			o.errorf(name.Pos, diag.UnknownName, "name its methods", "options: %s has no method %s", types.TypeString(built, (*types.Package).Name), name.Value)
			ok = false
			continue
		}
		if !o.option(fn, strings.TrimPrefix(name.Value, "Set"), name) {
			ok = false
			continue
		}
		results := fn.Signature().Results()
		last := &o.param.Options[len(o.param.Options)-1]
		last.Method, last.Chained = name.Value, results.Len() == 1 && types.Identical(results.At(0).Type(), built)
	}
	return ok
}

// constructor adds one constructor of a functional option.
func (o *optionWalk) constructor(word config.Text, option types.Type) bool {
	obj, method := o.constructorFunc(word, option)
	fn, ok := obj.(*types.Func)
	if obj == nil {
		return false
	}
	if !ok || method || fn.Signature().TypeParams().Len() > 0 || fn.Signature().Results().Len() != 1 || !types.AssignableTo(fn.Signature().Results().At(0).Type(), option) {
		o.errorf(word.Pos, diag.DirectiveArgument, "name a function that returns one", "options: %s doesn't return a %s", word.Value, types.TypeString(option, (*types.Package).Name))
		return false
	}
	return o.option(fn, strings.TrimPrefix(fn.Name(), "With"), word)
}

// option adds a property for a function: a boolean if it takes nothing, one
// value, or an object of several.
func (o *optionWalk) option(fn *types.Func, name string, word config.Text) bool {
	sig := fn.Signature()
	property, goName := naming.Snake(name), naming.Exported(name)
	if name == "" || !validParam(property) || o.local.Has(property) {
		o.errorf(word.Pos, diag.PropertyTwice, "drop it", "options: %s would be a property %q, which is there already or no name", word.Value, property)
		return false
	}
	option := model.Option{Func: goSymbol(fn), Spread: sig.Variadic()}
	text := o.walker.FuncProse(fn)
	site := o.site
	site.What = "tool " + o.tool.Name + ": option " + fn.Name()
	switch sig.Params().Len() {
	case 0:
		option.Field = o.local.Flag(property, goName, text)
	case 1:
		value, rules, ok := o.walker.Setting(o.path+"."+property, sig.Params().At(0).Type(), site)
		if !ok {
			return false
		}
		option.Field = o.local.Add(property, goName, value, rules, text)
		option.Params = []model.Field{option.Field}
		option.Wrapped = option.Field.Type.Kind == model.Pointer && value.Type.Kind != model.Pointer
	default:
		inner := o.walker.Local(o.local.Name() + goName)
		params, ok := o.required(fn, inner, word)
		if !ok {
			return false
		}
		option.Params = params
		option.Field = o.local.Add(property, goName, inner.Value(), nil, text)
		option.Type = inner.Name()
	}
	o.param.Options = append(o.param.Options, option)
	return true
}

// required adds the parameters of a function as required properties.
func (o *optionWalk) required(fn *types.Func, local *schema.Local, word config.Text) ([]model.Field, bool) {
	var out []model.Field
	sig := fn.Signature()
	for i := range sig.Params().Len() {
		p := sig.Params().At(i)
		name := naming.Snake(p.Name())
		if !validParam(name) || local.Has(name) {
			o.errorf(word.Pos, diag.ParameterUnnamed, "expose a wrapper", "options: the parameters of %s have no names that differ", word.Value)
			return nil, false
		}
		site := o.site
		site.What = "tool " + o.tool.Name + ": option " + fn.Name()
		value, ok := o.walker.Walk(p.Type(), schema.In, site)
		if !ok {
			return nil, false
		}
		if value.Type.Kind == model.Pointer || sig.Variadic() && i == sig.Params().Len()-1 {
			out = append(out, local.Add(name, naming.Exported(p.Name()), value, nil, ""))
			continue
		}
		out = append(out, local.Require(name, naming.Exported(p.Name()), value))
	}
	return out, true
}

// constructorFunc finds a constructor in the package of the option's type,
// else in the hook package.
func (t *toolBuilder) constructorFunc(word config.Text, option types.Type) (types.Object, bool) {
	if n, ok := types.Unalias(option).(*types.Named); ok && n.Obj().Pkg() != nil {
		if obj := t.program.Complete(n.Obj().Pkg()).Scope().Lookup(word.Value); obj != nil && obj.Exported() {
			return obj, false
		}
	}
	return t.symbol(word)
}

// maxItems is how many items of a stream are shown.
func (t *toolBuilder) maxItems() int {
	if n := t.tool.MaxItems; n > 0 {
		return n
	}
	return defaultItems
}
