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
	fields := []jen.Code{jen.Id(ts.Var).Add(goType(ts.Receiver))}
	values := []jen.Code{entry(ts.Var, jen.Id(ts.Var))}
	params := []jen.Code{jen.Id(ts.Var).Add(goType(ts.Receiver))}
	if len(ts.Options) > 0 {
		fields = append(fields, jen.Id("options").Id(ts.Name+"Options"))
		values = append(values, entry("options", jen.Id("options")))
		params = append(params, jen.Id("options").Id(ts.Name+"Options"))
		constructorOptions(f, ts)
	}
	f.Commentf("%s serves the hooks of %s.", name, spelled)
	f.Type().Id(name).Struct(append(fields, jen.Id("tools").Index().Qual(runtimePath, "Tool"))...)
	list := make([]jen.Code, len(ts.Tools))
	for i, t := range ts.Tools {
		list[i] = jen.Id(t.Type).Values(jen.Id("t"))
	}
	f.Line()
	f.Commentf("New%s returns a toolset whose tools call %s.", ts.Name, ts.Var)
	f.Func().Id("New"+ts.Name).Params(params...).Op("*").Id(name).Block(
		jen.Id("t").Op(":=").Op("&").Id(name).Values(values...),
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

// constructorOptions declares what a constructor takes besides the receiver.
func constructorOptions(f *jen.File, ts *model.Toolset) {
	fields := make([]jen.Code, len(ts.Options))
	for i, o := range ts.Options {
		fields[i] = jen.Id(o.Name).Add(goType(o.Type))
	}
	f.Commentf("%sOptions are the arguments that the host sets for all calls.", ts.Name)
	f.Type().Id(ts.Name + "Options").Struct(fields...)
	f.Line()
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
	validate(f, t)
	approval(f, ts, t)
	f.Line()
	f.Func().Params(recv("t")).Id("Call").Params(jen.Id("ctx").Qual(contextPath, "Context"), jen.Id("raw").Qual(jsonPath, "RawMessage")).
		Params(jen.Op("*").Qual(runtimePath, "Result"), jen.Error()).Block(call(t)...)
	decoder(f, t)
}

// validate writes the method that checks arguments without calling the hook.
func validate(f *jen.File, t *model.Tool) {
	raw := jen.Id("raw").Qual(jsonPath, "RawMessage")
	if len(t.Guards) == 0 {
		f.Func().Params(jen.Id(t.Type)).Id("Validate").Params(jen.Id("_").Qual(contextPath, "Context"), raw).Error().Block(
			jen.List(jen.Id("_"), jen.Err()).Op(":=").Id("decode"+t.Ident+"Args").Call(jen.Id("raw")),
			jen.Return(jen.Err()),
		)
		return
	}
	f.Func().Params(jen.Id("t").Id(t.Type)).Id("Validate").Params(jen.Id("ctx").Qual(contextPath, "Context"), raw).Error().Block(
		jen.List(jen.Id("args"), jen.Err()).Op(":=").Id("decode"+t.Ident+"Args").Call(jen.Id("raw")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())),
		jen.Return(jen.Id("t").Dot("toolset").Dot("guard"+t.Entry).Call(jen.Id("ctx"), jen.Id("args"))),
	)
}

// approval writes the method that says whether a person must approve a call.
func approval(f *jen.File, ts *model.Toolset, t *model.Tool) {
	if t.When == nil {
		return
	}
	statements, call := guardCall(jen.Id("t").Dot("toolset").Dot(ts.Var), t, *t.When)
	body := []jen.Code{
		jen.List(jen.Id("args"), jen.Err()).Op(":=").Id("decode" + t.Ident + "Args").Call(jen.Id("raw")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Lit(""), jen.False())).Comment("the call itself says what is wrong"),
	}
	body = append(body, statements...)
	f.Line()
	f.Comment("NeedsApproval reports whether a person must approve a call.")
	f.Func().Params(jen.Id("t").Id(t.Type)).Id("NeedsApproval").Params(jen.Id("ctx").Qual(contextPath, "Context"), jen.Id("raw").Qual(jsonPath, "RawMessage")).
		Params(jen.String(), jen.Bool()).Block(append(body, jen.Return(jen.Lit(""), call))...)
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
	if t.Defer {
		out = append(out, entry("Defer", jen.True()))
	}
	if !t.Context {
		out = append(out, entry("NoContext", jen.True()))
	}
	switch {
	case t.When != nil:
		out = append(out, entry("Approval", jen.Qual(runtimePath, "Ask")))
	case t.Approve:
		out = append(out, entry("Approval", jen.Qual(runtimePath, "Always")))
	}
	if t.Retries != 0 {
		out = append(out, entry("Retries", jen.Lit(t.Retries)))
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

// decoder writes the function that checks and reads the arguments.
func decoder(f *jen.File, t *model.Tool) {
	table := t.Type + "Fields"
	var fields []model.Field
	var hosts []string
	for i := range t.Params {
		p := &t.Params[i]
		switch {
		case p.Offered():
			field := p.Field
			field.Preset = nil // the method that calls the hook has the default
			fields = append(fields, field)
		case p.Name != "":
			hosts = append(hosts, p.Name)
		}
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
	if t.Coerce {
		body = append(body, jen.Id("r").Dot("Coerce").Call())
	}
	if t.NoRepair {
		body = append(body, jen.Id("r").Dot("NoRepair").Call())
	}
	for i := range fields {
		body = append(body, presetField(&fields[i], "args")...)
	}
	body = append(body, readFields(table, "args", fields)...)
	body = append(body, jen.Return(jen.Id("args"), jen.Id("r").Dot("Close").Call()))
	f.Line()
	f.Func().Id("decode"+t.Ident+"Args").Params(jen.Id("raw").Qual(jsonPath, "RawMessage")).
		Params(jen.Id(t.Ident+"Args"), jen.Error()).Block(body...)
}
