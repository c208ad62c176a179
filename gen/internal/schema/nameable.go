package schema

import (
	"go/types"
)

// Nameable reports whether the package with the import path from can write
// down a type: every named type in it is exported, declared in a package's
// scope and importable, and every struct's fields are exported.
func Nameable(t types.Type, from string) bool {
	switch t := t.(type) {
	case *types.Alias:
		return Nameable(types.Unalias(t), from)
	case *types.Named:
		return nameableNamed(t, from)
	case *types.Pointer:
		return Nameable(t.Elem(), from)
	case *types.Slice:
		return Nameable(t.Elem(), from)
	case *types.Array:
		return Nameable(t.Elem(), from)
	case *types.Chan:
		return Nameable(t.Elem(), from)
	case *types.Map:
		return Nameable(t.Key(), from) && Nameable(t.Elem(), from)
	case *types.Signature:
		return nameableVars(t.Params(), from) && nameableVars(t.Results(), from)
	case *types.Struct:
		return nameableStruct(t, from)
	case *types.Interface:
		for m := range t.Methods() {
			if !m.Exported() || !Nameable(m.Type(), from) {
				return false
			}
		}
	}
	return true
}

func nameableNamed(t *types.Named, from string) bool {
	obj := t.Obj()
	if obj.Pkg() != nil && (!obj.Exported() || obj.Parent() != obj.Pkg().Scope() || !importable(obj.Pkg().Path(), from)) {
		return false
	}
	for arg := range t.TypeArgs().Types() {
		if !Nameable(arg, from) {
			return false
		}
	}
	return true
}

func nameableVars(vars *types.Tuple, from string) bool {
	for v := range vars.Variables() {
		if !Nameable(v.Type(), from) {
			return false
		}
	}
	return true
}

func nameableStruct(t *types.Struct, from string) bool {
	for f := range t.Fields() {
		if !f.Exported() || !Nameable(f.Type(), from) {
			return false
		}
	}
	return true
}
