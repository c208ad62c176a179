// Package discover finds the hooks of a run: methods that carry a directive,
// and methods that toolgen.yaml names. It knows types and positions and lives
// in memory only; what is emitted is made of it by package build.
package discover

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/directive"
	"github.com/toolgen/toolgen/gen/internal/load"
	"github.com/toolgen/toolgen/runtime/schema"
)

// A Hook is a method that becomes a tool.
type Hook struct {
	Receiver   *Receiver
	Method     *types.Func
	Pos        diag.Position // what named it: the directive or the yaml value
	MethodPos  diag.Position // the method's name in source, where it can be read
	Doc        *ast.CommentGroup
	Func       *ast.FuncType       // its syntax; nil where there is no source
	Params     []*ast.CommentGroup // comments in its parameter list
	Directives []directive.Directive
	Config     *config.Method // nil: named by directive only
	Prefix     config.Text    // of its type in toolgen.yaml
	Settings   config.Settings
}

// A Receiver is a type with hooks.
type Receiver struct {
	Package    *load.Package
	Name       *types.TypeName
	Pos        diag.Position
	Directives []directive.Directive
	Config     *config.Package // of its package; nil: none
	Own        bool            // of the user's module

	searched    bool
	implementer types.Type // of an interface
}

// Directive returns the directive of that name, or nil.
func (h *Hook) Directive(name string) *directive.Directive { return find(h.Directives, name) }

// Directive returns the directive of that name, or nil.
func (r *Receiver) Directive(name string) *directive.Directive { return find(r.Directives, name) }

