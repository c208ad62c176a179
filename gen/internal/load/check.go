package load

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/scanner"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/directive"
)

// exports is the second call: export data of the packages outside the main
// modules that source packages import, and of the hook packages out there.
func (p *Program) exports(ctx context.Context, o Options, roots []*Package, diags *diag.List) error {
	need := make(map[string]bool)
	seen := make(map[*Package]bool)
	var visit func(*Package)
	visit = func(pkg *Package) {
		if pkg == nil || seen[pkg] {
			return
		}
		seen[pkg] = true
		if !pkg.Source {
			need[pkg.Path] = true
			return
		}
		for _, path := range pkg.imports {
			visit(p.packages[path])
		}
	}
	for _, root := range roots {
		visit(root)
	}
	delete(need, "unsafe")
	delete(need, "C")
	if len(need) == 0 {
		return nil
	}
	paths := make([]string, 0, len(need))
	for path := range need {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	cfg := p.config(ctx, o)
	// Export data of a package has only those objects of others that it uses; who
	// looks for a type's constants needs that of the type's own package too.
	cfg.Mode = packages.NeedName | packages.NeedExportFile | packages.NeedFiles | packages.NeedImports | packages.NeedDeps
	cfg.Overlay = nil // nothing out there is overlaid
	loaded, err := packages.Load(cfg, paths...)
	if err != nil {
		return listError(err)
	}
	packages.Visit(loaded, nil, func(pkg *packages.Package) {
		p.importer.files[pkg.PkgPath] = pkg.ExportFile
		if p.packages[pkg.PkgPath] == nil {
			p.add(pkg)
		}
	})
	for _, pkg := range loaded {
		if pkg.ExportFile == "" {
			p.broken(pkg, o, diags)
		}
	}
	return nil
}

// broken reports a package outside the main modules that doesn't compile, at
// the yaml value that names it if there is one.
func (p *Program) broken(pkg *packages.Package, o Options, diags *diag.List) {
	for _, e := range o.Extra {
		if p.ImportPath(e.Path) == pkg.PkgPath {
			why := "no export data"
			if len(pkg.Errors) > 0 {
				why = firstLine(pkg.Errors[0].Msg)
			}
			diags.Errorf(e.Pos, diag.NotLoaded, "run go build "+pkg.PkgPath, "package %s doesn't compile: %s", pkg.PkgPath, why)
		}
	}
}

// check type-checks the hook packages.
func (p *Program) check(roots []*Package, diags *diag.List) {
	for _, pkg := range roots {
		if pkg.Types != nil {
			continue
		}
		if !pkg.Source {
			pkg.Types, _ = p.importer.Import(pkg.Path) // a failure was reported by broken
			continue
		}
		p.checkSource(pkg, diags)
		p.excluded(pkg)
	}
}

// checkSource type-checks a package of a main module. Errors are kept: they
// matter only where they touch a hook.
func (p *Program) checkSource(pkg *Package, diags *diag.List) {
	pkg.checking = true
	p.parse(pkg, diags)
	conf := types.Config{
		Importer:         p.importer,
		IgnoreFuncBodies: true,
		FakeImportC:      true,
		Error: func(err error) {
			if te, ok := errors.AsType[types.Error](err); ok {
				pkg.Errors = append(pkg.Errors, te)
			}
		},
	}
	pkg.Types, _ = conf.Check(pkg.Path, p.Fset, pkg.Files, nil) // its error is the first of those above
}

func (p *Program) parse(pkg *Package, diags *diag.List) {
	for _, name := range pkg.compiled {
		if slices.Contains(p.generated, name) {
			continue // of a former run, and none of the user's
		}
		f, err := p.file(name)
		if err != nil && diags != nil {
			syntaxErrors(name, err, diags)
		}
		if f != nil {
			pkg.Files = append(pkg.Files, f.syntax)
		}
	}
}

// syntaxErrors reports what is wrong with a file.
func syntaxErrors(name string, err error, diags *diag.List) {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		diags.Errorf(diag.Position{File: name}, diag.NotLoaded, "make it readable", "%s", err)
		return
	}
	for _, e := range list {
		diags.Errorf(diag.At(e.Pos), diag.NotLoaded, "mend it", "%s", e.Msg)
	}
}

// excluded keeps the marked files of a folder that the build leaves out.
func (p *Program) excluded(pkg *Package) {
	entries, err := os.ReadDir(pkg.Dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(pkg.Dir, e.Name())
		if e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || slices.Contains(pkg.goFiles, path) {
			continue
		}
		if src, err := p.read(path); err == nil && directive.MayMark(src) {
			_ = p.strayFile(path, src, false)
		}
	}
}

// moduleImporter serves the type checker: main modules from source, all else from
// export data.
type moduleImporter struct {
	program  *Program
	files    exportFiles
	exported types.Importer
}

// exportFiles are files of export data by import path.
type exportFiles map[string]string

func newImporter(p *Program) *moduleImporter {
	i := &moduleImporter{program: p, files: make(exportFiles)}
	i.exported = importer.ForCompiler(p.Fset, "gc", i.files.open)
	return i
}

func (i *moduleImporter) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if pkg := i.program.packages[path]; pkg != nil && pkg.Source {
		if pkg.Types == nil && pkg.checking {
			return nil, fmt.Errorf("import cycle through %s", path)
		}
		if pkg.Types == nil {
			i.program.checkSource(pkg, nil)
		}
		return pkg.Types, nil
	}
	return i.exported.Import(path)
}

// Complete gives a package that was reached through others all of its objects.
// Where that fails it keeps those that it has.
func (p *Program) Complete(pkg *types.Package) *types.Package {
	if !pkg.Complete() && p.importer.files[pkg.Path()] != "" {
		_, _ = p.importer.exported.Import(pkg.Path())
	}
	return pkg
}

// open returns the export data of a package outside the main modules.
func (f exportFiles) open(path string) (io.ReadCloser, error) {
	name := f[path]
	if name == "" {
		return nil, fmt.Errorf("no export data for %s", path)
	}
	return os.Open(name)
}

// file parses a file once.
func (p *Program) file(name string) (*sourceFile, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f, ok := p.files[name]; ok {
		return f, nil
	}
	src, err := p.read(name)
	if err != nil {
		return nil, err
	}
	syntax, err := parser.ParseFile(p.Fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if syntax == nil {
		return nil, err
	}
	f := &sourceFile{syntax: syntax}
	p.files[name] = f
	return f, err
}

// sourceFile is a parsed file with an index of what it declares.
type sourceFile struct {
	syntax *ast.File
	index  map[key]ast.Node
}
