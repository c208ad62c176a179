package build

import (
	"go/types"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
)

// errors gathers which errors of the hook package a model may see.
func (t *toolBuilder) errors() {
	retry, failed := t.errorNames()
	t.tool.Retry = t.errorVars(retry)
	t.tool.Failed = t.errorVars(failed)
}

func (t *toolBuilder) errorNames() (retry, failed []config.Text) {
	if c := t.hook.Config; c != nil {
		retry, failed = c.Retry, c.Failed
	}
	d := t.hook.Directive("errors")
	if d == nil {
		return retry, failed
	}
	for _, arg := range d.Args {
		if arg.Key == "" {
			t.errorf(arg.Pos, diag.DirectiveArgument, "write retry= or failed= before it", "errors %s: it is not said what follows from it", arg.Value)
		}
		pos := arg.Pos
		for name := range strings.SplitSeq(arg.Value, ",") {
			word := config.Text{Value: name, Pos: pos}
			if arg.Key == "retry" {
				retry = append(retry, word)
			} else {
				failed = append(failed, word)
			}
			pos.Column += len(name) + 1
		}
	}
	return retry, failed
}

// errorVars finds exported variables of type error.
func (t *toolBuilder) errorVars(names []config.Text) []model.GoType {
	pkg := t.hook.Receiver.Package
	var known []string
	for _, name := range pkg.Types.Scope().Names() {
		if isErrorVar(pkg.Types.Scope().Lookup(name)) {
			known = append(known, name)
		}
	}
	var out []model.GoType
	for _, n := range names {
		if !isErrorVar(pkg.Types.Scope().Lookup(n.Value)) {
			t.errorf(n.Pos, diag.UnknownName, hintNear(n.Value, known), "package %s has no exported error variable %s", pkg.Name, n.Value)
			continue
		}
		out = append(out, model.GoType{Kind: model.Named, Package: pkg.Path, Name: n.Value})
	}
	return out
}

func isErrorVar(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && v.Exported() && types.TypeString(v.Type(), nil) == "error"
}
