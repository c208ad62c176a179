package build

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
	"github.com/toolgen/toolgen/gen/internal/schema"
)

// A shown result is one that a model sees, and the type of its data.
type shown struct {
	result *model.Result
	typ    types.Type // of the data; nil: there is a schema already
	schema *jsonschema.Schema
	site   schema.Site
	index  int
}

// results walks the results and makes the output schema.
func (t *toolBuilder) results(sig *types.Signature) {
	n := sig.Results().Len()
	t.tool.Results = make([]model.Result, n, n+1)
	keep, drop := t.keptFields(n), t.dropped(n)
	var list []shown
	for i := range n {
		v := sig.Results().At(i)
		r := &t.tool.Results[i]
		r.Name, r.Go = v.Name(), schema.GoType(v.Type())
		s := shown{result: r, typ: v.Type(), index: i, site: t.resultSite(v, i)}
		switch {
		case i == n-1 && isOwnError(v.Type()):
			t.errorf(t.hook.Pos, diag.ResultShape, "return error", "result %d is an error of type %s, which nobody would take for a failure", i+1, types.TypeString(v.Type(), (*types.Package).Name))
		case i == n-1 && schema.IsError(v.Type()):
			r.Error = true
		case keep[i] != nil:
			if s.schema = t.keep(v.Type(), keep[i], r, s.site); s.schema != nil {
				list = append(list, s)
			}
		case drop[i] || isHTTPResponse(v.Type()):
			r.Drop = true
			t.diags.Notef(t.hook.Pos, diag.ResultDropped, "tool %s: result %d, %s, is dropped", t.tool.Name, i+1, types.TypeString(v.Type(), (*types.Package).Name))
		default:
			list = append(list, s)
			t.warnOpen(i, v.Type())
		}
	}
	if t.extra != nil {
		t.tool.Results = slices.Insert(t.tool.Results, 0, *t.extra)
		for i := range list { // the slice has moved
			list[i].result = &t.tool.Results[list[i].index+1]
		}
		list = slices.Insert(list, 0, shown{result: &t.tool.Results[0], schema: t.extraSchema, site: schema.Site{Pos: t.hook.Pos, What: "tool " + t.tool.Name}})
	}
	if len(list) > 0 {
		t.dataResults(list)
	}
	t.checkMedia(len(list))
}

// checkMedia refuses a media type of what is no block of bytes.
func (t *toolBuilder) checkMedia(shown int) {
	media, pos := t.media()
	if media == "" {
		return
	}
	alone := shown == 1 && slices.ContainsFunc(t.tool.Results, func(r model.Result) bool { return r.Media != "" })
	if !alone || !strings.HasPrefix(media, "image/") && !strings.HasPrefix(media, "audio/") {
		t.errorf(pos, diag.DirectiveArgument, "write image/… or audio/… at a method whose only result is bytes or a reader", "media %s", media)
	}
}

func (t *toolBuilder) resultSite(v *types.Var, i int) schema.Site {
	site := schema.Site{Pos: t.hook.Pos, What: fmt.Sprintf("tool %s: result %d", t.tool.Name, i+1), Hint: "expose a wrapper that returns something else"}
	if p := t.program.Pos(v); t.hook.Receiver.Own && v.Name() != "" && p.IsValid() {
		site.Pos = p
	} else if t.hook.Func != nil && t.hook.Receiver.Own {
		site.Pos = t.resultPos(i)
	}
	return site
}

// keptFields returns the fields of results that are shown, by result.
func (t *toolBuilder) keptFields(n int) []*config.Result {
	out := make([]*config.Result, n)
	if c := t.hook.Config; c != nil {
		for i := range c.Results {
			r := &c.Results[i]
			if t.isResult(r.Index, r.Pos, diag.YAMLValue) {
				if out[r.Index] != nil {
					t.errorf(r.Pos, diag.Conflict, "put both into one", "result %d is there twice", r.Index)
				}
				out[r.Index] = r
			}
		}
	}
	return out
}

