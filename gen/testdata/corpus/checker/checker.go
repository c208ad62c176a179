// Package checker is linked with generated tools and checks each of them
// without calling its hook.
package checker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolgen/toolgen/runtime"
)

// Main checks the tools of toolsets and prints what it found as JSON.
func Main(toolsets ...runtime.Toolset) {
	found := struct {
		Checked  int
		Problems map[string]string
	}{Problems: make(map[string]string)}
	for _, ts := range toolsets {
		tools, err := ts.Tools(context.Background())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, t := range tools {
			found.Checked++
			if err := Tool(t); err != nil {
				found.Problems[t.Definition().Name] = strings.ReplaceAll(err.Error(), "\n", "; ")
			}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Tool checks one tool: its schemas, and its decoder against them.
func Tool(t runtime.Tool) error {
	d := t.Definition()
	input, err := compile(d.Input)
	if err != nil {
		return fmt.Errorf("input schema: %w", err)
	}
	if d.Output != nil {
		if _, err := compile(d.Output); err != nil {
			return fmt.Errorf("output schema: %w", err)
		}
	}
	v, ok := t.(runtime.Validator)
	if !ok {
		return errors.New("it can't validate")
	}
	var schema map[string]any
	if err := json.Unmarshal(d.Input, &schema); err != nil {
		return err
	}
	s := synthesiser{root: schema, own: make(map[string]any), keys: make(map[string]string), full: true}
	call, err := s.accepted(v, input)
	if err != nil {
		return err
	}
	return refuses(v, input, call, schema)
}

func compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("schema.json") // checks it against the meta-schema
}

// refuses checks that a call with something wrong in it is refused, and that
// the schema says so too.
func refuses(v runtime.Validator, schema *jsonschema.Schema, call map[string]any, root map[string]any) error {
	try := func(what string, change func(map[string]any)) error {
		changed := make(map[string]any, len(call))
		for k, e := range call {
			changed[k] = e
		}
		change(changed)
		text, err := json.Marshal(changed)
		if err != nil {
			return err
		}
		var retry *runtime.RetryError
		if err := v.Validate(context.Background(), text); !errors.As(err, &retry) {
			return fmt.Errorf("%s: the decoder accepts it, or fails otherwise: %v", what, err)
		}
		if validate(schema, text) == nil {
			return fmt.Errorf("%s: the schema accepts it", what)
		}
		return nil
	}
	errs := []error{try("an unknown property", func(m map[string]any) { m["no_such_property"] = 1 })}
	properties, _ := root["properties"].(map[string]any)
	for name := range properties {
		kind := kindOf(root, properties[name])
		if kind == "" {
			continue // anything goes
		}
		wrong := map[string]any{"string": 1.5, "integer": "x", "number": "x", "boolean": "x", "array": 1.5, "object": 1.5}[kind]
		errs = append(errs, try("property "+name+" of a wrong type", func(m map[string]any) { m[name] = wrong }))
	}
	required, _ := root["required"].([]any)
	for _, name := range required {
		errs = append(errs, try(fmt.Sprint("without ", name), func(m map[string]any) { delete(m, name.(string)) }))
	}
	text, err := json.Marshal(call)
	if err != nil {
		return err
	}
	for _, bad := range []string{"[]", `"x"`, string(text) + "{}", string(text[:len(text)-1])} {
		if v.Validate(context.Background(), []byte(bad)) == nil {
			errs = append(errs, fmt.Errorf("%.40s is accepted", bad))
		}
	}
	return errors.Join(errs...)
}

func validate(schema *jsonschema.Schema, text []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(doc)
}
