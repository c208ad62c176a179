package emit

import (
	"strconv"
	"strings"
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/toolgen/toolgen/gen/internal/model"
)

// toolset writes a toolset with its constructor and typed methods.
func toolset(f *jen.File, p *model.Package, ts *model.Toolset) {
	name := ts.Name + "Toolset"
	spelled := spell(p, ts.Receiver)
	f.Line()
	f.Commentf("%s serves the hooks of %s.", name, spelled)
	f.Type().Id(name).Struct(
		jen.Id(ts.Var).Add(goType(ts.Receiver)),
		jen.Id("tools").Index().Qual(runtimePath, "Tool"),
	)
	list := make([]jen.Code, len(ts.Tools))
	for i, t := range ts.Tools {
		list[i] = jen.Id(t.Type).Values(jen.Id("t"))
	}
	f.Line()
	f.Commentf("New%s returns a toolset whose tools call %s.", ts.Name, ts.Var)
	f.Func().Id("New"+ts.Name).Params(jen.Id(ts.Var).Add(goType(ts.Receiver))).Op("*").Id(name).Block(
		jen.Id("t").Op(":=").Op("&").Id(name).Values(entry(ts.Var, jen.Id(ts.Var))),
		jen.Id("t").Dot("tools").Op("=").Index().Qual(runtimePath, "Tool").Add(lines(list...)),
		jen.Return(jen.Id("t")),
	)
	var body []jen.Code
	comment := "Tools returns the tools, ordered by name."
	if ts.Nilable {
		comment += " A nil " + ts.Var + " is an error."
		body = append(body, jen.If(jen.Id("t").Dot(ts.Var).Op("==").Nil()).Block(
			jen.Return(jen.Nil(), jen.Qual("errors", "New").Call(jen.Lit(p.Name+".New"+ts.Name+" was given a nil "+spelled))),
		))
	}
	body = append(body, jen.Return(jen.Id("t").Dot("tools"), jen.Nil()))
	f.Line()
	f.Comment(comment)
	f.Func().Params(jen.Id("t").Op("*").Id(name)).Id("Tools").Params(jen.Qual(contextPath, "Context")).
		Params(jen.Index().Qual(runtimePath, "Tool"), jen.Error()).Block(body...)
	for i := range ts.Tools {
		entryPoint(f, ts, &ts.Tools[i])
	}
}

// spell writes a receiver's type for a comment or message.
func spell(p *model.Package, t model.GoType) string {
	if t.Kind == model.GoPointer {
		return "*" + spell(p, *t.Elem)
	}
	if t.Package == "" {
		return t.Name
	}
	return p.SourceName + "." + t.Name
}

// entryPoint writes the typed method by which Go code calls a tool.
func entryPoint(f *jen.File, ts *model.Toolset, t *model.Tool) {
	var args []jen.Code
	ctx, argument := "_", "_"
	for _, p := range t.Params {
		switch {
		case p.Context:
			ctx = "ctx"
			args = append(args, jen.Id("ctx"))
		case p.Hidden && p.Variadic:
		case p.Hidden:
			args = append(args, zero(p.Type.Go))
		default:
			argument = "args"
			arg := jen.Id("args").Dot(p.Go)
			if p.Variadic {
				arg = arg.Op("...")
			}
			args = append(args, arg)
		}
	}
	call := jen.Id("t").Dot(ts.Var).Dot(t.Method).Call(args...)
	body := jen.Return(call)
	if len(t.Results) == 0 {
		body = call
	}
	f.Line()
	f.Commentf("%s calls %s.%s.", t.Entry, ts.Name, t.Method)
	f.Func().Params(jen.Id("t").Op("*").Id(ts.Name+"Toolset")).Id(t.Entry).
		Params(jen.Id(ctx).Qual(contextPath, "Context"), jen.Id(argument).Id(t.Ident+"Args")).
		Add(resultTypes(resultGoTypes(t))).Block(body)
}

func resultGoTypes(t *model.Tool) []model.GoType {
	out := make([]model.GoType, len(t.Results))
	for i, r := range t.Results {
		out[i] = r.Go
	}
	return out
}

// zero is the zero value of a type as an expression.
func zero(t model.GoType) jen.Code {
	switch t.Kind {
	case model.GoPointer, model.GoSlice, model.GoMap, model.GoChan, model.GoFunc, model.GoInterface, model.UnsafePointer:
		return jen.Nil()
	case model.Named:
		switch {
		case t.Package != "":
		case t.Name == "string":
			return jen.Lit("")
		case t.Name == "bool":
			return jen.False()
		case t.Name == "any" || t.Name == "error":
			return jen.Nil()
		default:
			return jen.Lit(0)
		}
	}
	return jen.Op("*").New(goType(t))
}

