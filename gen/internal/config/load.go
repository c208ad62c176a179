package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/directive"
)

// Find returns the path of the file in dir or the nearest folder above it, up
// to root; "" if there is none.
func Find(dir, root string) string {
	for {
		path := filepath.Join(dir, FileName)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
		parent := filepath.Dir(dir)
		if dir == root || parent == dir {
			return ""
		}
		dir = parent
	}
}

// Load reads the file at path. What is wrong with its contents is in the list;
// the error is that of reading.
func Load(path string) (*File, diag.List, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	file, diags := Parse(path, src)
	return file, diags, nil
}

// Parse reads the contents of the file at path.
func Parse(path string, src []byte) (*File, diag.List) {
	d := &decoder{path: path}
	file := &File{Path: path}
	tree, err := parse(bytes.TrimPrefix(src, []byte("\uFEFF")))
	if err != nil {
		d.syntax(err)
		return file, d.diags
	}
	if len(tree.Docs) > 1 {
		d.diags.Errorf(d.at(tree.Docs[1].Body), diag.YAMLDocuments, "write one document", "a second document")
	}
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil {
		d.diags.Errorf(diag.Position{File: path, Line: 1, Column: 1}, diag.YAMLVersion, "write version: 1", "the file is empty")
		return file, d.diags
	}
	d.file(tree.Docs[0].Body, file)
	return file, d.diags
}

// parse parses YAML. The parser panics on some texts that are none.
func parse(src []byte) (file *ast.File, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("not YAML: %v", v)
		}
	}()
	return parser.ParseBytes(src, 0)
}

// decoder walks the syntax tree. It is a hand-written walk since every value
// keeps its position, which decoding into structs loses.
type decoder struct {
	path  string
	diags diag.List
}

func (d *decoder) syntax(err error) {
	pos := diag.Position{File: d.path, Line: 1, Column: 1}
	message := err.Error()
	if positioned, ok := errors.AsType[yaml.Error](err); ok {
		if t := positioned.GetToken(); t != nil {
			pos.Line, pos.Column = t.Position.Line, t.Position.Column
		}
		message = positioned.GetMessage()
	}
	code := diag.YAMLSyntax
	if strings.Contains(message, "duplicate") || strings.Contains(message, "already defined") {
		code = diag.YAMLDuplicate
		message = plainDuplicate(message)
	}
	d.diags.Errorf(pos, code, "", "%s", message)
}

var quotedKey = regexp.MustCompile(`"([^"]*)"`)

// plainDuplicate words the parser's message as the rest of ours.
func plainDuplicate(message string) string {
	if m := quotedKey.FindStringSubmatch(message); m != nil {
		return "key " + strconv.Quote(m[1]) + " is there twice"
	}
	return message
}

func (d *decoder) at(n ast.Node) diag.Position {
	if n == nil || n.GetToken() == nil { // what the parser leaves of an empty value
		return diag.Position{File: d.path, Line: 1, Column: 1}
	}
	t := n.GetToken()
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		t = m.Values[0].Key.GetToken()
	}
	return diag.Position{File: d.path, Line: t.Position.Line, Column: t.Position.Column}
}

func (d *decoder) file(n ast.Node, f *File) {
	version := false
	d.mapping(n, map[string]func(ast.Node){
		"version": func(v ast.Node) {
			version = true
			if n, ok := d.integer(v); ok && n != 1 {
				d.diags.Errorf(d.at(v), diag.YAMLVersion, "write 1", "version %d is not known", n)
			}
		},
		"lock":     d.textTo(&f.Lock),
		"lint":     func(v ast.Node) { d.lint(v, &f.Lint) },
		"registry": func(v ast.Node) { f.Registries = d.registries(v) },
		"defaults": func(v ast.Node) { d.mapping(v, d.settings(&f.Defaults)) },
		"packages": func(v ast.Node) {
			d.sequence(v, func(e ast.Node) { f.Packages = append(f.Packages, d.pkg(e)) })
		},
	})
	if !version && !d.diags.HasErrors() {
		d.diags.Errorf(d.at(n), diag.YAMLVersion, "add version: 1", "the version is missing")
	}
}

// lintCodes are the codes that lint.disable may name: those of prose, names and
// hints that lint alone reports.
var lintCodes = regexp.MustCompile(`^TG(40[5-7]|41[2-7])$`)

func (d *decoder) lint(n ast.Node, l *Lint) {
	d.mapping(n, map[string]func(ast.Node){
		"param_docs": func(v ast.Node) {
			t := d.text(v)
			d.oneOf(t, []string{"off", "warn", "error"})
			l.ParamDocs = t.Value
		},
		"description_max": func(v ast.Node) {
			n, ok := d.integer(v)
			if ok && n < 1 {
				d.diags.Errorf(d.at(v), diag.YAMLValue, "give it at least 1", "%d characters are too few", n)
			}
			l.DescriptionMax = n
		},
		"disable": func(v ast.Node) {
			l.Disable = d.texts(v)
			for _, code := range l.Disable {
				if !lintCodes.MatchString(code.Value) {
					d.diags.Errorf(code.Pos, diag.YAMLValue, "write one of TG405 to TG407 and TG412 to TG417", "%q is no code of lint", code.Value)
				}
			}
		},
	})
}

