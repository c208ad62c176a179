// Package schema walks Go types. One walk of a type yields three things that
// must agree: its JSON Schema, the plan by which generated code reads or writes
// it, and the position of whatever can't be sent.
//
// Schemas are values of invopop/jsonschema, whose reflector they can be
// compared with. They differ from it, and what is read differs from
// encoding/json, on purpose:
//
//	any                        {} instead of true
//	constants of a type        enum; the reflector knows no constants
//	text marshalers            enum of the names that their source has; else string
//	MarshalJSON                {} or what its author says, instead of the struct's fields
//	integers                   minimum and maximum of the Go type
//	time.Duration              a string like "1h30m" instead of nanoseconds
//	url.URL, big.Int           string of format uri; integer of any size
//	interfaces                 {type, value} where their implementations are known
//	io.Reader, iter.Seq, chan  strings and arrays, which encoding/json refuses
//	embedded pointers          their fields are optional
//	slices and maps in results [] and {} instead of null
//	property names             exact case, each once, none unknown
//	named bytes                []B of a type B byte is an array, not base64
//	",string" on a string      is not heeded
//	omitzero                   has no effect on structs that can't be compared
package schema

import (
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/load"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
)

// A Direction says whether a type is read from arguments or written as a
// result.
type Direction int

// The directions: the sides of a codec.
const (
	In  Direction = model.Reading
	Out Direction = model.Writing
)

// Options are the choices of toolgen.yaml that a walk depends on.
type Options struct {
	SnakeFields bool // fields without a JSON name are snake_case
	OmitFields  bool // leave out fields that can't be sent
	NanoSeconds bool // durations are integers

	RequiredDoc []string          // prose at a field that means it is required
	Enums       map[string]string // by package.Type: closed, open or off
	Schemas     map[string]Key    // by package.Type: JSON Schema in the place of the derived one

	Implementations map[string][]string // by package.Type of an interface
}

// A use is what holds for the tool whose types are being walked.
type use struct {
	Options

	tool     string
	settings [2]Settings // by direction
}

// A Walker walks the types of one generated package, so that tools share the
// codecs of a type.
type Walker struct {
	program *load.Program
	output  string // import path of the generated package
	options use
	diags   *diag.List
	names   *naming.Scope

	patterns []model.Pattern
	path     string                       // of the property being walked
	applied  map[string]bool              // paths of which a setting of this tool was found
	property string                       // its name
	fields   map[*types.Var]*Setting      // what stands at fields
	types    map[*types.TypeName]*Setting // what stands at types

	depth   int               // of types being walked
	undo    []func()          // takes back what a walk that fails has left, latest last
	entries map[string]*entry // by options and type

	reached     map[string]bool                                       // by package.Type: types of which toolgen.yaml could say something
	constantsIn map[*types.Package]map[*types.TypeName][]*types.Const // exported ones, by type
	codecs      []*model.Codec
	defs        [2]map[string]*jsonschema.Schema // by direction and name
}

// An entry is a type that has a codec.
type entry struct {
	codec  *model.Codec
	done   [2]bool // by direction: walked, or being walked
	failed [2]bool
	why    diag.Diagnostic // it failed
}

// New returns a walker for the generated package with that import path. The
// names are taken for its codecs.
func New(p *load.Program, output string, names *naming.Scope, diags *diag.List) *Walker {
	return &Walker{
		program: p, output: output, diags: diags, names: names, entries: make(map[string]*entry),
		defs: [2]map[string]*jsonschema.Schema{{}, {}}, fields: make(map[*types.Var]*Setting), types: make(map[*types.TypeName]*Setting),
		reached:     make(map[string]bool),
		constantsIn: make(map[*types.Package]map[*types.TypeName][]*types.Const),
	}
}

// Output returns the import path of the generated package.
func (w *Walker) Output() string { return w.output }

// Use sets what holds for the walks that follow, of one tool: its options, and
// settings of nested properties by direction.
func (w *Walker) Use(tool string, o Options, in, out Settings) {
	w.options = use{Options: o, tool: tool, settings: [2]Settings{in, out}}
	w.applied = make(map[string]bool)
}