// dropped tells which results are not shown: by number, or by type.
func (t *toolBuilder) dropped(n int) []bool {
	out := make([]bool, n)
	if arg, ok := t.resultArg("drop"); ok {
		i, err := strconv.Atoi(arg.Value)
		if err != nil {
			i = -1
		}
		if t.isResult(i, arg.Pos, diag.DirectiveArgument) {
			out[i] = true
		}
	}
	if c := t.hook.Config; c != nil {
		for _, d := range c.Drop {
			if t.isResult(d.Index, d.Pos, diag.YAMLValue) {
				out[d.Index] = true
			}
		}
	}
	if c := t.hook.Receiver.Config; c != nil {
		for _, d := range c.DropResults {
			for i := range n {
				typ := t.hook.Method.Signature().Results().At(i).Type()
				out[i] = out[i] || types.TypeString(typ, (*types.Package).Name) == d.Value
			}
		}
	}
	return out
}

// isResult reports whether there is a result of that number that holds data; if
// not, it has reported so.
func (t *toolBuilder) isResult(i int, pos diag.Position, code diag.Code) bool {
	results := t.hook.Method.Signature().Results()
	if i < 0 || i >= results.Len() || i == results.Len()-1 && schema.IsError(results.At(i).Type()) {
		t.errorf(pos, code, "count from 0, the error left out", "there is no such result")
		return false
	}
	return true
}

// dataResults walks what is shown.
func (t *toolBuilder) dataResults(list []shown) {
	alone := len(list) == 1
	root := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	for nth := range list {
		s := &list[nth]
		r := s.result
		name := resultName(r.Name, nth, len(list))
		switch {
		case r.Stream != nil || isStream(s.typ):
			name = "items"
			if !alone && r.Name != "" {
				name = naming.Snake(r.Name)
			}
		case len(r.Keep) > 0:
			name = r.Name
		}
		path := name
		if alone {
			path = ""
		}
		ok := true
		t.walker.At(path, func() { ok = t.data(s, alone) })
		if !ok {
			continue
		}
		if alone && r.Stream == nil && (isObject(r.Type) || len(r.Keep) > 0 || isBytes(r.Type)) {
			r.Name = ""
			t.unknownRedactions()
			assembled, _ := t.walker.Assemble(t.described(s.schema), schema.Out, nil)
			t.tool.Output = schema.Encode(assembled)
			return
		}
		r.Name = name
		if alone {
			s.schema = t.described(s.schema)
		}
		if _, twice := root.Properties.Get(r.Name); twice {
			t.errorf(s.site.Pos, diag.PropertyTwice, "rename one", "two results are called %s in JSON", r.Name)
			continue
		}
		root.Properties.Set(r.Name, s.schema)
		if r.Stream != nil || !r.Type.Kind.LeftOut() && len(r.Keep) == 0 {
			root.Required = append(root.Required, r.Name)
		}
	}
	t.unknownRedactions()
	assembled, _ := t.walker.Assemble(root, schema.Out, nil)
	t.tool.Output = schema.Encode(assembled)
}

func isBytes(t model.Type) bool { return t.Kind == model.Bytes || t.Kind == model.Content }

// data walks one result's data.
func (t *toolBuilder) data(s *shown, alone bool) bool {
	r := s.result
	switch {
	case len(r.Keep) > 0:
		return true
	case r.Extra && r.Stream != nil:
		s.schema = &jsonschema.Schema{Type: "array", Items: s.schema}
		return true
	case r.Extra:
		s.schema = contentSchema()
		return true
	}
	s.typ = t.unwrap(r, s.typ)
	if isStream(s.typ) {
		return t.stream(s)
	}
	value, ok := t.walker.Walk(s.typ, schema.Out, s.site)
	if !ok {
		return false
	}
	r.Type, s.schema = value.Type, value.Schema
	t.roots = append(t.roots, value.Type)
	if t.walker.IsEmpty(value.Type) {
		t.diags.Warnf(s.site.Pos, diag.TypeOpaqueResult, "expose a wrapper, or say which method has its data (unwrap)", "%s has type %s, which shows no field", s.site.What, types.TypeString(s.typ, (*types.Package).Name))
	}
	if alone && isBytes(r.Type) {
		s.schema = contentSchema()
		r.Media, _ = t.media()
	}
	return true
}

