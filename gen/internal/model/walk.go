package model

import "reflect"

// EachGoType calls visit for every Go type, function and variable that the
// package's model names, however deep.
func (p *Package) EachGoType(visit func(*GoType)) {
	walk(reflect.ValueOf(p).Elem(), visit)
}

var goType = reflect.TypeFor[GoType]()

func walk(v reflect.Value, visit func(*GoType)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), visit)
		}
	case reflect.Slice, reflect.Array:
		if holdsTypes(v.Type().Elem()) {
			for i := range v.Len() {
				walk(v.Index(i), visit)
			}
		}
	case reflect.Struct:
		if v.Type() == goType {
			visit(v.Addr().Interface().(*GoType)) //nolint:forcetypeassert // it has that type
		}
		for _, field := range v.Fields() {
			if holdsTypes(field.Type()) {
				walk(field, visit)
			}
		}
	}
}

// holdsTypes tells what may have Go types within from strings, numbers and the
// maps of names.
func holdsTypes(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return holdsTypes(t.Elem())
	case reflect.Struct:
		return true
	default:
		return false
	}
}