// Reached reports whether the walks came by a type, called package.Type.
func (w *Walker) Reached(name string) bool { return w.reached[name] }

// Applied reports whether the walks since Use came by a property of which there
// is a setting.
func (w *Walker) Applied(path string) bool { return w.applied[path] }

// Patterns returns the patterns that rules refer to, in order.
func (w *Walker) Patterns() []model.Pattern { return w.patterns }

// At walks with the path of a property: settings of what is below it count.
func (w *Walker) At(path string, walk func()) {
	outer, name := w.path, w.property
	w.path = path
	w.property = path[strings.LastIndexByte(path, '.')+1:]
	walk()
	w.path, w.property = outer, name
}

// A Site is where a type is used, for diagnostics.
type Site struct {
	Pos  diag.Position
	What string // "tool x: parameter opts"
	Hint string // how to do without it
}

// A Value is what a walk yields.
type Value struct {
	Type   model.Type
	Schema *jsonschema.Schema
}

// Walk walks a type. It reports false after it has reported why the type can't
// be sent.
func (w *Walker) Walk(t types.Type, dir Direction, at Site) (Value, bool) {
	t = types.Unalias(t)
	if !w.nameable(t, at) {
		return Value{}, false
	}
	if w.depth++; w.depth > maxTypeDepth {
		w.depth--
		w.diags.Errorf(at.Pos, diag.TypeUnsupported, at.Hint, "%s has a type that is nested without end", at.What)
		return Value{}, false
	}
	defer func() { w.depth-- }()
	reported := len(*w.diags)
	v, ok := w.walk(t, dir, at)
	if ok {
		v, ok = w.withSchema(t, v, reported)
	}
	return v, ok
}

// maxTypeDepth is how deep types may be nested in each other, those that
// contain themselves counted once.
const maxTypeDepth = 100

func (w *Walker) walk(t types.Type, dir Direction, at Site) (Value, bool) {
	if v, ok := w.known(t, dir, at); ok {
		return v, true
	}
	if v, ok := w.content(t, dir); ok {
		return v, true
	}
	if n, ok := t.(*types.Named); ok {
		if v, ok := w.constants(n, dir); ok {
			return v, true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.Invalid {
			w.diags.Errorf(at.Pos, diag.SignatureBroken, "mend it", "%s has a type that is not defined", at.What)
			return Value{}, false
		}
		return w.basic(t, u, at)
	case *types.Pointer:
		return w.pointer(t, u, dir, at)
	case *types.Slice:
		if isByte(u.Elem()) {
			return leaf(model.Bytes, t, &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}), true
		}
		return w.elements(t, u.Elem(), model.Slice, -1, dir, at)
	case *types.Array:
		return w.elements(t, u.Elem(), model.Array, int(u.Len()), dir, at)
	case *types.Map:
		return w.mapping(t, u, dir, at)
	case *types.Struct:
		return w.structure(t, u, dir, at)
	case *types.Interface:
		if v, ok := w.union(t, u, dir, at); ok {
			return v, true
		}
		return w.iface(t, u, dir, at)
	case *types.Signature, *types.Chan:
		if dir == In {
			if v, ok := w.feed(t, at); ok {
				return v, true
			}
		}
	}
	w.unsupported(t, at)
	return Value{}, false
}

func leaf(kind model.Kind, t types.Type, s *jsonschema.Schema) Value {
	return Value{model.Type{Kind: kind, Go: GoType(t)}, s}
}

func isByte(t types.Type) bool {
	b, ok := types.Unalias(t).(*types.Basic)
	return ok && b.Kind() == types.Byte
}

