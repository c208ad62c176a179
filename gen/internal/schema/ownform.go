package schema

import (
	"go/types"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
)

// known handles the types that have a form of their own.
func (w *Walker) known(t types.Type, dir Direction, at Site) (Value, bool) {
	n, ok := t.(*types.Named)
	if !ok {
		return Value{}, false
	}
	if n.Obj().Pkg() == nil {
		if n.Obj().Name() == "error" && dir == Out {
			return leaf(model.Error, t, &jsonschema.Schema{Type: "string"}), true
		}
		return Value{}, false
	}
	dateTime := &jsonschema.Schema{Type: "string", Format: "date-time"}
	switch n.Obj().Pkg().Path() + "." + n.Obj().Name() {
	case "time.Time":
		return leaf(model.Time, t, dateTime), true
	case "net/url.URL":
		return leaf(model.URL, t, &jsonschema.Schema{Type: "string", Format: "uri"}), true
	case "math/big.Int":
		return leaf(model.BigInt, t, &jsonschema.Schema{Type: "integer"}), true
	case "time.Duration":
		if w.options.NanoSeconds {
			return Value{model.Type{Kind: model.Int, Go: GoType(t), Bits: 64}, &jsonschema.Schema{Type: "integer", Description: "Nanoseconds."}}, true
		}
		return leaf(model.Duration, t, &jsonschema.Schema{Type: "string", Description: `A duration like "1h30m" or "250ms".`}), true
	case "encoding/json.Number":
		return leaf(model.Number, t, &jsonschema.Schema{Type: "number"}), true
	case "encoding/json.RawMessage":
		w.anyValue(dir, at)
		return leaf(model.Raw, t, &jsonschema.Schema{}), true
	}
	if v, ok := w.textEnum(n, dir, at); ok {
		return v, true
	}
	switch own := ownForm(n, dir); {
	case own == model.JSON && embedsTime(n):
		return notNull(opaque(model.JSON, t, dateTime)), true
	case own == model.JSON:
		w.diags.Notef(at.Pos, diag.TypeOpaqueJSON, "%s has type %s, which encodes itself: its schema accepts anything", at.What, spell(t))
		return opaque(model.JSON, t, &jsonschema.Schema{}), true
	case own == model.Text && isUUID(n):
		return opaque(model.Text, t, &jsonschema.Schema{Type: "string", Format: "uuid"}), true
	case own == model.Text:
		return opaque(model.Text, t, &jsonschema.Schema{Type: "string"}), true
	}
	return Value{}, false
}

// opaque is a type with methods of its own, which is empty by what it is made
// of.
func opaque(kind model.Kind, t types.Type, s *jsonschema.Schema) Value {
	v := leaf(kind, t, s)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			v.Type.Base = model.String
		case u.Info()&types.IsNumeric != 0:
			v.Type.Base = model.Int
		case u.Info()&types.IsBoolean != 0:
			v.Type.Base = model.Bool
		}
	case *types.Slice, *types.Map:
		v.Type.Base = model.Slice
	}
	return v
}

// notNull is a type with methods of its own whose schema doesn't allow null,
// whatever its methods do.
func notNull(v Value) Value {
	v.Type.NotNull = true
	return v
}

func (w *Walker) anyValue(dir Direction, at Site) {
	if dir == In {
		w.diags.Warnf(at.Pos, diag.TypeAny, "name a type, so that the model knows what to send", "%s accepts any value", at.What)
	}
}

// ownForm tells whether a type encodes itself, and how.
func ownForm(n *types.Named, dir Direction) model.Kind {
	if types.IsInterface(n) {
		return ""
	}
	methods := types.NewMethodSet(types.NewPointer(n))
	prefix := "Unmarshal"
	if dir == Out {
		prefix = "Marshal"
	}
	for _, form := range []model.Kind{model.JSON, model.Text} {
		suffix := "JSON"
		if form == model.Text {
			suffix = "Text"
		}
		if m := methods.Lookup(nil, prefix+suffix); m != nil && isMarshal(m.Type().(*types.Signature), dir) { //nolint:forcetypeassert // of a method
			return form
		}
	}
	return ""
}

// isMarshal recognises func() ([]byte, error) and func([]byte) error.
func isMarshal(sig *types.Signature, dir Direction) bool {
	in, out := sig.Params(), sig.Results()
	if dir == In {
		return in.Len() == 1 && isBytes(in.At(0).Type()) && out.Len() == 1 && IsError(out.At(0).Type())
	}
	return in.Len() == 0 && out.Len() == 2 && isBytes(out.At(0).Type()) && IsError(out.At(1).Type())
}

// IsError reports whether a type is error itself.
func IsError(t types.Type) bool { return types.TypeString(t, nil) == "error" }

func isBytes(t types.Type) bool {
	s, ok := types.Unalias(t).(*types.Slice)
	return ok && isByte(s.Elem())
}

func embedsTime(n *types.Named) bool {
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if f.Embedded() && types.TypeString(f.Type(), nil) == "time.Time" {
			return true
		}
	}
	return false
}
