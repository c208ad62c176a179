package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/doccomment"
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

// constants makes an enum of a named basic type of which its package declares
// two or more exported constants. In a result they are described and not
// promised: a zero value need not be one of them.
func (w *Walker) constants(n *types.Named, dir Direction) (Value, bool) {
	b, ok := n.Underlying().(*types.Basic)
	if !ok || b.Info()&(types.IsString|types.IsInteger) == 0 || n.Obj().Pkg() == nil {
		return Value{}, false
	}
	mode, _ := w.typeSetting(n).Get("enum")
	list := w.constantsOf(n)
	if len(list) < 2 || mode.Value == "off" || w.areFlags(list) {
		return Value{}, false
	}
	c := &model.Codec{Kind: model.Enum, Go: GoType(n), Reads: true}
	s := &jsonschema.Schema{Type: "string"}
	if b.Info()&types.IsInteger != 0 {
		c.Kind, s.Type = model.IntEnum, "integer"
	}
	var docs []string
	for _, k := range list {
		if k.Val().Kind() == constant.Int {
			if _, exact := constant.Int64Val(k.Val()); !exact {
				return Value{}, false // beyond int64 it stays an integer like any other
			}
		}
		value, ok := enumValue(c, k.Val())
		if !ok || w.isDeprecated(k) { // accepted, but not offered
			continue
		}
		s.Enum = append(s.Enum, value)
		docs = append(docs, w.constantDoc(k, value, c.Kind == model.IntEnum)...)
	}
	if len(s.Enum) == 0 {
		return Value{}, false
	}
	s.Description = strings.Join(docs, " ")
	if mode.Value == "names" && c.Kind == model.IntEnum {
		return w.named(n, c, list, s, dir)
	}
	if dir == Out || mode.Value == "open" {
		return w.described(n, b, s)
	}
	e := w.entry(n, func() *model.Codec { return c })
	return Value{model.Type{Kind: c.Kind, Go: c.Go, Codec: e.codec.Name, Table: e.codec.Table, Bits: bitsOf(b)}, s}, true
}

// named is an enum of integers that go by their names: snake_case, without what
// all of them begin with.
func (w *Walker) named(n *types.Named, c *model.Codec, list []*types.Const, s *jsonschema.Schema, dir Direction) (Value, bool) {
	c.Kind, c.Ints, c.Writes = model.NameEnum, nil, true
	s.Type, s.Enum = "string", nil
	names := make([]string, len(list))
	for i, k := range list {
		names[i] = k.Name()
	}
	head := commonHead(names)
	var docs []string
	for i, k := range list {
		v, _ := constant.Int64Val(k.Val())
		if slices.Contains(c.Ints, v) {
			continue
		}
		name := naming.Snake(strings.TrimPrefix(names[i], head))
		c.Ints, c.Values = append(c.Ints, v), append(c.Values, name)
		if !w.isDeprecated(k) {
			s.Enum = append(s.Enum, name)
			docs = append(docs, w.constantDoc(k, name, false)...)
		}
	}
	s.Description = strings.Join(docs, " ")
	if dir == Out { // a value without a name is written as its digits
		s.Description = oneOf(s.Enum, s.Description)
		s.Enum = nil
	}
	e := w.entry(n, func() *model.Codec { return c })
	return Value{model.Type{Kind: c.Kind, Go: c.Go, Codec: e.codec.Name, Table: e.codec.Table}, s}, true
}

// oneOf describes values that are not promised.
func oneOf(values []any, docs string) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = jsonText(v)
	}
	return Sentences("One of "+strings.Join(words, ", "), docs)
}

// commonHead returns the words that all names begin with, as long as something
// is left of each.
func commonHead(names []string) string {
	head := names[0]
	for _, n := range names {
		for !strings.HasPrefix(n, head) || len(n) == len(head) {
			head = head[:len(head)-1]
		}
	}
	for head != "" { // back to the beginning of a word
		if ok := !slices.ContainsFunc(names, func(n string) bool { return !unicode.IsUpper(rune(n[len(head)])) }); ok {
			return head
		}
		head = head[:len(head)-1]
	}
	return ""
}