func find(list []directive.Directive, name string) *directive.Directive {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// Find returns the hooks of a program, sorted by package, receiver and method.
func Find(p *load.Program, file *config.File) ([]*Hook, diag.List) {
	f := &finder{program: p, file: file, receivers: make(map[*types.TypeName]*Receiver), hooks: make(map[*types.Func]*Hook)}
	for _, pkg := range p.Hooks() {
		if pkg.Source && pkg.Types != nil {
			f.source(pkg)
		}
	}
	paths := make(map[string]bool)
	for i := range file.Packages {
		path := file.Packages[i].Path
		if paths[p.ImportPath(path.Value)] {
			f.diags.Errorf(path.Pos, diag.Conflict, "put both into one", "package %s is there twice", path.Value)
			continue
		}
		paths[p.ImportPath(path.Value)] = true
		f.named(&file.Packages[i])
	}
	for _, s := range p.Stray() {
		f.stray(s)
	}
	for _, h := range f.order {
		f.checkHook(h)
	}
	slices.SortStableFunc(f.order, func(a, b *Hook) int {
		return cmp.Or(
			cmp.Compare(a.Receiver.Package.Path, b.Receiver.Package.Path),
			cmp.Compare(a.Receiver.Name.Name(), b.Receiver.Name.Name()),
			cmp.Compare(a.Method.Name(), b.Method.Name()),
		)
	})
	return slices.DeleteFunc(f.order, func(h *Hook) bool { return f.broken[h] }), f.diags
}

type finder struct {
	program   *load.Program
	file      *config.File
	diags     diag.List
	receivers map[*types.TypeName]*Receiver
	hooks     map[*types.Func]*Hook
	order     []*Hook
	broken    map[*Hook]bool
}

func (f *finder) at(n ast.Node) diag.Position { return diag.At(f.program.Position(n.Pos())) }

func (f *finder) receiver(pkg *load.Package, tn *types.TypeName) *Receiver {
	if r, ok := f.receivers[tn]; ok {
		return r
	}
	r := &Receiver{Package: pkg, Name: tn, Pos: f.program.Pos(tn), Own: pkg.Source}
	for i := range f.file.Packages {
		if f.program.ImportPath(f.file.Packages[i].Path.Value) == pkg.Path {
			r.Config = &f.file.Packages[i]
		}
	}
	f.receivers[tn] = r
	return r
}

// add returns the hook of a method, made once.
func (f *finder) add(r *Receiver, m *types.Func, pos diag.Position) *Hook {
	if h, ok := f.hooks[m]; ok && h.Receiver == r {
		return h
	}
	h := &Hook{Receiver: r, Method: m, Pos: pos, MethodPos: f.program.Pos(m), Settings: f.file.Defaults}
	if r.Config != nil {
		h.Settings = r.Config.Settings.Over(h.Settings)
	}
	switch decl := f.program.Decl(m).(type) {
	case *ast.FuncDecl:
		h.Doc, h.Func = decl.Doc, decl.Type
	case *ast.Field: // of an interface
		h.Doc = decl.Doc
		h.Func, _ = decl.Type.(*ast.FuncType)
	}
	if h.Func == nil {
		f.diags.Notef(pos, diag.SourceMissing, "method %s of %s has no source here: its prose can't be read", m.Name(), r.Name.Name())
	}
	if impl := h.Implementation(); impl != nil && h.Doc.Text() == "" { // Text of none is empty
		if decl, ok := f.program.Decl(impl).(*ast.FuncDecl); ok {
			h.Doc = decl.Doc
		}
	}
	h.Params = f.paramComments(m, h.Func)
	f.hooks[m] = h
	f.order = append(f.order, h)
	return h
}

// paramComments returns the comments between the parentheses of a parameter
// list.
func (f *finder) paramComments(m *types.Func, fn *ast.FuncType) []*ast.CommentGroup {
	file := f.program.FileOf(m)
	if fn == nil || file == nil {
		return nil
	}
	var out []*ast.CommentGroup
	for _, c := range file.Comments {
		if fn.Params.Opening < c.Pos() && c.End() <= fn.Params.Closing {
			out = append(out, c)
		}
	}
	return out
}

// named finds the hooks of one package of toolgen.yaml.
func (f *finder) named(c *config.Package) {
	pkg := f.program.Hook(c.Path.Value)
	if pkg == nil || pkg.Types == nil {
		return // not of this run, or reported by load
	}
	if why := f.program.Unusable(pkg); why != "" && !pkg.Source {
		f.diags.Errorf(c.Path.Pos, diag.NotLoaded, "expose a wrapper in a package of yours", "package %s: %s", pkg.Path, why)
		return
	}
	if c.Output.Value == "" && !pkg.Source {
		f.diags.Errorf(c.Path.Pos, diag.YAMLMissing, "add output: ./internal/"+pkg.Name+"tools", "package %s is not of this module: where its tools go is missing", pkg.Path)
	}
	for i := range c.Types {
		f.namedType(pkg, c, &c.Types[i])
	}
}

func (f *finder) namedType(pkg *load.Package, c *config.Package, t *config.Type) {
	if t.Name.Value == "" {
		return // reported by config
	}
	tn, ok := pkg.Types.Scope().Lookup(t.Name.Value).(*types.TypeName)
	switch {
	case !ok:
		f.unknownf(t.Name, exportedTypes(pkg.Types), "package %s has no type %s", pkg.Path, t.Name.Value)
		return
	case !tn.Exported():
		f.diags.Errorf(t.Name.Pos, diag.UnknownName, "name an exported type", "type %s of %s is unexported", tn.Name(), pkg.Path)
		return
	}
	r := f.receiver(pkg, tn)
	methods := methodsOf(tn)
	for i := range t.Methods {
		m := &t.Methods[i]
		fn, ok := methods[m.Method.Value]
		switch {
		case m.Method.Value == "":
			continue // reported by config
		case !ok:
			f.unknownf(m.Method, sortedNames(methods), "type %s has no method %s", tn.Name(), m.Method.Value)
			continue
		case !fn.Exported():
			f.diags.Errorf(m.Method.Pos, diag.UnknownName, "name an exported method", "method %s of %s is unexported", fn.Name(), tn.Name())
			continue
		}
		h := f.add(r, fn, m.Method.Pos)
		if h.Config != nil {
			f.diags.Errorf(m.Method.Pos, diag.Conflict, "drop one", "method %s of %s is named twice", fn.Name(), tn.Name())
			continue
		}
		h.Config, h.Prefix = m, t.Prefix
		h.Settings = m.Settings.Over(t.Settings.Over(c.Settings.Over(f.file.Defaults)))
	}
}

// unknownf reports a name that isn't there, with up to three that are.
func (f *finder) unknownf(t config.Text, names []string, format string, args ...any) {
	if strings.ContainsAny(t.Value, "*?[") {
		return // reported as a wildcard
	}
	hint := ""
	if near := schema.Nearest(t.Value, names, 3); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	f.diags.Errorf(t.Pos, diag.UnknownName, hint, format, args...)
}

func exportedTypes(pkg *types.Package) []string {
	var out []string
	for _, name := range pkg.Scope().Names() {
		if tn, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && tn.Exported() {
			out = append(out, name)
		}
	}
	return out
}

// methodsOf returns the method set of a type, promoted ones included.
func methodsOf(tn *types.TypeName) map[string]*types.Func {
	t := tn.Type()
	if !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	out := make(map[string]*types.Func)
	for sel := range types.NewMethodSet(t).Methods() {
		if fn, ok := sel.Obj().(*types.Func); ok {
			out[fn.Name()] = fn
		}
	}
	return out
}

func sortedNames(m map[string]*types.Func) []string {
	var out []string
	for name, fn := range m {
		if fn.Exported() {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Implementation returns the method that implements a hook of an interface, if
// exactly one exported or unexported type of its package does; else nil.
func (h *Hook) Implementation() *types.Func { return h.Receiver.implementation(h.Method.Name()) }

func (r *Receiver) implementation(method string) *types.Func {
	iface, ok := r.Name.Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	if !r.searched {
		r.searched, r.implementer = true, implementer(r.Package.Types, r.Name, iface)
	}
	if r.implementer == nil {
		return nil
	}
	fn, _, _ := types.LookupFieldOrMethod(r.implementer, true, r.Package.Types, method)
	m, _ := fn.(*types.Func)
	return m
}

// implementer returns the pointer type of the only type that implements an
// interface.
func implementer(pkg *types.Package, self *types.TypeName, iface *types.Interface) types.Type {
	var found []types.Type
	for _, name := range pkg.Scope().Names() {
		tn, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || tn == self || tn.IsAlias() || types.IsInterface(tn.Type()) {
			continue
		}
		if n, ok := tn.Type().(*types.Named); !ok || n.TypeParams().Len() > 0 {
			continue
		}
		if p := types.NewPointer(tn.Type()); types.Implements(p, iface) {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}
