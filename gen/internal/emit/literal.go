package emit

import (
	"strconv"
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/toolgen/toolgen/gen/internal/model"
)

// ruleCall checks a value, which is no pointer, by one rule.
func ruleCall(r model.Rule, t model.Type, value *jen.Statement) jen.Code {
	if t.Kind == model.Pointer {
		t = *t.Elem
	}
	switch r.Of {
	case "string":
		value = jen.Add(basic(t.Go, "string", value))
	case "len":
		value = jen.Len(value)
	}
	args := []jen.Code{value}
	for _, a := range r.Args {
		args = append(args, literal(a))
	}
	if r.Var != "" {
		args = append(args, jen.Op("&").Id(r.Var))
	}
	if t.Kind == model.NameEnum { // its words are the names
		return jen.Id("r").Dot("OneName").Call(append([]jen.Code{jen.Int64().Call(value), jen.Id(t.Table)}, args[1:]...)...)
	}
	if r.Read {
		return jen.Id("r").Dot(r.Func).Call(args...)
	}
	return jen.Qual(toolimplPath, r.Func).Call(append([]jen.Code{jen.Id("r")}, args...)...)
}

// literal writes a value.
func literal(l model.Literal) jen.Code {
	switch {
	case l.Nil:
		return jen.Nil()
	case l.Addr:
		return jen.Qual(toolimplPath, "Ptr").Call(conversion(l.Elems[0]))
	case l.Struct:
		fields := make([]jen.Code, len(l.Elems))
		for i, e := range l.Elems {
			fields[i] = entry(l.Keys[i], literal(e))
		}
		return jen.Add(goType(l.Go)).Values(fields...)
	case l.Keys != nil:
		entries := make([]jen.Code, len(l.Elems))
		for i, e := range l.Elems {
			entries[i] = jen.Lit(l.Keys[i]).Op(":").Add(literal(e))
		}
		return jen.Add(goType(l.Go)).Values(entries...)
	case l.Quoted:
		return jen.Lit(l.Text)
	case l.Text != "" && l.Go.Package == "time" && l.Go.Name == "Duration":
		n, _ := strconv.ParseInt(l.Text, 10, 64)
		return duration(time.Duration(n))
	case l.Text != "":
		return jen.Id(l.Text)
	default:
		elems := make([]jen.Code, len(l.Elems))
		for i, e := range l.Elems {
			elems[i] = literal(e)
		}
		return jen.Add(goType(l.Go)).Values(elems...)
	}
}

// conversion is a literal that has its type by itself.
func conversion(l model.Literal) jen.Code {
	if l.Text == "" && !l.Quoted || isBasic(l.Go, "string") && l.Quoted || isBasic(l.Go, "bool") {
		return literal(l)
	}
	return jen.Add(goType(l.Go)).Call(literal(l))
}
