// Package load finds the packages with hooks and gives their syntax and types
// at a small part of what a plain load costs.
//
// It goes in two steps, each one call of go/packages for the whole run. A scan
// of bytes finds the folders that carry a directive. The first call gets names,
// files and imports of those and of the packages that toolgen.yaml names: it
// compiles nothing. Packages of the main modules are type-checked from their
// source, function bodies left out. All others come from export data, which the
// second call gets for the packages outside the main modules that hook packages
// import, and for those that these import; the go command has it in its cache
// after any build.
//
// So nothing of the user's is compiled, and a package whose generated output is
// missing, or which doesn't compile for another reason, loads all the same. Its
// errors matter only where they touch a hook.
package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/directive"
)

// Options says what to load.
type Options struct {
	Dir      string   // where the go command runs; absolute
	Patterns []string // folders: ./..., ./orders, or import paths of the main module; none: all of the module
	Extra    []Extra  // packages that are named whether or not they carry a directive
	Tags     []string
	Env      []string // nil: the process's
	Overlay  map[string][]byte
	Base     string // folder to which ./ paths of Extra are relative; "": Dir
	Header   string // first line of generated files, which have no hooks
}

// Extra is a package that toolgen.yaml names.
type Extra struct {
	Path string
	Pos  diag.Position
}

// A Program is what was loaded.
type Program struct {
	Fset       *token.FileSet
	ModuleDir  string
	ModulePath string
	Whole      bool // the run is over the whole module

	packages map[string]*Package // by import path, everything that was listed
	hooks    []*Package
	importer *moduleImporter
	overlay  map[string][]byte
	stray    []StrayFile

	base      string
	header    []byte
	generated []string

	mu    sync.Mutex
	files map[string]*sourceFile // parsed, by name
}

// A Package is one package of the program.
type Package struct {
	Path, Name string
	Dir        string
	Source     bool // of a main module: type-checked from source
	Files      []*ast.File
	Types      *types.Package
	Errors     []types.Error // of type-checking

	program  *Program
	checking bool // its types are being checked
	goFiles  []string
	compiled []string
	imports  []string
	byName   map[string]string // files by base name
}

// A StrayFile is one with a directive that no build of the package sees.
type StrayFile struct {
	Path string
	Test bool // by its name; else its build constraints leave it out
	File *ast.File
}

// Packages loads. The error is I/O or cancellation.
func Packages(ctx context.Context, o Options) (*Program, diag.List, error) {
	root, modulePath, err := module(o.Dir)
	if err != nil {
		return nil, nil, err
	}
	p := &Program{
		Fset: token.NewFileSet(), ModuleDir: root, ModulePath: modulePath, Whole: len(o.Patterns) == 0,
		packages: make(map[string]*Package), files: make(map[string]*sourceFile), overlay: o.Overlay, header: []byte(o.Header), base: o.Base,
	}
	if len(o.Patterns) == 1 && p.matches(o.Dir, o.Patterns[0], modulePath) && strings.HasSuffix(o.Patterns[0], "...") {
		p.Whole = true // ./... at the module's root
	}
	o.Extra = p.selected(o)
	marked, err := p.scan(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	var diags diag.List
	roots, err := p.list(ctx, o, marked, &diags)
	if err != nil {
		return nil, nil, err
	}
	p.importer = newImporter(p)
	if err := p.exports(ctx, o, roots, &diags); err != nil {
		return nil, nil, err
	}
	p.check(roots, &diags)
	return p, diags, ctx.Err()
}

// selected returns the packages of toolgen.yaml that a run is over: all, or
// those that its patterns name.
func (p *Program) selected(o Options) []Extra {
	if p.Whole {
		return o.Extra
	}
	var out []Extra
	for _, e := range o.Extra {
		path := p.ImportPath(e.Path)
		if slices.ContainsFunc(o.Patterns, func(pattern string) bool { return p.matches(o.Dir, pattern, path) }) {
			out = append(out, e)
		}
	}
	return out
}

// matches reports whether a pattern names a package.
func (p *Program) matches(dir, pattern, path string) bool {
	name, below := strings.CutSuffix(pattern, "...")
	name = strings.TrimSuffix(name, "/")
	if folder, _, err := p.folder(dir, pattern); err == nil {
		rel, err := filepath.Rel(p.ModuleDir, folder)
		if err != nil {
			return false
		}
		name = strings.TrimSuffix(p.ModulePath+"/"+filepath.ToSlash(rel), "/.")
	}
	return path == name || below && strings.HasPrefix(path, name+"/")
}

// module finds the module that dir is in.
func module(dir string) (root, path string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		src, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil {
			if path := modfile.ModulePath(src); path != "" {
				return at, path, nil
			}
			return "", "", fmt.Errorf("%s has no module line", filepath.Join(at, "go.mod"))
		}
		if filepath.Dir(at) == at {
			return "", "", fmt.Errorf("%s is not in a Go module: run go mod init", dir)
		}
	}
}

