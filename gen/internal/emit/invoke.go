package emit

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/toolgen/toolgen/gen/internal/model"
)

// entryPoint writes the typed method by which Go code calls a tool. Where there
// are constraints it checks them and calls another, which is what the tool
// itself calls after its decoder has checked them.
func entryPoint(f *jen.File, ts *model.Toolset, t *model.Tool) {
	name := t.Entry
	f.Line()
	f.Commentf("%s calls %s.%s.", t.Entry, ts.Name, t.Method)
	if isChecked(t) {
		check := jen.If(jen.Err().Op(":=").Id("check"+t.Ident+"Args").Call(jen.Op("&").Id("args")), jen.Err().Op("!=").Nil()).Block(jen.Return(failure(t)...))
		name = invokeName(t)
		method(f, ts, t.Entry, t, "ctx", "args", true).Block(check, jen.Return(jen.Id("t").Dot(name).Call(jen.Id("ctx"), jen.Id("args"))))
		f.Line()
	}
	b := invocation{ts: ts, tool: t}
	body := b.body()
	ctx, args := "_", "_"
	if b.usesContext {
		ctx = "ctx"
	}
	if b.usesArgs {
		args = "args"
	}
	if name != t.Entry {
		f.Commentf("%s calls %s.%s with arguments that are checked.", name, ts.Name, t.Method)
	}
	method(f, ts, name, t, ctx, args, b.named).Block(body...)
	guardMethod(f, ts, t)
	checkArgs(f, t)
}

// invokeName is the method that a tool calls with checked arguments.
func invokeName(t *model.Tool) string {
	if isChecked(t) {
		return "call" + t.Entry
	}
	return t.Entry
}

// isChecked reports whether an argument has a constraint.
func isChecked(t *model.Tool) bool {
	for i := range t.Params {
		if t.Params[i].Offered() && len(t.Params[i].Rules) > 0 {
			return true
		}
	}
	return false
}

// method begins a method of a toolset with the results of a tool.
func method(f *jen.File, ts *model.Toolset, name string, t *model.Tool, ctx, args string, named bool) *jen.Statement {
	return f.Func().Params(jen.Id("t").Op("*").Id(ts.Name+"Toolset")).Id(name).
		Params(jen.Id(ctx).Qual(contextPath, "Context"), jen.Id(args).Id(t.Ident+"Args")).Add(results(t, named))
}

// results are the results of a tool's method: those of the hook, what was
// captured in front, and an error where something else can fail.
func results(t *model.Tool, named bool) jen.Code {
	types := resultGoTypes(t)
	if !named {
		return resultTypes(types)
	}
	codes := make([]jen.Code, len(types))
	for i, name := range resultNames(t) {
		codes[i] = jen.Id(name).Add(goType(types[i]))
	}
	return jen.Params(codes...)
}

func resultGoTypes(t *model.Tool) []model.GoType {
	var out []model.GoType
	for _, r := range t.Results {
		out = append(out, r.Go)
	}
	if addsError(t) {
		out = append(out, model.GoType{Kind: model.Named, Name: "error"})
	}
	return out
}

// resultNames name the results in order: result, result2 …, err.
func resultNames(t *model.Tool) []string {
	var out []string
	n := 0
	for _, r := range t.Results {
		if r.Error {
			out = append(out, "err")
			continue
		}
		n++
		name := "result"
		if n > 1 {
			name += strconv.Itoa(n)
		}
		out = append(out, name)
	}
	if addsError(t) {
		out = append(out, "err")
	}
	return out
}

// addsError reports whether a tool's method returns an error though the hook
// doesn't.
func addsError(t *model.Tool) bool {
	n := len(t.Results)
	return (isChecked(t) || len(t.Guards) > 0) && (n == 0 || !t.Results[n-1].Error)
}

// failure are the values of a return that fails.
func failure(t *model.Tool) []jen.Code {
	names := resultNames(t)
	out := make([]jen.Code, len(names))
	for i, n := range names {
		out[i] = jen.Id(n)
	}
	return out
}

// An invocation is the body of the method that calls a hook.
type invocation struct {
	ts   *model.Toolset
	tool *model.Tool

	before      []jen.Code // statements
	options     int        // how many parameters are made of them
	usesContext bool
	usesArgs    bool
	named       bool // its results have names, for a return that fails
}

func (b *invocation) body() []jen.Code {
	t := b.tool
	if len(t.Guards) > 0 {
		b.usesContext, b.usesArgs, b.named = true, true, true
		b.before = append(b.before, jen.If(jen.Err().Op(":=").Id("t").Dot("guard"+t.Entry).Call(jen.Id("ctx"), jen.Id("args")), jen.Err().Op("!=").Nil()).
			Block(jen.Return(failure(t)...)))
	}
	var args []jen.Code
	for i := range t.Params {
		if arg := b.argument(&t.Params[i]); arg != nil {
			args = append(args, arg)
		}
	}
	call := jen.Id("t").Dot(b.ts.Var).Dot(t.Method).Call(args...)
	return append(b.before, b.returned(call)...)
}

