package emit

import (
	"path/filepath"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/toolgen/toolgen/gen/internal/model"
)

// Registry writes the package that an agent links.
func Registry(r *model.Registry) (File, error) {
	f := newFile(r.Path, r.Name, r.Imports)
	for _, hub := range r.Fields {
		f.ImportName(hub.Package, hub.Name)
	}
	f.PackageComment("Package " + r.Name + " gathers the generated toolsets of this module: what an agent links.")
	fields := make([]jen.Code, 0, len(r.Fields))
	for _, hub := range r.Fields {
		fields = append(fields, jen.Id(hub.Field).Add(goType(hub.Type)))
		if hub.Options {
			fields = append(fields, jen.Id(hub.Field+"Options").Qual(hub.Package, hub.Toolset+"Options"))
		}
	}
	f.Line()
	f.Comment("Hooks are the receivers whose methods the registry's tools call. A nil field is")
	f.Comment("an error of New that names it.")
	f.Type().Id("Hooks").Struct(fields...)
	registryNew(f)
	registryToolsets(f, r)
	registryDefinitions(f, r)
	f.Line()
	f.Comment("These stop compiling when a generated package changed: run go generate.")
	f.Line()
	for _, hub := range r.Fields {
		params := []jen.Code{goType(hub.Type)}
		if hub.Options {
			params = append(params, jen.Qual(hub.Package, hub.Toolset+"Options"))
		}
		f.Var().Id("_").Func().Params(params...).Op("*").Qual(hub.Package, hub.Toolset+"Toolset").
			Op("=").Qual(hub.Package, "New"+hub.Toolset)
	}
	return render(f, filepath.Join(r.Dir, RegistryFile))
}

var toolsetSlice = jen.Index().Qual(runtimePath, "Toolset")

func registryNew(f *jen.File) {
	f.Line()
	f.Comment("New returns the generated tools, then those of the toolsets given, as one")
	f.Comment("registry. It opens nothing.")
	f.Func().Id("New").Params(jen.Id("h").Id("Hooks"), jen.Id("more").Op("...").Qual(runtimePath, "Toolset")).
		Params(jen.Op("*").Qual(runtimePath, "Registry"), jen.Error()).Block(
		jen.List(jen.Id("toolsets"), jen.Err()).Op(":=").Id("Toolsets").Call(jen.Id("h")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Qual(runtimePath, "NewRegistry").Call(jen.Append(jen.Id("toolsets"), jen.Id("more").Op("...")).Op("..."))),
	)
}

func registryToolsets(f *jen.File, r *model.Registry) {
	var body []jen.Code
	var items []jen.Code
	for _, hub := range r.Fields {
		if hub.Nilable {
			body = append(body, jen.If(jen.Id("h").Dot(hub.Field).Op("==").Nil()).Block(
				jen.Id("missing").Op("=").Append(jen.Id("missing"), jen.Qual("errors", "New").Call(jen.Lit(r.Name+": Hooks."+hub.Field+" is nil"))),
			))
		}
		args := []jen.Code{jen.Id("h").Dot(hub.Field)}
		if hub.Options {
			args = append(args, jen.Id("h").Dot(hub.Field+"Options"))
		}
		items = append(items, jen.Qual(hub.Package, "New"+hub.Toolset).Call(args...))
	}
	if len(body) > 0 {
		body = slices.Insert(body, 0, jen.Code(jen.Var().Id("missing").Index().Error()))
		body = append(body, jen.If(jen.Len(jen.Id("missing")).Op("!=").Lit(0)).Block(
			jen.Return(jen.Nil(), jen.Qual("errors", "Join").Call(jen.Id("missing").Op("...")))))
	}
	body = append(body, jen.Return(jen.Add(toolsetSlice).Add(lines(items...)), jen.Nil()))
	f.Line()
	f.Comment("Toolsets returns the generated toolsets, in order, for those who wrap them before")
	f.Comment("making the registry.")
	f.Func().Id("Toolsets").Params(jen.Id("h").Id("Hooks")).Params(jen.Add(toolsetSlice), jen.Error()).Block(body...)
}

func registryDefinitions(f *jen.File, r *model.Registry) {
	var lists []jen.Code
	seen := make(map[string]bool)
	for _, hub := range r.Fields {
		if !seen[hub.Package] {
			seen[hub.Package] = true
			lists = append(lists, jen.Qual(hub.Package, "Definitions").Call())
		}
	}
	f.Line()
	f.Comment("Definitions lists what a model will see, without any receiver: for documents,")
	f.Comment("tests and token counts.")
	f.Func().Id("Definitions").Params().Index().Op("*").Qual(runtimePath, "Definition").Block(
		jen.Return(jen.Qual("slices", "Concat").Call(lists...)),
	)
}
