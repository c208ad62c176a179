package schema

import (
	"go/types"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
)

// maxVariants is how many implementations of an interface are offered: more are
// not a choice.
const maxVariants = 50

// union walks an interface of which the implementations are known: those of its
// package, where an unexported method keeps all others out, or those that
// toolgen.yaml lists. It is an object with the name of one and its value. An
// implementation that can't be sent is left out.
func (w *Walker) union(t types.Type, u *types.Interface, dir Direction, at Site) (Value, bool) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return Value{}, false
	}
	variants := w.variants(n, u, at)
	if len(variants) == 0 || len(variants) > maxVariants {
		return Value{}, false
	}
	e := w.entry(t, func() *model.Codec { return &model.Codec{Kind: model.Union, Go: GoType(t)} })
	s := &jsonschema.Schema{}
	typ := model.Type{Kind: model.Union, Go: e.codec.Go, Codec: e.codec.Name}
	if ref, again := w.refer(t, e, s, dir); again {
		return Value{typ, ref}, !e.failed[dir]
	}
	e.codec.Variants[dir], e.codec.Omitted[dir] = nil, nil
	for _, v := range variants {
		value, ok := w.try(v.typ, dir, at)
		if !ok {
			w.diags.Notef(at.Pos, diag.FieldOmitted, "%s: the implementation %s of %s is left out", at.What, v.name, spell(t))
			e.codec.Omitted[dir] = append(e.codec.Omitted[dir], v.name)
			continue
		}
		e.codec.Variants[dir] = append(e.codec.Variants[dir], model.Variant{Name: v.name, Type: value.Type})
		s.AnyOf = append(s.AnyOf, variantSchema(v.name, value.Schema, dir))
	}
	ok = len(s.AnyOf) > 0
	e.failed[dir] = !ok
	mark(e.codec, dir)
	return Value{typ, w.schemaOf(t, e, s)}, ok
}

func variantSchema(name string, value *jsonschema.Schema, dir Direction) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{"type", "value"}}
	if dir == In {
		s.AdditionalProperties = jsonschema.FalseSchema
	}
	s.Properties.Set("type", &jsonschema.Schema{Type: "string", Const: name})
	s.Properties.Set("value", value)
	return s
}

type variant struct {
	name string
	typ  types.Type // the type itself, or a pointer to it
}

// variants lists the implementations of an interface, by name.
func (w *Walker) variants(n *types.Named, u *types.Interface, at Site) []variant {
	scope := w.program.Complete(n.Obj().Pkg()).Scope()
	names := scope.Names()
	key := n.Obj().Pkg().Name() + "." + n.Obj().Name()
	listed, given := w.options.Implementations[key]
	w.reached[key] = true
	switch {
	case given:
		names = listed
	case !sealed(u):
		return nil
	}
	var out []variant
	for _, name := range names {
		tn, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || !tn.Exported() || tn.IsAlias() || types.IsInterface(tn.Type()) {
			if given {
				w.diags.Errorf(at.Pos, diag.UnknownName, "name exported types of its package", "implementations: package %s has no type %s", n.Obj().Pkg().Path(), name)
			}
			continue
		}
		if inst, ok := tn.Type().(*types.Named); ok && inst.TypeParams().Len() > 0 {
			continue
		}
		switch {
		case types.Implements(tn.Type(), u):
			out = append(out, variant{name, tn.Type()})
		case types.Implements(types.NewPointer(tn.Type()), u):
			out = append(out, variant{name, types.NewPointer(tn.Type())})
		case given:
			w.diags.Errorf(at.Pos, diag.UnknownName, "name types that implement it", "implementations: %s doesn't implement %s", name, spell(n))
		}
	}
	return out
}

// sealed reports whether an unexported method keeps other packages from
// implementing an interface.
func sealed(u *types.Interface) bool {
	for m := range u.Methods() {
		if !m.Exported() {
			return true
		}
	}
	return false
}

// try walks a type, and takes back what a walk that fails has left and reported.
func (w *Walker) try(t types.Type, dir Direction, at Site) (Value, bool) {
	before, reported := len(w.undo), len(*w.diags)
	v, ok := w.Walk(t, dir, at)
	if ok {
		return v, true
	}
	w.takeBack(before, reported)
	return v, false
}

func (w *Walker) takeBack(undo, reported int) {
	for len(w.undo) > undo {
		w.undo[len(w.undo)-1]()
		w.undo = w.undo[:len(w.undo)-1]
	}
	*w.diags = (*w.diags)[:reported]
}

