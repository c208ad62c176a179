package build

import (
	"go/types"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/schema"
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

// errorVars finds exported variables of type error, and types of errors.
func (t *toolBuilder) errorVars(names []config.Text) []model.ErrorMatch {
	pkg := t.hook.Receiver.Package
	var out []model.ErrorMatch
	for _, n := range names {
		obj := pkg.Types.Scope().Lookup(n.Value)
		if strings.Contains(n.Value, ".") {
			if obj, _ = t.symbol(n); obj == nil {
				continue
			}
		}
		if !matches(obj) {
			t.errorf(n.Pos, diag.UnknownName, hintNear(n.Value, errorsOf(pkg.Types)), "package %s has no exported error variable or type %s", pkg.Name, n.Value)
			continue
		}
		match := model.ErrorMatch{Go: goSymbol(obj)}
		if tn, ok := obj.(*types.TypeName); ok {
			match.Type = true
			match.Go = schema.GoType(errorType(tn))
		}
		out = append(out, match)
	}
	return out
}

// errorsOf lists what an error can be compared with.
func errorsOf(pkg *types.Package) []string {
	var out []string
	for _, name := range pkg.Scope().Names() {
		if matches(pkg.Scope().Lookup(name)) {
			out = append(out, name)
		}
	}
	return out
}

func matches(obj types.Object) bool {
	tn, ok := obj.(*types.TypeName)
	return isErrorVar(obj) || ok && tn.Exported() && errorType(tn) != nil
}

// errorType is the type by which errors.As finds an error: the type itself or a
// pointer to it; nil: it is none.
func errorType(tn *types.TypeName) types.Type {
	if n, ok := types.Unalias(tn.Type()).(*types.Named); !ok || n.TypeParams().Len() > 0 {
		return nil
	}
	iface, ok := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	for _, t := range []types.Type{tn.Type(), types.NewPointer(tn.Type())} {
		if ok && types.Implements(t, iface) {
			return t
		}
	}
	return nil
}

func isErrorVar(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && v.Exported() && types.TypeString(v.Type(), nil) == "error"
}
