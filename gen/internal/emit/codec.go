package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/toolgen/toolgen/gen/internal/model"
)

// codec writes the functions of one type.
func codec(f *jen.File, c *model.Codec) {
	if c.Reads {
		switch c.Kind {
		case model.Struct:
			readStruct(f, c)
			if c.Presets {
				presetStruct(f, c)
			}
		case model.Slice:
			readSlice(f, c)
		case model.Array:
			readArray(f, c)
		case model.Map:
			readMap(f, c)
		case model.Union:
			readUnion(f, c)
		case model.Enum, model.IntEnum:
			enumTable(f, c)
		}
	}
	if c.Writes {
		switch c.Kind {
		case model.Struct:
			writeStruct(f, c)
		case model.Slice, model.Array:
			writeElements(f, c)
		case model.Map:
			writeMap(f, c)
		case model.Union:
			writeUnion(f, c)
		}
	}
	if c.Kind == model.NameEnum {
		nameTable(f, c)
	}
}

// fieldTable declares the properties of an object.
func fieldTable(f *jen.File, name string, fields []model.Field, hosts []string) {
	rows := make([]jen.Code, 0, len(fields)+len(hosts))
	for _, field := range fields {
		row := []jen.Code{entry("Name", jen.Lit(field.Name))}
		if field.Required {
			row = append(row, entry("Required", jen.True()))
		}
		rows = append(rows, jen.Values(row...))
	}
	for _, host := range hosts {
		rows = append(rows, jen.Values(entry("Name", jen.Lit(host)), entry("Host", jen.True())))
	}
	literal := jen.Values()
	if len(rows) > 0 {
		literal = lines(rows...)
	}
	f.Line()
	f.Var().Id(name).Op("=").Index().Qual(toolimplPath, "Field").Add(literal)
}

func enumTable(f *jen.File, c *model.Codec) {
	var values []jen.Code
	typ := jen.String()
	for _, v := range c.Values {
		values = append(values, jen.Lit(v))
	}
	if c.Kind == model.IntEnum {
		typ = jen.Int64()
		for _, v := range c.Ints {
			values = append(values, jen.Lit(int(v)))
		}
	}
	f.Line()
	f.Commentf("%s are the values of %s.", c.Table, c.Go.Name)
	f.Var().Id(c.Table).Op("=").Index().Add(typ).Values(values...)
}

var reader = jen.Id("r").Op("*").Qual(toolimplPath, "Reader")

// readFields writes the loop over the properties of an object.
func readFields(table, target string, fields []model.Field) []jen.Code {
	r := func() *jen.Statement { return jen.Id("r") }
	o := jen.Op("&").Id("o")
	cases := make([]jen.Code, 0, len(fields)+1)
	for i := range fields {
		field := &fields[i]
		method := "Field"
		if field.Nullable {
			method = "Nullable"
		}
		read := readField(field, target)
		if field.Secret {
			read = append([]jen.Code{r().Dot("Secret").Call()}, read...)
		}
		cases = append(cases, jen.Case(jen.Lit(field.Name)).Block(
			jen.If(r().Dot(method).Call(o, jen.Lit(i))).Block(append(read, fieldRules(field, target)...)...),
		))
	}
	loop := []jen.Code{r().Dot("Unknown").Call(o)}
	if len(cases) > 0 {
		cases = append(cases, jen.Default().Block(loop...))
		loop = []jen.Code{jen.Switch(jen.String().Call(r().Dot("Key").Call())).Block(cases...)}
	}
	return []jen.Code{
		jen.Id("o").Op(":=").Add(r()).Dot("Object").Call(jen.Id(table)),
		jen.For(r().Dot("Next").Call(o)).Block(loop...),
		r().Dot("End").Call(o),
	}
}

// fieldRules checks a property that was read.
func fieldRules(field *model.Field, target string) []jen.Code {
	var out []jen.Code
	value := jen.Id(selector(field, target))
	if field.Type.Kind == model.Pointer {
		value = jen.Op("*").Add(value)
	}
	for _, rule := range field.Rules {
		out = append(out, ruleCall(rule, field.Type, jen.Add(value)))
	}
	return out
}

