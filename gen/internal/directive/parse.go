package directive

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/runtime/schema"
)

// tool is the word before the colon.
const tool = "toolgen"

// A Directive is one that was found, well formed and at a place where it may
// stand.
type Directive struct {
	*Spec
	Pos  diag.Position // of the slashes
	Args []Arg
}

// An Arg is one word of a directive.
type Arg struct {
	Key   string // "": positional
	Value string
	Pos   diag.Position // of a value whose key is bare, else of the word
}

// Value returns the argument with a key.
func (d *Directive) Value(key string) (Arg, bool) {
	i := slices.IndexFunc(d.Args, func(a Arg) bool { return a.Key == key })
	if i < 0 {
		return Arg{}, false
	}
	return d.Args[i], true
}

// Positional returns the words without a key.
func (d *Directive) Positional() []Arg {
	var out []Arg
	for _, a := range d.Args {
		if a.Key == "" {
			out = append(out, a)
		}
	}
	return out
}

// Parse reads the directives of comments that stand at a target. What was
// meant as a directive and isn't one is reported.
func Parse(fset *token.FileSet, target Target, groups ...*ast.CommentGroup) ([]Directive, diag.List) {
	var out []Directive
	var diags diag.List
	for _, g := range groups {
		if g == nil {
			continue
		}
		for _, c := range g.List {
			p := parser{fset: fset, diags: &diags, comment: c}
			if d, ok := p.parse(target); ok {
				out = append(out, d)
			}
		}
		diags = append(diags, endsNothing(fset, g)...)
	}
	diags = append(diags, repeated(out)...)
	return out, diags
}

// Prose returns the comments of a group that are for a model: those before the
// directive end.
func Prose(g *ast.CommentGroup) *ast.CommentGroup {
	if i := endOf(g); i >= 0 {
		return &ast.CommentGroup{List: g.List[:i]}
	}
	return g
}

// endOf returns the index of the directive end in a group, or -1.
func endOf(g *ast.CommentGroup) int {
	if g == nil {
		return -1
	}
	return slices.IndexFunc(g.List, func(c *ast.Comment) bool {
		d, ok := ast.ParseDirective(c.Pos(), c.Text)
		return ok && d.Tool == tool && d.Name == End
	})
}

// endsNothing reports a directive end below which there is no prose: gofmt has
// moved it there, and all of the comment is for the model again.
func endsNothing(fset *token.FileSet, g *ast.CommentGroup) diag.List {
	var diags diag.List
	i := endOf(g)
	if i >= 0 && (&ast.CommentGroup{List: g.List[i:]}).Text() == "" {
		diags.Errorf(diag.At(fset.PositionFor(g.List[i].Pos(), false)), diag.DirectiveTarget, "gofmt moves directives to the end; use a heading, # Internal", "directive end: no prose follows it")
	}
	return diags
}

func repeated(found []Directive) diag.List {
	var diags diag.List
	for i := range found {
		first := slices.IndexFunc(found, func(d Directive) bool { return d.Spec == found[i].Spec })
		if first < i && !found[i].Repeat {
			diags.Errorf(found[i].Pos, diag.DirectiveTarget, "drop one", "directive %s is there twice", found[i].Name)
		}
	}
	return diags
}

// IsMarked reports whether a comment is a directive of ours or a near miss.
func IsMarked(c *ast.Comment) bool {
	if d, ok := ast.ParseDirective(c.Pos(), c.Text); ok && d.Tool == tool {
		return true
	}
	return nearMiss.MatchString(c.Text)
}

// nearMiss is what people write who mean a directive.
var nearMiss = regexp.MustCompile(`^(?i)(//|/\*)[ \t]*toolgen[ \t]*:`)

// MayMark reports whether source code may hold a directive or a near miss.
func MayMark(src []byte) bool { return mark.Match(src) }

var mark = regexp.MustCompile(`(?i)(//|/\*)[ \t]*toolgen[ \t]*:`)

type parser struct {
	fset    *token.FileSet
	diags   *diag.List
	comment *ast.Comment
}

func (p *parser) at(pos token.Pos) diag.Position { return diag.At(p.fset.PositionFor(pos, false)) }

func (p *parser) parse(target Target) (Directive, bool) {
	d, ok := ast.ParseDirective(p.comment.Pos(), p.comment.Text)
	if !ok || d.Tool != tool {
		p.nearMiss()
		return Directive{}, false
	}
	namePos := p.at(d.Slash + token.Pos(len("//"+tool+":")))
	spec := Find(d.Name)
	if spec == nil {
		p.diags.Errorf(namePos, diag.DirectiveUnknown, strings.TrimPrefix(schema.DidYouMean(d.Name, names()), "; "),
			"unknown directive %q", d.Name)
		return Directive{}, false
	}
	if spec.Targets&target == 0 {
		p.diags.Errorf(namePos, diag.DirectiveTarget, "it belongs to "+spec.Targets.String(),
			"directive %s can't stand at %s", spec.Name, target)
		return Directive{}, false
	}
	args, ok := p.args(&d, spec)
	if !ok {
		return Directive{}, false
	}
	found := Directive{Spec: spec, Pos: p.at(d.Slash), Args: args}
	return found, p.count(&found, target, namePos)
}

