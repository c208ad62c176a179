package checker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolgen/toolgen/runtime"
)

// A synthesiser makes a call from a schema.
type synthesiser struct {
	root map[string]any
	full bool              // optional properties too
	own  map[string]any    // by pointer: what a type that parses itself was given instead
	keys map[string]string // by pointer of a map: what a key that parses itself was given instead
}

// guesses are tried for values of types that parse themselves, of which the
// schema says only that they are strings, or nothing.
var guesses = []any{
	"", "1", "2024-01-02T15:04:05Z", "2024-01-02T15:04:05.000000Z", "2024-01-02", "10.0.0.1", "10.0.0.0/8", "true", "10s", "a", "monday",
	json.Number("1"), true, map[string]any{}, []any{}, nil,
}

// keyGuesses are tried for keys that parse themselves.
var keyGuesses = []string{"80/tcp", "10.0.0.1", "1"}

// accepted returns a call that the decoder and the schema accept.
func (s *synthesiser) accepted(v runtime.Validator, schema *jsonschema.Schema) (map[string]any, error) {
	tried := make(map[string]int)
	for range 400 {
		call, _ := s.value(s.root, "", 0).(map[string]any)
		text, err := json.Marshal(call)
		if err != nil {
			return nil, err
		}
		err = v.Validate(context.Background(), text)
		if err == nil {
			return call, validate(schema, text)
		}
		var retry *runtime.RetryError
		if !errors.As(err, &retry) {
			return nil, err
		}
		guessed := false
		for _, issue := range retry.Issues {
			n := tried[issue.Pointer]
			parent, isKey := strings.CutSuffix(issue.Pointer, "/key")
			switch {
			case issue.Code != runtime.IssueConstraint:
				continue
			case isKey && n < len(keyGuesses):
				s.keys[parent] = keyGuesses[n]
			case n < len(guesses):
				s.own[issue.Pointer] = guesses[n]
			default:
				continue
			}
			tried[issue.Pointer]++
			guessed = true
		}
		if !guessed {
			return nil, fmt.Errorf("the decoder refuses %.300s: %w", text, err)
		}
	}
	return nil, errors.New("no call was found that the decoder accepts")
}

func (s *synthesiser) value(schema any, pointer string, depth int) any {
	if given, ok := s.own[pointer]; ok {
		return given
	}
	m, ok := s.resolve(schema).(map[string]any)
	if !ok {
		return 1
	}
	if enum, ok := m["enum"].([]any); ok {
		return enum[0]
	}
	if c, ok := m["const"]; ok {
		return c
	}
	if any, ok := m["anyOf"].([]any); ok {
		return s.value(any[0], pointer, depth)
	}
	switch m["type"] {
	case "object":
		return s.object(m, pointer, depth)
	case "array":
		n := int(number(m["minItems"], 0))
		if n == 0 && s.full && depth < 4 {
			n = 1
		}
		out := []any{}
		for i := range n {
			out = append(out, s.value(m["items"], pointer+"/"+strconv.Itoa(i), depth+1))
		}
		return out
	case "integer", "number":
		return number(m["minimum"], 1)
	case "boolean":
		return true
	case "string":
		return s.text(m)
	}
	return map[string]any{"any": []any{1, "thing"}}
}

func (s *synthesiser) object(m map[string]any, pointer string, depth int) any {
	out := map[string]any{}
	required := make(map[string]bool)
	if list, ok := m["required"].([]any); ok {
		for _, name := range list {
			required[name.(string)] = true
		}
	}
	properties, _ := m["properties"].(map[string]any)
	for name, p := range properties {
		if required[name] || s.full && depth < 4 {
			out[name] = s.value(p, pointer+"/"+escape(name), depth+1)
		}
	}
	if more, ok := m["additionalProperties"].(map[string]any); ok && s.full && depth < 4 {
		key := "key"
		if given := s.keys[pointer]; given != "" {
			key = given
		}
		if names, ok := m["propertyNames"].(map[string]any); ok && names["pattern"] == "^-?[0-9]+$" {
			key = "7"
		}
		out[key] = s.value(more, pointer+"/"+escape(key), depth+1)
	}
	return out
}

func (s *synthesiser) text(m map[string]any) any {
	if m["contentEncoding"] == "base64" {
		return "aGk="
	}
	switch m["format"] {
	case "date-time":
		return "2024-01-02T15:04:05Z"
	case "uuid":
		return "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	case "uri":
		return "https://example.com/x"
	}
	if p, _ := m["pattern"].(string); strings.Contains(p, "[0-9]") {
		return "7"
	} else if strings.Contains(p, "true") {
		return "true"
	}
	if d, _ := m["description"].(string); strings.Contains(d, `A duration like "1h30m"`) {
		return "1h30m"
	}
	return "text"
}

func (s *synthesiser) resolve(schema any) any {
	for {
		m, ok := schema.(map[string]any)
		if !ok {
			return schema
		}
		ref, ok := m["$ref"].(string)
		if !ok {
			return m
		}
		defs, _ := s.root["$defs"].(map[string]any)
		schema = defs[strings.TrimPrefix(ref, "#/$defs/")]
	}
}

func kindOf(root map[string]any, schema any) string {
	m, ok := (&synthesiser{root: root}).resolve(schema).(map[string]any)
	if !ok {
		return ""
	}
	kind, _ := m["type"].(string)
	return kind
}

func number(v any, otherwise float64) float64 {
	if n, ok := v.(float64); ok {
		return n
	}
	return otherwise
}

func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
