package build

import (
	"go/types"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/schema"
)

func isStream(t types.Type) bool {
	if t == nil {
		return false
	}
	kind, _, _ := schema.StreamOf(t)
	return kind != ""
}

// stream walks the items of a stream: an array of them.
func (t *toolBuilder) stream(s *shown) bool {
	kind, key, elem := schema.StreamOf(s.typ)
	if kind == model.Channel && !t.tool.Context {
		t.errorf(s.site.Pos, diag.ChannelContext, "let the method take a context, by which its sender can be stopped", "it returns a channel and takes no context")
		return false
	}
	value, ok := t.walker.Walk(elem, schema.Out, s.site)
	if !ok {
		return false
	}
	r := s.result
	r.Type, r.Stream = value.Type, &model.Stream{Kind: kind, Max: t.maxItems()}
	t.roots = append(t.roots, value.Type)
	items := value.Schema
	if kind == model.Pairs {
		k, ok := t.walker.Walk(key, schema.Out, s.site)
		if !ok {
			return false
		}
		r.Stream.Key = &k.Type
		t.roots = append(t.roots, k.Type)
		items = &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
		items.Properties.Set("key", k.Schema)
		items.Properties.Set("value", value.Schema)
	}
	s.schema = &jsonschema.Schema{Type: "array", Items: items}
	return true
}

// unwrap returns the type of the data that a result gives by a method: the one
// named, or Result() (T, error).
func (t *toolBuilder) unwrap(r *model.Result, typ types.Type) types.Type {
	word, into := t.unwrapWords()
	if !word.IsSet() {
		if data := resultMethod(typ, "Result"); data != nil {
			r.Unwrap = &model.Unwrap{Method: "Result", Nilable: isNilable(typ)}
			return data
		}
		return typ
	}
	if data := resultMethod(typ, word.Value); data != nil {
		r.Unwrap = &model.Unwrap{Method: word.Value, Nilable: isNilable(typ)}
		return data
	}
	m := types.NewMethodSet(typ).Lookup(nil, word.Value)
	if m == nil {
		t.errorf(word.Pos, diag.UnknownName, "name a method of the result", "unwrap: %s has no method %s", types.TypeString(typ, (*types.Package).Name), word.Value)
		return typ
	}
	sig, _ := m.Type().(*types.Signature)
	takesContext := sig.Params().Len() > 0 && isContext(sig.Params().At(0).Type())
	last := sig.Params().Len() - 1
	if last < 0 || last > 1 || last == 1 && !takesContext || sig.Results().Len() != 1 || !schema.IsError(sig.Results().At(0).Type()) {
		t.errorf(word.Pos, diag.DirectiveArgument, "name a method like M() (T, error), M(context.Context, *T) error or M(*T) error", "unwrap: %s has another form", word.Value)
		return typ
	}
	data := t.intoType(into, sig.Params().At(last).Type(), word)
	if data == nil {
		return typ
	}
	r.Unwrap = &model.Unwrap{Method: word.Value, Context: takesContext, Into: schema.GoType(data), Nilable: isNilable(typ)}
	return data
}

func isNilable(t types.Type) bool {
	_, pointer := t.Underlying().(*types.Pointer)
	return pointer || types.IsInterface(t)
}

func (t *toolBuilder) unwrapWords() (method, into config.Text) {
	if arg, ok := t.resultArg("unwrap"); ok {
		return wordOf(arg), into
	}
	if c := t.hook.Config; c != nil {
		return c.Unwrap, c.Into
	}
	return method, into
}

// intoType is the type that a method fills: the one that is written, else the
// one that its parameter points to.
func (t *toolBuilder) intoType(into config.Text, param types.Type, word config.Text) types.Type {
	if into.IsSet() {
		tv, err := types.Eval(t.program.Fset, t.hook.Receiver.Package.Types, 0, into.Value)
		if err != nil || !tv.IsType() {
			t.errorf(into.Pos, diag.YAMLValue, "write a type of Go or of the hook package", "into: %q is no type, or one of another package", into.Value)
			return nil
		}
		if !types.AssignableTo(types.NewPointer(tv.Type), param) {
			t.errorf(into.Pos, diag.YAMLValue, "write the type that it takes", "into: %s doesn't take a *%s", word.Value, into.Value)
			return nil
		}
		return tv.Type
	}
	if p, ok := param.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	t.errorf(word.Pos, diag.DirectiveArgument, "say into what in toolgen.yaml (unwrap: {method: "+word.Value+", into: TYPE})", "unwrap: %s fills anything", word.Value)
	return nil
}

// resultMethod returns T of a method M() (T, error); nil: there is none.
func resultMethod(typ types.Type, name string) types.Type {
	m := types.NewMethodSet(typ).Lookup(nil, name)
	if m == nil {
		return nil
	}
	sig, ok := m.Type().(*types.Signature)
	if !ok || sig.Params().Len() != 0 || sig.Results().Len() != 2 || !schema.IsError(sig.Results().At(1).Type()) {
		return nil
	}
	return sig.Results().At(0).Type()
}
