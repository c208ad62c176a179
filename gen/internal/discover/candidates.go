package discover

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/directive"
	"github.com/toolgen/toolgen/gen/internal/load"
)

// A Candidate is a method that could be a tool.
type Candidate struct {
	Package   string // its name
	Type      string
	Interface bool // the type is one
	Method    string
	Doc       string // text of its doc comment
}

// Candidates lists the methods of a package that could be tools, by type and
// name: exported ones in the method sets of exported types and interfaces that
// are not generic, which take a context or return an error, and have data
// besides. One that several types promote counts once.
func Candidates(p *load.Program, pkg *load.Package) []Candidate {
	var out []Candidate
	seen := make(map[*types.Func]bool)
	for _, name := range pkg.Types.Scope().Names() {
		tn, ok := pkg.Types.Scope().Lookup(name).(*types.TypeName)
		if !ok || !tn.Exported() || tn.IsAlias() {
			continue
		}
		named, ok := tn.Type().(*types.Named)
		if !ok || named.TypeParams().Len() > 0 {
			continue
		}
		for sel := range types.NewMethodSet(receiverOf(named)).Methods() {
			fn, ok := sel.Obj().(*types.Func)
			if ok && fn.Exported() && !seen[fn] && isCandidate(fn.Signature()) {
				seen[fn] = true
				out = append(out, Candidate{pkg.Name, name, types.IsInterface(named), fn.Name(), docOf(p, fn)})
			}
		}
	}
	return out
}

// receiverOf is the type with all the methods.
func receiverOf(named *types.Named) types.Type {
	if types.IsInterface(named) {
		return named
	}
	return types.NewPointer(named)
}

func isCandidate(sig *types.Signature) bool {
	calls, data := false, false
	for v := range sig.Params().Variables() {
		if types.TypeString(v.Type(), nil) == "context.Context" {
			calls = true
		} else {
			data = true
		}
	}
	for v := range sig.Results().Variables() {
		if s := types.TypeString(v.Type(), nil); s == "error" {
			calls = true
		} else {
			data = true
			calls = calls || strings.HasPrefix(s, "iter.Seq2[") && strings.HasSuffix(s, ", error]")
		}
	}
	return calls && data
}

func docOf(p *load.Program, fn *types.Func) string {
	switch decl := p.Decl(fn).(type) {
	case *ast.FuncDecl:
		return directive.Prose(decl.Doc).Text()
	case *ast.Field:
		return directive.Prose(decl.Doc).Text()
	}
	return ""
}