// definitions writes what a model sees.
func definitions(f *jen.File, p *model.Package) {
	var list []jen.Code
	for _, ts := range p.Toolsets {
		for _, t := range ts.Tools {
			list = append(list, jen.Op("&").Id(t.Type+"Definition"))
		}
	}
	f.Line()
	f.Comment("Definitions lists what a model sees of the tools, without any receiver: for")
	f.Comment("documents, tests and token counts.")
	f.Func().Id("Definitions").Params().Index().Op("*").Qual(runtimePath, "Definition").Block(
		jen.Return(jen.Index().Op("*").Qual(runtimePath, "Definition").Add(lines(list...))),
	)
}

// tool writes the tool itself: definition, call, check and decoder.
func tool(f *jen.File, ts *model.Toolset, t *model.Tool) {
	f.Line()
	f.Commentf("%s is the tool %s.", t.Type, t.Name)
	f.Type().Id(t.Type).Struct(jen.Id("toolset").Op("*").Id(ts.Name + "Toolset"))
	f.Var().Id(t.Type+"Definition").Op("=").Qual(runtimePath, "Definition").Add(lines(definition(t)...))
	recv := func(name string) *jen.Statement { return jen.Id(name).Id(t.Type) }
	f.Line()
	f.Func().Params(jen.Id(t.Type)).Id("Definition").Params().Op("*").Qual(runtimePath, "Definition").
		Block(jen.Return(jen.Op("&").Id(t.Type + "Definition")))
	f.Line()
	f.Func().Params(jen.Id(t.Type)).Id("Validate").Params(jen.Id("_").Qual(contextPath, "Context"), jen.Id("raw").Qual(jsonPath, "RawMessage")).Error().Block(
		jen.List(jen.Id("_"), jen.Err()).Op(":=").Id("decode"+t.Ident+"Args").Call(jen.Id("raw")),
		jen.Return(jen.Err()),
	)
	f.Line()
	f.Func().Params(recv("t")).Id("Call").Params(jen.Id("ctx").Qual(contextPath, "Context"), jen.Id("raw").Qual(jsonPath, "RawMessage")).
		Params(jen.Op("*").Qual(runtimePath, "Result"), jen.Error()).Block(call(t)...)
	decoder(f, t)
}

func definition(t *model.Tool) []jen.Code {
	out := []jen.Code{entry("Name", jen.Id(t.Ident+"Name"))}
	if t.Title != "" {
		out = append(out, entry("Title", jen.Lit(t.Title)))
	}
	if t.Description != "" {
		out = append(out, entry("Description", text(t.Description)))
	}
	out = append(out, entry("Input", jen.Qual(jsonPath, "RawMessage").Call(jen.Id(t.Type+"Input"))))
	if t.Output != "" {
		out = append(out, entry("Output", jen.Qual(jsonPath, "RawMessage").Call(jen.Id(t.Type+"Output"))))
	}
	if hints := hints(t.Hints); len(hints) > 0 {
		out = append(out, entry("Hints", jen.Qual(runtimePath, "Hints").Values(hints...)))
	}
	if t.Sequential {
		out = append(out, entry("Sequential", jen.True()))
	}
	if !t.Context {
		out = append(out, entry("NoContext", jen.True()))
	}
	if t.Timeout != 0 {
		out = append(out, entry("Timeout", duration(t.Timeout)))
	}
	if t.MaxResult != 0 {
		out = append(out, entry("MaxResult", jen.Lit(t.MaxResult)))
	}
	return append(out, entry("SchemaHash", jen.Lit(t.SchemaHash)))
}

// text is a string literal: a raw one where it has lines and no backtick, so
// that it can be read.
func text(s string) jen.Code {
	if strings.Contains(s, "\n") && !strings.ContainsAny(s, "`\r") {
		return jen.Id("`" + s + "`")
	}
	return jen.Lit(s)
}

func duration(d time.Duration) jen.Code {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}, {time.Millisecond, "Millisecond"}} {
		if d%unit.size == 0 {
			return jen.Id(strconv.FormatInt(int64(d/unit.size), 10)).Op("*").Qual("time", unit.name)
		}
	}
	return jen.Id(strconv.FormatInt(int64(d), 10)).Op("*").Qual("time", "Nanosecond")
}

func hints(h model.Hints) []jen.Code {
	var out []jen.Code
	for _, hint := range []struct {
		name  string
		value *bool
	}{{"ReadOnly", h.ReadOnly}, {"Destructive", h.Destructive}, {"Idempotent", h.Idempotent}, {"OpenWorld", h.OpenWorld}} {
		if hint.value == nil {
			continue
		}
		word := "No"
		if *hint.value {
			word = "Yes"
		}
		out = append(out, entry(hint.name, jen.Qual(runtimePath, word)))
	}
	return out
}