// readField writes the statements that read one property, embedded pointers on
// the way to it made first.
func readField(field *model.Field, target string) []jen.Code {
	out, path := reach(field, target)
	if field.Quoted {
		return append(out, jen.Id(path).Op("=").Add(readQuoted(field.Type)))
	}
	return append(out, readInto(field.Type, path)...)
}

// reach makes the embedded pointers on the way to a field, and selects it.
func reach(field *model.Field, target string) (out []jen.Code, path string) {
	path = target
	for _, step := range field.Embedded {
		path += "." + step.Go
		if !step.Pointer.IsZero() {
			out = append(out, jen.If(jen.Id(path).Op("==").Nil()).Block(jen.Id(path).Op("=").New(goType(step.Pointer))))
		}
	}
	return out, selector(field, target)
}

// selector selects a field: promoted ones without the embedded structs between.
func selector(field *model.Field, target string) string {
	names := []string{target}
	if !field.Promoted {
		for _, step := range field.Embedded {
			names = append(names, step.Go)
		}
	}
	return strings.Join(append(names, field.Go), ".")
}

// readInto writes the statements that read a value into a variable.
func readInto(t model.Type, variable string) []jen.Code {
	address := jen.Op("&").Id(variable)
	if t.Kind == model.Pointer && hasAddress(*t.Elem) {
		return []jen.Code{
			jen.Id(variable).Op("=").New(goType(t.Elem.Go)),
			readAddress(*t.Elem, jen.Id(variable)),
		}
	}
	if hasAddress(t) {
		return []jen.Code{readAddress(t, address)}
	}
	return []jen.Code{jen.Id(variable).Op("=").Add(readValue(t))}
}

// hasAddress reports whether a value is read through its address.
func hasAddress(t model.Type) bool {
	return t.Kind == model.Struct || t.Kind == model.Text || t.Kind == model.JSON || t.Kind == model.BigInt
}

func readAddress(t model.Type, address jen.Code) jen.Code {
	switch t.Kind {
	case model.BigInt:
		return jen.Id("r").Dot("BigInt").Call(address)
	case model.Text:
		return jen.Id("r").Dot("Text").Call(address)
	case model.JSON:
		if t.NotNull {
			return jen.Id("r").Dot("JSONValue").Call(address)
		}
		return jen.Id("r").Dot("JSON").Call(address)
	default:
		return jen.Id(model.ReadFunc(t.Codec)).Call(jen.Id("r"), address)
	}
}

// readValue is the expression that reads a value.
func readValue(t model.Type) jen.Code {
	r := func(method string, args ...jen.Code) *jen.Statement { return jen.Id("r").Dot(method).Call(args...) }
	switch t.Kind {
	case model.Bool:
		return convert(t.Go, "bool", r("Bool"))
	case model.String:
		return convert(t.Go, "string", r("String"))
	case model.Int:
		return convert(t.Go, sized("int", t.Bits), r(sized("Int", t.Bits)))
	case model.Uint:
		return convert(t.Go, sized("uint", t.Bits), r(sized("Uint", t.Bits)))
	case model.Float:
		return convert(t.Go, sized("float", t.Bits), r(sized("Float", t.Bits)))
	case model.Enum:
		return jen.Add(goType(t.Go)).Call(r("Enum", jen.Id(t.Table)))
	case model.IntEnum:
		return jen.Add(goType(t.Go)).Call(r("IntEnum", jen.Id(t.Table)))
	case model.Time:
		return r("Time")
	case model.Duration:
		return r("Duration")
	case model.Bytes:
		return convertTo(t.Go, t.Go.Kind == model.GoSlice, r("Bytes"))
	case model.Raw:
		return r("Raw")
	case model.Number:
		return r("Number")
	case model.Any:
		return convertTo(t.Go, t.Go.Kind == model.GoInterface || isBasic(t.Go, "any"), r("Any"))
	case model.URL:
		return r("URL")
	case model.NameEnum:
		return jen.Add(goType(t.Go)).Call(r("Name", jen.Id(t.Table)))
	case model.Feed:
		return readFeed(t)
	case model.Content:
		if t.Base == model.Bytes {
			return jen.Qual(toolimplPath, "BytesSource").Call(r("Bytes"))
		}
		return jen.Qual(toolimplPath, "TextSource").Call(r("String"))
	case model.Pointer:
		return jen.Qual(toolimplPath, "Ptr").Call(readValue(*t.Elem))
	default:
		return jen.Id(model.ReadFunc(t.Codec)).Call(jen.Id("r"))
	}
}

