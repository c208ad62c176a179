package emit

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/runtime/schema"
)

// raw is a raw string literal of a JSON text, in whose strings a backtick can
// be written as an escape.
func raw(json string) jen.Code {
	return jen.Id("`" + strings.ReplaceAll(json, "`", `\u0060`) + "`")
}

// tag is a struct tag as it was written: another literal is another type.
func tag(text string) jen.Code {
	if strings.Contains(text, "`") {
		return jen.Lit(text)
	}
	return jen.Id("`" + text + "`")
}

// wrap breaks prose into comment lines of about 76 columns.
func wrap(text string) []string {
	var out []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			if line != "" && len(line)+len(word) > 76 {
				out = append(out, "// "+line)
				line = ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		if line != "" {
			out = append(out, "// "+line)
		}
	}
	return out
}

// goType spells a Go type.
func goType(t model.GoType) *jen.Statement {
	switch t.Kind {
	case model.Named:
		return namedType(t)
	case model.GoPointer:
		return jen.Op("*").Add(goType(*t.Elem))
	case model.GoSlice:
		return jen.Index().Add(goType(*t.Elem))
	case model.GoArray:
		return jen.Index(jen.Lit(int(t.Len))).Add(goType(*t.Elem))
	case model.GoMap:
		return jen.Map(goType(*t.Key)).Add(goType(*t.Elem))
	case model.GoChan:
		switch t.Dir {
		case "send":
			return jen.Chan().Op("<-").Add(goType(*t.Elem))
		case "receive":
			return jen.Op("<-").Chan().Add(goType(*t.Elem))
		}
		return jen.Chan().Add(goType(*t.Elem))
	case model.GoFunc:
		return jen.Func().Add(signature(t))
	case model.GoStruct:
		return jen.Struct(structFields(t)...)
	case model.GoInterface:
		return interfaceType(t)
	case model.UnsafePointer:
		return jen.Qual("unsafe", "Pointer")
	}
	return jen.Id(t.Name)
}

func namedType(t model.GoType) *jen.Statement {
	s := jen.Id(t.Name)
	if t.Package != "" {
		s = jen.Qual(t.Package, t.Name)
	}
	if len(t.Args) == 0 {
		return s
	}
	args := make([]jen.Code, len(t.Args))
	for i, a := range t.Args {
		args[i] = goType(a)
	}
	return s.Types(args...)
}

// signature is the parameters and results of a func type.
func signature(t model.GoType) *jen.Statement {
	params := make([]jen.Code, len(t.Args))
	for i, a := range t.Args {
		params[i] = goType(a)
		if t.Variadic && i == len(t.Args)-1 {
			params[i] = jen.Op("...").Add(goType(*a.Elem))
		}
	}
	return jen.Params(params...).Add(resultTypes(t.Results))
}

func resultTypes(results []model.GoType) *jen.Statement {
	switch len(results) {
	case 0:
		return jen.Null()
	case 1:
		return goType(results[0])
	}
	codes := make([]jen.Code, len(results))
	for i, r := range results {
		codes[i] = goType(r)
	}
	return jen.Params(codes...)
}

func structFields(t model.GoType) []jen.Code {
	var out []jen.Code
	for _, f := range t.Fields {
		s := jen.Id(f.Name).Add(goType(f.Type))
		if f.Embedded {
			s = goType(f.Type)
		}
		if f.Tag != "" {
			s = s.Add(tag(f.Tag))
		}
		out = append(out, s)
	}
	return out
}

func interfaceType(t model.GoType) *jen.Statement {
	if len(t.Fields) == 0 {
		return jen.Id("any")
	}
	var methods []jen.Code
	for _, m := range t.Fields {
		if m.Embedded {
			methods = append(methods, goType(m.Type))
			continue
		}
		methods = append(methods, jen.Id(m.Name).Add(signature(m.Type)))
	}
	return jen.Interface(methods...)
}

// isBasic reports whether a type is the predeclared one of that name, so that
// no conversion is needed.
func isBasic(t model.GoType, name string) bool {
	return t.Kind == model.Named && t.Package == "" && t.Name == name
}

// escaped is a property name as it stands between quotes in JSON.
func escaped(name string) jen.Code {
	quoted := schema.AppendString(nil, name)
	return jen.Lit(string(quoted[1 : len(quoted)-1]))
}

// fieldDoc turns the description of a field into a comment in Go's manner, which
// begins with its name.
func fieldDoc(name, text string) string {
	if text == "" {
		return ""
	}
	first, _, _ := strings.Cut(text, " ")
	switch lower := strings.ToLower(first); lower {
	case "a", "an", "the", "how", "what", "whether":
		text = name + " is " + lower + text[len(first):]
	default:
		text = name + ": " + text
	}
	return sentence(text)
}

// argumentDoc is the comment of an argument: what it is, and what nil means.
func argumentDoc(p *model.Param) string {
	doc := fieldDoc(p.Go, p.Doc)
	if p.Default == nil {
		return doc
	}
	if doc == "" {
		doc = p.Go + " may be nil."
	}
	return doc + " Nil stands for " + shortLiteral(*p.Default) + "."
}

// shortLiteral shows a default to a reader.
func shortLiteral(l model.Literal) string {
	switch {
	case l.Addr:
		return shortLiteral(l.Elems[0])
	case l.Quoted:
		return strconv.Quote(l.Text)
	case l.Text != "":
		return l.Text
	default:
		return "a default"
	}
}

// sentence ends a text with a full stop, unless it ends one way or another.
func sentence(text string) string {
	if strings.ContainsAny(text[len(text)-1:], ".!?:") {
		return text
	}
	return text + "."
}
