package schema

import (
	"encoding/json"
	"fmt"
	"go/types"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
	runtimeschema "github.com/toolgen/toolgen/runtime/schema"
)

// Formats are the formats that a decoder checks.
var Formats = []string{"date-time", "date", "time", "email", "uri", "uuid", "ipv4", "ipv6", "hostname"}

// A constrained is a value whose keys are being applied.
type constrained struct {
	*Walker

	typ    types.Type // without pointer
	value  model.Type // likewise
	schema *jsonschema.Schema
	site   Site
	rules  []model.Rule
	ok     bool
}

// Constrain applies keys to a value: it returns the schema that says so and the
// rules that the decoder checks. It reports a key that doesn't fit, at the key.
func (w *Walker) Constrain(t types.Type, v Value, keys []Key, at Site) (*jsonschema.Schema, []model.Rule, bool) {
	if len(keys) == 0 {
		return v.Schema, nil, true
	}
	s := *v.Schema
	c := constrained{Walker: w, typ: t, value: v.Type, schema: &s, site: at, ok: true}
	if p, pointer := types.Unalias(t).(*types.Pointer); pointer {
		c.typ = p.Elem()
	}
	if v.Type.Kind == model.Pointer {
		c.value = *v.Type.Elem
	}
	for _, policy := range []bool{false, true} { // a policy tightens whatever else is said
		for _, k := range keys {
			if k.Policy == policy {
				c.apply(k)
			}
		}
	}
	c.ordered(keys)
	return c.schema, c.rules, c.ok
}

func (c *constrained) refusef(k Key, hint, format string, args ...any) {
	code := diag.DirectiveArgument
	if k.Tag {
		code = diag.TagConflict
	}
	c.diags.Errorf(k.Pos, code, hint, "%s: %s", c.site.What, fmt.Sprintf(format, args...))
	c.ok = false
}

// apply applies one key.
func (c *constrained) apply(k Key) {
	switch k.Name {
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		c.number(k)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		c.count(k)
	case "uniqueItems":
		c.unique(k)
	case "pattern", "format", "prefix", "under":
		c.text(k)
	case "enum":
		c.enum(k)
	case "title":
		c.schema.Title = k.Value
	case "secret":
		c.secret(k)
	case "default":
		c.defaultValue(k)
	case "schema":
		c.replace(k)
	}
}

