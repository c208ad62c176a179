package build

import (
	"cmp"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/directive"
	"github.com/toolgen/toolgen/gen/internal/naming"
	"github.com/toolgen/toolgen/gen/internal/schema"
)

// A setting is what directives and toolgen.yaml say of a parameter, or, with
// dots in its path, of a field of one.
type setting struct {
	schema.Setting

	pin     *pinWords
	options []config.Text // constructors
	collect bool
}

// pinWords is a pin as it was written; one of them is set.
type pinWords struct {
	value, constant, from, option config.Text
	pos                           diag.Position
}

// settings gathers what is said of parameters and their fields, by path.
func (t *toolBuilder) settings() {
	t.said = make(map[string]*setting)
	for i := range t.hook.Directives {
		t.directiveSetting(&t.hook.Directives[i])
	}
	if c := t.hook.Config; c != nil {
		for i := range c.Params {
			t.yamlSetting(&c.Params[i])
		}
	}
	for path, s := range t.said {
		n := 0
		for _, said := range []bool{s.Hidden, s.pin != nil, len(s.options) > 0, s.collect} {
			if said {
				n++
			}
		}
		if n > 1 {
			t.errorf(s.Pos, diag.Conflict, "drop one", "parameter %s can't be hidden, pinned, collected or made of options at once", path)
		}
	}
}

// of returns the setting of a path, made once.
func (t *toolBuilder) of(path string, pos diag.Position) *setting {
	s := t.said[path]
	if s == nil {
		s = &setting{Setting: schema.Setting{Pos: pos}}
		t.said[path] = s
	}
	return s
}

// addKeys adds keywords; one with two values is an error at both.
func (t *toolBuilder) addKeys(s *setting, path string, keys []schema.Key) {
	for _, k := range keys {
		first, twice := s.Get(k.Name)
		if twice && !k.Policy && !first.Policy && (first.Value != k.Value || !slices.Equal(first.List, k.List)) {
			t.errorf(k.Pos, diag.Conflict, "drop one", "%s of parameter %s is set twice", k.Name, path)
			t.diags.Relate(first.Pos, "the other place")
			continue
		}
		s.Keys = append(s.Keys, k)
	}
}

// setText sets the description; two that differ are an error at both.
func (t *toolBuilder) setText(path, text string, pos diag.Position) {
	if first, twice := t.texts[path]; twice && first.value != text {
		t.errorf(pos, diag.TextTwice, "drop one", "parameter %s is described twice", path)
		t.diags.Relate(first.pos, "the other place")
		return
	}
	t.texts[path] = textAt{text, pos}
	t.checkText(pos, "parameter "+path, text)
}

func (t *toolBuilder) directiveSetting(d *directive.Directive) {
	words := d.Positional()
	if len(words) == 0 {
		return
	}
	path, pos := words[0].Value, words[0].Pos
	switch d.Name {
	case "param":
		args := slices.DeleteFunc(slices.Clone(d.Args), func(a directive.Arg) bool { return a == words[0] })
		text, keys := schema.Words(args)
		if text == "" && len(keys) == 0 {
			t.errorf(pos, diag.DirectiveArgument, `write //toolgen:param NAME "prose"`, "param %s says nothing", path)
		}
		if text != "" {
			t.setText(path, text, pos)
		}
		t.addKeys(t.of(path, pos), path, keys)
	case "hide":
		t.of(path, pos).Hidden = true
	case "pin":
		t.setPin(path, directivePin(d, words))
	case "confine":
		t.addKeys(t.of(path, pos), path, policy(d.Args))
	case "options":
		t.of(path, pos).options = commaWords(words[1])
	case "collect":
		t.of(path, pos).collect = true
	}
}

// commaWords splits a word at its commas, each with its place.
func commaWords(arg directive.Arg) []config.Text {
	var out []config.Text
	pos := arg.Pos
	for name := range strings.SplitSeq(arg.Value, ",") {
		out = append(out, config.Text{Value: name, Pos: pos})
		pos.Column += len(name) + 1
	}
	return out
}

func directivePin(d *directive.Directive, words []directive.Arg) *pinWords {
	p := &pinWords{pos: words[0].Pos}
	if len(words) > 1 && words[1].Value == "option" {
		p.option = config.Text{Value: naming.Exported(words[0].Value), Pos: words[1].Pos}
	} else if len(words) > 1 {
		p.value = wordOf(words[1])
	}
	if a, ok := d.Value("const"); ok {
		p.constant = wordOf(a)
	}
	if a, ok := d.Value("from"); ok {
		p.from = wordOf(a)
	}
	return p
}

func policy(args []directive.Arg) []schema.Key {
	var out []schema.Key
	for _, a := range args {
		if a.Key != "" {
			out = append(out, schema.Key{Name: a.Key, Value: a.Value, Pos: a.Pos, Policy: true})
		}
	}
	return out
}

func (t *toolBuilder) setPin(path string, p *pinWords) {
	n := 0
	for _, w := range []config.Text{p.value, p.constant, p.from, p.option} {
		if w.IsSet() {
			n++
		}
	}
	s := t.of(path, p.pos)
	switch {
	case n != 1:
		t.errorf(p.pos, diag.DirectiveArgument, "write a value, const=C, from=FUNC or option", "pin %s needs one of these", path)
	case s.pin != nil && *s.pin != *p:
		t.errorf(p.pos, diag.Conflict, "drop one", "parameter %s is pinned twice", path)
		t.diags.Relate(s.pin.pos, "the other place")
	default:
		s.pin = p
	}
}

