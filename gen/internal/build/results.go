package build

import (
	"fmt"
	"go/types"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
	"github.com/toolgen/toolgen/gen/internal/schema"
)

// results walks the results and makes the output schema.
func (t *toolBuilder) results(sig *types.Signature) {
	var data []int // indexes of results that are shown
	n := sig.Results().Len()
	for i := range n {
		v := sig.Results().At(i)
		r := model.Result{Name: v.Name(), Go: schema.GoType(v.Type())}
		switch {
		case i == n-1 && isOwnError(v.Type()):
			t.errorf(t.hook.Pos, diag.ResultShape, "return error", "result %d is an error of type %s, which nobody would take for a failure", i+1, types.TypeString(v.Type(), (*types.Package).Name))
			continue
		case i == n-1 && types.TypeString(v.Type(), nil) == "error":
			r.Error = true
		case isHTTPResponse(v.Type()):
			r.Drop = true
			t.diags.Notef(t.hook.Pos, diag.ResultDropped, "tool %s: result %d, %s, is dropped", t.tool.Name, i+1, types.TypeString(v.Type(), (*types.Package).Name))
		default:
			data = append(data, i)
			t.warnOpen(i, v.Type())
		}
		t.tool.Results = append(t.tool.Results, r)
	}
	if len(data) == 0 {
		return
	}
	t.dataResults(sig, data)
}

func (t *toolBuilder) dataResults(sig *types.Signature, data []int) {
	root := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	for nth, i := range data {
		v := sig.Results().At(i)
		site := schema.Site{Pos: t.hook.Pos, What: fmt.Sprintf("tool %s: result %d", t.tool.Name, i+1), Hint: "expose a wrapper that returns something else"}
		if p := t.program.Pos(v); t.hook.Receiver.Own && v.Name() != "" && p.IsValid() {
			site.Pos = p
		} else if t.hook.Func != nil && t.hook.Receiver.Own {
			site.Pos = t.resultPos(i)
		}
		value, ok := t.walker.Walk(v.Type(), schema.Out, site)
		if !ok {
			continue
		}
		r := &t.tool.Results[i]
		r.Type = value.Type
		t.roots = append(t.roots, value.Type)
		if len(data) == 1 && isObject(value.Type) {
			r.Name = ""
			assembled, _ := t.walker.Assemble(t.described(value.Schema), schema.Out, nil)
			t.tool.Output = schema.Encode(assembled)
			return
		}
		r.Name = resultName(v.Name(), nth, len(data))
		s := value.Schema
		if len(data) == 1 {
			s = t.described(s)
		}
		if _, twice := root.Properties.Get(r.Name); twice {
			t.errorf(site.Pos, diag.PropertyTwice, "rename one", "two results are called %s in JSON", r.Name)
			continue
		}
		root.Properties.Set(r.Name, s)
		if value.Type.Kind != model.Pointer && value.Type.Kind != model.Error {
			root.Required = append(root.Required, r.Name)
		}
	}
	assembled, _ := t.walker.Assemble(root, schema.Out, nil)
	t.tool.Output = schema.Encode(assembled)
}

// described puts what the doc comment says of the result on its schema.
func (t *toolBuilder) described(s *jsonschema.Schema) *jsonschema.Schema {
	if t.doc == nil || t.doc.Returns == "" {
		return s
	}
	c := *s
	c.Description = t.doc.Returns
	return &c
}

// resultPos is where the type of an unnamed result stands.
func (t *toolBuilder) resultPos(i int) diag.Position {
	n := 0
	for _, f := range t.hook.Func.Results.List {
		n += max(len(f.Names), 1)
		if n > i {
			return diag.At(t.program.Position(f.Type.Pos()))
		}
	}
	return t.hook.Pos
}

// resultName is the property of one of several results, or of one that is no
// object.
func resultName(name string, nth, of int) string {
	switch {
	case of > 1 && name != "" && name != "_":
		return naming.Snake(name)
	case nth == 0:
		return "result"
	default:
		return fmt.Sprintf("result%d", nth+1)
	}
}

// isObject reports whether a result is an object by itself.
func isObject(t model.Type) bool {
	if t.Kind == model.Pointer {
		return isObject(*t.Elem)
	}
	return t.Kind == model.Struct || t.Kind == model.Map
}

// warnOpen warns of a result that has to be closed: nobody will.
func (t *toolBuilder) warnOpen(i int, typ types.Type) {
	m := types.NewMethodSet(typ).Lookup(nil, "Close")
	if m != nil && types.TypeString(m.Type(), nil) == "func() error" {
		t.diags.Warnf(t.hook.Pos, diag.ResultShape, "expose a wrapper that reads it and closes it",
			"tool %s: result %d, %s, is to be closed, and nobody will", t.tool.Name, i+1, types.TypeString(typ, (*types.Package).Name))
	}
}

// isOwnError recognises an error type other than error itself.
func isOwnError(typ types.Type) bool {
	iface, ok := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	return ok && types.TypeString(typ, nil) != "error" && types.Implements(typ, iface)
}

// isHTTPResponse recognises *http.Response and the wrappers around it that
// API clients return: they hold an open body, not data.
func isHTTPResponse(typ types.Type) bool {
	p, ok := types.Unalias(typ).(*types.Pointer)
	if !ok {
		return false
	}
	if types.TypeString(p, nil) == "*net/http.Response" {
		return true
	}
	s, ok := p.Elem().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if f.Embedded() && types.TypeString(f.Type(), nil) == "*net/http.Response" {
			return true
		}
	}
	return false
}