// list is the first call: names, files and imports of everything.
func (p *Program) list(ctx context.Context, o Options, marked []string, diags *diag.List) ([]*Package, error) {
	patterns := slices.Clone(marked)
	for _, e := range o.Extra {
		if p.isElsewhere(e, diags) {
			continue
		}
		patterns = append(patterns, p.ImportPath(e.Path))
	}
	if len(patterns) == 0 {
		return nil, nil
	}
	cfg := p.config(ctx, o)
	cfg.Mode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedModule
	listed, err := packages.Load(cfg, patterns...)
	if err != nil {
		return nil, listError(err)
	}
	if listed, err = p.withCgo(cfg, listed); err != nil {
		return nil, err
	}
	packages.Visit(listed, nil, func(pkg *packages.Package) { p.add(pkg) })
	var roots []*Package
	for _, pkg := range listed {
		if len(pkg.GoFiles) == 0 && len(pkg.CompiledGoFiles) == 0 {
			if !p.allExcluded(pkg) {
				p.notLoaded(pkg, o, diags)
			}
			continue
		}
		mixed(pkg, diags)
		roots = append(roots, p.packages[pkg.PkgPath])
	}
	slices.SortFunc(roots, func(a, b *Package) int { return strings.Compare(a.Path, b.Path) })
	p.hooks = slices.Compact(roots)
	return p.hooks, nil
}

// withCgo lists the packages of main modules that use C once more, with the files that cgo makes
// of theirs. For all others the go command is spared that work.
func (p *Program) withCgo(cfg *packages.Config, listed []*packages.Package) ([]*packages.Package, error) {
	var paths []string
	for _, pkg := range listed {
		if pkg.Module != nil && pkg.Module.Main && slices.ContainsFunc(pkg.GoFiles, p.importsC) {
			paths = append(paths, pkg.PkgPath)
		}
	}
	if len(paths) == 0 {
		return listed, nil
	}
	again := *cfg
	again.Mode |= packages.NeedCompiledGoFiles
	compiled, err := packages.Load(&again, paths...)
	if err != nil {
		return nil, listError(err)
	}
	rest := slices.DeleteFunc(listed, func(pkg *packages.Package) bool { return slices.Contains(paths, pkg.PkgPath) })
	return append(rest, compiled...), nil
}

func (p *Program) importsC(file string) bool {
	src, err := p.read(file)
	return err == nil && bytes.Contains(src, []byte(`import "C"`))
}

// isElsewhere reports a folder of toolgen.yaml that is in another module: its
// import path says which.
func (p *Program) isElsewhere(e Extra, diags *diag.List) bool {
	if !isFolder(e.Path) {
		return false
	}
	folder := filepath.Join(p.base, filepath.FromSlash(e.Path))
	if _, err := os.Stat(folder); err != nil {
		diags.Errorf(e.Pos, diag.NotLoaded, "check the path, which is relative to toolgen.yaml", "there is no folder %s", e.Path)
		return true
	}
	root, path, err := module(folder)
	if err == nil && root == p.ModuleDir {
		return false
	}
	if err == nil {
		rel, _ := filepath.Rel(root, folder)
		path = strings.TrimSuffix(path+"/"+filepath.ToSlash(rel), "/.")
	}
	diags.Errorf(e.Pos, diag.NotLoaded, "name it by its import path, "+path, "folder %s is not of module %s", e.Path, p.ModulePath)
	return true
}

// isFolder tells ./folder from an import path.
func isFolder(path string) bool {
	return path == "." || path == ".." || strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../")
}

// listError says what the go command said, without how it was called.
func listError(err error) error {
	if _, said, ok := strings.Cut(err.Error(), "stderr: "); ok {
		return errors.New(strings.TrimSpace(said))
	}
	return fmt.Errorf("go list: %w", err)
}

func (p *Program) config(ctx context.Context, o Options) *packages.Config {
	cfg := &packages.Config{Context: ctx, Dir: o.Dir, Env: o.Env, Overlay: o.Overlay}
	if len(o.Tags) > 0 {
		cfg.BuildFlags = []string{"-tags=" + strings.Join(o.Tags, ",")}
	}
	return cfg
}

func (p *Program) add(pkg *packages.Package) {
	compiled := pkg.CompiledGoFiles
	if len(compiled) == 0 {
		compiled = pkg.GoFiles
	}
	q := &Package{
		Path: pkg.PkgPath, Name: pkg.Name, program: p, Dir: pkg.Dir, goFiles: pkg.GoFiles, compiled: compiled,
		Source: pkg.Module != nil && pkg.Module.Main,
	}
	for path := range pkg.Imports {
		q.imports = append(q.imports, path)
	}
	slices.Sort(q.imports)
	p.packages[pkg.PkgPath] = q
}

// allExcluded keeps the marked files of a folder of which the build takes none.
func (p *Program) allExcluded(pkg *packages.Package) bool {
	before := len(p.stray)
	for _, path := range pkg.IgnoredFiles {
		if src, err := p.read(path); err == nil && directive.MayMark(src) {
			_ = p.strayFile(path, src, false)
		}
	}
	return len(p.stray) > before
}

