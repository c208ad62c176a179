package schema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/runtime/schema"
)

// Encode writes a schema, indented for the reader of a generated file: one
// property a line, lists of scalars in one. The library's own encoder escapes
// <, > and & and writes true for the schema that accepts anything.
func Encode(s *jsonschema.Schema) string {
	e := encoder{}
	e.schema(s)
	return e.b.String()
}

type encoder struct {
	b      bytes.Buffer
	indent int
	first  bool
}

func (e *encoder) open(bracket byte) {
	e.b.WriteByte(bracket)
	e.indent++
	e.first = true
}

func (e *encoder) close(bracket byte) {
	e.indent--
	if !e.first {
		e.newline()
	}
	e.first = false
	e.b.WriteByte(bracket)
}

func (e *encoder) newline() {
	e.b.WriteByte('\n')
	for range e.indent {
		e.b.WriteString("  ")
	}
}

func (e *encoder) key(name string) {
	if !e.first {
		e.b.WriteByte(',')
	}
	e.first = false
	e.newline()
	e.b.Write(schema.AppendString(nil, name))
	e.b.WriteString(": ")
}

func (e *encoder) str(key, value string) {
	if value != "" {
		e.key(key)
		e.b.Write(schema.AppendString(nil, value))
	}
}

func (e *encoder) number(key string, value json.Number) {
	if value != "" {
		e.key(key)
		e.b.WriteString(string(value))
	}
}

func (e *encoder) count(key string, value *uint64) {
	if value != nil {
		e.key(key)
		fmt.Fprint(&e.b, *value)
	}
}

func (e *encoder) sub(key string, s *jsonschema.Schema) {
	if s != nil {
		e.key(key)
		e.schema(s)
	}
}

func (e *encoder) schema(s *jsonschema.Schema) {
	if s == jsonschema.FalseSchema {
		e.b.WriteString("false")
		return
	}
	e.open('{')
	e.str("type", s.Type)
	e.str("$ref", s.Ref)
	e.str("title", s.Title)
	e.str("description", s.Description)
	if s.Const != nil {
		e.value("const", s.Const)
	}
	e.list("enum", s.Enum)
	if s.Default != nil {
		e.value("default", s.Default)
	}
	e.list("examples", s.Examples)
	e.strings(s)
	e.numbers(s)
	e.flag("uniqueItems", s.UniqueItems)
	e.flag("readOnly", s.ReadOnly)
	e.flag("writeOnly", s.WriteOnly)
	e.flag("deprecated", s.Deprecated)
	e.count("minItems", s.MinItems)
	e.count("maxItems", s.MaxItems)
	e.sub("items", s.Items)
	e.subs("anyOf", s.AnyOf)
	e.subs("oneOf", s.OneOf)
	e.subs("allOf", s.AllOf)
	e.sub("not", s.Not)
	e.count("minProperties", s.MinProperties)
	e.count("maxProperties", s.MaxProperties)
	e.properties(s)
	e.sub("propertyNames", s.PropertyNames)
	e.sub("additionalProperties", s.AdditionalProperties)
	e.definitions(s.Definitions)
	e.close('}')
}

func (e *encoder) strings(s *jsonschema.Schema) {
	e.str("format", s.Format)
	e.str("contentEncoding", s.ContentEncoding)
	e.str("contentMediaType", s.ContentMediaType)
	e.str("pattern", s.Pattern)
	e.count("minLength", s.MinLength)
	e.count("maxLength", s.MaxLength)
}

func (e *encoder) numbers(s *jsonschema.Schema) {
	e.number("minimum", s.Minimum)
	e.number("maximum", s.Maximum)
	e.number("exclusiveMinimum", s.ExclusiveMinimum)
	e.number("exclusiveMaximum", s.ExclusiveMaximum)
	e.number("multipleOf", s.MultipleOf)
}

func (e *encoder) flag(key string, set bool) {
	if set {
		e.key(key)
		e.b.WriteString("true")
	}
}

func (e *encoder) value(key string, v any) {
	e.key(key)
	e.any(v)
}

// any writes a value: a string, a number, or JSON as it was written.
func (e *encoder) any(v any) {
	switch v := v.(type) {
	case string:
		e.b.Write(schema.AppendString(nil, v))
	case json.RawMessage:
		e.b.Write(v)
	case int64, json.Number:
		fmt.Fprint(&e.b, v)
	default:
		e.b.WriteString(jsonText(v))
	}
}

func (e *encoder) subs(key string, list []*jsonschema.Schema) {
	if len(list) == 0 {
		return
	}
	e.key(key)
	e.open('[')
	for _, s := range list {
		if !e.first {
			e.b.WriteByte(',')
		}
		e.first = false
		e.newline()
		e.schema(s)
	}
	e.close(']')
}

func (e *encoder) properties(s *jsonschema.Schema) {
	if s.Properties != nil {
		e.key("properties")
		e.open('{')
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			e.sub(p.Key, p.Value)
		}
		e.close('}')
	}
	required := make([]any, len(s.Required))
	for i, name := range s.Required {
		required[i] = name
	}
	e.list("required", required)
}

func (e *encoder) list(key string, values []any) {
	if len(values) == 0 {
		return
	}
	e.key(key)
	e.b.WriteByte('[')
	for i, v := range values {
		if i > 0 {
			e.b.WriteString(", ")
		}
		e.any(v)
	}
	e.b.WriteByte(']')
}

func (e *encoder) definitions(defs jsonschema.Definitions) {
	if len(defs) == 0 {
		return
	}
	e.key("$defs")
	e.open('{')
	for _, name := range sortedKeys(defs) {
		e.sub(name, defs[name])
	}
	e.close('}')
}
