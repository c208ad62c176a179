package schema

import (
	"go/types"

	"github.com/toolgen/toolgen/gen/internal/model"
)

// GoType returns how generated code spells a type.
func GoType(t types.Type) model.GoType {
	switch t := t.(type) {
	case *types.Alias:
		if !t.Obj().Exported() { // its target may be nameable where it isn't
			return GoType(types.Unalias(t))
		}
		return named(t.Obj(), t.TypeArgs())
	case *types.Named:
		return named(t.Obj(), t.TypeArgs())
	case *types.TypeParam:
		return model.GoType{Kind: model.Named, Name: t.Obj().Name()}
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			return model.GoType{Kind: model.UnsafePointer}
		}
		return model.GoType{Kind: model.Named, Name: t.Name()}
	case *types.Pointer:
		return model.GoType{Kind: model.GoPointer, Elem: ref(t.Elem())}
	case *types.Slice:
		return model.GoType{Kind: model.GoSlice, Elem: ref(t.Elem())}
	case *types.Array:
		return model.GoType{Kind: model.GoArray, Elem: ref(t.Elem()), Len: t.Len()}
	case *types.Map:
		return model.GoType{Kind: model.GoMap, Key: ref(t.Key()), Elem: ref(t.Elem())}
	case *types.Chan:
		dirs := map[types.ChanDir]string{types.SendOnly: "send", types.RecvOnly: "receive"}
		return model.GoType{Kind: model.GoChan, Elem: ref(t.Elem()), Dir: dirs[t.Dir()]}
	case *types.Signature:
		return Signature(t, nil)
	case *types.Struct:
		return structType(t)
	case *types.Interface:
		return interfaceType(t)
	}
	return model.GoType{}
}

func ref(t types.Type) *model.GoType {
	g := GoType(t)
	return &g
}

func named(obj *types.TypeName, args *types.TypeList) model.GoType {
	g := model.GoType{Kind: model.Named, Name: obj.Name()}
	if obj.Pkg() != nil {
		g.Package = obj.Pkg().Path()
	}
	for t := range args.Types() {
		g.Args = append(g.Args, GoType(t))
	}
	return g
}

// Signature returns a func type, with a receiver as its first parameter where
// there is one: the type of a method expression.
func Signature(sig *types.Signature, receiver types.Type) model.GoType {
	g := model.GoType{Kind: model.GoFunc, Variadic: sig.Variadic()}
	if receiver != nil {
		g.Args = append(g.Args, GoType(receiver))
	}
	for v := range sig.Params().Variables() {
		g.Args = append(g.Args, GoType(v.Type()))
	}
	for v := range sig.Results().Variables() {
		g.Results = append(g.Results, GoType(v.Type()))
	}
	return g
}

func structType(t *types.Struct) model.GoType {
	g := model.GoType{Kind: model.GoStruct}
	for i := range t.NumFields() {
		f := t.Field(i)
		g.Fields = append(g.Fields, model.GoField{Name: f.Name(), Type: GoType(f.Type()), Tag: t.Tag(i), Embedded: f.Embedded()})
	}
	return g
}

func interfaceType(t *types.Interface) model.GoType {
	g := model.GoType{Kind: model.GoInterface}
	for m := range t.ExplicitMethods() {
		g.Fields = append(g.Fields, model.GoField{Name: m.Name(), Type: GoType(m.Signature())})
	}
	for e := range t.EmbeddedTypes() {
		g.Fields = append(g.Fields, model.GoField{Type: GoType(e), Embedded: true})
	}
	return g
}
