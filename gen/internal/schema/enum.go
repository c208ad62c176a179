package schema

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/diag"

	"github.com/toolgen/toolgen/gen/internal/doccomment"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
)

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
		if slices.Contains(c.Values, name) {
			w.diags.Errorf(w.program.Pos(k), diag.PropertyTwice, "rename one, or drop enum names", "two constants of %s are called %s", n.Obj().Name(), name)
			continue
		}
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
		if !utf8.ValidString(text) || slices.Contains(c.Values, text) {
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
