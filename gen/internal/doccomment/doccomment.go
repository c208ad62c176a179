// Package doccomment reads Go doc comments for a model: the description of a
// tool, and the sections that describe its parameters and result.
//
// A section is a line or heading such as "Parameters:" with items
// "name: text" or "name - text" below it, as a list, as plain lines or as an
// indented block. What follows "Deprecated:", a heading Implementation or
// Internal, is not for a model.
package doccomment

import (
	"encoding/json"
	"go/ast"
	"go/doc/comment"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Doc is what a comment says.
type Doc struct {
	Text       string // the description, paragraphs apart by a blank line
	Params     []Param
	Returns    string
	Examples   []string // JSON after "Example:"
	Deprecated string
}

// A Param is one item of a parameter section.
type Param struct {
	Name string // dots reach into a struct
	Text string
}

// Summary returns the first paragraph.
func (d *Doc) Summary() string {
	first, _, _ := strings.Cut(d.Text, "\n\n")
	return first
}

// Param returns the text of a parameter.
func (d *Doc) Param(name string) (string, bool) {
	i := slices.IndexFunc(d.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return "", false
	}
	return d.Params[i].Text, true
}

// Text returns the text of a comment, without directives; "" for no comment.
func Text(g *ast.CommentGroup) string {
	if g == nil {
		return ""
	}
	return g.Text()
}

// Parse reads what Text returns. The name that it begins with by custom is cut: "RefundOrder
// refunds an order" is "Refunds an order". Link may give another text to a
// [Type.Method] link; nil leaves links as they are written.
func Parse(text, name string, link func(*comment.DocLink) string) *Doc {
	p := new(comment.Parser)
	// Without a package at hand every [Name] is taken as a link to one.
	p.LookupSym = func(string, string) bool { return true }
	r := reader{doc: &Doc{}, link: link}
	for _, block := range p.Parse(text).Content {
		r.block(block)
	}
	r.doc.Text = CutName(strings.Join(r.paragraphs, "\n\n"), name)
	return r.doc
}

// CutName cuts the name that a comment begins with by custom: "Create creates an
// issue" is "Creates an issue". An imperative, "Create a new issue", keeps its
// verb: only a verb in the third person may follow what is cut.
func CutName(text, name string) string {
	rest, ok := strings.CutPrefix(text, name+" ")
	if name == "" || !ok {
		return text
	}
	verb, _, _ := strings.Cut(rest, " ")
	if verb = strings.TrimRight(verb, ".,;:\n"); verb != "are" && (len(verb) < 2 || !strings.HasSuffix(verb, "s") || strings.HasSuffix(verb, "ss")) {
		return text
	}
	for _, copula := range []string{"is ", "are "} {
		if after, ok := strings.CutPrefix(rest, copula); ok {
			rest = after
			break
		}
	}
	first, size := utf8.DecodeRuneInString(rest)
	return string(unicode.ToUpper(first)) + rest[size:]
}

type section int

const (
	description section = iota
	params
	returns
	deprecated
	internal
)

var sections = map[string]section{
	"parameters": params, "params": params, "args": params, "arguments": params, "inputs": params,
	"returns": returns, "deprecated": deprecated, "implementation": internal, "internal": internal,
}

// heading recognises a section's first line, with what may follow on it.
var heading = regexp.MustCompile(`^(Parameters|Params|Args|Arguments|Inputs|Returns|Deprecated):[ ]*(.*)$`)

type reader struct {
	doc        *Doc
	link       func(*comment.DocLink) string
	paragraphs []string
	now        section
}

func (r *reader) block(b comment.Block) {
	switch b := b.(type) {
	case *comment.Heading:
		r.heading(strings.Join(r.lines(b.Text), " "))
	case *comment.Paragraph:
		r.paragraph(r.lines(b.Text))
	case *comment.Code:
		r.code(b.Text)
	case *comment.List:
		r.list(b)
	}
}

func (r *reader) heading(text string) {
	if s, ok := sections[strings.ToLower(strings.TrimSuffix(text, ":"))]; ok {
		r.now = s
		return
	}
	r.now = description
	r.paragraphs = append(r.paragraphs, text+":")
}

func (r *reader) paragraph(lines []string) {
	if m := heading.FindStringSubmatch(lines[0]); m != nil {
		r.now = sections[strings.ToLower(m[1])]
		lines[0] = m[2]
		if m[2] == "" {
			lines = lines[1:]
		}
		if len(lines) > 0 {
			r.sectionLines(lines)
		}
		return
	}
	if r.now == params && item.MatchString(lines[0]) {
		r.items(lines)
		return
	}
	if text, ok := strings.CutPrefix(strings.Join(lines, " "), "Example: "); ok && r.now != internal && strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		r.doc.Examples = append(r.doc.Examples, text)
		return
	}
	if r.now != internal {
		r.now = description
		r.paragraphs = append(r.paragraphs, strings.Join(lines, " "))
	}
}

