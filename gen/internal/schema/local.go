package schema

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/model"
)

// A Local is a struct that generated code declares: an object of which the hook
// package has no type.
type Local struct {
	codec  *model.Codec
	schema *jsonschema.Schema
}

// Local begins a struct of that name, or the next free one.
func (w *Walker) Local(name string) *Local {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
	codec := &model.Codec{Kind: model.Struct, Local: true, Reads: true}
	codec.Name = w.names.Family(name, func(n string) []string {
		return []string{n, model.ReadFunc(n), tableName(n, model.Struct)}
	})
	codec.Table = tableName(codec.Name, model.Struct)
	codec.Go = model.GoType{Kind: model.Named, Name: codec.Name}
	w.codecs = append(w.codecs, codec)
	return &Local{codec, s}
}

// Name returns the struct's name.
func (l *Local) Name() string { return l.codec.Name }

// Has reports whether there is a property of that name already.
func (l *Local) Has(name string) bool {
	_, ok := l.schema.Properties.Get(name)
	return ok
}

// Flag adds an optional boolean, which is false if it isn't sent.
func (l *Local) Flag(name, goName, text string) model.Field {
	f := model.Field{Name: name, Go: goName, Type: model.Type{Kind: model.Bool, Go: model.GoType{Kind: model.Named, Name: "bool"}}, Nullable: true}
	l.add(f, &jsonschema.Schema{Type: "boolean", Description: text})
	return f
}

// Add adds an optional property with its rules. It is a pointer, unless its type
// has a nil.
func (l *Local) Add(name, goName string, v Value, rules []model.Rule, text string) model.Field {
	f := model.Field{Name: name, Go: goName, Type: v.Type, Nullable: true, Rules: rules, Secret: v.Schema.WriteOnly}
	if k := v.Type.Kind; !k.Nilable() && k != model.Raw && k != model.Any && k != model.Content && k != model.Union && k != model.Feed {
		elem := v.Type
		f.Type = model.Type{Kind: model.Pointer, Go: model.GoType{Kind: model.GoPointer, Elem: &elem.Go}, Elem: &elem}
	}
	l.add(f, describe(v.Schema, text))
	return f
}

// Require adds a required property.
func (l *Local) Require(name, goName string, v Value) model.Field {
	f := model.Field{Name: name, Go: goName, Type: v.Type, Required: true, Nullable: v.Type.Kind.Nilable()}
	l.schema.Required = append(l.schema.Required, name)
	l.add(f, v.Schema)
	return f
}

func (l *Local) add(f model.Field, s *jsonschema.Schema) {
	l.codec.Read = append(l.codec.Read, f)
	l.schema.Properties.Set(f.Name, s)
}

// Value returns the struct as an argument.
func (l *Local) Value() Value {
	return Value{model.Type{Kind: model.Struct, Go: l.codec.Go, Codec: l.codec.Name}, l.schema}
}

// FuncProse returns the first paragraph of a function's doc comment.
func (w *Walker) FuncProse(fn *types.Func) string {
	if decl, ok := w.program.Decl(fn).(*ast.FuncDecl); ok {
		return summary(fn.Name(), decl.Doc)
	}
	return ""
}

// content recognises what bytes are read from: an interface with Read or
// ReadAt, and in a result also a type with nothing but Read. As an argument it
// is a string.
func (w *Walker) content(t types.Type, dir Direction) (Value, bool) {
	if !isContent(t, dir) {
		return Value{}, false
	}
	if dir == In {
		return leaf(model.Content, t, &jsonschema.Schema{Type: "string"}), true
	}
	return leaf(model.Content, t, &jsonschema.Schema{Description: "Text, or an object with the base64 of other bytes."}), true
}

// sourceMethods are the methods of what stands in for a reader.
var sourceMethods = []string{"Read", "ReadAt", "Seek", "Close"}

func isContent(t types.Type, dir Direction) bool {
	methods := types.NewMethodSet(t)
	read := methods.Lookup(nil, "Read")
	if dir == Out {
		if read == nil || !isRead(read.Type()) {
			return false
		}
		return types.IsInterface(t) || hasNoFields(t)
	}
	iface, ok := t.Underlying().(*types.Interface)
	if !ok || read == nil && methods.Lookup(nil, "ReadAt") == nil {
		return false
	}
	for m := range iface.Methods() {
		if !slices.Contains(sourceMethods, m.Name()) {
			return false
		}
	}
	return true
}

// isRead recognises func([]byte) (int, error) by any names.
func isRead(t types.Type) bool {
	sig, ok := t.(*types.Signature)
	return ok && sig.Params().Len() == 1 && isBytes(sig.Params().At(0).Type()) && sig.Results().Len() == 2 &&
		types.TypeString(sig.Results().At(0).Type(), nil) == "int" && IsError(sig.Results().At(1).Type())
}

// hasNoFields reports whether a type, or what it points to, shows no data.
func hasNoFields(t types.Type) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if f.Exported() && !f.Embedded() {
			return false
		}
	}
	return true
}

// IsContent reports whether a result is read, and its bytes shown.
func (w *Walker) IsContent(t types.Type) bool { return isContent(t, Out) }