// bounds says in words what a schema says of a number.
func bounds(s *jsonschema.Schema) string {
	var words []string
	add := func(word string, n json.Number) {
		if n != "" {
			words = append(words, word+" "+string(n))
		}
	}
	add("at least", s.Minimum)
	add("at most", s.Maximum)
	add("more than", s.ExclusiveMinimum)
	add("less than", s.ExclusiveMaximum)
	add("a multiple of", s.MultipleOf)
	for i, e := range s.Enum {
		if i == 0 {
			words = append(words, "one of "+jsonText(e))
			continue
		}
		words = append(words, jsonText(e))
	}
	text := strings.Join(words, ", ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// kind says which kind of value a key is for.
func (c *constrained) kind() string {
	switch c.value.Kind {
	case model.Int, model.Uint, model.Float, model.IntEnum:
		return "number"
	case model.String, model.Enum, model.NameEnum:
		return "string"
	case model.Slice, model.Array:
		return "array"
	case model.Map:
		return "object"
	}
	return ""
}

func (c *constrained) unfit(k Key) {
	what := "a " + c.kind()
	if c.kind() == "array" || c.kind() == "object" {
		what = "an " + c.kind()
	}
	if c.kind() == "" {
		what = "a " + spell(c.typ)
	}
	c.refusef(k, "drop it", "%s is not for %s", k.Name, what)
}

var numberRules = map[string]string{
	"minimum": "Minimum", "maximum": "Maximum", "exclusiveMinimum": "Above", "exclusiveMaximum": "Below", "multipleOf": "MultipleOf",
}

func (c *constrained) number(k Key) {
	if c.kind() != "number" {
		c.unfit(k)
		return
	}
	l, err := c.Literal(c.typ, k.Value)
	if err != nil {
		c.refusef(k, "write a number", "%s: %s", k.Name, err)
		return
	}
	n := json.Number(l.Text)
	switch k.Name {
	case "minimum":
		c.schema.Minimum = tighter(c.schema.Minimum, n, 1)
	case "maximum":
		c.schema.Maximum = tighter(c.schema.Maximum, n, -1)
	case "exclusiveMinimum":
		c.schema.ExclusiveMinimum = tighter(c.schema.ExclusiveMinimum, n, 1)
	case "exclusiveMaximum":
		c.schema.ExclusiveMaximum = tighter(c.schema.ExclusiveMaximum, n, -1)
	case "multipleOf":
		if rat(n).Sign() <= 0 {
			c.refusef(k, "write a positive number", "multipleOf %s", n)
			return
		}
		c.schema.MultipleOf = n
	}
	c.rules = append(c.rules, model.Rule{Func: numberRules[k.Name], Args: []model.Literal{l}})
}

func rat(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return new(big.Rat)
	}
	return r
}

// tighter returns the tighter of two bounds: the greater of minima (sign 1),
// the smaller of maxima (sign -1).
func tighter(a, b json.Number, sign int) json.Number {
	if a == "" || rat(b).Cmp(rat(a)) == sign {
		return b
	}
	return a
}

// countKeys says for which kind a count is, and what checks it.
var countKeys = map[string]struct {
	kind, rule string
	field      func(*jsonschema.Schema) **uint64
	least      bool
}{
	"minLength":     {"string", "MinLength", func(s *jsonschema.Schema) **uint64 { return &s.MinLength }, true},
	"maxLength":     {"string", "MaxLength", func(s *jsonschema.Schema) **uint64 { return &s.MaxLength }, false},
	"minItems":      {"array", "MinItems", func(s *jsonschema.Schema) **uint64 { return &s.MinItems }, true},
	"maxItems":      {"array", "MaxItems", func(s *jsonschema.Schema) **uint64 { return &s.MaxItems }, false},
	"minProperties": {"object", "MinProperties", func(s *jsonschema.Schema) **uint64 { return &s.MinProperties }, true},
	"maxProperties": {"object", "MaxProperties", func(s *jsonschema.Schema) **uint64 { return &s.MaxProperties }, false},
}

func (c *constrained) count(k Key) {
	row := countKeys[k.Name]
	if c.kind() != row.kind || c.value.Kind == model.Array || c.value.Kind == model.NameEnum {
		c.unfit(k)
		return
	}
	n, err := strconv.ParseUint(k.Value, 10, 31)
	if err != nil {
		c.refusef(k, "write a count", "%s: %q is no count", k.Name, k.Value)
		return
	}
	field := row.field(c.schema)
	if *field == nil || row.least && n > **field || !row.least && n < **field {
		*field = &n
	}
	of := "len"
	if row.kind == "string" {
		of = "string"
	}
	c.rules = append(c.rules, model.Rule{Func: row.rule, Of: of, Read: true, Args: []model.Literal{count(k.Value)}})
}

func count(text string) model.Literal {
	return model.Literal{Go: model.GoType{Kind: model.Named, Name: "int"}, Text: text}
}

func (c *constrained) unique(k Key) {
	basic := false
	if s, ok := c.typ.Underlying().(*types.Slice); ok && c.kind() == "array" {
		_, basic = s.Elem().Underlying().(*types.Basic)
		basic = basic && types.TypeString(s.Elem(), nil) != "encoding/json.Number" // 1 and 1.0 are equal
	}
	if !basic {
		c.refusef(k, "drop it", "uniqueItems is for a list of strings, numbers or booleans")
		return
	}
	c.schema.UniqueItems = true
	c.rules = append(c.rules, model.Rule{Func: "Unique"})
}

func (c *constrained) text(k Key) {
	if c.kind() != "string" || c.value.Kind == model.NameEnum {
		c.unfit(k)
		return
	}
	text := []model.Literal{{Text: k.Value, Quoted: true, Go: model.GoType{Kind: model.Named, Name: "string"}}}
	switch k.Name {
	case "pattern":
		if why := unportable(k.Value); why != "" {
			c.refusef(k, "write it in what RE2 and ECMA-262 have in common", "pattern %q: %s", k.Value, why)
			return
		}
		c.rules = append(c.rules, model.Rule{Func: "Match", Of: "string", Read: true, Var: c.pattern(k.Value)})
		c.say(&c.schema.Pattern, k.Value, "It matches "+k.Value+".")
	case "format":
		if !slices.Contains(Formats, k.Value) {
			c.refusef(k, "write one of "+strings.Join(Formats, ", "), "format %q is not known%s", k.Value, runtimeschema.DidYouMean(k.Value, Formats))
			return
		}
		c.rules = append(c.rules, model.Rule{Func: "Format", Of: "string", Read: true, Args: text})
		c.say(&c.schema.Format, k.Value, "It is a "+k.Value+".")
	case "prefix":
		c.rules = append(c.rules, model.Rule{Func: "Prefix", Of: "string", Read: true, Args: text})
		c.say(&c.schema.Pattern, "^"+escapePattern(k.Value), "It begins with "+k.Value+".")
	case "under":
		if !isCleanFolder(k.Value) {
			c.refusef(k, "write a clean relative path with slashes", "under %q is no folder", k.Value)
			return
		}
		c.rules = append(c.rules, model.Rule{Func: "Under", Of: "string", Read: true, Args: text})
		c.schema.Description = Sentences(c.schema.Description, "A relative path at or below "+k.Value+", with slashes.")
	}
}

// say puts a keyword into the schema; where there is one already, words say it.
func (c *constrained) say(to *string, value, words string) {
	if *to == "" || *to == value {
		*to = value
		return
	}
	c.schema.Description = Sentences(c.schema.Description, words)
}

// enum restricts a value to some of its type's.
func (c *constrained) enum(k Key) {
	if c.kind() != "string" && c.kind() != "number" {
		c.unfit(k)
		return
	}
	var values []any
	rule := model.Rule{Func: "OneOf"}
	if c.kind() == "string" && c.value.Kind != model.NameEnum {
		rule = model.Rule{Func: "OneText", Of: "string", Read: true}
	}
	for _, word := range k.words() {
		l, err := c.Literal(c.typ, word)
		if err != nil {
			c.refusef(k, "write values with commas between them", "enum: %s", err)
			return
		}
		v := c.schemaValue(c.typ, word)
		if slices.ContainsFunc(values, func(o any) bool { return jsonText(o) == jsonText(v) }) {
			c.refusef(k, "drop one", "enum has %s twice", word)
			return
		}
		if len(c.schema.Enum) > 0 && !slices.ContainsFunc(c.schema.Enum, func(o any) bool { return jsonText(o) == jsonText(v) }) {
			c.refusef(k, "write some of those", "enum: %s is not one of the values that are allowed already", word)
			return
		}
		values, rule.Args = append(values, v), append(rule.Args, l)
	}
	c.schema.Enum = values
	c.rules = append(c.rules, rule)
}

func (c *constrained) secret(k Key) {
	if c.kind() != "string" {
		c.unfit(k)
		return
	}
	c.schema.WriteOnly = true
}

func (c *constrained) defaultValue(k Key) {
	if _, err := c.Literal(c.typ, k.Value); err != nil {
		c.refusef(k, "write a value of its type", "default: %s", err)
		return
	}
	c.schema.Default = c.schemaValue(c.typ, k.Value)
}

// replace puts a schema of the user's in the place of the derived one.
func (c *constrained) replace(k Key) {
	s, err := Parse(k.Value)
	if err != nil {
		c.refusef(k, "write a JSON Schema", "schema: %s", err)
		return
	}
	s.Description = Sentences(s.Description, c.schema.Description)
	c.schema = s
}

// ordered checks the keys against each other: a minimum above the maximum, or a
// default that the others refuse.
func (c *constrained) ordered(keys []Key) {
	last := keys[len(keys)-1]
	s := c.schema
	if !c.ok {
		return
	}
	if s.Minimum != "" && s.Maximum != "" && rat(s.Minimum).Cmp(rat(s.Maximum)) > 0 {
		c.refusef(last, "", "minimum %s is above maximum %s", s.Minimum, s.Maximum)
	}
	for _, pair := range [][2]json.Number{{s.ExclusiveMinimum, s.ExclusiveMaximum}, {s.ExclusiveMinimum, s.Maximum}, {s.Minimum, s.ExclusiveMaximum}} {
		if pair[0] != "" && pair[1] != "" && rat(pair[0]).Cmp(rat(pair[1])) >= 0 {
			c.refusef(last, "", "no number is above %s and below %s", pair[0], pair[1])
		}
	}
	bare := *s
	bare.Enum = nil
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return c.fits(&bare, e) == nil }) {
		c.refusef(last, "", "none of the values of enum is allowed by the rest")
	}
	for _, pair := range []struct {
		least, most *uint64
		what        string
	}{{s.MinLength, s.MaxLength, "Length"}, {s.MinItems, s.MaxItems, "Items"}, {s.MinProperties, s.MaxProperties, "Properties"}} {
		if pair.least != nil && pair.most != nil && *pair.least > *pair.most {
			c.refusef(last, "", "min%s %d is above max%s %d", pair.what, *pair.least, pair.what, *pair.most)
		}
	}
	for _, k := range keys {
		if k.Name != "default" || !c.ok {
			continue
		}
		if err := c.fits(s, c.schemaValue(c.typ, k.Value)); err != nil {
			c.refusef(k, "give it a default that is allowed", "default %s: %s", k.Value, err)
		}
		for _, other := range keys {
			if violates(k.Value, other) {
				c.refusef(k, "give it a default that is allowed", "default %s is not within %s %s", k.Value, other.Name, other.Value)
			}
		}
	}
}

// fits is FitsJSON for a schema whose references are still to be resolved.
func (c *constrained) fits(s *jsonschema.Schema, value any) error {
	whole, _ := c.Assemble(s, In, nil)
	return FitsJSON([]byte(Encode(whole)), []byte(jsonText(value)))
}

// violates reports a string that isn't within a key of which the schema may say
// nothing.
func violates(text string, k Key) bool {
	switch k.Name {
	case "pattern":
		re, err := regexp.Compile(k.Value)
		return err == nil && !re.MatchString(text)
	case "prefix":
		return !strings.HasPrefix(text, k.Value)
	case "under":
		return !isCleanFolder(text) || text != k.Value && !strings.HasPrefix(text, k.Value+"/")
	}
	return false
}