// returned calls the hook and returns its results, with what was captured.
func (b *invocation) returned(call *jen.Statement) []jen.Code {
	t := b.tool
	switch {
	case len(t.Results) > 0 && t.Results[0].Extra:
		return b.captured(call)
	case len(resultGoTypes(t)) == 0:
		return []jen.Code{call}
	case addsError(t) && len(t.Results) == 0:
		return []jen.Code{call, jen.Return(jen.Nil())}
	case addsError(t):
		b.named = true
		names := failure(t)
		return []jen.Code{jen.List(names[:len(names)-1]...).Op("=").Add(call), jen.Return(names...)}
	default:
		return []jen.Code{jen.Return(call)}
	}
}

// captured returns what a writer or callback got as the first result.
func (b *invocation) captured(call *jen.Statement) []jen.Code {
	t := b.tool
	b.named = true
	names := failure(t)
	rest := names[1:]
	hook := rest // what the hook itself returns
	if addsError(t) {
		hook = rest[:len(rest)-1]
	}
	out := []jen.Code{call}
	if len(hook) > 0 {
		out = []jen.Code{jen.List(hook...).Op("=").Add(call)}
	}
	if t.Results[0].Stream == nil {
		return append(out, jen.Return(append([]jen.Code{jen.Id("captured").Dot("Bytes").Call()}, rest...)...))
	}
	values := append([]jen.Code{jen.Id("collected").Dot("Done").Call()}, rest...)
	if last := len(t.Results) - 1; t.Results[last].Error {
		values[last] = jen.Id("collected").Dot("Err").Call(jen.Err())
	}
	return append(out, jen.Return(values...))
}

// argument is the expression of one argument; nil: it is left out.
func (b *invocation) argument(p *model.Param) jen.Code {
	switch p.Form {
	case model.Context:
		b.usesContext = true
		return jen.Id("ctx")
	case model.Hidden:
		if p.Variadic {
			return nil
		}
		return zero(p.Param)
	case model.Pinned:
		return spread(b.pinned(p), p.Variadic)
	case model.Captured:
		b.before = append(b.before, jen.Var().Id("captured").Qual(toolimplPath, "Capture"))
		return jen.Op("&").Id("captured")
	case model.Collect:
		return b.collect(p)
	case model.Optional:
		b.usesArgs = true
		if p.Builder != nil {
			return b.functional(p)
		}
		return spread(b.functional(p), p.Variadic)
	default:
		b.usesArgs = true
		statements, value := given(p)
		b.before = append(b.before, statements...)
		return spread(value, p.Variadic)
	}
}

// spread is an argument, followed by dots where it is that of a variadic
// parameter.
func spread(value *jen.Statement, variadic bool) jen.Code {
	if variadic {
		return value.Op("...")
	}
	return value
}

// given is the value of an argument that a model sends, after statements that
// put a default in the place of nil.
func given(p *model.Param) ([]jen.Code, *jen.Statement) {
	arg := jen.Id("args").Dot(p.Go)
	if p.Form != model.Pointed {
		return nil, arg
	}
	if p.Type.Kind != model.Pointer || p.Preset != nil {
		return []jen.Code{jen.If(jen.Id("args").Dot(p.Go).Op("==").Nil()).Block(jen.Id("args").Dot(p.Go).Op("=").Add(literal(*p.Default)))}, arg
	}
	if p.Default == nil {
		return nil, jen.Qual(toolimplPath, "OrZero").Call(arg)
	}
	return nil, jen.Qual(toolimplPath, "Or").Call(arg, literal(*p.Default))
}

func (b *invocation) pinned(p *model.Param) *jen.Statement {
	pin := p.Pin
	switch {
	case pin.Value != nil:
		return jen.Add(literal(*pin.Value))
	case !pin.Symbol.IsZero():
		return jen.Add(goType(pin.Symbol))
	case pin.Option != "":
		return jen.Id("t").Dot("options").Dot(pin.Option)
	}
	b.usesContext, b.named = true, true
	source := jen.Id("t").Dot(b.ts.Var).Dot(pin.Method)
	if pin.Method == "" {
		source = goType(pin.Func)
	}
	name := "pinned" + p.Go
	b.before = append(b.before, jen.List(jen.Id(name), jen.Err()).Op(":=").Add(source).Call(jen.Id("ctx")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(failure(b.tool)...)))
	return jen.Id(name)
}

func (b *invocation) collect(p *model.Param) jen.Code {
	c := p.Callback
	b.before = append(b.before, jen.Id("collected").Op(":=").Qual(toolimplPath, "Collect").Types(goType(c.Elem.Go)).Call(jen.Lit(c.Max)))
	switch c.Returns {
	case "error":
		return jen.Id("collected").Dot("AddOrStop")
	case "bool":
		return jen.Id("collected").Dot("Add")
	default:
		return jen.Func().Params(jen.Id("v").Add(goType(c.Elem.Go))).Block(jen.Id("collected").Dot("Add").Call(jen.Id("v")))
	}
}

