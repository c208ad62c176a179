package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	checker "github.com/santhosh-tekuri/jsonschema/v6"
)

// Parse reads a schema that a user wrote. A keyword that toolgen wouldn't write
// again is an error, not lost.
func Parse(text string) (*jsonschema.Schema, error) {
	if _, err := compile([]byte(text)); err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&s); err != nil {
		return nil, err
	}
	var given, kept any
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(Encode(&s)), &kept); err != nil {
		return nil, err
	}
	if jsonText(given) != jsonText(kept) {
		return nil, errors.New("it has a keyword that is not supported")
	}
	if refers(given) {
		return nil, errors.New("it must stand by itself, without $ref and $defs")
	}
	return &s, nil
}

// refers finds references: they would mean something else within a tool's schema.
func refers(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			if key == "$ref" || key == "$defs" || key == "$dynamicRef" || refers(e) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, refers)
	}
	return false
}

// FitsJSON reports why a value is not allowed by a schema, both JSON; nil: it is.
func FitsJSON(schema, value []byte) error {
	compiled, err := compile(schema)
	if err != nil {
		return err
	}
	doc, err := checker.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return errors.New("it is not JSON")
	}
	if err := compiled.Validate(doc); err != nil {
		return errors.New(firstReason(err.Error()))
	}
	return nil
}

// firstReason takes the first reason from the lines of a validation error.
func firstReason(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if _, why, ok := strings.Cut(line, "- at '"); ok {
			return strings.TrimPrefix(strings.Replace(why, "':", ":", 1), ": ")
		}
	}
	return text
}

func compile(text []byte) (*checker.Schema, error) {
	doc, err := checker.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, errors.New("it is not JSON")
	}
	c := checker.NewCompiler()
	c.DefaultDraft(checker.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("schema", doc); err != nil {
		return nil, fmt.Errorf("it is no schema: %w", err)
	}
	s, err := c.Compile("schema")
	if err != nil {
		return nil, errors.New("it is no JSON Schema of 2020-12")
	}
	return s, nil
}

// Example returns arguments as they stand in a schema, if they fit it.
func Example(s *jsonschema.Schema, text string) (any, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return nil, errors.New("it is not JSON")
	}
	return json.RawMessage(b.Bytes()), FitsJSON([]byte(Encode(s)), b.Bytes())
}
