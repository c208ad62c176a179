package config

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/runtime/schema"
)

// mapping calls the function of each key.
func (d *decoder) mapping(n ast.Node, fields map[string]func(ast.Node)) {
	known := make([]string, 0, len(fields))
	for k := range fields {
		known = append(known, k)
	}
	slices.Sort(known)
	d.entries(n, func(entry *ast.MappingValueNode) {
		key := d.text(entry.Key)
		f, ok := fields[key.Value]
		if !ok {
			d.diags.Errorf(key.Pos, diag.YAMLUnknown, strings.TrimPrefix(schema.DidYouMean(key.Value, known), "; "), "unknown key %q", key.Value)
			return
		}
		if value, ok := d.plain(entry.Value); ok {
			f(value)
		}
	})
}

// entries calls yield for each entry of a mapping, each key once.
func (d *decoder) entries(n ast.Node, yield func(*ast.MappingValueNode)) {
	n, ok := d.plain(n)
	if !ok {
		return
	}
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	case *ast.NullNode:
	default:
		d.wrongType(n, "a mapping")
	}
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		if _, ok := d.plain(v.Key); !ok {
			continue
		}
		key := v.Key.String()
		if seen[key] {
			d.diags.Errorf(d.at(v.Key), diag.YAMLDuplicate, "drop one", "key %q is there twice", key)
			continue
		}
		seen[key] = true
		yield(v)
	}
}

// plain refuses anchors, aliases and tags: who reads the file should see what
// it says where it says it.
func (d *decoder) plain(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		d.diags.Errorf(d.at(n), diag.YAMLAnchor, "write the value itself", "anchors, aliases and tags are not allowed")
		return nil, false
	}
	return n, true
}

func (d *decoder) wrongType(n ast.Node, want string) {
	d.diags.Errorf(d.at(n), diag.YAMLType, "", "want %s, got %s", want, kindOf(n))
}

func kindOf(n ast.Node) string {
	switch n := n.(type) {
	case nil:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "a string"
	case *ast.NullNode:
		return "nothing"
	default:
		return n.String()
	}
}

func (d *decoder) sequence(n ast.Node, yield func(ast.Node)) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		d.wrongType(n, "a list")
		return
	}
	for _, e := range s.Values {
		if e, ok := d.plain(e); ok {
			yield(e)
		}
	}
}

func (d *decoder) text(n ast.Node) Text {
	t := Text{Pos: d.at(n)}
	switch n := n.(type) {
	case *ast.StringNode:
		t.Value = n.Value
	case *ast.LiteralNode:
		t.Value = n.Value.Value
	case *ast.MappingKeyNode:
		return d.text(n.Value)
	default:
		d.wrongType(n, "a string")
	}
	return t
}

func (d *decoder) textTo(to *Text) func(ast.Node) { return func(n ast.Node) { *to = d.text(n) } }

func (d *decoder) texts(n ast.Node) []Text {
	var out []Text
	d.sequence(n, func(e ast.Node) { out = append(out, d.text(e)) })
	return out
}

func (d *decoder) boolean(n ast.Node) bool {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		d.wrongType(n, "true or false")
		return false
	}
	return b.Value
}

func (d *decoder) integer(n ast.Node) (int, bool) {
	if i, ok := n.(*ast.IntegerNode); ok {
		switch v := i.Value.(type) {
		case int64:
			return int(v), true
		case uint64:
			if v < 1<<31 {
				return int(v), true
			}
		}
	}
	d.wrongType(n, "an integer")
	return 0, false
}

func (d *decoder) oneOf(t Text, allowed []string) {
	if t.Value != "" && !slices.Contains(allowed, t.Value) {
		d.diags.Errorf(t.Pos, diag.YAMLValue, "write one of "+strings.Join(allowed, ", "), "%q is not allowed%s", t.Value, schema.DidYouMean(t.Value, allowed))
	}
}

func (d *decoder) require(n ast.Node, t Text, key, hint string) {
	if !t.IsSet() || t.Value == "" {
		d.diags.Errorf(d.at(n), diag.YAMLMissing, hint, "key %q is missing", key)
	}
}

// values reads a mapping of words, lists of words or JSON.
func (d *decoder) values(n ast.Node) []Value {
	var out []Value
	d.entries(n, func(entry *ast.MappingValueNode) {
		v := d.value(entry.Value)
		v.Name = d.text(entry.Key)
		out = append(out, v)
	})
	return out
}

// keys is values with names out of a list.
func (d *decoder) keys(n ast.Node, known []string) []Value {
	values := d.values(n)
	for _, v := range values {
		if !slices.Contains(known, v.Name.Value) {
			d.diags.Errorf(v.Name.Pos, diag.YAMLUnknown, strings.TrimPrefix(schema.DidYouMean(v.Name.Value, known), "; "), "unknown key %q", v.Name.Value)
		}
	}
	return values
}

// value reads a word, a list of words, or anything as JSON.
func (d *decoder) value(n ast.Node) Value {
	v := Value{Value: d.jsonText(n)}
	if list, ok := n.(*ast.SequenceNode); ok {
		v.List = []string{}
		for _, e := range list.Values {
			v.List = append(v.List, d.jsonText(e).Value)
		}
	}
	return v
}

// scalar reads a string, number or boolean as a word.
func (d *decoder) scalar(n ast.Node) Text {
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return d.jsonText(n)
	}
	d.wrongType(n, "a word")
	return Text{Pos: d.at(n)}
}

// jsonText returns a value as JSON, and a string as it is.
func (d *decoder) jsonText(n ast.Node) Text {
	t := Text{Pos: d.at(n)}
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return d.text(n)
	}
	v, ok := d.plainValue(n)
	if !ok {
		return t
	}
	text, err := json.Marshal(v)
	if err != nil {
		d.wrongType(n, "a value of JSON")
	}
	t.Value = string(text)
	return t
}

// plainValue returns a value as package json has it; numbers as they are written.
func (d *decoder) plainValue(n ast.Node) (any, bool) {
	n, ok := d.plain(n)
	if !ok {
		return nil, false
	}
	switch n := n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return d.text(n).Value, true
	case *ast.IntegerNode, *ast.FloatNode:
		return json.Number(n.GetToken().Value), true
	case *ast.BoolNode:
		return n.Value, true
	case *ast.NullNode:
		return nil, true
	case *ast.SequenceNode:
		out := []any{}
		for _, e := range n.Values {
			v, good := d.plainValue(e)
			ok = ok && good
			out = append(out, v)
		}
		return out, ok
	case *ast.MappingNode, *ast.MappingValueNode:
		out := make(map[string]any)
		d.entries(n, func(entry *ast.MappingValueNode) {
			v, good := d.plainValue(entry.Value)
			ok = ok && good
			out[d.text(entry.Key).Value] = v
		})
		return out, ok
	}
	d.wrongType(n, "a value of JSON")
	return nil, false
}
