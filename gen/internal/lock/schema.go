package lock

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// walk compares two schemas, of arguments or, going out, of a result. What is
// more in a result than was is no harm to who reads it; what is less is.
type walk struct {
	*comparison

	out                bool
	oldRoot, freshRoot map[string]any
	seen               map[[2]uintptr]bool // pairs of schemas being compared, or that were: they may contain themselves
	wasRequired        bool                // the property at hand
}

// structure are the keywords that schema itself compares.
var structure = []string{"$ref", "$defs", "properties", "required", "items", "additionalProperties", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}

func (w *walk) schema(pointer string, old, fresh map[string]any) {
	beside := keys(old, fresh)
	old, oldIs := resolve(w.oldRoot, old)
	fresh, freshIs := resolve(w.freshRoot, fresh)
	pair := [2]uintptr{oldIs, freshIs}
	again := w.seen[pair]
	w.seen[pair] = true
	if !equal(old["type"], fresh["type"]) && !w.retyped(pointer, old, fresh) {
		return // the rest follows from that
	}
	for _, k := range keys(old, fresh) {
		if again && !slices.Contains(beside, k) || k == "type" || slices.Contains(structure, k) || equal(old[k], fresh[k]) {
			continue
		}
		w.keyword(pointer, k, old[k], fresh[k])
	}
	if again { // what it refers to was compared; what stands beside the reference is its own
		return
	}
	w.bounds(pointer, old, fresh)
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
	case "minLength", "minItems", "minProperties":
		w.constraint(pointer, keyword, old, fresh, old == nil || fresh != nil && less(old, fresh))
	case "maxLength", "maxItems", "maxProperties":
		w.constraint(pointer, keyword, old, fresh, old == nil || fresh != nil && less(fresh, old))
	case "multipleOf":
		w.constraint(pointer, keyword, old, fresh, fresh != nil && !divides(fresh, old))
	case "format":
		if w.out && old != nil {
			w.add(Breaking, pointer, "its format", orNone(old), orNone(fresh))
			return
		}
		w.constraint(pointer, keyword, old, fresh, fresh != nil)
	case "pattern", "uniqueItems", "propertyNames", "contentMediaType": // what can't be measured is tighter when it is there
		w.constraint(pointer, keyword, old, fresh, fresh != nil)
	case "default": // a call that leaves it out means something else with another
		w.constraint(pointer, keyword, old, fresh, old != nil || !w.wasRequired)
	case "enum":
		w.enum(pointer, old, fresh)
	case "anyOf", "oneOf":
		w.variants(pointer, old, fresh)
	default:
		w.add(Breaking, pointer, "its "+keyword, orNone(old), orNone(fresh))
	}
}

// bounds compares the least and the most that a number may be. For an integer
// more than 0 is at least 1.
func (w *walk) bounds(pointer string, old, fresh map[string]any) {
	whole := old["type"] == "integer" && fresh["type"] == "integer"
	o, n := lowest(old, whole), lowest(fresh, whole)
	if c := o.compare(n); c != 0 {
		w.constraint(pointer, "minimum", o.shown(), n.shown(), c < 0)
	}
	o, n = highest(old, whole), highest(fresh, whole)
	if c := o.compare(n); c != 0 {
		w.constraint(pointer, "maximum", o.shown(), n.shown(), c > 0)
	}
}

// retyped compares types, and reports whether the rest is to be compared too: an
// integer is a number.
func (w *walk) retyped(pointer string, old, fresh map[string]any) bool {
	from, to := old["type"], fresh["type"]
	wide, narrow, free := to, from, fresh
	if w.out {
		wide, narrow, free = from, to, old
	}
	number := wide == "number" && narrow == "integer"
	class := Breaking
	if number || wide == nil && !constrains(free) {
		class = Widening
	}
	w.add(class, pointer, "its type", typeName(old), typeName(fresh))
	return number
}

