package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/toolgen/toolgen/gen/internal/model"
)

var writer = jen.Id("w").Op("*").Qual(toolimplPath, "Writer")

// writeValue writes a value that is a variable; a nil pointer is null.
func writeValue(t model.Type, variable string) jen.Code {
	if t.Kind != model.Pointer {
		return writePresent(t, variable)
	}
	return jen.If(jen.Id(variable).Op("==").Nil()).Block(jen.Id("w").Dot("Null").Call()).
		Else().Block(writePresent(t, variable))
}

// writePresent is writeValue for a pointer that is known not to be nil.
func writePresent(t model.Type, variable string) jen.Code {
	if t.Kind == model.Pointer {
		return write(*t.Elem, jen.Op("*").Id(variable), jen.Id(variable))
	}
	return write(t, jen.Id(variable), jen.Op("&").Id(variable))
}

// write writes a value of which an expression and its address are given.
func write(t model.Type, value, address *jen.Statement) jen.Code {
	w := func(method string, arg jen.Code) jen.Code { return jen.Id("w").Dot(method).Call(arg) }
	switch t.Kind {
	case model.Bool:
		return w("Bool", basic(t.Go, "bool", value))
	case model.String:
		return w("String", basic(t.Go, "string", value))
	case model.Int:
		return w("Int", basic(t.Go, "int64", value))
	case model.Uint:
		return w("Uint", basic(t.Go, "uint64", value))
	case model.Float:
		return w(sized("Float", t.Bits), basic(t.Go, sized("float", t.Bits), value))
	case model.Time:
		return w("Time", value)
	case model.Duration:
		return w("Duration", value)
	case model.Bytes:
		return w("Bytes", value)
	case model.Raw:
		return w("Raw", value)
	case model.Number:
		return w("Number", value)
	case model.Any:
		return w("Any", value)
	case model.Error:
		return w("Error", value)
	case model.Content:
		return w("Content", value)
	case model.URL:
		return w("URL", address)
	case model.BigInt:
		return w("BigInt", address)
	case model.NameEnum:
		return jen.Id("w").Dot("Name").Call(basic(t.Go, "int64", value), jen.Id(t.Table))
	case model.Text:
		return w("Text", address)
	case model.JSON:
		return w("JSON", address)
	case model.Struct, model.Array:
		return jen.Id(model.WriteFunc(t.Codec)).Call(jen.Id("w"), address)
	default:
		return jen.Id(model.WriteFunc(t.Codec)).Call(jen.Id("w"), value)
	}
}

// basic converts a value to a basic type, where it is of another one.
func basic(t model.GoType, to string, value *jen.Statement) jen.Code {
	if isBasic(t, to) {
		return value
	}
	return jen.Id(to).Call(value)
}

func writeStruct(f *jen.File, c *model.Codec) {
	body := []jen.Code{jen.If(jen.Op("!").Id("w").Dot("Object").Call()).Block(jen.Return())}
	for i := range c.Write {
		body = append(body, writeField(&c.Write[i]))
	}
	body = append(body, jen.Id("w").Dot("EndObject").Call())
	param := jen.Id("v")
	if len(c.Write) == 0 {
		param = jen.Id("_")
	}
	f.Line()
	f.Func().Id(model.WriteFunc(c.Name)).Params(writer, param.Op("*").Add(goType(c.Go))).Block(body...)
}

// writeField writes one property, under the conditions by which it is left
// out.
func writeField(field *model.Field) jen.Code {
	var conditions []jen.Code
	path := "v"
	for _, step := range field.Embedded {
		path += "." + step.Go
		if !step.Pointer.IsZero() {
			conditions = append(conditions, jen.Id(path).Op("!=").Nil())
		}
	}
	path = selector(field, "v")
	conditions = append(conditions, present(field, path)...)
	value := []jen.Code{writePresent(field.Type, path)}
	if field.Quoted {
		quote := jen.Id("w").Dot("Quote").Call()
		value = []jen.Code{quote, value[0], quote}
	}
	body := append([]jen.Code{jen.Id("w").Dot("Key").Call(escaped(field.Name))}, value...)
	if len(conditions) == 0 {
		return jen.Add(sequence(body)...)
	}
	condition := jen.Add(conditions[0])
	for _, c := range conditions[1:] {
		condition = condition.Op("&&").Add(c)
	}
	return jen.If(condition).Block(body...)
}

