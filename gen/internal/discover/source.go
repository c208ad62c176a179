package discover

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/directive"
	"github.com/toolgen/toolgen/gen/internal/load"
)

// source finds the directives of one package of the user's.
func (f *finder) source(pkg *load.Package) {
	for _, file := range pkg.Files {
		used := make(map[*ast.Comment]bool)
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				f.function(pkg, decl, used)
			case *ast.GenDecl:
				f.declaration(pkg, decl, used)
			}
		}
		f.lost(file.Comments, used)
	}
}

func use(used map[*ast.Comment]bool, groups ...*ast.CommentGroup) {
	for _, g := range groups {
		if g != nil {
			for _, c := range g.List {
				used[c] = true
			}
		}
	}
}

// function reads the directives of a method or function.
func (f *finder) function(pkg *load.Package, decl *ast.FuncDecl, used map[*ast.Comment]bool) {
	use(used, decl.Doc)
	found, diags := directive.Parse(f.program.Fset, directive.Method, decl.Doc)
	f.diags = append(f.diags, diags...)
	expose := find(found, "expose")
	switch {
	case len(found) == 0:
		return
	case decl.Recv == nil:
		f.diags.Errorf(found[0].Pos, diag.DirectiveTarget, "make it a method of a type that holds what it needs", "function %s: only methods are hooks", decl.Name.Name)
		return
	}
	tn := f.receiverType(pkg, decl)
	if tn == nil {
		return
	}
	fn, _, _ := types.LookupFieldOrMethod(types.NewPointer(tn.Type()), true, pkg.Types, decl.Name.Name)
	m, ok := fn.(*types.Func)
	if !ok {
		return
	}
	if expose == nil && len(diags) > 0 {
		return // the directive that failed may have been expose
	}
	if expose == nil && !f.isNamed(pkg, tn.Name(), m.Name()) {
		f.diags.Errorf(found[0].Pos, diag.DirectiveTarget, "add //toolgen:expose", "directive %s: method %s is not exposed", found[0].Name, decl.Name.Name)
		return
	}
	h := f.add(f.receiver(pkg, tn), m, found[0].Pos)
	h.Directives = found
	use(used, h.Params...) // package build says which of them belong to nothing
	if expose != nil {
		h.Pos = expose.Pos
	}
}

// isNamed reports whether toolgen.yaml names a method.
func (f *finder) isNamed(pkg *load.Package, typeName, method string) bool {
	for _, c := range f.file.Packages {
		if f.program.ImportPath(c.Path.Value) != pkg.Path {
			continue
		}
		for _, t := range c.Types {
			for _, m := range t.Methods {
				if t.Name.Value == typeName && m.Method.Value == method {
					return true
				}
			}
		}
	}
	return false
}

// receiverType returns the type of a method's receiver, unless there is a
// reason that it can't have hooks.
func (f *finder) receiverType(pkg *load.Package, decl *ast.FuncDecl) *types.TypeName {
	expr := ast.Unparen(decl.Recv.List[0].Type)
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = ast.Unparen(star.X)
	}
	id, ok := expr.(*ast.Ident)
	if !ok {
		f.diags.Errorf(f.at(expr), diag.TypeUnsupported, "expose a method of a type made from it", "method %s: its receiver is generic", decl.Name.Name)
		return nil
	}
	tn, ok := pkg.Types.Scope().Lookup(id.Name).(*types.TypeName)
	switch {
	case !ok:
		f.diags.Errorf(f.at(expr), diag.SignatureBroken, "mend it", "method %s: there is no type %s", decl.Name.Name, id.Name)
		return nil
	case !tn.Exported():
		f.diags.Errorf(f.at(expr), diag.TypeUnexported, "export it", "method %s: generated code can't name its receiver's type %s", decl.Name.Name, id.Name)
		return nil
	}
	return tn
}