// described is the type of a result of which constants are known.
func (w *Walker) described(n *types.Named, b *types.Basic, enum *jsonschema.Schema) (Value, bool) {
	v, ok := w.basic(n, b, Site{})
	if !ok {
		return v, false
	}
	v.Schema.Description = oneOf(enum.Enum, enum.Description)
	return v, true
}

// enumValue adds a value to a codec, once.
func enumValue(c *model.Codec, v constant.Value) (any, bool) {
	if c.Kind == model.Enum {
		text := constant.StringVal(v)
		if slices.Contains(c.Values, text) {
			return nil, false
		}
		c.Values = append(c.Values, text)
		return text, true
	}
	n, exact := constant.Int64Val(v)
	if !exact || slices.Contains(c.Ints, n) {
		return nil, false
	}
	c.Ints = append(c.Ints, n)
	return n, true
}

func (w *Walker) isDeprecated(k *types.Const) bool {
	spec, ok := w.program.Decl(k).(*ast.ValueSpec)
	return ok && doccomment.Parse(doccomment.Text(spec.Doc), k.Name(), nil).Deprecated != ""
}

// constantDoc says what a value means: an integer at least by its name.
func (w *Walker) constantDoc(k *types.Const, value any, number bool) []string {
	text := ""
	if spec, ok := w.program.Decl(k).(*ast.ValueSpec); ok {
		text = strings.TrimPrefix(prose("", spec.Doc, spec.Comment), k.Name()+" ")
		text = strings.TrimPrefix(strings.TrimPrefix(text, "is "), "are ")
	}
	label := strconv.Quote(value2string(value))
	switch {
	case number && text == "":
		label, text = value2string(value), k.Name()
	case number:
		label = value2string(value) + " (" + k.Name() + ")"
	case text == "":
		return nil
	}
	return []string{label + ": " + strings.TrimSuffix(text, ".") + "."}
}

func value2string(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return strconv.FormatInt(v.(int64), 10) //nolint:forcetypeassert // enumValue made it
}

// constantsOf returns the exported constants of a type in source order.
func (w *Walker) constantsOf(n *types.Named) []*types.Const {
	pkg := w.program.Complete(n.Obj().Pkg())
	byType, ok := w.constantsIn[pkg]
	if !ok {
		byType = make(map[*types.TypeName][]*types.Const)
		for _, name := range pkg.Scope().Names() {
			if k, ok := pkg.Scope().Lookup(name).(*types.Const); ok && k.Exported() {
				if t, ok := types.Unalias(k.Type()).(*types.Named); ok {
					byType[t.Obj()] = append(byType[t.Obj()], k)
				}
			}
		}
		for _, list := range byType {
			w.inSourceOrder(list)
		}
		w.constantsIn[pkg] = byType
	}
	return byType[n.Obj()]
}

func (w *Walker) inSourceOrder(list []*types.Const) {
	slices.SortStableFunc(list, func(a, b *types.Const) int {
		p, q := w.program.Position(a.Pos()), w.program.Position(b.Pos())
		return cmp.Or(cmp.Compare(filepath.Base(p.Filename), filepath.Base(q.Filename)), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
	})
}

// areFlags recognises bits to be combined: a declaration with 1 << iota, or
// three or more powers of two and nothing else.
func (w *Walker) areFlags(list []*types.Const) bool {
	shifted, powers := false, true
	for _, k := range list {
		if spec, ok := w.program.Decl(k).(*ast.ValueSpec); ok {
			for _, v := range spec.Values {
				ast.Inspect(v, func(n ast.Node) bool {
					b, ok := n.(*ast.BinaryExpr)
					shifted = shifted || ok && b.Op == token.SHL
					return true
				})
			}
		}
		v, exact := constant.Uint64Val(constant.ToInt(k.Val()))
		powers = powers && exact && v != 0 && v&(v-1) == 0
	}
	return shifted || powers && len(list) > 2
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
		return []string{model.ReadFunc(name), model.WriteFunc(name), tableName(name, e.codec.Kind)}
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
