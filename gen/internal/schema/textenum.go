package schema

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
)

// textEnum walks a type with constants that formats and parses itself as text:
// its names are read from the source of its methods, as far as they are a table
// there.
func (w *Walker) textEnum(n *types.Named, dir Direction, at Site) (Value, bool) {
	if ownForm(n, In) != model.Text || ownForm(n, Out) != model.Text || len(w.constantsOf(n)) < 2 {
		return Value{}, false
	}
	s := &jsonschema.Schema{Type: "string"}
	names := w.textNames(n)
	mode, _ := w.typeSetting(n).Get("enum")
	switch {
	case mode.Value == "off":
	case len(names) < 2:
		w.diags.Notef(at.Pos, diag.EnumUnread, "%s has type %s: the names of its constants can't be read from its source", at.What, spell(n))
	case dir == Out || mode.Value == "open":
		values := make([]any, len(names))
		for i, name := range names {
			values[i] = name
		}
		s.Description = oneOf(values, "")
	default:
		for _, name := range names {
			s.Enum = append(s.Enum, name)
		}
	}
	return opaque(model.Text, n, s), true
}

// textNames returns the texts that a type's MarshalText, or its String, chooses
// from, in source order.
func (w *Walker) textNames(n *types.Named) []string {
	for _, method := range []string{"MarshalText", "String"} {
		m := types.NewMethodSet(types.NewPointer(n)).Lookup(n.Obj().Pkg(), method)
		if m == nil {
			continue
		}
		decl, ok := w.program.Decl(m.Obj()).(*ast.FuncDecl)
		if !ok || decl.Body == nil {
			continue
		}
		r := nameReader{walker: w, pkg: n.Obj().Pkg(), file: w.program.FileOf(m.Obj())}
		ast.Inspect(decl.Body, r.visit)
		if len(r.names) > 1 {
			return r.names
		}
	}
	return nil
}

type nameReader struct {
	walker *Walker
	pkg    *types.Package
	file   *ast.File
	names  []string
}

func (r *nameReader) add(e ast.Expr) {
	if text, ok := stringLiteral(e); ok && text != "" && !slices.Contains(r.names, text) {
		r.names = append(r.names, text)
	}
}

// visit finds a switch whose cases return literals, a table that is indexed, and
// what the stringer tool writes.
func (r *nameReader) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CaseClause:
		if len(n.List) == 0 || len(n.Body) != 1 {
			return true
		}
		if ret, ok := n.Body[0].(*ast.ReturnStmt); ok && len(ret.Results) > 0 {
			r.add(ret.Results[0])
		}
	case *ast.IndexExpr:
		r.table(n.X)
	case *ast.SliceExpr:
		r.stringer(n)
	}
	return true
}

// stringLiteral is the text of "x" or []byte("x").
func stringLiteral(e ast.Expr) (string, bool) {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 {
		if _, bytes := call.Fun.(*ast.ArrayType); bytes {
			e = call.Args[0]
		}
	}
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// table reads the strings of a map, array or slice literal.
func (r *nameReader) table(x ast.Expr) {
	id, ok := x.(*ast.Ident)
	if !ok {
		return
	}
	lit, ok := r.value(id.Name).(*ast.CompositeLit)
	if !ok {
		return
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		r.add(e)
	}
}

// stringer reads name[index[i]:index[i+1]].
func (r *nameReader) stringer(s *ast.SliceExpr) {
	id, ok := s.X.(*ast.Ident)
	low, indexed := s.Low.(*ast.IndexExpr)
	if !ok || !indexed {
		return
	}
	index, ok := low.X.(*ast.Ident)
	text, isText := stringLiteral(r.value(id.Name))
	table, isTable := r.value(indexName(index, ok)).(*ast.CompositeLit)
	if !isText || !isTable {
		return
	}
	last := 0
	for i, e := range table.Elts {
		lit, ok := e.(*ast.BasicLit)
		if !ok {
			return
		}
		at, err := strconv.Atoi(lit.Value)
		if err != nil || at < last || at > len(text) {
			return
		}
		if i > 0 && !slices.Contains(r.names, text[last:at]) {
			r.names = append(r.names, text[last:at])
		}
		last = at
	}
}

func indexName(id *ast.Ident, ok bool) string {
	if !ok {
		return ""
	}
	return id.Name
}

// value returns what a package variable or constant is set to: of the method's
// own file, else of the package.
func (r *nameReader) value(name string) ast.Expr {
	for _, decl := range r.file.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				if e := valueOf(v, name); e != nil {
					return e
				}
			}
		}
	}
	if obj := r.pkg.Scope().Lookup(name); obj != nil {
		if v, ok := r.walker.program.Decl(obj).(*ast.ValueSpec); ok {
			return valueOf(v, name)
		}
	}
	return nil
}

func valueOf(v *ast.ValueSpec, name string) ast.Expr {
	for i, id := range v.Names {
		if id.Name == name && i < len(v.Values) {
			return v.Values[i]
		}
	}
	return nil
}