// declaration reads the directives of types and of the fields of structs.
func (f *finder) declaration(pkg *load.Package, decl *ast.GenDecl, used map[*ast.Comment]bool) {
	if decl.Tok != token.TYPE {
		return
	}
	for _, s := range decl.Specs {
		spec, ok := s.(*ast.TypeSpec)
		if !ok {
			continue
		}
		doc := spec.Doc
		if doc == nil && len(decl.Specs) == 1 {
			doc = decl.Doc
		}
		use(used, doc)
		found, diags := directive.Parse(f.program.Fset, directive.Type, doc)
		f.diags = append(f.diags, diags...)
		if tn, ok := pkg.Types.Scope().Lookup(spec.Name.Name).(*types.TypeName); ok && len(found) > 0 {
			f.receiver(pkg, tn).Directives = found
		}
		f.fields(spec.Type, used)
	}
}

func (f *finder) fields(typ ast.Expr, used map[*ast.Comment]bool) {
	ast.Inspect(typ, func(n ast.Node) bool {
		if iface, ok := n.(*ast.InterfaceType); ok {
			f.interfaceMethods(iface, used)
			return false
		}
		if field, ok := n.(*ast.Field); ok {
			use(used, field.Doc, field.Comment)
			_, diags := directive.Parse(f.program.Fset, directive.Field, field.Doc, field.Comment)
			f.diags = append(f.diags, diags...)
		}
		return true
	})
}

// interfaceMethods reports directives at the methods of an interface.
func (f *finder) interfaceMethods(iface *ast.InterfaceType, used map[*ast.Comment]bool) {
	for _, m := range iface.Methods.List {
		use(used, m.Doc, m.Comment)
		found, diags := directive.Parse(f.program.Fset, directive.Method, m.Doc, m.Comment)
		f.diags = append(f.diags, diags...)
		for _, d := range found {
			f.diags.Errorf(d.Pos, diag.DirectiveTarget, "name the interface and its methods in toolgen.yaml", "directive %s can't stand in an interface", d.Name)
		}
	}
}

// lost reports directives that belong to nothing: cut off by a blank line, or
// in a body.
func (f *finder) lost(groups []*ast.CommentGroup, used map[*ast.Comment]bool) {
	for _, g := range groups {
		for _, c := range g.List {
			if !used[c] && directive.IsMarked(c) {
				f.diags.Errorf(f.at(c), diag.DirectiveLost, "move it into the doc comment, without a blank line between",
					"this directive belongs to no method, type or field")
			}
		}
	}
}

// stray reports the directives of a file that the build doesn't see.
func (f *finder) stray(s load.StrayFile) {
	for _, g := range s.File.Comments {
		for _, c := range g.List {
			switch {
			case !directive.IsMarked(c):
			case s.Test:
				f.diags.Errorf(f.at(c), diag.DirectiveInTest, "move the method out of the test file", "a directive in a test file: generated code can't call what is there")
			default:
				f.diags.Warnf(f.at(c), diag.DirectiveExcluded, "run with the tags or on the system that it is for", "a directive in a file that the build leaves out")
			}
		}
	}
}

// checkHook reports what makes a method unfit to be a hook before its types
// are walked.
func (f *finder) checkHook(h *Hook) {
	broken := func(pos diag.Position, code diag.Code, hint, format string, args ...any) {
		f.diags.Errorf(pos, code, hint, format, args...)
		if f.broken == nil {
			f.broken = make(map[*Hook]bool)
		}
		f.broken[h] = true
	}
	name := h.Receiver.Name.Name() + "." + h.Method.Name()
	if !h.Method.Exported() {
		broken(h.MethodPos, diag.UnknownName, "export it", "method %s is unexported: generated code can't call it", name)
	}
	if n, ok := h.Receiver.Name.Type().(*types.Named); ok && n.TypeParams().Len() > 0 {
		broken(h.Pos, diag.TypeUnsupported, "name a type made from it", "method %s: its receiver is generic", name)
	}
	if h.Func != nil && h.Receiver.Own {
		if e, bad := h.Receiver.Package.ErrorAt(h.Func); bad {
			broken(diag.At(f.program.Position(e.Pos)), diag.SignatureBroken, "mend it", "method %s: %s", name, e.Msg)
		}
	}
}
