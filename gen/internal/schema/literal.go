package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/constant"
	"go/types"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/toolgen/toolgen/gen/internal/model"
)

// Literal writes a JSON value as a Go value of a type. Text stands for a string
// where a string is wanted, so that a directive needs no quotes within quotes.
func (w *Walker) Literal(t types.Type, text string) (model.Literal, error) {
	if l, ok, err := w.byName(t, text); ok {
		return l, err
	}
	if w.options.NanoSeconds && isDuration(t) {
		t = types.Typ[types.Int64]
	}
	if isText(t) {
		return w.literal(t, text)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || !atEnd(d) {
		return model.Literal{}, fmt.Errorf("%s is not JSON", strconv.Quote(text))
	}
	return w.literal(t, v)
}

// byName writes an integer that goes by its name; it isn't ok for other types.
func (w *Walker) byName(t types.Type, text string) (l model.Literal, ok bool, err error) {
	n, named := types.Unalias(t).(*types.Named)
	if !named || n.Obj().Pkg() == nil {
		return l, false, nil
	}
	if mode, _ := w.typeSetting(n).Get("enum"); mode.Value != "names" {
		return l, false, nil
	}
	for _, c := range w.codecs {
		if c.Kind != model.NameEnum || c.Go.Name != n.Obj().Name() || c.Go.Package != n.Obj().Pkg().Path() {
			continue
		}
		for i, name := range c.Values {
			if name == text {
				return model.Literal{Go: c.Go, Text: strconv.FormatInt(c.Ints[i], 10)}, true, nil
			}
		}
		return l, true, fmt.Errorf("want one of %s, got %q", strings.Join(c.Values, ", "), text)
	}
	return l, false, nil
}

// atEnd reports whether nothing follows the value.
func atEnd(d *json.Decoder) bool {
	_, err := d.Token()
	return errors.Is(err, io.EOF)
}

func isText(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if isDuration(t) {
		return true
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func isDuration(t types.Type) bool { return types.TypeString(t, nil) == "time.Duration" }

func (w *Walker) literal(t types.Type, v any) (model.Literal, error) {
	out := model.Literal{Go: GoType(t)}
	if n, ok := types.Unalias(t).(*types.Named); ok && !isDuration(n) && ownForm(n, In) != "" {
		return out, fmt.Errorf("a %s can't be written down; use a constant or function of Go", spell(t))
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basicLiteral(t, u, v)
	case *types.Pointer:
		if v == nil {
			out.Nil = true
			return out, nil
		}
		elem, err := w.literal(u.Elem(), v)
		out.Addr, out.Elems = true, []model.Literal{elem}
		return out, err
	case *types.Slice, *types.Array:
		return w.listLiteral(out, u.(interface{ Elem() types.Type }).Elem(), v) //nolint:forcetypeassert // both have it
	case *types.Map:
		return w.mapLiteral(out, u, v)
	case *types.Struct:
		return w.structLiteral(out, t, u, v)
	}
	return out, fmt.Errorf("a %s can't be written down", spell(t))
}

func wants(t types.Type, v any) error {
	return fmt.Errorf("want a %s, got %s", spell(t), jsonText(v))
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

func basicLiteral(t types.Type, b *types.Basic, v any) (model.Literal, error) {
	out := model.Literal{Go: GoType(t)}
	switch v := v.(type) {
	case bool:
		if b.Info()&types.IsBoolean != 0 {
			out.Text = strconv.FormatBool(v)
			return out, nil
		}
	case string:
		if isDuration(t) {
			d, err := time.ParseDuration(v)
			out.Text = strconv.FormatInt(int64(d), 10)
			return out, err
		}
		if b.Info()&types.IsString != 0 {
			out.Text, out.Quoted = v, true
			return out, nil
		}
	case json.Number:
		text, err := numberLiteral(b, string(v))
		out.Text = text
		if text != "" || err != nil {
			return out, err
		}
	}
	return out, wants(t, v)
}

// numberLiteral returns a number as Go source; "" where the type isn't one.
func numberLiteral(b *types.Basic, text string) (string, error) {
	outside := errors.New(text + " is out of the range of " + b.Name())
	switch {
	case b.Info()&types.IsFloat != 0:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || b.Kind() == types.Float32 && math.Abs(f) > math.MaxFloat32 {
			return "", outside
		}
		return text, nil
	case b.Info()&types.IsInteger == 0:
		return "", nil
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || len(text) > 40 || !r.IsInt() {
		return "", errors.New(text + " is no integer")
	}
	bits := bitsOf(b)
	if bits == 0 {
		bits = 64
	}
	least, most := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(bits))
	if b.Info()&types.IsUnsigned == 0 {
		most.Rsh(most, 1)
		least.Neg(most)
	}
	if n := r.Num(); n.Cmp(least) < 0 || n.Cmp(most) >= 0 {
		return "", outside
	}
	return r.Num().String(), nil
}

// InRange reports whether a numeric constant is a value of a type.
func InRange(b *types.Basic, v constant.Value) bool {
	if b.Info()&types.IsFloat != 0 {
		f, _ := constant.Float64Val(v)
		return b.Kind() != types.Float32 || math.Abs(f) <= math.MaxFloat32
	}
	whole := constant.ToInt(v)
	if b.Info()&types.IsInteger == 0 || whole.Kind() != constant.Int {
		return false
	}
	_, err := numberLiteral(b, whole.ExactString())
	return err == nil
}

func (w *Walker) listLiteral(out model.Literal, elem types.Type, v any) (model.Literal, error) {
	list, ok := v.([]any)
	if !ok || isByte(elem) {
		return out, fmt.Errorf("want a list, got %s", jsonText(v))
	}
	if out.Go.Kind == model.GoArray && int64(len(list)) != out.Go.Len {
		return out, fmt.Errorf("want %d elements, got %d", out.Go.Len, len(list))
	}
	for _, e := range list {
		l, err := w.literal(elem, e)
		if err != nil {
			return out, err
		}
		out.Elems = append(out.Elems, l)
	}
	return out, nil
}

func (w *Walker) mapLiteral(out model.Literal, u *types.Map, v any) (model.Literal, error) {
	m, ok := v.(map[string]any)
	if b, text := u.Key().Underlying().(*types.Basic); !ok || !text || b.Info()&types.IsString == 0 {
		return out, fmt.Errorf("want an object, got %s", jsonText(v))
	}
	for _, key := range sortedKeys(m) {
		l, err := w.literal(u.Elem(), m[key])
		if err != nil {
			return out, fmt.Errorf("%s: %w", key, err)
		}
		out.Keys, out.Elems = append(out.Keys, key), append(out.Elems, l)
	}
	return out, nil
}

// structLiteral names fields by their JSON names. Those of embedded structs
// can't be named so.
func (w *Walker) structLiteral(out model.Literal, t types.Type, u *types.Struct, v any) (model.Literal, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return out, wants(t, v)
	}
	out.Struct = true
	for _, f := range w.fieldsOf(t, u, In, Site{What: spell(t)}) {
		e, given := m[f.name]
		if !given {
			if k, preset := w.fieldSetting(f.field, f.tag).Get("default"); preset && len(f.index) == 1 {
				l, err := w.Literal(f.field.Type(), k.Value)
				if err != nil {
					return out, err
				}
				out.Keys, out.Elems = append(out.Keys, f.field.Name()), append(out.Elems, l)
			}
			continue
		}
		delete(m, f.name)
		if len(f.index) > 1 {
			return out, fmt.Errorf("%s is a field of an embedded struct", f.name)
		}
		l, err := w.literal(f.field.Type(), e)
		if err != nil {
			return out, fmt.Errorf("%s: %w", f.name, err)
		}
		out.Keys, out.Elems = append(out.Keys, f.field.Name()), append(out.Elems, l)
	}
	for _, name := range sortedKeys(m) {
		return out, fmt.Errorf("a %s has no property %s", spell(t), name)
	}
	return out, nil
}

// schemaValue is a literal as it stands in a schema: the JSON that was written,
// or its text.
func (w *Walker) schemaValue(t types.Type, text string) any {
	isNumber := w.options.NanoSeconds && isDuration(t)
	if _, named, _ := w.byName(t, text); named || isText(t) && !isNumber {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return json.RawMessage(b.Bytes())
}
