package lock

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
)

// resultPointer begins pointers into the result.
const resultPointer = "result"

// walk compares two schemas, of arguments or, going out, of a result. What is
// more in a result than was is no harm to who reads it; what is less is.
type walk struct {
	*comparison

	out                bool
	oldRoot, freshRoot map[string]any
	seen               map[[2]string]bool // pairs of references being compared: they may contain themselves
}

// structure are the keywords that schema itself compares.
var structure = []string{"$ref", "$defs", "properties", "required", "items", "additionalProperties"}

func (w *walk) schema(pointer string, old, fresh map[string]any) {
	pair := [2]string{ref(old), ref(fresh)}
	if pair[0] != "" && pair[1] != "" {
		if w.seen[pair] {
			return
		}
		w.seen[pair] = true
	}
	old, fresh = resolve(w.oldRoot, old), resolve(w.freshRoot, fresh)
	if retyped := old["type"] != fresh["type"]; retyped {
		w.typ(pointer, old["type"], fresh["type"])
		return // the rest follows from that
	}
	for _, k := range keys(old, fresh) {
		if slices.Contains(structure, k) || reflect.DeepEqual(old[k], fresh[k]) {
			continue
		}
		w.keyword(pointer, k, old[k], fresh[k])
	}
	w.properties(pointer, old, fresh)
	w.below(pointer, old["items"], fresh["items"], "items")
	w.below(pointer, old["additionalProperties"], fresh["additionalProperties"], "additionalProperties")
}

// keyword compares what one keyword says. One that isn't known and differs is
// breaking, since nobody can say what it does.
func (w *walk) keyword(pointer, keyword string, old, fresh any) {
	switch keyword {
	case "title", "description", "examples", "$comment", "deprecated", "readOnly", "writeOnly":
		before, now := plain(old), plain(fresh)
		w.add(Wording, pointer, "its "+keyword+" changed", differing(before, now), differing(now, before))
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties":
		w.constraint(pointer, keyword, old, fresh, old == nil || fresh != nil && less(old, fresh))
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
		w.constraint(pointer, keyword, old, fresh, old == nil || fresh != nil && less(fresh, old))
	case "multipleOf", "pattern", "format", "uniqueItems", "propertyNames", "contentMediaType": // what can't be measured is tighter when it is there
		w.constraint(pointer, keyword, old, fresh, fresh != nil)
	case "default": // a call that leaves it out means something else with another
		w.constraint(pointer, keyword, old, fresh, old != nil)
	case "enum":
		w.enum(pointer, old, fresh)
	case "anyOf":
		w.variants(pointer, old, fresh)
	default:
		w.add(Breaking, pointer, "its "+keyword, orNone(old), orNone(fresh))
	}
}

func ref(s map[string]any) string {
	name, _ := s["$ref"].(string)
	return name
}

// resolve returns what a reference stands for, with what stands beside it.
func resolve(root, s map[string]any) map[string]any {
	for range 10 { // references to references
		name, ok := strings.CutPrefix(ref(s), "#/$defs/")
		if !ok {
			return s
		}
		defs, _ := root["$defs"].(map[string]any)
		target, ok := defs[name].(map[string]any)
		if !ok {
			return s
		}
		merged := maps.Clone(target)
		for k, v := range s {
			if k != "$ref" {
				merged[k] = v
			}
		}
		s = merged
	}
	return s
}

// class is that of a change which makes less be right, going in.
func (w *walk) class(tightens bool) Class {
	if w.out {
		return Widening
	}
	return tighter(tightens)
}

func (w *walk) constraint(pointer, keyword string, old, fresh any, tightens bool) {
	w.add(w.class(tightens), pointer, "its "+keyword, orNone(old), orNone(fresh))
}

// typ compares types: an integer is a number.
func (w *walk) typ(pointer string, old, fresh any) {
	wide, narrow := fresh, old
	if w.out {
		wide, narrow = old, fresh
	}
	class := Breaking
	if wide == nil || wide == "number" && narrow == "integer" {
		class = Widening
	}
	w.add(class, pointer, "its type", typeName(old), typeName(fresh))
}

func typeName(t any) string {
	if t == nil {
		return "any"
	}
	return plain(t)
}

