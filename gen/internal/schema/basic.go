package schema

import (
	"encoding/json"
	"fmt"
	"go/types"
	"math"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
)

func (w *Walker) basic(t types.Type, b *types.Basic, at Site) (Value, bool) {
	number := func(kind model.Kind, bits int, s *jsonschema.Schema) (Value, bool) {
		return Value{model.Type{Kind: kind, Go: GoType(t), Bits: bits}, s}, true
	}
	switch b.Kind() {
	case types.Bool:
		return leaf(model.Bool, t, &jsonschema.Schema{Type: "boolean"}), true
	case types.String:
		return leaf(model.String, t, &jsonschema.Schema{Type: "string"}), true
	case types.Int, types.Int64:
		return number(model.Int, bitsOf(b), &jsonschema.Schema{Type: "integer"})
	case types.Uint, types.Uint64, types.Uintptr:
		return number(model.Uint, bitsOf(b), &jsonschema.Schema{Type: "integer", Minimum: "0"})
	case types.Int8, types.Int16, types.Int32:
		bits := bitsOf(b)
		return number(model.Int, bits, &jsonschema.Schema{
			Type: "integer", Minimum: integer(-(1 << (bits - 1))), Maximum: integer(1<<(bits-1) - 1),
		})
	case types.Uint8, types.Uint16, types.Uint32:
		bits := bitsOf(b)
		return number(model.Uint, bits, &jsonschema.Schema{Type: "integer", Minimum: "0", Maximum: integer(1<<bits - 1)})
	case types.Float32, types.Float64:
		return number(model.Float, bitsOf(b), &jsonschema.Schema{Type: "number"})
	}
	w.unsupported(t, at)
	return Value{}, false
}

func integer(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// bitsOf returns the size of a number; 0 is that of the machine.
func bitsOf(b *types.Basic) int {
	n, err := strconv.Atoi(strings.TrimLeft(b.Name(), "abcdefghijklmnopqrstuvwxyz"))
	switch {
	case b.Kind() == types.Byte:
		return 8
	case b.Kind() == types.Int32:
		return 32 // also rune
	case err != nil:
		return 0
	}
	return n
}

func (w *Walker) elements(t, elem types.Type, kind model.Kind, length int, dir Direction, at Site) (Value, bool) {
	e := w.entry(t, func() *model.Codec { return &model.Codec{Kind: kind, Go: GoType(t), Len: max(length, 0)} })
	s := &jsonschema.Schema{Type: "array"}
	typ := model.Type{Kind: kind, Go: e.codec.Go, Codec: e.codec.Name}
	if ref, again := w.refer(t, e, s, dir); again {
		return Value{typ, ref}, w.again(e, t, dir, at)
	}
	reported := len(*w.diags)
	if length >= 0 {
		n := uint64(length)
		s.MinItems, s.MaxItems = &n, &n
	}
	v, ok := w.Walk(elem, dir, at)
	if !ok {
		w.settle(e, dir, false, reported)
		return Value{}, false
	}
	v.Type.NotNull = dir == In && w.options.settings[In].HostBelow(w.path)
	e.codec.Elems[dir], s.Items = &v.Type, v.Schema
	mark(e.codec, dir)
	return Value{typ, w.schemaOf(t, e, s)}, true
}

// refer begins the walk of a type that has a codec. A named one has a
// definition, so that it can contain itself; again says that it has been, or
// is being, walked.
func (w *Walker) refer(t types.Type, e *entry, s *jsonschema.Schema, dir Direction) (ref *jsonschema.Schema, again bool) {
	if _, named := t.(*types.Named); !named {
		return nil, false
	}
	if e.done[dir] {
		return w.schemaOf(t, e, s), true
	}
	e.done[dir] = true
	w.undo = append(w.undo, func() { e.done[dir], e.failed[dir] = false, false })
	w.defs[dir][e.codec.Name] = s
	return nil, false
}

// settle notes how the walk of a type ended, and of a failure the first reason.
func (w *Walker) settle(e *entry, dir Direction, ok bool, reported int) {
	e.failed[dir] = !ok
	for _, d := range (*w.diags)[reported:] {
		if d.Severity == diag.Error {
			e.why = d
			return
		}
	}
}

// again reports whether a type that has been walked before, or is being walked,
// can be sent. Of the user's own types the reason stands where it is, and is
// said once; of others it stands where each tool is named.
func (w *Walker) again(e *entry, t types.Type, dir Direction, at Site) bool {
	if e.failed[dir] && !w.isOwn(t) {
		_, why, _ := strings.Cut(e.why.Message, ": ")
		w.diags.Errorf(at.Pos, e.why.Code, at.Hint, "%s has type %s, which can't be sent: %s", at.What, spell(t), why)
	}
	return !e.failed[dir]
}

// schemaOf returns the schema of a type: a reference, where it has a name.
func (w *Walker) schemaOf(t types.Type, e *entry, s *jsonschema.Schema) *jsonschema.Schema {
	if _, named := t.(*types.Named); named {
		return &jsonschema.Schema{Ref: refPrefix + e.codec.Name}
	}
	return s
}

func mark(c *model.Codec, dir Direction) {
	if dir == In {
		c.Reads = true
	} else {
		c.Writes = true
	}
}

func (w *Walker) mapping(t types.Type, u *types.Map, dir Direction, at Site) (Value, bool) {
	k, names, ok := w.mapKey(t, u, dir, at)
	if !ok {
		return Value{}, false
	}
	e := w.entry(t, func() *model.Codec { return &model.Codec{Kind: model.Map, Go: GoType(t)} })
	s := &jsonschema.Schema{Type: "object"}
	typ := model.Type{Kind: model.Map, Go: e.codec.Go, Codec: e.codec.Name}
	if ref, again := w.refer(t, e, s, dir); again {
		return Value{typ, ref}, w.again(e, t, dir, at)
	}
	reported := len(*w.diags)
	s.PropertyNames = names
	v, ok := w.Walk(u.Elem(), dir, at)
	if !ok {
		w.settle(e, dir, false, reported)
		return Value{}, false
	}
	v.Type.NotNull = dir == In && w.options.settings[In].HostBelow(w.path)
	e.codec.Keys[dir], e.codec.Elems[dir], s.AdditionalProperties = &k, &v.Type, v.Schema
	mark(e.codec, dir)
	return Value{typ, w.schemaOf(t, e, s)}, true
}

// mapKey says how the keys of a map are read and written, and what their names
// look like.
func (w *Walker) mapKey(t types.Type, u *types.Map, dir Direction, at Site) (k model.Type, names *jsonschema.Schema, ok bool) {
	if !w.nameable(types.Unalias(u.Key()), at) {
		return k, nil, false
	}
	k = model.Type{Kind: model.String, Go: GoType(u.Key())}
	if n, named := types.Unalias(u.Key()).(*types.Named); named && textKey(n, dir) {
		k.Kind = model.Text
		return k, nil, true
	}
	key, ok := types.Unalias(u.Key()).Underlying().(*types.Basic)
	if !ok || key.Info()&(types.IsString|types.IsInteger) == 0 {
		w.diags.Errorf(at.Pos, diag.TypeUnsupported, at.Hint, "%s has type %s: keys of a JSON object are strings or integers", at.What, spell(t))
		return k, nil, false
	}
	k.Bits = bitsOf(key)
	if key.Info()&types.IsInteger != 0 {
		k.Kind = model.Int
		if key.Info()&types.IsUnsigned != 0 {
			k.Kind = model.Uint
		}
		names = &jsonschema.Schema{Pattern: "^-?[0-9]+$"}
	}
	return k, names, true
}

// textKey reports whether keys format themselves, and parse themselves where
// they are read. A key that is a string stays one when it is written, as
// encoding/json has it.
func textKey(n *types.Named, dir Direction) bool {
	m := types.NewMethodSet(n).Lookup(nil, "MarshalText")
	if dir == In {
		m = types.NewMethodSet(types.NewPointer(n)).Lookup(nil, "UnmarshalText")
	} else if b, ok := n.Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
		return false
	}
	if m == nil {
		return false
	}
	sig, ok := m.Type().(*types.Signature)
	return ok && isMarshal(sig, dir)
}

