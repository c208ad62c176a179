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
	e.str("description", s.Description)
	e.list("enum", s.Enum)
	e.str("format", s.Format)
	e.str("contentEncoding", s.ContentEncoding)
	e.str("pattern", s.Pattern)
	e.number("minimum", s.Minimum)
	e.number("maximum", s.Maximum)
	e.count("minItems", s.MinItems)
	e.count("maxItems", s.MaxItems)
	e.sub("items", s.Items)
	e.properties(s)
	e.sub("propertyNames", s.PropertyNames)
	e.sub("additionalProperties", s.AdditionalProperties)
	e.definitions(s.Definitions)
	e.close('}')
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
		if s, ok := v.(string); ok {
			e.b.Write(schema.AppendString(nil, s))
		} else {
			fmt.Fprint(&e.b, v)
		}
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