// contentSchema is that of bytes: text, or base64 where they are no text.
func contentSchema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	s.Properties.Set("result", &jsonschema.Schema{Type: "string", Description: "The bytes, where they are UTF-8 text."})
	s.Properties.Set("encoding", &jsonschema.Schema{Type: "string", Description: "base64, where they are not."})
	s.Properties.Set("bytes", &jsonschema.Schema{Type: "integer", Description: "How many bytes there are."})
	s.Properties.Set("data", &jsonschema.Schema{Type: "string", ContentEncoding: "base64"})
	return s
}

func (t *toolBuilder) media() (string, diag.Position) {
	if arg, ok := t.resultArg("media"); ok {
		return arg.Value, arg.Pos
	}
	if c := t.hook.Config; c != nil {
		return c.Media.Value, c.Media.Pos
	}
	return "", diag.Position{}
}

// unknownRedactions reports a path that leads to no property.
func (t *toolBuilder) unknownRedactions() {
	for path, s := range t.redactions {
		if !t.walker.Applied(path) {
			t.errorf(s.Pos, diag.TextUnknown, "name properties of the result with dots between them", "redact: the result has no %s", path)
		}
	}
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

// warnOpen warns of a result that has to be closed, where nobody will.
func (t *toolBuilder) warnOpen(i int, typ types.Type) {
	if t.walker.IsContent(typ) {
		return
	}
	for _, name := range []string{"Close", "Stop"} {
		m := types.NewMethodSet(typ).Lookup(nil, name)
		if m == nil {
			continue
		}
		if form := types.TypeString(m.Type(), nil); form != "func() error" && form != "func()" {
			continue
		}
		t.diags.Warnf(t.hook.Pos, diag.ResultShape, "expose a wrapper that reads it and closes it",
			"tool %s: result %d, %s, is to be closed, and nobody will", t.tool.Name, i+1, types.TypeString(typ, (*types.Package).Name))
		return
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

// keep walks the fields of a result that are shown: an object of them.
func (t *toolBuilder) keep(typ types.Type, c *config.Result, r *model.Result, site schema.Site) *jsonschema.Schema {
	r.Name = c.As.Value
	out := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	for _, field := range c.Fields {
		k := model.Keep{Path: strings.Split(field.Value, ".")}
		at := typ
		if _, ok := at.Underlying().(*types.Pointer); ok {
			k.Guard = append(k.Guard, 0)
		}
		for i, name := range k.Path {
			obj, _, _ := types.LookupFieldOrMethod(at, true, nil, name)
			v, ok := obj.(*types.Var)
			if !ok || !token.IsExported(name) {
				t.errorf(field.Pos, diag.UnknownName, "name exported fields with dots between them", "%s has no field %s", types.TypeString(at, (*types.Package).Name), name)
				return nil
			}
			at = v.Type()
			if _, ok := at.Underlying().(*types.Pointer); ok {
				k.Guard = append(k.Guard, i+1)
			}
		}
		value, ok := t.walker.Walk(at, schema.Out, site)
		if !ok {
			return nil
		}
		k.Type, k.Name = value.Type, naming.Snake(k.Path[len(k.Path)-1])
		t.roots = append(t.roots, value.Type)
		r.Keep = append(r.Keep, k)
		out.Properties.Set(k.Name, value.Schema)
	}
	return out
}