// functional makes the slice of functional options that were sent.
func (b *invocation) functional(p *model.Param) *jen.Statement {
	options := "options"
	if b.options++; b.options > 1 {
		options += strconv.Itoa(b.options)
	}
	if p.Builder == nil {
		b.before = append(b.before, jen.Var().Id(options).Add(goType(p.Param)))
	} else {
		var args []jen.Code
		for i, field := range p.Builder.Params {
			args = append(args, spread(jen.Id("args").Dot(p.Go).Dot(field.Go), p.Builder.Spread && i == len(p.Builder.Params)-1))
		}
		b.before = append(b.before, jen.Id(options).Op(":=").Add(goType(p.Builder.Func)).Call(args...))
	}
	for _, o := range p.Options {
		sent := jen.Id("args").Dot(p.Go).Dot(o.Field.Go)
		condition := jen.Add(sent).Op("!=").Nil()
		var args []jen.Code
		switch {
		case len(o.Params) == 0:
			condition = jen.Add(sent)
		case o.Type != "":
			for i, inner := range o.Params {
				args = append(args, spread(jen.Add(sent).Dot(inner.Go), o.Spread && i == len(o.Params)-1))
			}
		case o.Wrapped:
			args = append(args, jen.Op("*").Add(sent))
		default:
			args = append(args, spread(jen.Add(sent), o.Spread))
		}
		b.before = append(b.before, jen.If(condition).Block(apply(options, o, args)))
	}
	return jen.Id(options)
}

// apply applies one option.
func apply(options string, o model.Option, args []jen.Code) jen.Code {
	switch {
	case o.Method == "":
		return jen.Id(options).Op("=").Append(jen.Id(options), goType(o.Func).Call(args...))
	case o.Chained:
		return jen.Id(options).Op("=").Id(options).Dot(o.Method).Call(args...)
	default:
		return jen.Id(options).Dot(o.Method).Call(args...)
	}
}

// guardMethod writes the method that asks the guards.
func guardMethod(f *jen.File, ts *model.Toolset, t *model.Tool) {
	if len(t.Guards) == 0 {
		return
	}
	var body []jen.Code
	for _, g := range t.Guards {
		statements, call := guardCall(jen.Id("t").Dot(ts.Var), t, g)
		body = append(body, statements...)
		body = append(body, jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Qual(toolimplPath, "Refuse").Call(jen.Err()))))
	}
	f.Line()
	f.Commentf("guard%s refuses arguments that a guard refuses.", t.Entry)
	f.Func().Params(jen.Id("t").Op("*").Id(ts.Name+"Toolset")).Id("guard"+t.Entry).
		Params(jen.Id("ctx").Qual(contextPath, "Context"), jen.Id("args").Id(t.Ident+"Args")).Error().Block(append(body, jen.Return(jen.Nil()))...)
}

// guardCall is the call of a guard, and what comes before it.
func guardCall(receiver *jen.Statement, t *model.Tool, g model.Guard) (statements []jen.Code, call *jen.Statement) {
	args := []jen.Code{jen.Id("ctx")}
	for _, i := range g.Params {
		before, value := given(&t.Params[i])
		statements, args = append(statements, before...), append(args, value)
	}
	if g.Method != "" {
		return statements, receiver.Dot(g.Method).Call(args...)
	}
	return statements, goType(g.Func).Call(args...)
}

// checkArgs writes the function that checks arguments that Go code made.
func checkArgs(f *jen.File, t *model.Tool) {
	if !isChecked(t) {
		return
	}
	body := []jen.Code{jen.Id("r").Op(":=").Qual(toolimplPath, "Check").Call(jen.Id(t.Ident + "Name"))}
	for i := range t.Params {
		p := &t.Params[i]
		if !p.Offered() || len(p.Rules) == 0 {
			continue
		}
		arg := jen.Id("args").Dot(p.Go)
		value := arg
		if p.Type.Kind == model.Pointer {
			value = jen.Op("*").Add(arg)
		}
		lines := []jen.Code{jen.Id("r").Dot("At").Call(jen.Lit(p.Name), jen.Add(value))}
		if p.Secret {
			lines = append(lines, jen.Id("r").Dot("Secret").Call())
		}
		for _, rule := range p.Rules {
			lines = append(lines, ruleCall(rule, p.Type, jen.Add(value)))
		}
		if p.Type.Kind == model.Pointer || !p.Required && p.Type.Kind.Nilable() {
			lines = []jen.Code{jen.If(jen.Add(arg).Op("!=").Nil()).Block(lines...)}
		}
		body = append(body, lines...)
	}
	f.Line()
	f.Commentf("check%sArgs checks the constraints of %s.", t.Ident, t.Name)
	f.Func().Id("check" + t.Ident + "Args").Params(jen.Id("args").Op("*").Id(t.Ident + "Args")).Error().
		Block(append(body, jen.Return(jen.Id("r").Dot("Close").Call()))...)
}