// mixed reports a folder with files of several packages.
func mixed(pkg *packages.Package, diags *diag.List) {
	for _, e := range pkg.Errors {
		if e.Kind == packages.ListError && strings.HasPrefix(e.Msg, "found packages ") {
			diags.Errorf(diag.Position{File: pkg.GoFiles[0], Line: 1, Column: 1}, diag.NotLoaded, "move one elsewhere", "%s", firstLine(e.Msg))
		}
	}
}

// notLoaded reports a package without files.
func (p *Program) notLoaded(pkg *packages.Package, o Options, diags *diag.List) {
	pos := diag.Position{}
	for _, e := range o.Extra {
		if p.ImportPath(e.Path) == pkg.PkgPath {
			pos = e.Pos
		}
	}
	why, hint := "no Go files", "check the path and the build tags"
	for _, e := range pkg.Errors {
		why = strings.TrimSpace(firstLine(e.Msg))
	}
	if strings.Contains(why, "no required module provides") || strings.Contains(why, "is not in std") {
		why, hint = "no module in go.mod provides it", "run go get "+pkg.PkgPath
	}
	diags.Errorf(pos, diag.NotLoaded, hint, "package %s can't be loaded: %s", pkg.PkgPath, why)
}

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return first
}

// Hook returns a package that the run is over by its path, or nil.
func (p *Program) Hook(path string) *Package {
	want := p.ImportPath(path)
	i := slices.IndexFunc(p.hooks, func(pkg *Package) bool { return pkg.Path == want })
	if i < 0 {
		return nil
	}
	return p.hooks[i]
}

// Hooks returns the packages that may have hooks, sorted by path.
func (p *Program) Hooks() []*Package { return p.hooks }

// Package returns a package by its path, or by ./folder of the main module.
func (p *Program) Package(path string) *Package {
	return p.packages[p.ImportPath(path)]
}

// ImportPath returns the import path of ./folder, and any other path as it is.
func (p *Program) ImportPath(path string) string {
	if !isFolder(path) {
		return path
	}
	rel, err := filepath.Rel(p.ModuleDir, filepath.Join(p.base, filepath.FromSlash(path)))
	if err != nil {
		return path
	}
	return strings.TrimSuffix(p.ModulePath+"/"+filepath.ToSlash(rel), "/.")
}

// Generated returns the generated files that the scan came by.
func (p *Program) Generated() []string { return p.generated }

// Stray returns files with directives that the build doesn't see.
func (p *Program) Stray() []StrayFile { return p.stray }

// Reaches reports whether the package imports path, directly or through others
// of the main modules.
func (pkg *Package) Reaches(path string) bool {
	seen := make(map[string]bool)
	var visit func(*Package) bool
	visit = func(at *Package) bool {
		return slices.ContainsFunc(at.imports, func(next string) bool {
			if next == path {
				return true
			}
			p := pkg.program.packages[next]
			if seen[next] || p == nil || !p.Source {
				return false
			}
			seen[next] = true
			return visit(p)
		})
	}
	return visit(pkg)
}

// NameOf returns the name of a package; "" if it isn't known.
func (p *Program) NameOf(path string) string {
	if pkg := p.packages[path]; pkg != nil {
		return pkg.Name
	}
	return ""
}

// ModuleRoot returns the folder of the module that dir is in.
func ModuleRoot(dir string) (string, error) {
	root, _, err := module(dir)
	return root, err
}

// Unusable says why generated code can't use a package; "": it can.
func (p *Program) Unusable(pkg *Package) string {
	if i := strings.LastIndex(pkg.Path+"/", "/internal/"); i >= 0 || strings.HasPrefix(pkg.Path, "internal/") {
		if parent := pkg.Path[:max(i, 0)]; parent == "" || p.ModulePath != parent && !strings.HasPrefix(p.ModulePath+"/", parent+"/") && !strings.HasPrefix(parent, p.ModulePath+"/") {
			return "it is internal to " + or(parent, "Go's own packages") + ", and generated code can't import it"
		}
	}
	if len(pkg.Errors) > 0 {
		e := pkg.Errors[0]
		return fmt.Sprintf("it doesn't compile: %s: %s", p.Position(e.Pos), e.Msg)
	}
	return ""
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// ExcludedHooks returns the methods with directives in files that the build left
// out, as package.Type.Method.
func (p *Program) ExcludedHooks() map[string]bool {
	out := make(map[string]bool)
	for _, s := range p.stray {
		rel, err := filepath.Rel(p.ModuleDir, filepath.Dir(s.Path))
		if err != nil || s.Test {
			continue
		}
		path := strings.TrimSuffix(p.ModulePath+"/"+filepath.ToSlash(rel), "/.")
		for _, decl := range s.File.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Recv != nil && fn.Doc != nil && slices.ContainsFunc(fn.Doc.List, directive.IsMarked) {
				out[path+"."+receiverName(fn.Recv.List[0].Type)+"."+fn.Name.Name] = true
			}
		}
	}
	return out
}

func receiverName(expr ast.Expr) string {
	expr = ast.Unparen(expr)
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = ast.Unparen(star.X)
	}
	if id, ok := expr.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// Excluded reports whether the build left out files with directives.
func (p *Program) Excluded() bool {
	return slices.ContainsFunc(p.stray, func(s StrayFile) bool { return !s.Test })
}
