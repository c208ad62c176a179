package load

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/directive"
)

// key finds a declaration: export data knows lines, but no columns.
type key struct {
	line int
	name string
}

// Pos returns where an object is declared, with its column where the source
// can be read.
func (p *Program) Pos(obj types.Object) diag.Position {
	if obj.Pkg() != nil {
		if pkg := p.packages[obj.Pkg().Path()]; pkg != nil && pkg.Source {
			return diag.At(p.Position(obj.Pos()))
		}
	}
	if n := p.Decl(obj); n != nil {
		return diag.At(p.Position(identOf(n, obj.Name())))
	}
	return diag.At(p.Position(obj.Pos()))
}

func identOf(n ast.Node, name string) token.Pos {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Name.Pos()
	case *ast.TypeSpec:
		return n.Name.Pos()
	case *ast.ValueSpec:
		return namePos(n.Names, name)
	case *ast.Field:
		if len(n.Names) == 0 {
			return n.Type.Pos()
		}
		return namePos(n.Names, name)
	}
	return n.Pos()
}

func namePos(names []*ast.Ident, name string) token.Pos {
	for _, id := range names {
		if id.Name == name {
			return id.Pos()
		}
	}
	return names[0].Pos()
}

// Decl returns the declaration of an object: *ast.FuncDecl of a function or
// method, *ast.TypeSpec, *ast.ValueSpec of a constant, *ast.Field of a struct
// field, parameter or interface method. It is nil where the source can't be
// read.
func (p *Program) Decl(obj types.Object) ast.Node {
	f := p.sourceOf(obj)
	if f == nil {
		return nil
	}
	p.indexed(f)
	return f.index[key{p.Position(obj.Pos()).Line, obj.Name()}]
}

// FileOf returns the syntax of the file that declares an object, or nil.
func (p *Program) FileOf(obj types.Object) *ast.File {
	if f := p.sourceOf(obj); f != nil {
		return f.syntax
	}
	return nil
}

// sourceOf finds the file that declares an object. Under -trimpath export data
// has no folder, so the file is found by its base name in the package's list.
func (p *Program) sourceOf(obj types.Object) *sourceFile {
	if obj == nil || obj.Pkg() == nil {
		return nil
	}
	pkg := p.packages[obj.Pkg().Path()]
	if pkg == nil {
		return nil
	}
	file := pkg.named(p.Position(obj.Pos()).Filename)
	if file == "" {
		return nil
	}
	f, _ := p.file(file)
	return f
}

// named returns the file of a package with the base name of path; "": none.
func (pkg *Package) named(path string) string {
	if pkg.byName == nil {
		pkg.byName = make(map[string]string)
		for _, file := range slices.Concat(pkg.goFiles, pkg.compiled) { // of two, the one that is compiled
			pkg.byName[filepath.Base(file)] = file
		}
	}
	return pkg.byName[filepath.Base(path)]
}

// indexed builds the index of a file.
func (p *Program) indexed(f *sourceFile) {
	if f.index != nil {
		return
	}
	f.index = make(map[key]ast.Node)
	put := func(id token.Pos, name string, n ast.Node) {
		k := key{p.Position(id).Line, name}
		if _, taken := f.index[k]; !taken {
			f.index[k] = n
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			put(n.Name.Pos(), n.Name.Name, n)
		case *ast.TypeSpec:
			put(n.Name.Pos(), n.Name.Name, n)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				put(id.Pos(), id.Name, n)
			}
		case *ast.Field:
			for _, id := range n.Names {
				put(id.Pos(), id.Name, n)
			}
			if len(n.Names) == 0 {
				put(embeddedPos(n.Type), embeddedName(n.Type), n)
			}
		case *ast.BlockStmt:
			return false
		}
		return true
	})
}

func embeddedName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.StarExpr:
		return embeddedName(t.X)
	case *ast.IndexExpr:
		return embeddedName(t.X)
	case *ast.IndexListExpr:
		return embeddedName(t.X)
	}
	return ""
}

func embeddedPos(t ast.Expr) token.Pos {
	switch t := t.(type) {
	case *ast.SelectorExpr:
		return t.Sel.Pos()
	case *ast.StarExpr:
		return embeddedPos(t.X)
	}
	return t.Pos()
}

// TypeDoc returns the doc comment of a type: that of its spec, else that of
// its declaration.
func (p *Program) TypeDoc(tn *types.TypeName) *ast.CommentGroup {
	spec, ok := p.Decl(tn).(*ast.TypeSpec)
	if !ok {
		return nil
	}
	if spec.Doc != nil {
		return spec.Doc
	}
	for _, d := range p.FileOf(tn).Decls {
		if g, ok := d.(*ast.GenDecl); ok && len(g.Specs) == 1 && g.Specs[0] == spec {
			return g.Doc
		}
	}
	return nil
}

// TypeDirectives returns the directives at a type. What is wrong with them is
// reported where the type's package is searched for hooks.
func (p *Program) TypeDirectives(tn *types.TypeName) []directive.Directive {
	found, _ := directive.Parse(p.Fset, directive.Type, p.TypeDoc(tn))
	return found
}

// ErrorAt returns a type error within a node, if there is one.
func (pkg *Package) ErrorAt(n ast.Node) (types.Error, bool) {
	for _, e := range pkg.Errors {
		if n.Pos() <= e.Pos && e.Pos < n.End() {
			return e, true
		}
	}
	return types.Error{}, false
}

// Position returns where a token is in the file that it was read from: //line
// comments, which point into what the file was made from, are not heeded.
func (p *Program) Position(pos token.Pos) token.Position { return p.Fset.PositionFor(pos, false) }