// sequence puts statements on lines of their own.
func sequence(statements []jen.Code) []jen.Code {
	var out []jen.Code
	for i, s := range statements {
		if i > 0 {
			out = append(out, jen.Line())
		}
		out = append(out, s)
	}
	return out
}

// present lists the conditions under which a property is written.
func present(field *model.Field, path string) []jen.Code {
	value := jen.Id(path)
	if field.Type.Kind.LeftOut() {
		return []jen.Code{value.Op("!=").Nil()}
	}
	if field.OmitEmpty {
		if c := notEmpty(field.Type, value); c != nil {
			return []jen.Code{c}
		}
	}
	switch field.OmitZero {
	case "method":
		return []jen.Code{jen.Op("!").Id(path).Dot("IsZero").Call()}
	case "nil":
		return []jen.Code{jen.Id(path).Op("!=").Nil()}
	case "compare":
		if c := notEmpty(field.Type, jen.Id(path)); c != nil {
			return []jen.Code{c}
		}
		if field.Type.Kind == model.Struct || field.Type.Kind == model.Array {
			return []jen.Code{jen.Id(path).Op("!=").Parens(jen.Add(goType(field.Type.Go)).Values())}
		}
		return []jen.Code{jen.Id(path).Op("!=").Add(zero(field.Type.Go))}
	}
	return nil
}

// notEmpty is encoding/json's test for omitempty; nil where a kind is never
// empty.
func notEmpty(t model.Type, value *jen.Statement) jen.Code {
	kind := t.Kind
	if t.Base != "" {
		kind = t.Base
	}
	switch kind {
	case model.Bool:
		return value
	case model.Int, model.Uint, model.Float, model.Duration, model.NameEnum:
		return value.Op("!=").Lit(0)
	case model.String, model.Number:
		return value.Op("!=").Lit("")
	case model.Slice, model.Map, model.Bytes, model.Raw:
		return jen.Len(value).Op("!=").Lit(0)
	case model.Any, model.Error:
		return value.Op("!=").Nil()
	}
	return nil
}

// writeElements writes a slice or array.
func writeElements(f *jen.File, c *model.Codec) {
	param := jen.Id("s").Add(goType(c.Go))
	if c.Kind == model.Array {
		param = jen.Id("s").Op("*").Add(goType(c.Go))
	}
	f.Line()
	f.Func().Id(model.WriteFunc(c.Name)).Params(writer, param).Block(
		jen.If(jen.Op("!").Id("w").Dot("Array").Call()).Block(jen.Return()),
		jen.For(jen.Id("i").Op(":=").Range().Id("s")).Block(
			jen.If(jen.Op("!").Id("w").Dot("Element").Call()).Block(jen.Return()),
			writeValue(*c.Elems[model.Writing], "s[i]"),
		),
		jen.Id("w").Dot("EndArray").Call(),
	)
}

func writeMap(f *jen.File, c *model.Codec) {
	key := basic(c.Keys[model.Writing].Go, "string", jen.Id("k"))
	method := "MapKey"
	switch c.Keys[model.Writing].Kind {
	case model.Int:
		method, key = "IntKey", basic(c.Keys[model.Writing].Go, "int64", jen.Id("k"))
	case model.Uint:
		method, key = "UintKey", basic(c.Keys[model.Writing].Go, "uint64", jen.Id("k"))
	}
	keys := jen.Qual(toolimplPath, "SortedKeys").Call(jen.Id("m"))
	element := jen.Id("k")
	if c.Keys[model.Writing].Kind == model.Text {
		keys = jen.Qual(toolimplPath, "TextKeys").Call(jen.Id("w"), jen.Id("m"))
		element, key = jen.Id("k").Dot("Key"), jen.Id("k").Dot("Text")
	}
	f.Line()
	f.Func().Id(model.WriteFunc(c.Name)).Params(writer, jen.Id("m").Add(goType(c.Go))).Block(
		jen.If(jen.Op("!").Id("w").Dot("Object").Call()).Block(jen.Return()),
		jen.For(jen.List(jen.Id("_"), jen.Id("k")).Op(":=").Range().Add(keys)).Block(
			jen.Id("w").Dot(method).Call(key),
			jen.Id("e").Op(":=").Id("m").Index(element),
			writeValue(*c.Elems[model.Writing], "e"),
		),
		jen.Id("w").Dot("EndObject").Call(),
	)
}
