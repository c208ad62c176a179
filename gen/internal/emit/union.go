package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/toolgen/toolgen/gen/internal/model"
)

// nameTable declares the names of integers.
func nameTable(f *jen.File, c *model.Codec) {
	rows := make([]jen.Code, len(c.Ints))
	for i, v := range c.Ints {
		rows[i] = jen.Values(entry("Name", jen.Lit(c.Values[i])), entry("Value", jen.Lit(int(v))))
	}
	f.Line()
	f.Commentf("%s are the names of %s.", c.Table, c.Go.Name)
	f.Var().Id(c.Table).Op("=").Index().Qual(toolimplPath, "Name").Add(lines(rows...))
}

// readUnion reads an object with the name of an implementation and its value.
func readUnion(f *jen.File, c *model.Codec) {
	names := make([]jen.Code, len(c.Variants[model.Reading]))
	var cases []jen.Code
	for i, v := range c.Variants[model.Reading] {
		names[i] = jen.Lit(v.Name)
		read := append([]jen.Code{jen.Var().Id("e").Add(goType(v.Type.Go))}, readInto(v.Type, "e")...)
		cases = append(cases, jen.Case(jen.Lit(v.Name)).Block(append(read, jen.Id("v").Op("=").Id("e"))...))
	}
	cases = append(cases, jen.Default().Block(jen.Id("r").Dot("Skip").Call()))
	f.Line()
	f.Commentf("%s are the implementations of %s.", c.Table, c.Go.Name)
	f.Var().Id(c.Table).Op("=").Index().String().Values(names...)
	o := jen.Op("&").Id("o")
	f.Line()
	f.Func().Id(model.ReadFunc(c.Name)).Params(reader).Add(goType(c.Go)).Block(
		jen.Var().Id("v").Add(goType(c.Go)),
		jen.Id("o").Op(":=").Id("r").Dot("Object").Call(jen.Qual(toolimplPath, "VariantFields")),
		jen.Id("name").Op(":=").Id("r").Dot("Variant").Call(o),
		jen.For(jen.Id("r").Dot("Next").Call(o)).Block(
			jen.Switch(jen.String().Call(jen.Id("r").Dot("Key").Call())).Block(
				jen.Case(jen.Lit("type")).Block(jen.If(jen.Id("r").Dot("Field").Call(o, jen.Lit(0))).Block(jen.Id("r").Dot("Enum").Call(jen.Id(c.Table)))),
				jen.Case(jen.Lit("value")).Block(
					jen.If(jen.Op("!").Id("r").Dot("Field").Call(o, jen.Lit(1))).Block(jen.Continue()),
					jen.Switch(jen.Id("name")).Block(cases...),
				),
				jen.Default().Block(jen.Id("r").Dot("Unknown").Call(o)),
			),
		),
		jen.Id("r").Dot("End").Call(o),
		jen.Return(jen.Id("v")),
	)
}

// writeUnion writes an implementation with its name; one that isn't known, or
// nil, is null.
func writeUnion(f *jen.File, c *model.Codec) {
	var cases []jen.Code
	for _, v := range c.Variants[model.Writing] {
		cases = append(cases, jen.Case(goType(v.Type.Go)).Block(
			jen.Id("w").Dot("Object").Call(),
			jen.Id("w").Dot("Key").Call(jen.Lit("type")), jen.Id("w").Dot("String").Call(jen.Lit(v.Name)),
			jen.Id("w").Dot("Key").Call(jen.Lit("value")), writeValue(v.Type, "v"),
			jen.Id("w").Dot("EndObject").Call(),
		))
	}
	cases = append(cases, jen.Default().Block(jen.Id("w").Dot("Null").Call()))
	f.Line()
	f.Func().Id(model.WriteFunc(c.Name)).Params(writer, jen.Id("v").Add(goType(c.Go))).Block(
		jen.Switch(jen.Id("v").Op(":=").Id("v").Assert(jen.Type())).Block(cases...),
	)
}