func (d *decoder) registries(n ast.Node) []Registry {
	if _, list := n.(*ast.SequenceNode); !list {
		return []Registry{d.registry(n)}
	}
	var out []Registry
	d.sequence(n, func(e ast.Node) { out = append(out, d.registry(e)) })
	return out
}

func (d *decoder) registry(n ast.Node) Registry {
	r := Registry{Pos: d.at(n)}
	d.mapping(n, map[string]func(ast.Node){
		"output":   d.textTo(&r.Output),
		"package":  d.textTo(&r.Package),
		"packages": func(v ast.Node) { r.Packages = d.texts(v) },
	})
	d.require(n, r.Output, "output", "name the folder of the generated registry")
	return r
}

func (d *decoder) pkg(n ast.Node) Package {
	var p Package
	if _, text := n.(*ast.StringNode); text {
		d.diags.Errorf(d.at(n), diag.YAMLType, "write path: before it", "want a mapping, got a string")
		return p
	}
	fields := d.settings(&p.Settings)
	fields["path"] = d.textTo(&p.Path)
	fields["output"] = d.textTo(&p.Output)
	fields["package"] = d.textTo(&p.Package)
	fields["prefix"] = d.textTo(&p.Prefix)
	fields["required_doc"] = func(v ast.Node) {
		for _, t := range d.texts(v) {
			p.RequiredDoc = append(p.RequiredDoc, t.Value)
		}
	}
	fields["drop_results"] = func(v ast.Node) { p.DropResults = d.texts(v) }
	fields["enums"] = func(v ast.Node) {
		p.Enums = d.values(v)
		for _, e := range p.Enums {
			d.oneOf(e.Value, []string{"closed", "names", "open", "off"})
		}
	}
	fields["implementations"] = func(v ast.Node) { p.Implementations = d.values(v) }
	fields["schemas"] = func(v ast.Node) { p.Schemas = d.values(v) }
	fields["types"] = func(v ast.Node) { d.sequence(v, func(e ast.Node) { p.Types = append(p.Types, d.typ(e)) }) }
	d.mapping(n, fields)
	d.require(n, p.Path, "path", "name the package by its import path, or ./folder")
	return p
}

func (d *decoder) typ(n ast.Node) Type {
	var t Type
	fields := d.settings(&t.Settings)
	fields["type"] = d.textTo(&t.Name)
	fields["prefix"] = d.textTo(&t.Prefix)
	fields["methods"] = func(v ast.Node) {
		d.sequence(v, func(e ast.Node) { t.Methods = append(t.Methods, d.method(e)) })
	}
	d.mapping(n, fields)
	d.require(n, t.Name, "type", "name the receiver type")
	return t
}

func (d *decoder) method(n ast.Node) Method {
	var m Method
	if _, short := n.(*ast.StringNode); short {
		m.Method = d.text(n)
	} else {
		d.mapping(n, d.methodFields(&m))
		d.require(n, m.Method, "method", "name the method")
	}
	if strings.ContainsAny(m.Method.Value, "*?[") {
		d.diags.Errorf(m.Method.Pos, diag.Wildcard, "name each method", "%q: hooks are named one by one, so that nothing is exposed that nobody named", m.Method.Value)
	}
	return m
}

func (d *decoder) methodFields(m *Method) map[string]func(ast.Node) {
	fields := d.settings(&m.Settings)
	fields["method"] = d.textTo(&m.Method)
	fields["name"] = d.textTo(&m.Name)
	fields["title"] = d.textTo(&m.Title)
	// The description of a method is its prose; at outer levels the same key chooses how much of it is used.
	fields["description"] = d.textTo(&m.Description)
	fields["hints"] = func(v ast.Node) { m.Hints = d.hints(v) }
	fields["sequential"] = func(v ast.Node) { m.Sequential = d.boolean(v) }
	fields["errors"] = func(v ast.Node) {
		d.mapping(v, map[string]func(ast.Node){
			"retry":  func(v ast.Node) { m.Retry = d.texts(v) },
			"failed": func(v ast.Node) { m.Failed = d.texts(v) },
		})
	}
	fields["params"] = func(v ast.Node) { m.Params = d.params(v) }
	fields["param_names"] = func(v ast.Node) { m.ParamNames = d.texts(v) }
	fields["defer"] = func(v ast.Node) { m.Defer = d.boolean(v) }
	fields["approve"] = func(v ast.Node) { m.Approve = d.scalar(v) }
	fields["retries"] = func(v ast.Node) { m.Retries = d.scalar(v) }
	fields["guard"] = func(v ast.Node) { m.Guards = d.values(v) }
	fields["examples"] = func(v ast.Node) {
		d.sequence(v, func(e ast.Node) { m.Examples = append(m.Examples, d.jsonText(e)) })
	}
	fields["results"] = func(v ast.Node) {
		d.sequence(v, func(e ast.Node) { m.Results = append(m.Results, d.result(e)) })
	}
	fields["drop"] = func(v ast.Node) {
		d.sequence(v, func(e ast.Node) {
			if n, ok := d.integer(e); ok {
				m.Drop = append(m.Drop, Result{Index: n, Pos: d.at(e)})
			}
		})
	}
	fields["media"] = d.textTo(&m.Media)
	fields["redact"] = func(v ast.Node) { m.Redact = d.texts(v) }
	fields["unwrap"] = func(v ast.Node) {
		d.mapping(v, map[string]func(ast.Node){"method": d.textTo(&m.Unwrap), "into": d.textTo(&m.Into)})
	}
	return fields
}