// readFeed reads a list that a hook takes as a sequence or channel.
func readFeed(t model.Type) jen.Code {
	value := jen.Qual(toolimplPath, "Sent").Call(readValue(*t.Elem))
	if t.Base == model.Kind(model.Seq) {
		value = jen.Qual("slices", "Values").Call(readValue(*t.Elem))
	}
	return convertTo(t.Go, t.Go.Kind != model.Named || t.Go.Package == "iter", value)
}

func readQuoted(t model.Type) jen.Code {
	if t.Kind == model.Pointer {
		return jen.Qual(toolimplPath, "Ptr").Call(readQuoted(*t.Elem))
	}
	name := map[model.Kind]string{model.Int: "IntString", model.Uint: "UintString", model.Float: "FloatString"}[t.Kind]
	if name == "" {
		return convert(t.Go, "bool", jen.Qual(toolimplPath, "BoolString").Call(jen.Id("r")))
	}
	return jen.Qual(toolimplPath, name).Types(goType(t.Go)).Call(jen.Id("r"))
}

func sized(name string, bits int) string {
	switch bits {
	case 8:
		return name + "8"
	case 16:
		return name + "16"
	case 32:
		return name + "32"
	case 64:
		return name + "64"
	default:
		return name
	}
}

// convert wraps an expression of the basic type from in a conversion, where
// the type is another one.
func convert(t model.GoType, from string, expr jen.Code) *jen.Statement {
	same := isBasic(t, from) || from == "uint8" && isBasic(t, "byte") || from == "int32" && isBasic(t, "rune")
	return convertTo(t, same, expr)
}

func convertTo(t model.GoType, same bool, expr jen.Code) *jen.Statement {
	if same {
		return jen.Add(expr)
	}
	return jen.Add(goType(t)).Call(expr)
}

func readStruct(f *jen.File, c *model.Codec) {
	fieldTable(f, c.Table, c.Read, c.Hosts)
	f.Line()
	var body []jen.Code
	if c.Presets {
		body = append(body, jen.Id(model.PresetFunc(c.Name)).Call(jen.Id("v")))
	}
	f.Func().Id(model.ReadFunc(c.Name)).Params(reader, jen.Id("v").Op("*").Add(goType(c.Go))).
		Block(append(body, readFields(c.Table, "v", c.Read)...)...)
}

// presetStruct writes the function that sets what isn't sent: pins and defaults.
func presetStruct(f *jen.File, c *model.Codec) {
	var body []jen.Code
	for _, fields := range [2][]model.Field{c.Fixed, c.Read} {
		for i := range fields {
			body = append(body, presetField(&fields[i], "v")...)
		}
	}
	f.Line()
	f.Commentf("%s sets what a model doesn't send.", model.PresetFunc(c.Name))
	f.Func().Id(model.PresetFunc(c.Name)).Params(jen.Id("v").Op("*").Add(goType(c.Go))).Block(body...)
}

// presetField sets a field before anything is read.
func presetField(field *model.Field, target string) []jen.Code {
	if field.Preset == nil && field.Inner == "" {
		return nil
	}
	out, path := reach(field, target)
	switch {
	case field.Preset != nil:
		return append(out, jen.Id(path).Op("=").Add(literal(*field.Preset)))
	case field.Type.Kind == model.Pointer:
		return append(out, jen.Id(path).Op("=").New(goType(field.Type.Elem.Go)), jen.Id(model.PresetFunc(field.Inner)).Call(jen.Id(path)))
	default:
		return append(out, jen.Id(model.PresetFunc(field.Inner)).Call(jen.Op("&").Id(path)))
	}
}

// element writes the statements that read an element and hand it to use.
func element(t model.Type, use func(jen.Code) jen.Code) []jen.Code {
	var out []jen.Code
	if t.Kind.Nilable() && !t.NotNull {
		out = append(out, jen.If(jen.Id("r").Dot("Null").Call()).Block(use(jen.Nil()), jen.Continue()))
	}
	switch {
	case t.Kind == model.Pointer && hasAddress(*t.Elem):
		return append(out, jen.Id("e").Op(":=").New(goType(t.Elem.Go)), readAddress(*t.Elem, jen.Id("e")), use(jen.Id("e")))
	case hasAddress(t):
		return append(out, jen.Var().Id("e").Add(goType(t.Go)), readAddress(t, jen.Op("&").Id("e")), use(jen.Id("e")))
	default:
		return append(out, use(readValue(t)))
	}
}