// call writes the body of Call: decode, call, write.
func call(t *model.Tool) []jen.Code {
	failed := jen.Return(jen.Nil(), hookError(t))
	fail := jen.If(jen.Err().Op("!=").Nil()).Block(failed)
	body := []jen.Code{
		jen.List(jen.Id("args"), jen.Err()).Op(":=").Id("decode" + t.Ident + "Args").Call(jen.Id("raw")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
	}
	var targets []jen.Code
	var shown []model.Result
	var vars []string
	failing := false
	for _, r := range t.Results {
		switch {
		case r.Error:
			failing = true
			targets = append(targets, jen.Err())
		case r.Drop:
			targets = append(targets, jen.Id("_"))
		default:
			name := "result"
			if len(shown) > 0 {
				name += strconv.Itoa(len(shown) + 1)
			}
			shown, vars = append(shown, r), append(vars, name)
			targets = append(targets, jen.Id(name))
		}
	}
	invoke := jen.Id("t").Dot("toolset").Dot(t.Entry).Call(jen.Id("ctx"), jen.Id("args"))
	switch {
	case len(targets) == 0:
		body = append(body, invoke)
	case failing && len(shown) == 0 && len(targets) == 1:
		body = append(body, jen.If(jen.Err().Op(":=").Add(invoke), jen.Err().Op("!=").Nil()).Block(failed))
	default:
		op := ":="
		if len(shown) == 0 {
			op = "="
		}
		body = append(body, jen.List(targets...).Op(op).Add(invoke))
		if failing {
			body = append(body, fail)
		}
	}
	return append(body, writeResults(t, shown, vars)...)
}

// hookError is what Call returns of the hook's error.
func hookError(t *model.Tool) jen.Code {
	if len(t.Retry)+len(t.Failed) == 0 {
		return jen.Err()
	}
	list := func(vars []model.GoType) jen.Code {
		if len(vars) == 0 {
			return jen.Nil()
		}
		items := make([]jen.Code, len(vars))
		for i, v := range vars {
			items[i] = goType(v)
		}
		return jen.Index().Error().Values(items...)
	}
	return jen.Qual(toolimplPath, "Classify").Call(jen.Err(), list(t.Retry), list(t.Failed))
}

// writeResults writes the data results and returns the Result.
func writeResults(t *model.Tool, shown []model.Result, vars []string) []jen.Code {
	if len(shown) == 0 {
		return []jen.Code{jen.Return(jen.Qual(toolimplPath, "Done").Call(), jen.Nil())}
	}
	var body []jen.Code
	w := jen.Id("w").Op(":=").Qual(toolimplPath, "Write").Call(jen.Id(t.Ident + "Name"))
	if len(shown) == 1 && shown[0].Name == "" {
		typ := shown[0].Type
		if typ.Kind == model.Pointer {
			body = append(body, jen.If(jen.Id(vars[0]).Op("==").Nil()).Block(
				jen.Return(jen.Nil(), jen.Qual(toolimplPath, "Nothing").Call(jen.Id(t.Ident+"Name"))),
			))
		}
		body = append(body, w, writePresent(typ, vars[0]))
		return append(body, jen.Return(jen.Id("w").Dot("Result").Call()))
	}
	body = append(body, w, jen.Id("w").Dot("Object").Call())
	for i, r := range shown {
		value := []jen.Code{jen.Id("w").Dot("Key").Call(jen.Lit(r.Name)), writePresent(r.Type, vars[i])}
		if r.Type.Kind == model.Pointer || r.Type.Kind == model.Error {
			value = []jen.Code{jen.If(jen.Id(vars[i]).Op("!=").Nil()).Block(value...)}
		}
		body = append(body, value...)
	}
	body = append(body, jen.Id("w").Dot("EndObject").Call())
	if len(shown) == 1 && shown[0].Type.Kind == model.String {
		return append(body, jen.Return(jen.Id("w").Dot("TextResult").Call(basic(shown[0].Type.Go, "string", jen.Id(vars[0])))))
	}
	return append(body, jen.Return(jen.Id("w").Dot("Result").Call()))
}

// decoder writes the function that checks and reads the arguments.
func decoder(f *jen.File, t *model.Tool) {
	table := t.Type + "Fields"
	var fields []model.Field
	var hosts []string
	for _, p := range t.Params {
		if p.Context {
			continue
		}
		if p.Hidden {
			hosts = append(hosts, p.Name)
			continue
		}
		fields = append(fields, p.Field)
	}
	if len(fields)+len(hosts) == 0 {
		table = "nil"
	} else {
		fieldTable(f, table, fields, hosts)
	}
	body := []jen.Code{
		jen.Var().Id("args").Id(t.Ident + "Args"),
		jen.Id("r").Op(":=").Qual(toolimplPath, "Read").Call(jen.Id(t.Ident+"Name"), jen.Id("raw"), jen.Lit(t.MaxArgs)),
	}
	body = append(body, readFields(table, "args", fields)...)
	body = append(body, jen.Return(jen.Id("args"), jen.Id("r").Dot("Close").Call()))
	f.Line()
	f.Func().Id("decode"+t.Ident+"Args").Params(jen.Id("raw").Qual(jsonPath, "RawMessage")).
		Params(jen.Id(t.Ident+"Args"), jen.Error()).Block(body...)
}
