package gen

import (
	"context"
	"fmt"

	"github.com/toolgen/toolgen/gen/internal/discover"
	"github.com/toolgen/toolgen/gen/internal/doccomment"
	"github.com/toolgen/toolgen/gen/internal/load"
)

// A Candidate is a method that could be a tool: exported, of an exported type
// that is not generic, with a context or an error, and with data.
type Candidate struct {
	Package   string // its name
	Type      string
	Interface bool // the type is one
	Method    string
	Summary   string // the first paragraph of its doc comment
}

// Candidates lists the methods of packages that could be tools, by the packages'
// import paths; ./folder is one of the module. Nothing is exposed by that: each
// is to be named. The error says why a package can't be loaded.
func Candidates(ctx context.Context, o Options, paths ...string) (map[string][]Candidate, error) {
	dir, err := realDir(o.Dir)
	if err != nil {
		return nil, err
	}
	extra := make([]load.Extra, len(paths))
	for i, path := range paths {
		extra[i] = load.Extra{Path: path}
	}
	program, diags, err := load.Packages(ctx, load.Options{Dir: dir, Patterns: paths, Extra: extra, Tags: o.Tags, Env: o.Env, Overlay: o.Overlay, Base: dir})
	if err != nil {
		return nil, err
	}
	out := make(map[string][]Candidate)
	for _, path := range paths {
		pkg := program.Hook(path)
		if pkg == nil || pkg.Types == nil {
			if diags.HasErrors() {
				return nil, fmt.Errorf("%s; %s", diags[0].Message, diags[0].Hint)
			}
			return nil, fmt.Errorf("package %s can't be loaded: run go get %s", path, path)
		}
		if why := program.Unusable(pkg); why != "" {
			return nil, fmt.Errorf("package %s: %s", path, why)
		}
		for _, c := range discover.Candidates(program, pkg) {
			out[path] = append(out[path], Candidate{c.Package, c.Type, c.Interface, c.Method, doccomment.Parse(c.Doc, c.Method, nil).Summary()})
		}
	}
	return out, nil
}