func readSlice(f *jen.File, c *model.Codec) {
	loop := element(*c.Elems[model.Reading], func(e jen.Code) jen.Code { return jen.Id("s").Op("=").Append(jen.Id("s"), e) })
	f.Line()
	f.Func().Id(model.ReadFunc(c.Name)).Params(reader).Add(goType(c.Go)).Block(
		jen.Id("a").Op(":=").Id("r").Dot("Array").Call(),
		jen.Id("s").Op(":=").Make(goType(c.Go), jen.Lit(0), jen.Lit(4)),
		jen.For(jen.Id("r").Dot("Element").Call(jen.Op("&").Id("a"))).Block(loop...),
		jen.Return(jen.Id("s")),
	)
}

// readArray reads every element, whether or not there is room for it: what is
// too much is reported by Fixed.
func readArray(f *jen.File, c *model.Codec) {
	assign := jen.If(jen.Id("i").Op(":=").Id("a").Dot("Index").Call(), jen.Id("i").Op("<").Len(jen.Id("s"))).Block(
		jen.Id("s").Index(jen.Id("i")).Op("=").Id("e"),
	)
	var loop []jen.Code
	if elem := c.Elems[model.Reading]; elem.Kind.Nilable() && !elem.NotNull {
		loop = append(loop, jen.If(jen.Id("r").Dot("Null").Call()).Block(jen.Continue()))
	}
	loop = append(loop, jen.Var().Id("e").Add(goType(c.Elems[model.Reading].Go)))
	loop = append(loop, readInto(*c.Elems[model.Reading], "e")...)
	f.Line()
	f.Func().Id(model.ReadFunc(c.Name)).Params(reader).Add(goType(c.Go)).Block(
		jen.Var().Id("s").Add(goType(c.Go)),
		jen.Id("a").Op(":=").Id("r").Dot("Array").Call(),
		jen.For(jen.Id("r").Dot("Element").Call(jen.Op("&").Id("a"))).Block(append(loop, assign)...),
		jen.Id("r").Dot("Fixed").Call(jen.Op("&").Id("a"), jen.Len(jen.Id("s"))),
		jen.Return(jen.Id("s")),
	)
}

func readMap(f *jen.File, c *model.Codec) {
	loop := element(*c.Elems[model.Reading], func(e jen.Code) jen.Code { return jen.Id("m").Index(jen.Id("key")).Op("=").Add(e) })
	fresh := jen.Qual(toolimplPath, "New").Call(jen.Id("r"), jen.Id("m"), jen.Id("key"))
	var body jen.Code
	if c.Keys[model.Reading].Kind == model.String {
		key := convert(c.Keys[model.Reading].Go, "string", jen.String().Call(jen.Id("r").Dot("Key").Call()))
		if !isBasic(c.Keys[model.Reading].Go, "string") {
			key = jen.Add(goType(c.Keys[model.Reading].Go)).Call(jen.Id("r").Dot("Key").Call())
		}
		body = jen.If(jen.Id("key").Op(":=").Add(key), fresh).Block(loop...)
	} else {
		name := map[model.Kind]string{model.Int: "IntKey", model.Uint: "UintKey", model.Text: "TextKey"}[c.Keys[model.Reading].Kind]
		key := jen.Qual(toolimplPath, name).Types(goType(c.Keys[model.Reading].Go)).Call(jen.Id("r"))
		body = jen.If(jen.List(jen.Id("key"), jen.Id("ok")).Op(":=").Add(key), jen.Id("ok").Op("&&").Add(fresh)).Block(loop...)
	}
	f.Line()
	f.Func().Id(model.ReadFunc(c.Name)).Params(reader).Add(goType(c.Go)).Block(
		jen.Id("o").Op(":=").Id("r").Dot("Object").Call(jen.Nil()),
		jen.Id("m").Op(":=").Make(goType(c.Go)),
		jen.For(jen.Id("r").Dot("Next").Call(jen.Op("&").Id("o"))).Block(body),
		jen.Return(jen.Id("m")),
	)
}
