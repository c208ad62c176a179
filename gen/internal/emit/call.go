package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/toolgen/toolgen/gen/internal/model"
)

// A caller writes the body of Call: decode, call, unwrap, write.
type caller struct {
	tool  *model.Tool
	body  []jen.Code
	shown []*model.Result
	vars  []string
}

func call(t *model.Tool) []jen.Code {
	c := caller{tool: t}
	c.add(
		jen.List(jen.Id("args"), jen.Err()).Op(":=").Id("decode"+t.Ident+"Args").Call(jen.Id("raw")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
	)
	c.invoke()
	for i := range c.shown {
		c.unwrap(i)
	}
	c.write()
	return c.body
}

func (c *caller) add(statements ...jen.Code) { c.body = append(c.body, statements...) }

// fails returns from Call with the hook's error.
func (c *caller) fails() jen.Code { return jen.Return(jen.Nil(), hookError(c.tool)) }

func (c *caller) streams() bool {
	for i := range c.tool.Results {
		if s := c.tool.Results[i].Stream; s != nil && s.Kind != "" {
			return true
		}
	}
	return false
}

// invoke calls the toolset's method.
func (c *caller) invoke() {
	t := c.tool
	var targets []jen.Code
	names := resultNames(t)
	failing := addsError(t)
	for i := range t.Results {
		r := &t.Results[i]
		switch {
		case r.Error:
			failing = true
			targets = append(targets, jen.Err())
		case r.Drop:
			targets = append(targets, jen.Id("_"))
		default:
			c.shown, c.vars = append(c.shown, r), append(c.vars, names[i])
			targets = append(targets, jen.Id(names[i]))
		}
	}
	if addsError(t) {
		targets = append(targets, jen.Err())
	}
	if c.streams() && t.Context {
		c.add(jen.List(jen.Id("ctx"), jen.Id("cancel")).Op(":=").Qual(contextPath, "WithCancel").Call(jen.Id("ctx")), jen.Defer().Id("cancel").Call())
	}
	invoke := jen.Id("t").Dot("toolset").Dot(invokeName(t)).Call(jen.Id("ctx"), jen.Id("args"))
	switch {
	case len(targets) == 0:
		c.add(invoke)
	case failing && len(c.shown) == 0 && len(targets) == 1:
		c.add(jen.If(jen.Err().Op(":=").Add(invoke), jen.Err().Op("!=").Nil()).Block(c.fails()))
	default:
		op := ":="
		if len(c.shown) == 0 {
			op = "="
		}
		c.add(jen.List(targets...).Op(op).Add(invoke))
		if failing {
			c.add(jen.If(jen.Err().Op("!=").Nil()).Block(c.fails()))
		}
	}
}

// hookError is what Call returns of the hook's error.
func hookError(t *model.Tool) jen.Code {
	if len(t.Retry)+len(t.Failed) == 0 {
		return jen.Err()
	}
	list := func(matches []model.ErrorMatch) jen.Code {
		if len(matches) == 0 {
			return jen.Nil()
		}
		items := make([]jen.Code, len(matches))
		for i, m := range matches {
			if m.Type {
				items[i] = jen.Qual(toolimplPath, "As").Types(goType(m.Go))
			} else {
				items[i] = jen.Qual(toolimplPath, "Is").Call(goType(m.Go))
			}
		}
		return jen.Index().Qual(toolimplPath, "Match").Values(items...)
	}
	return jen.Qual(toolimplPath, "Classify").Call(jen.Err(), list(t.Retry), list(t.Failed))
}

// unwrap gets the data of a result by its method.
func (c *caller) unwrap(i int) {
	r := c.shown[i]
	if r.Unwrap == nil {
		return
	}
	name := "data" + strings.TrimPrefix(c.vars[i], "result")
	if r.Unwrap.Nilable {
		c.add(c.nothing(c.vars[i]))
	}
	method := jen.Id(c.vars[i]).Dot(r.Unwrap.Method)
	if r.Unwrap.Into.IsZero() {
		c.add(jen.List(jen.Id(name), jen.Err()).Op(":=").Add(method).Call(), jen.If(jen.Err().Op("!=").Nil()).Block(c.fails()))
	} else {
		var args []jen.Code
		if r.Unwrap.Context {
			args = append(args, jen.Id("ctx"))
		}
		args = append(args, jen.Op("&").Id(name))
		c.add(jen.Var().Id(name).Add(goType(r.Unwrap.Into)),
			jen.If(jen.Err().Op(":=").Add(method).Call(args...), jen.Err().Op("!=").Nil()).Block(c.fails()))
	}
	c.vars[i] = name
}

// nothing returns from Call where the hook returned nil and no error.
func (c *caller) nothing(variable string) jen.Code {
	return jen.If(jen.Id(variable).Op("==").Nil()).Block(
		jen.Return(jen.Nil(), jen.Qual(toolimplPath, "Nothing").Call(jen.Id(c.tool.Ident+"Name"))),
	)
}

// write writes the results and returns them.
func (c *caller) write() {
	t := c.tool
	if len(c.shown) == 0 {
		c.add(jen.Return(jen.Qual(toolimplPath, "Done").Call(), jen.Nil()))
		return
	}
	w := jen.Id("w").Op(":=").Qual(toolimplPath, "Write").Call(jen.Id(t.Ident + "Name"))
	if len(c.shown) == 1 && c.shown[0].Name == "" {
		c.alone(w, c.shown[0], c.vars[0])
		return
	}
	for i, r := range c.shown {
		if s := r.Stream; s != nil && s.Kind != "" {
			c.add(c.nothing(c.vars[i]))
		}
	}
	c.add(w, jen.Id("w").Dot("Object").Call())
	for i, r := range c.shown {
		c.property(r, c.vars[i])
	}
	c.add(jen.Id("w").Dot("EndObject").Call())
	if first := c.shown[0]; len(c.shown) == 1 && first.Type.Kind == model.String && first.Stream == nil {
		c.add(jen.Return(jen.Id("w").Dot("TextResult").Call(basic(first.Type.Go, "string", jen.Id(c.vars[0])))))
		return
	}
	c.add(jen.Return(jen.Id("w").Dot("Result").Call()))
}

// alone writes the only result, which is an object or bytes.
func (c *caller) alone(w jen.Code, r *model.Result, variable string) {
	name := jen.Id(c.tool.Ident + "Name")
	switch {
	case r.Type.Kind == model.Bytes:
		c.add(jen.Return(jen.Qual(toolimplPath, "BytesResult").Call(name, jen.Id(variable), jen.Lit(r.Media), jen.Lit(c.tool.MaxResult))))
		return
	case r.Type.Kind == model.Content:
		c.add(jen.Return(jen.Qual(toolimplPath, "ContentResult").Call(name, jen.Id(variable), jen.Lit(r.Media), jen.Lit(c.tool.MaxResult))))
		return
	case len(r.Keep) > 0:
		c.add(w)
		c.keep(r, variable)
	default:
		if r.Type.Kind == model.Pointer {
			c.add(c.nothing(variable))
		}
		c.add(w, writePresent(r.Type, variable))
	}
	c.add(jen.Return(jen.Id("w").Dot("Result").Call()))
}

// property writes one of several results, or one that is no object.
func (c *caller) property(r *model.Result, variable string) {
	key := jen.Id("w").Dot("Key").Call(escaped(r.Name))
	switch {
	case r.Stream != nil:
		c.add(key)
		c.stream(r, variable)
	case len(r.Keep) > 0:
		c.add(key)
		c.keep(r, variable)
	case r.Type.Kind.LeftOut():
		c.add(jen.If(jen.Id(variable).Op("!=").Nil()).Block(key, writePresent(r.Type, variable)))
	default:
		c.add(key, writePresent(r.Type, variable))
	}
}

// stream writes the items of a stream.
func (c *caller) stream(r *model.Result, variable string) {
	s := r.Stream
	w := func(method string, args ...jen.Code) *jen.Statement { return jen.Id("w").Dot(method).Call(args...) }
	item := jen.If(jen.Op("!").Add(w("Item", jen.Lit(s.Max)))).Block(jen.Break())
	value := writeValue(r.Type, "e")
	c.add(w("Array"))
	vars, source := []jen.Code{jen.Id("e")}, jen.Id(variable)
	body := []jen.Code{item, value}
	switch s.Kind {
	case model.SeqError, model.Channel:
		if s.Kind == model.Channel {
			source = jen.Qual(toolimplPath, "Receive").Call(jen.Id("ctx"), source)
		}
		vars = append(vars, jen.Err())
		body = append([]jen.Code{jen.If(jen.Err().Op("!=").Nil()).Block(w("Drop"), c.fails())}, body...)
	case model.Pairs:
		vars = []jen.Code{jen.Id("k"), jen.Id("e")}
		body = []jen.Code{
			item, w("Object"), w("Key", jen.Lit("key")), writeValue(*s.Key, "k"), w("Key", jen.Lit("value")), value, w("EndObject"),
		}
	case "":
		vars, source = []jen.Code{jen.Id("_"), jen.Id("e")}, source.Dot("Items")
	}
	c.add(jen.For(jen.List(vars...).Op(":=").Range().Add(source)).Block(body...), w("EndArray"))
	if s.Kind == "" {
		c.add(w("More", jen.Id(variable).Dot("More")))
	}
}

// keep writes the fields of a result that are shown.
func (c *caller) keep(r *model.Result, variable string) {
	c.add(jen.Id("w").Dot("Object").Call())
	for _, k := range r.Keep {
		path := strings.Join(append([]string{variable}, k.Path...), ".")
		statements := []jen.Code{jen.Id("w").Dot("Key").Call(escaped(k.Name)), writePresent(k.Type, path)}
		if len(k.Guard) == 0 {
			c.add(statements...)
			continue
		}
		var condition *jen.Statement
		for _, n := range k.Guard {
			head := jen.Id(strings.Join(append([]string{variable}, k.Path[:n]...), ".")).Op("!=").Nil()
			if condition == nil {
				condition = head
			} else {
				condition = condition.Op("&&").Add(head)
			}
		}
		c.add(jen.If(condition).Block(statements...))
	}
	c.add(jen.Id("w").Dot("EndObject").Call())
}