// constrains reports whether a schema without a type says what is right by other
// means.
func constrains(s map[string]any) bool {
	for k := range s {
		switch k {
		case "title", "description", "examples", "$comment", "deprecated", "readOnly", "writeOnly", "default", "$defs":
		default:
			return true
		}
	}
	return false
}

func typeName(s map[string]any) string {
	if t := s["type"]; t != nil {
		return plain(t)
	}
	for _, k := range []string{"anyOf", "oneOf", "enum"} {
		if s[k] != nil {
			return k + " " + text(s[k])
		}
	}
	return "any"
}

func ref(s map[string]any) string {
	name, _ := s["$ref"].(string)
	return name
}

// resolve returns what a reference stands for, with what stands beside it, and
// which schema that is.
func resolve(root, s map[string]any) (merged map[string]any, is uintptr) {
	is = reflect.ValueOf(s).Pointer()
	for range 10 { // references to references
		name, ok := strings.CutPrefix(ref(s), "#/$defs/")
		if !ok {
			break
		}
		defs, _ := root["$defs"].(map[string]any)
		target, ok := defs[name].(map[string]any)
		if !ok {
			break
		}
		is = reflect.ValueOf(target).Pointer()
		merged := maps.Clone(target)
		for k, v := range s {
			if k != "$ref" {
				merged[k] = v
			}
		}
		s = merged
	}
	return s, is
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

// properties compares the properties of objects.
func (w *walk) properties(pointer string, old, fresh map[string]any) {
	before, _ := old["properties"].(map[string]any)
	now, _ := fresh["properties"].(map[string]any)
	renamed := w.renamed(pointer, before, now)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		at := pointer + "/" + escape(name)
		w.wasRequired = demands(old, name)
		switch to := renamed[name]; {
		case to != "":
			at = pointer + "/" + escape(to)
			w.add(Breaking, at, "it is renamed", name, to)
			w.nested(at, before[name], now[to])
		case now[name] == nil:
			w.removed(at)
		default:
			w.nested(at, before[name], now[name])
			w.required(at, demands(old, name), demands(fresh, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		at := pointer + "/" + escape(name)
		if before[name] != nil || slices.Contains(slices.Collect(maps.Values(renamed)), name) {
			continue
		}
		if !w.out && demands(fresh, name) {
			w.add(Breaking, at, "it is new and must be sent", "", "")
		} else {
			w.add(Widening, at, "it is new", "", "")
		}
	}
	for _, name := range requiredOnly(old, fresh, before, now) {
		w.required(pointer+"/"+escape(name), demands(old, name), demands(fresh, name))
	}
}

// requiredOnly lists names that are required and are no properties, which a
// hand-written schema may have.
func requiredOnly(old, fresh, before, now map[string]any) []string {
	var out []string
	for _, s := range []map[string]any{old, fresh} {
		list, _ := s["required"].([]any)
		for _, v := range list {
			if name, ok := v.(string); ok && before[name] == nil && now[name] == nil {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
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
func (w *walk) renamed(pointer string, before, now map[string]any) map[string]string {
	out := make(map[string]string)
	taken := make(map[string]int)
	host := w.fresh.host()
	for name, old := range before {
		if _, set := host[pointer+"/"+escape(name)]; now[name] != nil || set {
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
	switch {
	case was && is:
		w.schema(pointer, o, n)
	case !equal(old, fresh):
		w.add(Breaking, pointer, "its schema", orNone(old), orNone(fresh))
	}
}

// below compares the schema of elements, or whether there may be any.
func (w *walk) below(pointer string, old, fresh any, keyword string) {
	_, was := old.(map[string]any)
	_, is := fresh.(map[string]any)
	switch {
	case was && is:
		w.nested(pointer, old, fresh)
	case equal(old, fresh):
	case w.out && old == nil: // more is known of it
		w.add(Widening, pointer, "its "+keyword, orNone(old), orNone(fresh))
	case w.out, fresh == false:
		w.add(Breaking, pointer, "its "+keyword, orNone(old), orNone(fresh))
	default:
		w.add(tighter(old == nil), pointer, "its "+keyword, orNone(old), orNone(fresh))
	}
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