// typeSetting returns what directives at a type and toolgen.yaml say of it.
func (w *Walker) typeSetting(n *types.Named) *Setting {
	tn := n.Obj()
	if s, ok := w.types[tn]; ok {
		return s
	}
	s := &Setting{}
	w.types[tn] = s
	if w.isOwn(n) {
		for _, d := range w.program.TypeDirectives(tn) {
			if words := d.Positional(); len(words) > 0 && (d.Name == "enum" || d.Name == "schema") {
				s.Keys = append(s.Keys, Key{Name: d.Name, Value: words[0].Value, Pos: words[0].Pos})
				if d.Name == "enum" && !slices.Contains([]string{"names", "open", "off"}, words[0].Value) {
					w.diags.Errorf(words[0].Pos, diag.DirectiveArgument, "write names, open or off", "enum %s", words[0].Value)
				}
			}
		}
	}
	name := tn.Pkg().Name() + "." + tn.Name()
	w.reached[name] = true
	if mode, ok := w.options.Enums[name]; ok {
		s.Keys = append(s.Keys, Key{Name: "enum", Value: mode})
	}
	if k, ok := w.options.Schemas[name]; ok {
		s.Keys = append(s.Keys, k)
	}
	return s
}

// withSchema puts the schema that a user gave for a type in the place of the
// derived one.
func (w *Walker) withSchema(t types.Type, v Value, reported int) (Value, bool) {
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return v, true
	}
	k, given := w.typeSetting(n).Get("schema")
	if !given {
		return v, true
	}
	s, err := Parse(k.Value)
	if err != nil {
		w.diags.Errorf(k.Pos, diag.DirectiveArgument, "write a JSON Schema of 2020-12", "schema of %s: %s", spell(t), err)
		return v, false
	}
	v.Schema = s
	w.saidBySchema(reported)
	return v, true
}

// saidBySchema drops what was reported of a type of which nothing was known: a schema
// says it now.
func (w *Walker) saidBySchema(reported int) {
	rest := slices.DeleteFunc(slices.Clone((*w.diags)[reported:]), func(d diag.Diagnostic) bool {
		return d.Code == diag.TypeAny || d.Code == diag.TypeOpaqueJSON || d.Code == diag.TypeOpaqueResult
	})
	*w.diags = append((*w.diags)[:reported], rest...)
}

// feed walks what yields values to a hook, a sequence or channel: it is made of
// an array.
func (w *Walker) feed(t types.Type, at Site) (Value, bool) {
	kind, _, elem := StreamOf(t)
	if kind != model.Seq && kind != model.Channel || kind == model.Channel && t.Underlying().(*types.Chan).Dir() != types.RecvOnly { //nolint:forcetypeassert // it is a channel
		return Value{}, false
	}
	v, ok := w.elements(types.NewSlice(elem), elem, model.Slice, -1, In, at)
	return Value{model.Type{Kind: model.Feed, Go: GoType(t), Elem: &v.Type, Base: model.Kind(kind)}, v.Schema}, ok
}

// StreamOf recognises iter.Seq, iter.Seq2, funcs of their form and channels
// that can be received from.
func StreamOf(t types.Type) (kind model.StreamKind, key, elem types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Chan:
		if u.Dir() != types.SendOnly {
			return model.Channel, nil, u.Elem()
		}
	case *types.Signature:
		if u.Params().Len() != 1 || u.Results().Len() != 0 {
			return "", nil, nil
		}
		yield, ok := u.Params().At(0).Type().Underlying().(*types.Signature)
		if !ok || yield.Results().Len() != 1 || types.TypeString(yield.Results().At(0).Type(), nil) != "bool" {
			return "", nil, nil
		}
		switch in := yield.Params(); in.Len() {
		case 1:
			return model.Seq, nil, in.At(0).Type()
		case 2:
			if IsError(in.At(1).Type()) {
				return model.SeqError, nil, in.At(0).Type()
			}
			return model.Pairs, in.At(0).Type(), in.At(1).Type()
		}
	}
	return "", nil, nil
}

// isUUID recognises UUIDs by name: 16 bytes may be written in many ways.
func isUUID(n *types.Named) bool {
	a, ok := n.Underlying().(*types.Array)
	return ok && a.Len() == 16 && isByte(a.Elem()) && strings.EqualFold(n.Obj().Name(), "uuid")
}
