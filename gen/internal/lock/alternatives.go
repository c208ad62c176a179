package lock

import "slices"

// enum compares lists of values.
func (w *walk) enum(pointer string, old, fresh any) {
	before, limited := old.([]any)
	now, limits := fresh.([]any)
	if !limited || !limits {
		w.add(w.class(limits), pointer, "its enum", orNone(old), orNone(fresh))
		return
	}
	for _, v := range before {
		if !has(now, v) {
			w.add(w.class(true), pointer, "a value is removed", text(v), "")
		}
	}
	for _, v := range now {
		if !has(before, v) {
			w.add(Widening, pointer, "a value is new", "", text(v))
		}
	}
}

func has(list []any, v any) bool {
	return slices.ContainsFunc(list, func(other any) bool { return equal(other, v) })
}

// variants compares alternatives: those of an interface by their names, others by
// what they are.
func (w *walk) variants(pointer string, old, fresh any) {
	before, known := named(old)
	now, ok := named(fresh)
	if !known || !ok {
		w.unnamed(pointer, old, fresh)
		return
	}
	for _, name := range keys(before, now) {
		o, was := before[name]
		n, is := now[name]
		switch {
		case was && is:
			w.schema(pointer+"/"+escape(name), o, n)
		case was:
			w.add(w.class(true), pointer, "an alternative is removed", name, "")
		default:
			w.add(Widening, pointer, "an alternative is new", "", name)
		}
	}
}

func (w *walk) unnamed(pointer string, old, fresh any) {
	before, was := old.([]any)
	now, is := fresh.([]any)
	if !was || !is {
		w.add(Breaking, pointer, "its alternatives", orNone(old), orNone(fresh))
		return
	}
	for _, v := range before {
		if !has(now, v) {
			w.add(Breaking, pointer, "an alternative is removed", text(v), "")
		}
	}
	for _, v := range now {
		if !has(before, v) {
			w.add(Widening, pointer, "an alternative is new", "", text(v))
		}
	}
}

// named returns alternatives by the constant of their property type.
func named(v any) (map[string]map[string]any, bool) {
	list, ok := v.([]any)
	out := make(map[string]map[string]any)
	for _, e := range list {
		s, _ := e.(map[string]any)
		props, _ := s["properties"].(map[string]any)
		typ, _ := props["type"].(map[string]any)
		name, is := typ["const"].(string)
		if !is {
			return nil, false
		}
		out[name] = s
	}
	return out, ok
}
