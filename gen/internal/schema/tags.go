package schema

import (
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
)

// proseTags are the tags of other tools that describe a field.
var proseTags = []string{"jsonschema_description", "description", "doc", "help"}

// keyTags are the tags whose name is a keyword and whose value its value.
var keyTags = []string{"default", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern", "format"}

// readTags takes up the tags of other tools. What directives say stands; a tag
// that says otherwise is reported.
func (w *Walker) readTags(s *Setting, field *types.Var, literal string) {
	if literal == "" {
		return
	}
	tag := reflect.StructTag(literal)
	r := tagReader{walker: w, setting: s, field: field}
	for _, name := range proseTags {
		r.text(tag.Get(name))
	}
	for _, name := range keyTags {
		if value := tag.Get(name); value != "" {
			r.key(name, value)
		}
	}
	if tag.Get("required") == "true" {
		r.key("required", "true")
	}
	r.invopop(tag.Get("jsonschema"))
	r.validate(tag.Get("validate"))
}

type tagReader struct {
	walker  *Walker
	setting *Setting
	field   *types.Var
}

func (r *tagReader) text(text string) {
	if r.setting.Text == "" {
		r.setting.Text = text
	}
}

func (r *tagReader) key(name, value string) {
	k := Key{Name: name, Value: value, Pos: r.setting.Pos, Tag: true}
	i := slices.IndexFunc(r.setting.Keys, func(o Key) bool { return o.Name == name })
	switch {
	case i < 0 && r.fits(k):
		r.setting.Keys = append(r.setting.Keys, k)
	case i >= 0 && r.setting.Keys[i].Value != value && name == "enum" && r.setting.Keys[i].Tag: // enum=a,enum=b
		r.setting.Keys[i].Value += "," + value
	case i >= 0 && r.setting.Keys[i].Value != value:
		r.walker.diags.Errorf(r.setting.Pos, diag.TagConflict, "drop one", "field %s: its tag says %s is %s, and it is set to %s besides", r.field.Name(), name, value, r.setting.Keys[i].Value)
	}
}

// fits tries a tag of somebody else's package, which nobody here can mend: one
// that doesn't fit is not heeded.
func (r *tagReader) fits(k Key) bool {
	if r.walker.isOwnField(r.field) {
		return true
	}
	var dropped diag.List
	trial := *r.walker
	trial.diags = &dropped
	trial.patterns = slices.Clone(trial.patterns)
	ok := trial.tryKey(r.field.Type(), k)
	if !ok {
		r.walker.diags.Notef(r.setting.Pos, diag.TagConflict, "field %s: its tag says %s is %s, which doesn't fit and is not heeded", r.field.Name(), k.Name, k.Value)
	}
	return ok
}

// invopop reads the tag jsonschema: key=value words with commas, or a text.
func (r *tagReader) invopop(tag string) {
	words := strings.Split(tag, ",")
	known := func(word string) bool {
		name, _, pair := strings.Cut(word, "=")
		return pair && (slices.Contains(keyTags, name) || slices.Contains([]string{"title", "description", "example", "minItems", "maxItems", "multipleOf", "exclusiveMinimum", "exclusiveMaximum", "uniqueItems"}, name)) ||
			word == "required" || word == "-"
	}
	if tag == "" {
		return
	}
	if !slices.ContainsFunc(words, known) {
		r.text(tag)
		return
	}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case word == "required":
			r.key("required", "true")
		case name == "description":
			r.text(value)
		case name == "example", !known(word):
		default:
			r.key(name, value)
		}
	}
}

// validators are the words of the tag validate that have a keyword: by the kind
// of the field.
var validators = map[string]map[string]string{
	"min": {"string": "minLength", "number": "minimum", "array": "minItems", "object": "minProperties"},
	"max": {"string": "maxLength", "number": "maximum", "array": "maxItems", "object": "maxProperties"},
	"gte": {"string": "minLength", "number": "minimum", "array": "minItems", "object": "minProperties"},
	"lte": {"string": "maxLength", "number": "maximum", "array": "maxItems", "object": "maxProperties"},
	"gt":  {"number": "exclusiveMinimum"},
	"lt":  {"number": "exclusiveMaximum"},
}

var validFormats = map[string]string{"email": "email", "url": "uri", "uuid": "uuid"}

// validate reads the tag of go-playground/validator.
func (r *tagReader) validate(tag string) {
	kind := basicKind(r.field.Type())
	for word := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case name == "", name == "omitempty":
		case name == "required":
			r.key("required", "true")
		case name == "dive":
			return // what follows is about elements
		case name == "len" && validators["min"][kind] != "" && kind != "number":
			r.key(validators["min"][kind], value)
			r.key(validators["max"][kind], value)
		case name == "oneof" && (kind == "string" || kind == "number"):
			r.key("enum", strings.Join(strings.Fields(value), ","))
		case validators[name][kind] != "":
			r.key(validators[name][kind], value)
		case validFormats[name] != "" && kind == "string":
			r.key("format", validFormats[name])
		default:
			r.walker.diags.Notef(r.setting.Pos, diag.TagIgnored, "field %s: validate:%q is not enforced", r.field.Name(), word)
		}
	}
}

// basicKind is the kind of JSON value that a type without a form of its own is.
func basicKind(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case isDuration(t):
			return ""
		case u.Info()&types.IsString != 0:
			return "string"
		case u.Info()&types.IsNumeric != 0:
			return "number"
		}
	case *types.Slice:
		return "array"
	case *types.Map:
		return "object"
	}
	return ""
}

func (w *Walker) isOwnField(field *types.Var) bool {
	if field.Pkg() == nil {
		return true
	}
	pkg := w.program.Package(field.Pkg().Path())
	return pkg != nil && pkg.Source
}

// tryKey applies a key to the plain form of a type.
func (w *Walker) tryKey(t types.Type, k Key) bool {
	if k.Name == "required" {
		return true
	}
	_, _, ok := w.Constrain(t, plainValue(t), []Key{k}, Site{})
	return ok
}

// plainValue is enough of a type's form for its keys to be tried.
func plainValue(t types.Type) Value {
	kinds := map[string]model.Kind{"string": model.String, "number": model.Float, "array": model.Slice, "object": model.Map}
	return Value{Type: model.Type{Kind: kinds[basicKind(t)]}, Schema: &jsonschema.Schema{}}
}