func (t *toolBuilder) yamlSetting(p *config.Param) {
	path, pos := p.Name.Value, p.Name.Pos
	if p.Description.IsSet() {
		t.setText(path, p.Description.Value, p.Description.Pos)
	}
	if len(p.Keys)+len(p.Confine) > 0 {
		t.addKeys(t.of(path, pos), path, slices.Concat(yamlKeys(p.Keys, false), yamlKeys(p.Confine, true)))
	}
	if p.Hide {
		t.of(path, pos).Hidden = true
	}
	if pin := (pinWords{p.Pin, p.PinConst, p.PinFrom, p.PinOption, pos}); p.Pin.IsSet() || p.PinConst.IsSet() || p.PinFrom.IsSet() || p.PinOption.IsSet() {
		t.setPin(path, &pin)
	}
	if len(p.Options) > 0 {
		t.of(path, pos).options = p.Options
	}
	if p.Collect {
		t.of(path, pos).collect = true
	}
}

func yamlKeys(values []config.Value, policy bool) []schema.Key {
	out := make([]schema.Key, len(values))
	for i, v := range values {
		out[i] = schema.Key{Name: v.Name.Value, Value: v.Value.Value, List: v.List, Pos: v.Value.Pos, Policy: policy}
	}
	return out
}

// hostSays spells the policies and pins, by pointer into the arguments, for the
// lock.
func (t *toolBuilder) hostSays() (confined, pinned map[string]string) {
	confined, pinned = make(map[string]string), make(map[string]string)
	for path, s := range t.said {
		pointer := "/" + strings.ReplaceAll(propertyPath(path), ".", "/")
		var words []string
		for _, k := range s.Keys {
			if k.Policy {
				words = append(words, k.Name+"="+cmp.Or(k.Value, strings.Join(k.List, ",")))
			}
		}
		if slices.Sort(words); len(words) > 0 {
			confined[pointer] = strings.Join(words, " ")
		}
		if s.pin != nil {
			pinned[pointer] = t.pinText(s.pin)
		}
	}
	return confined, pinned
}

// pinText spells a pin: how and to what. A constant is its value, which may
// change where its name doesn't.
func (t *toolBuilder) pinText(p *pinWords) string {
	switch {
	case p.constant.IsSet():
		reported := len(t.diags)
		obj, _ := t.symbol(p.constant)
		t.diags = t.diags[:reported] // pin has reported it
		if c, ok := obj.(*types.Const); ok {
			if c.Val().Kind() == constant.String {
				return "value " + constant.StringVal(c.Val())
			}
			return "value " + c.Val().ExactString()
		}
		return "const " + p.constant.Value
	case p.from.IsSet():
		return "from " + p.from.Value
	case p.option.IsSet():
		return "option " + p.option.Value
	default:
		return "value " + p.value.Value
	}
}

// nested returns the settings of fields, by the paths of their properties. A
// setting of a field that isn't there is reported.
func (t *toolBuilder) nested() schema.Settings {
	out := make(schema.Settings)
	for path, s := range t.said {
		if !strings.Contains(path, ".") {
			continue
		}
		n := s.Setting
		if s.pin != nil {
			n.Pin = t.nestedPin(path, s.pin)
		}
		if len(s.options) > 0 || s.collect {
			t.errorf(s.Pos, diag.DirectiveTarget, "name a parameter", "%s is a field: only parameters take options or are collected", path)
		}
		out[propertyPath(path)] = &n
	}
	return out
}

// redacted returns the settings that leave properties out of the result.
func (t *toolBuilder) redacted() schema.Settings {
	out := make(schema.Settings)
	add := func(path string, pos diag.Position) {
		out[path] = &schema.Setting{Hidden: true, Pos: pos}
	}
	if arg, ok := t.resultArg("redact"); ok {
		for _, w := range commaWords(arg) {
			add(w.Value, w.Pos)
		}
	}
	if c := t.hook.Config; c != nil {
		for _, w := range c.Redact {
			add(w.Value, w.Pos)
		}
	}
	return out
}

// resultArg returns an argument of the directive result.
func (t *toolBuilder) resultArg(key string) (directive.Arg, bool) {
	if d := t.hook.Directive("result"); d != nil {
		return d.Value(key)
	}
	return directive.Arg{}, false
}

// A named parameter: those without a name get one.
type named struct {
	*types.Var

	name  string
	index int
}

// namedParams returns the parameters with their names: the method's own, those
// that toolgen.yaml gives, or those of the one implementation of an interface.
func (t *toolBuilder) namedParams(sig *types.Signature) []named {
	var given []config.Text
	if c := t.hook.Config; c != nil {
		given = c.ParamNames
	}
	var other *types.Signature
	out := make([]named, sig.Params().Len())
	for i := range out {
		v := sig.Params().At(i)
		out[i] = named{v, v.Name(), i}
		if isContext(v.Type()) || v.Name() != "" && v.Name() != "_" {
			continue
		}
		out[i].name = ""
		if len(given) > 0 {
			out[i].name, given = given[0].Value, given[1:]
			continue
		}
		if other == nil {
			other = t.implementation()
		}
		if other != nil && other.Params().Len() == len(out) && other.Params().At(i).Name() != "_" {
			out[i].name = other.Params().At(i).Name()
		}
	}
	for _, g := range given {
		t.errorf(g.Pos, diag.YAMLValue, "drop it", "param_names: every parameter has a name without %s", g.Value)
	}
	return out
}

// implementation returns the signature of the hook's method in the only type
// of its package that implements the interface it belongs to; nil: there is
// none, or several.
func (t *toolBuilder) implementation() *types.Signature {
	if impl := t.hook.Implementation(); impl != nil {
		return impl.Signature()
	}
	return nil
}