func (r *reader) sectionLines(lines []string) {
	switch text := strings.Join(lines, " "); r.now {
	case params:
		r.items(lines)
	case returns:
		r.doc.Returns = join(r.doc.Returns, text)
	case deprecated:
		r.doc.Deprecated = join(r.doc.Deprecated, text)
	}
}

func (r *reader) code(text string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if r.example(lines) {
		return
	}
	if r.now == params || r.now == returns {
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		r.sectionLines(lines)
		return
	}
	if r.now == description {
		r.paragraphs = append(r.paragraphs, "    "+strings.Join(lines, "\n    "))
	}
}

// example takes a block of JSON below "Example:" as an example.
func (r *reader) example(lines []string) bool {
	last := len(r.paragraphs) - 1
	text := strings.Join(lines, " ")
	if last < 0 || r.paragraphs[last] != "Example:" || !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return false
	}
	r.paragraphs = r.paragraphs[:last]
	r.doc.Examples = append(r.doc.Examples, text)
	return true
}

func (r *reader) list(l *comment.List) {
	var bullets []string
	for _, it := range l.Items {
		var lines []string
		for _, b := range it.Content {
			if p, ok := b.(*comment.Paragraph); ok {
				lines = append(lines, r.lines(p.Text)...)
			}
		}
		if r.now == description {
			bullet := "- "
			if it.Number != "" {
				bullet = it.Number + ". "
			}
			bullets = append(bullets, bullet+strings.Join(lines, " "))
			continue
		}
		r.sectionLines([]string{strings.Join(lines, " ")})
	}
	if len(bullets) > 0 {
		r.paragraphs = append(r.paragraphs, strings.Join(bullets, "\n"))
	}
}

// item is the first line of a parameter's description.
var item = regexp.MustCompile("^[-*]?[ ]*`?([A-Za-z_][A-Za-z0-9_.]*)`?(?::| -| –)[ ]+(.*)$")

func (r *reader) items(lines []string) {
	for _, line := range lines {
		if m := item.FindStringSubmatch(line); m != nil {
			r.doc.Params = append(r.doc.Params, Param{m[1], m[2]})
		} else if n := len(r.doc.Params); n > 0 {
			r.doc.Params[n-1].Text = join(r.doc.Params[n-1].Text, line)
		}
	}
}

func join(a, b string) string { return strings.TrimSpace(a + " " + strings.TrimSpace(b)) }

// lines returns the lines of a text.
func (r *reader) lines(texts []comment.Text) []string {
	var b strings.Builder
	for _, t := range texts {
		switch t := t.(type) {
		case comment.Plain:
			b.WriteString(string(t))
		case comment.Italic:
			b.WriteString(string(t))
		case *comment.Link:
			b.WriteString(strings.Join(r.lines(t.Text), " "))
			if !t.Auto {
				b.WriteString(" (" + t.URL + ")")
			}
		case *comment.DocLink:
			b.WriteString(r.docLink(t))
		}
	}
	return strings.Split(b.String(), "\n")
}

func (r *reader) docLink(l *comment.DocLink) string {
	if r.link != nil {
		if text := r.link(l); text != "" {
			return text
		}
	}
	return strings.Join(r.lines(l.Text), " ")
}