// nameable reports whether generated code can name a type; if not, it has
// reported why.
func (w *Walker) nameable(t types.Type, at Site) bool {
	if s, ok := t.(*types.Struct); ok && !Nameable(s, w.output) {
		w.diags.Errorf(at.Pos, diag.TypeUnexported, at.Hint, "%s has type %s, of which generated code can't name all fields", at.What, spell(t))
		return false
	}
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return true
	}
	switch {
	case n.Obj().Parent() != n.Obj().Pkg().Scope():
		w.diags.Errorf(at.Pos, diag.TypeUnexported, at.Hint, "%s has type %s, which is declared in a function", at.What, spell(t))
	case !n.Obj().Exported():
		w.diags.Errorf(at.Pos, diag.TypeUnexported, "export it, or "+at.Hint, "%s has type %s, which generated code can't name", at.What, spell(t))
	case !importable(n.Obj().Pkg().Path(), w.output):
		w.diags.Errorf(at.Pos, diag.TypeUnexported, at.Hint, "%s has type %s of an internal package, which generated code can't import", at.What, spell(t))
	default:
		for arg := range n.TypeArgs().Types() {
			if !w.nameable(types.Unalias(arg), at) {
				return false
			}
		}
		return true
	}
	return false
}

func (w *Walker) unsupported(t types.Type, at Site) {
	why := "it can't be sent by a model"
	switch t.Underlying().(type) {
	case *types.Signature:
		why = "functions can't be sent by a model"
	case *types.Chan:
		why = "channels can't be sent by a model"
	case *types.Basic:
		if t.Underlying() != types.Typ[types.UnsafePointer] {
			why = "JSON has no such number"
		}
	}
	w.diags.Errorf(at.Pos, diag.TypeUnsupported, at.Hint, "%s has type %s: %s", at.What, spell(t), why)
}

// spell writes a type for people: package names, not paths.
func spell(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

func (w *Walker) iface(t types.Type, u *types.Interface, dir Direction, at Site) (Value, bool) {
	switch {
	case u.NumMethods() == 0 && u.IsMethodSet():
		w.anyValue(dir, at)
	case dir == Out:
		w.diags.Warnf(at.Pos, diag.TypeOpaqueResult, "expose a wrapper that returns a struct", "%s has type %s: nothing is known of what it holds, which may be nothing", at.What, spell(t))
	default:
		w.diags.Errorf(at.Pos, diag.TypeInterface, at.Hint, "%s has type %s: a model can't choose an implementation of an interface", at.What, spell(t))
		return Value{}, false
	}
	return leaf(model.Any, t, &jsonschema.Schema{}), true
}

func (w *Walker) pointer(t types.Type, u *types.Pointer, dir Direction, at Site) (Value, bool) {
	elem, ok := w.Walk(u.Elem(), dir, at)
	if !ok {
		return Value{}, false
	}
	if elem.Type.Kind == model.Pointer {
		w.unsupported(t, at)
		return Value{}, false
	}
	return Value{model.Type{Kind: model.Pointer, Go: GoType(t), Elem: &elem.Type}, elem.Schema}, true
}

// Codecs returns the codecs that the given types reach, sorted by name.
func (w *Walker) Codecs(roots []model.Type) []model.Codec {
	reached := make(map[string]bool)
	var visit func(t *model.Type)
	visit = func(t *model.Type) {
		switch {
		case t == nil:
		case t.Elem != nil:
			visit(t.Elem)
		case t.Codec != "" && !reached[t.Codec]:
			reached[t.Codec] = true
			c := w.codec(t.Codec)
			for _, inner := range slices.Concat(c.Keys[:], c.Elems[:]) {
				visit(inner)
			}
			for _, f := range slices.Concat(c.Read, c.Write) {
				visit(&f.Type)
			}
			for _, v := range slices.Concat(c.Variants[In], c.Variants[Out]) {
				visit(&v.Type)
			}
		}
	}
	for i := range roots {
		visit(&roots[i])
	}
	var out []model.Codec
	for _, name := range slices.Sorted(maps.Keys(reached)) {
		out = append(out, *w.codec(name))
	}
	return out
}

func (w *Walker) codec(name string) *model.Codec {
	i := slices.IndexFunc(w.codecs, func(c *model.Codec) bool { return c.Name == name })
	return w.codecs[i]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