func (w *walk) enum(pointer string, old, fresh any) {
	before, limited := old.([]any)
	now, limits := fresh.([]any)
	if !limited || !limits {
		w.add(w.class(limits), pointer, "its enum", orNone(old), orNone(fresh))
		return
	}
	has := func(list []any, v any) bool {
		return slices.ContainsFunc(list, func(other any) bool { return reflect.DeepEqual(other, v) })
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

// variants compares the alternatives of an interface, each with its name.
func (w *walk) variants(pointer string, old, fresh any) {
	before, known := named(old)
	now, ok := named(fresh)
	if !known || !ok {
		w.add(Breaking, pointer, "its alternatives", orNone(old), orNone(fresh))
		return
	}
	for _, name := range keys(before, now) {
		o, was := before[name]
		n, is := now[name]
		switch {
		case was && is:
			w.schema(pointer, o, n)
		case was && w.out:
			w.add(Widening, pointer, "an alternative is removed", name, "")
		case was:
			w.add(Narrowing, pointer, "an alternative is removed", name, "")
		default:
			w.add(Widening, pointer, "an alternative is new", "", name)
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

// properties compares the properties of objects.
func (w *walk) properties(pointer string, old, fresh map[string]any) {
	before, _ := old["properties"].(map[string]any)
	now, _ := fresh["properties"].(map[string]any)
	renamed := w.renamed(before, now)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		at := pointer + "/" + name
		switch to := renamed[name]; {
		case to != "":
			w.add(Breaking, pointer+"/"+to, "it is renamed", name, to)
			w.nested(pointer+"/"+to, before[name], now[to])
		case now[name] == nil:
			w.removed(at)
		default:
			w.nested(at, before[name], now[name])
			w.required(at, demands(old, name), demands(fresh, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if before[name] != nil || slices.Contains(slices.Collect(maps.Values(renamed)), name) {
			continue
		}
		if !w.out && demands(fresh, name) {
			w.add(Breaking, pointer+"/"+name, "it is new and must be sent", "", "")
		} else {
			w.add(Widening, pointer+"/"+name, "it is new", "", "")
		}
	}
}

// removed reports a property that isn't there any more.
func (w *walk) removed(pointer string) {
	_, pinned := w.fresh.Pins[pointer]
	switch {
	case w.out:
		w.add(Breaking, pointer, "it is removed", "", "")
	case pinned:
		w.add(Narrowing, pointer, "it is pinned by the host", "", "")
	case slices.Contains(w.fresh.Hidden, pointer):
		w.add(Narrowing, pointer, "it is hidden by the host", "", "")
	default:
		w.add(Breaking, pointer, "it is removed", "", "")
	}
}

func (w *walk) required(pointer string, was, is bool) {
	switch {
	case was == is:
	case w.out && was:
		w.add(Narrowing, pointer, "it may be missing now", "", "")
	case w.out:
		w.add(Widening, pointer, "it is always there now", "", "")
	case is:
		w.add(Breaking, pointer, "it must be sent now", "", "")
	default:
		w.add(Widening, pointer, "it need not be sent any more", "", "")
	}
}

func demands(s map[string]any, name string) bool {
	list, _ := s["required"].([]any)
	return slices.Contains(list, any(name))
}

// renamed pairs properties that are gone with new ones which are the same but
// for prose, where there is one candidate only.
func (w *walk) renamed(before, now map[string]any) map[string]string {
	out := make(map[string]string)
	taken := make(map[string]int)
	for name, old := range before {
		if now[name] != nil {
			continue
		}
		var candidates []string
		for other, fresh := range now {
			if before[other] == nil && reflect.DeepEqual(bare(old), bare(fresh)) {
				candidates = append(candidates, other)
			}
		}
		if len(candidates) == 1 {
			out[name] = candidates[0]
			taken[candidates[0]]++
		}
	}
	maps.DeleteFunc(out, func(_, to string) bool { return taken[to] > 1 })
	return out
}

// bare is a schema without its own prose.
func bare(v any) any {
	s, ok := v.(map[string]any)
	if !ok {
		return v
	}
	s = maps.Clone(s)
	delete(s, "description")
	delete(s, "title")
	return s
}

func (w *walk) nested(pointer string, old, fresh any) {
	o, was := old.(map[string]any)
	n, is := fresh.(map[string]any)
	if was && is {
		w.schema(pointer, o, n)
	}
}

// below compares the schema of elements, or whether there may be any.
func (w *walk) below(pointer string, old, fresh any, keyword string) {
	_, was := old.(map[string]any)
	_, is := fresh.(map[string]any)
	switch {
	case was && is:
		w.nested(pointer, old, fresh)
	case reflect.DeepEqual(old, fresh):
	case !w.out && fresh == false, w.out && old != false:
		w.add(Breaking, pointer, "its "+keyword, orNone(old), orNone(fresh))
	default:
		w.add(w.class(old == nil), pointer, "its "+keyword, orNone(old), orNone(fresh))
	}
}

func less(a, b any) bool {
	x, okX := new(big.Float).SetString(plain(a))
	y, okY := new(big.Float).SetString(plain(b))
	return okX && okY && x.Cmp(y) < 0
}

func orNone(v any) string {
	if v == nil {
		return "none"
	}
	return text(v)
}

// text is a value as JSON.
func text(v any) string {
	if v == nil {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// plain is a string as it is, and any other value as JSON.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return text(v)
}
