package build

import (
	"go/types"
	"strings"

	"github.com/invopop/jsonschema"

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
		if !isError(results.At(i).Type()) && !isDropped {
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
	if s, ok := elem.Underlying().(*types.Slice); ok {
		elem = s.Elem()
	}
	local := t.walker.Local(t.tool.Ident + naming.Exported(v.name))
	if builder := t.builderOf(names, elem); builder != nil {
		return local.Value(), t.setters(names, builder, param, local, site)
	}
	ok := true
	for _, name := range names {
		ok = t.constructor(name, elem, param, local, site) && ok
	}
	return local.Value(), ok
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
func (t *toolBuilder) setters(names []config.Text, makes *types.Func, param *model.Param, local *schema.Local, site schema.Site) bool {
	built := makes.Signature().Results().At(0).Type()
	param.Builder = &model.Builder{Func: goSymbol(makes), Spread: makes.Signature().Variadic()}
	ok := true
	for p := range makes.Signature().Params().Variables() {
		value, good := t.walker.Walk(p.Type(), schema.In, site)
		if ok = ok && good; good {
			param.Builder.Params = append(param.Builder.Params, local.Require(naming.Snake(p.Name()), naming.Exported(p.Name()), value))
		}
	}
	methods := types.NewMethodSet(built)
	for _, name := range names[1:] {
		m := methods.Lookup(nil, name.Value)
		if m == nil {
			t.errorf(name.Pos, diag.UnknownName, "name its methods", "options: %s has no method %s", types.TypeString(built, (*types.Package).Name), name.Value)
			ok = false
			continue
		}
		fn, isFunc := m.Obj().(*types.Func)
		ok = isFunc && t.option(fn, strings.TrimPrefix(name.Value, "Set"), param, local, site) && ok
		if o := len(param.Options) - 1; isFunc && o >= 0 {
			results := fn.Signature().Results()
			param.Options[o].Method = name.Value
			param.Options[o].Chained = results.Len() == 1 && types.Identical(results.At(0).Type(), built)
		}
	}
	return ok
}

// constructor adds one constructor of a functional option.
func (t *toolBuilder) constructor(word config.Text, option types.Type, param *model.Param, local *schema.Local, site schema.Site) bool {
	obj, method := t.constructorFunc(word, option)
	fn, ok := obj.(*types.Func)
	if obj == nil {
		return false
	}
	if !ok || method || fn.Signature().Results().Len() != 1 || !types.AssignableTo(fn.Signature().Results().At(0).Type(), option) {
		t.errorf(word.Pos, diag.DirectiveArgument, "name a function that returns one", "options: %s doesn't return a %s", word.Value, types.TypeString(option, (*types.Package).Name))
		return false
	}
	return t.option(fn, strings.TrimPrefix(fn.Name(), "With"), param, local, site)
}

// option adds a property for a function: a boolean if it takes nothing, one
// value, or an object of several.
func (t *toolBuilder) option(fn *types.Func, name string, param *model.Param, local *schema.Local, site schema.Site) bool {
	sig := fn.Signature()
	property, goName := naming.Snake(name), naming.Exported(name)
	o := model.Option{Func: goSymbol(fn), Spread: sig.Variadic()}
	text := t.walker.FuncProse(fn)
	site.What = "tool " + t.tool.Name + ": option " + fn.Name()
	switch sig.Params().Len() {
	case 0:
		o.Field = local.Add(property, goName, boolean, text)
	case 1:
		value, ok := t.walker.Walk(sig.Params().At(0).Type(), schema.In, site)
		if !ok {
			return false
		}
		o.Field = local.Add(property, goName, value, text)
		o.Params = []model.Field{o.Field}
		o.Wrapped = o.Field.Type.Kind == model.Pointer && value.Type.Kind != model.Pointer
	default:
		inner := t.walker.Local(local.Name() + goName)
		for p := range sig.Params().Variables() {
			value, ok := t.walker.Walk(p.Type(), schema.In, site)
			if !ok {
				return false
			}
			o.Params = append(o.Params, inner.Require(naming.Snake(p.Name()), naming.Exported(p.Name()), value))
		}
		o.Field = local.Add(property, goName, inner.Value(), text)
		o.Type = inner.Name()
	}
	param.Options = append(param.Options, o)
	return true
}

var boolean = schema.Value{
	Type:   model.Type{Kind: model.Bool, Go: model.GoType{Kind: model.Named, Name: "bool"}},
	Schema: &jsonschema.Schema{Type: "boolean"},
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
