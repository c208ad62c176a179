package load

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/directive"
)

// scan returns the folders, as patterns for the go command, whose files carry
// a directive or a near miss of one.
func (p *Program) scan(ctx context.Context, o Options) ([]string, error) {
	patterns := o.Patterns
	if p.Whole {
		patterns = []string{p.ModulePath + "/..."}
	}
	found := make(map[string]bool)
	for _, pattern := range patterns {
		if slices.ContainsFunc(o.Extra, func(e Extra) bool { return e.Path == pattern }) {
			continue // a package that isn't ours, named by toolgen.yaml
		}
		dir, below, err := p.folder(o.Dir, pattern)
		if err != nil {
			return nil, err
		}
		if err := p.scanTree(ctx, dir, below, found); err != nil {
			return nil, err
		}
	}
	out := make([]string, 0, len(found))
	for dir := range found {
		out = append(out, dir)
	}
	slices.Sort(out)
	return out, nil
}

// folder returns the folder that a pattern means, and whether those below it
// are meant too.
func (p *Program) folder(dir, pattern string) (folder string, below bool, err error) {
	name, below := strings.CutSuffix(pattern, "...")
	name = strings.TrimSuffix(name, "/")
	switch {
	case filepath.IsAbs(name):
		folder = name
	case name == "." || name == ".." || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../"):
		folder = filepath.Join(dir, name)
	case name == p.ModulePath || strings.HasPrefix(name, p.ModulePath+"/"):
		folder = filepath.Join(p.ModuleDir, strings.TrimPrefix(name, p.ModulePath))
	default:
		return "", false, fmt.Errorf("pattern %q is no folder of module %s: packages that are not yours are named in toolgen.yaml", pattern, p.ModulePath)
	}
	resolved, err := filepath.EvalSymlinks(folder)
	if info, statErr := os.Stat(folder); err != nil || statErr != nil || !info.IsDir() {
		return "", false, fmt.Errorf("pattern %q: there is no folder %s", pattern, folder)
	}
	if owner, _, err := module(resolved); err != nil || owner != p.ModuleDir {
		return "", false, fmt.Errorf("pattern %q is not in module %s: run toolgen in its own module", pattern, p.ModulePath)
	}
	return resolved, below, nil
}

func (p *Program) scanTree(ctx context.Context, root string, below bool, found map[string]bool) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path != root && (!below || skipped(path, entry.Name())) {
				return filepath.SkipDir
			}
			return ctx.Err()
		}
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || name[0] == '.' || name[0] == '_' {
			return nil // as the go command does
		}
		src, err := p.read(path)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(src, p.header) {
			p.generated = append(p.generated, path)
			return nil
		}
		if !directive.MayMark(src) {
			return nil
		}
		if strings.HasSuffix(path, "_test.go") {
			return p.strayFile(path, src, true)
		}
		found[filepath.Dir(path)] = true
		return nil
	})
}

// skipped reports whether a folder is left out of ./..., as the go command
// does, or is a module of its own.
func skipped(path, name string) bool {
	if name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

// strayFile keeps a file whose directives are to be reported. One that doesn't
// parse has none.
func (p *Program) strayFile(path string, src []byte, test bool) error {
	file, err := parser.ParseFile(p.Fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err == nil {
		p.stray = append(p.stray, StrayFile{Path: path, Test: test, File: file})
	}
	return nil
}

// read returns a file's contents, those of the overlay first.
func (p *Program) read(path string) ([]byte, error) {
	if src, ok := p.overlay[path]; ok {
		return src, nil
	}
	return os.ReadFile(path)
}