// nearMiss reports a comment that looks like a directive and isn't one.
func (p *parser) nearMiss() {
	if !nearMiss.MatchString(p.comment.Text) {
		return
	}
	_, rest, _ := strings.Cut(p.comment.Text, ":")
	rest = strings.TrimSpace(strings.TrimSuffix(rest, "*/"))
	name, args, _ := strings.Cut(rest, " ")
	name = strings.ToLower(name)
	if near := schema.Nearest(name, names(), 1); len(near) > 0 {
		name = near[0]
	}
	p.diags.Errorf(p.at(p.comment.Pos()), diag.DirectiveNearMiss, "write "+strings.TrimSpace("//"+tool+":"+name+" "+args),
		"this looks like a directive and is not: it needs exactly // and %s: without spaces, and a lower-case name", tool)
}

func (p *parser) args(d *ast.Directive, spec *Spec) ([]Arg, bool) {
	words, err := d.ParseArgs()
	if err != nil { // its text repeats the word, and says no more than this
		p.diags.Errorf(p.at(p.badWord(d)), diag.DirectiveArgument, "close the quote, with white space after it",
			"directive %s: a quoted word that doesn't end", spec.Name)
		return nil, false
	}
	ok := true
	args := make([]Arg, 0, len(words))
	for _, w := range words {
		arg, good := p.word(w, spec)
		if !good && strings.Contains(w.Arg, `"`) {
			return nil, false // what follows is the rest of the quotation
		}
		ok = ok && good
		args = append(args, arg)
	}
	return args, ok
}

// badWord finds the quoted word that ParseArgs refused, since its error has no
// position.
func (p *parser) badWord(d *ast.Directive) token.Pos {
	rest, at := d.Args, d.ArgsPos
	for rest != "" {
		trimmed := strings.TrimLeft(rest, " \t")
		at += token.Pos(len(rest) - len(trimmed))
		rest = trimmed
		n := strings.IndexAny(rest, " \t")
		if rest != "" && (rest[0] == '"' || rest[0] == '`') {
			quoted, err := strconv.QuotedPrefix(rest)
			n = len(quoted)
			if err != nil || n < len(rest) && rest[n] != ' ' && rest[n] != '\t' {
				return at
			}
		}
		if n < 0 {
			break
		}
		rest, at = rest[n:], at+token.Pos(n)
	}
	return d.ArgsPos
}

var keyValue = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// word reads one word: key=value or positional.
func (p *parser) word(w ast.DirectiveArg, spec *Spec) (Arg, bool) {
	pos := p.at(w.Pos)
	source := p.comment.Text[w.Pos-p.comment.Pos():]
	quoted := source[0] == '"' || source[0] == '`'
	if !quoted && strings.HasPrefix(w.Arg, "//") {
		p.diags.Errorf(pos, diag.DirectiveNearMiss, "put the remark on a line of its own", "directive %s: a comment can't follow on its line", spec.Name)
		return Arg{}, false
	}
	if !quoted && strings.Contains(w.Arg, `"`) {
		p.diags.Errorf(pos, diag.DirectiveNearMiss, "quote the whole word: "+wholeWord(source), "directive %s: a quote inside of a word", spec.Name)
		return Arg{}, false
	}
	prefix := keyValue.FindString(w.Arg)
	key := strings.TrimSuffix(prefix, "=")
	known := slices.Contains(spec.Keys, key)
	switch {
	case prefix == "" || quoted && !known:
		return Arg{Value: w.Arg, Pos: pos}, true
	case !known:
		p.diags.Errorf(pos, diag.DirectiveArgument, strings.TrimPrefix(schema.DidYouMean(key, spec.Keys), "; "), "unknown key %q", key)
		return Arg{}, false
	}
	value := w.Arg[len(prefix):]
	if !quoted {
		pos = p.at(w.Pos + token.Pos(len(prefix)))
	}
	if value == "" {
		p.diags.Errorf(pos, diag.DirectiveArgument, "give it one or drop the key", "directive %s: key %s has no value", spec.Name, key)
		return Arg{}, false
	}
	return Arg{Key: key, Value: value, Pos: pos}, true
}

// wholeWord shows how key="a b" is written.
func wholeWord(source string) string {
	first, rest, _ := strings.Cut(source, `"`)
	inner, _, _ := strings.Cut(rest, `"`)
	return strconv.Quote(first + inner)
}

// count checks how many positional words there are. At a field or parameter
// the name is not among them.
func (p *parser) count(d *Directive, target Target, pos diag.Position) bool {
	least, most := d.Min, d.Max
	if target&(Field|Parameters) != 0 && d.Name != "schema" {
		least, most = max(least-1, 0), max(most-1, 0)
	}
	if target&Method != 0 && d.Name == "hide" {
		least = 1
	}
	words := d.Positional()
	switch {
	case len(words) < least:
		p.diags.Errorf(pos, diag.DirectiveArgument, "write //"+tool+":"+d.Name+" "+d.Usage, "directive %s lacks an argument", d.Name)
	case len(words) > most:
		hint := "drop it"
		if d.Usage != "" {
			hint = "write //" + tool + ":" + d.Name + " " + d.Usage
		}
		p.diags.Errorf(words[most].Pos, diag.DirectiveArgument, hint, "directive %s: one argument too many: %q", d.Name, words[most].Value)
	default:
		return p.keysOnce(d)
	}
	return false
}

func (p *parser) keysOnce(d *Directive) bool {
	for i, a := range d.Args {
		if a.Key != "" && slices.ContainsFunc(d.Args[:i], func(b Arg) bool { return b.Key == a.Key }) {
			p.diags.Errorf(a.Pos, diag.DirectiveArgument, "drop one", "directive %s: key %s is there twice", d.Name, a.Key)
			return false
		}
	}
	return true
}