func (d *decoder) result(n ast.Node) Result {
	r := Result{Pos: d.at(n)}
	d.mapping(n, map[string]func(ast.Node){
		"index":  func(v ast.Node) { r.Index, _ = d.integer(v) },
		"fields": func(v ast.Node) { r.Fields = d.texts(v) },
		"as":     d.textTo(&r.As),
	})
	d.require(n, r.As, "as", "name the property that has the fields")
	return r
}

func (d *decoder) hints(n ast.Node) []Text {
	hints := d.texts(n)
	for _, h := range hints {
		d.oneOf(h, directive.Hints)
	}
	return hints
}

func (d *decoder) params(n ast.Node) []Param {
	var out []Param
	d.entries(n, func(key *ast.MappingValueNode) {
		p := Param{Name: d.text(key.Key)}
		d.mapping(key.Value, d.paramFields(&p))
		out = append(out, p)
	})
	return out
}

func (d *decoder) paramFields(p *Param) map[string]func(ast.Node) {
	fields := map[string]func(ast.Node){
		"description": d.textTo(&p.Description),
		"hide":        func(v ast.Node) { p.Hide = d.boolean(v) },
		"pin":         func(v ast.Node) { p.Pin = d.jsonText(v) },
		"pin_const":   d.textTo(&p.PinConst),
		"pin_from":    d.textTo(&p.PinFrom),
		"pin_option":  d.textTo(&p.PinOption),
		"confine":     func(v ast.Node) { p.Confine = d.keys(v, directive.Find("confine").Keys) },
		"options":     func(v ast.Node) { p.Options = d.texts(v) },
		"collect":     func(v ast.Node) { p.Collect = d.boolean(v) },
	}
	for _, name := range slices.Concat(directive.Find("param").Keys, directive.Flags) {
		fields[name] = func(v ast.Node) {
			value := d.value(v)
			if slices.Contains(directive.Flags, name) && !d.boolean(v) {
				return
			}
			value.Name = Text{Value: name, Pos: value.Value.Pos}
			p.Keys = append(p.Keys, value)
		}
	}
	return fields
}

// settings returns the keys that are legal at every level.
func (d *decoder) settings(s *Settings) map[string]func(ast.Node) {
	word := func(to *string, allowed ...string) func(ast.Node) {
		return func(v ast.Node) {
			t := d.text(v)
			d.oneOf(t, allowed)
			*to = t.Value
		}
	}
	size := func(to *int) func(ast.Node) {
		return func(v ast.Node) {
			n, ok := d.integer(v)
			if ok && n < 1024 {
				d.diags.Errorf(d.at(v), diag.YAMLValue, "give it at least 1024", "%d bytes are too few", n)
			}
			*to = n
		}
	}
	return map[string]func(ast.Node){
		"description":        word(&s.Description, "full", "summary"),
		"field_names":        word(&s.FieldNames, "json", "snake"),
		"unsupported_fields": word(&s.UnsupportedFields, "error", "omit"),
		"duration":           word(&s.Duration, "string", "ns"),
		"allow":              func(v ast.Node) { s.Allow = d.texts(v) },
		"repair":             func(v ast.Node) { s.Repair = new(d.boolean(v)) },
		"coerce":             func(v ast.Node) { s.Coerce = new(d.boolean(v)) },
		"max_items": func(v ast.Node) {
			n, ok := d.integer(v)
			if ok && n < 1 {
				d.diags.Errorf(d.at(v), diag.YAMLValue, "give it at least 1", "%d items are too few", n)
			}
			s.MaxItems = n
		},
		"timeout":          func(v ast.Node) { s.Timeout = d.duration(v) },
		"max_args_bytes":   size(&s.MaxArgs),
		"max_result_bytes": size(&s.MaxResult),
	}
}

func (d *decoder) duration(n ast.Node) time.Duration {
	before := len(d.diags)
	t := d.text(n)
	if len(d.diags) > before {
		return 0
	}
	v, err := time.ParseDuration(t.Value)
	if err != nil || v < 0 {
		d.diags.Errorf(t.Pos, diag.YAMLValue, `write a duration like "30s"`, "%q is no duration", t.Value)
		return 0
	}
	return v
}