// entry returns the entry of a type, made once. Its codec gets a name.
func (w *Walker) entry(t types.Type, codec func() *model.Codec) *entry {
	key := w.entryKey(t)
	if e, ok := w.entries[key]; ok {
		return e
	}
	e := &entry{codec: codec()}
	e.codec.Name = w.names.Family(codecName(t), func(name string) []string {
		return []string{model.ReadFunc(name), model.WriteFunc(name), model.PresetFunc(name), tableName(name, e.codec.Kind)}
	})
	e.codec.Table = tableName(e.codec.Name, e.codec.Kind)
	w.entries[key] = e
	w.codecs = append(w.codecs, e.codec)
	return e
}

// entryKey tells codecs apart: by type, by the options that change them, and,
// where a tool has settings of its own for what is inside, by tool and place.
func (w *Walker) entryKey(t types.Type) string {
	o := &w.options
	key := fmt.Sprint(o.SnakeFields, o.OmitFields, o.NanoSeconds, types.TypeString(t, nil))
	if o.settings[In].Below(w.path) || o.settings[Out].Below(w.path) {
		key += " " + o.tool + " " + w.path
	}
	return key
}

// tableName says what generated code calls the names of a struct's fields, or
// the values of an enum.
func tableName(codec string, kind model.Kind) string {
	if kind == model.Enum || kind == model.IntEnum || kind == model.NameEnum {
		return naming.Unexported(codec) + "Values"
	}
	return naming.Unexported(codec) + "Fields"
}

// codecName says what a type is called in names of functions and definitions.
func codecName(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		names := []string{t.Obj().Name()}
		for arg := range t.TypeArgs().Types() {
			names = append(names, codecName(arg))
		}
		return strings.Join(names, "_")
	case *types.Basic:
		return strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	case *types.Pointer:
		return codecName(t.Elem())
	case *types.Slice:
		return codecName(t.Elem()) + "Slice"
	case *types.Array:
		return codecName(t.Elem()) + "Array" + strconv.FormatInt(min(t.Len(), math.MaxInt32), 10)
	case *types.Map:
		return codecName(t.Elem()) + "Map"
	case *types.Interface:
		return "Any"
	}
	return "Object"
}
