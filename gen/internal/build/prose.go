package build

import (
	"go/ast"
	"go/doc/comment"
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/directive"
	"github.com/toolgen/toolgen/gen/internal/discover"
	"github.com/toolgen/toolgen/gen/internal/doccomment"
	"github.com/toolgen/toolgen/gen/internal/load"
	"github.com/toolgen/toolgen/gen/internal/schema"
)

type configText = config.Text

// prose decides what a model reads of the tool and its parameters.
func (t *toolBuilder) prose() {
	t.doc = doccomment.Parse(doccomment.Text(directive.Prose(t.hook.Doc)), t.hook.Method.Name(), t.link)
	t.tool.Description = t.doc.Text
	if t.hook.Settings.Description == "summary" {
		t.tool.Description = t.doc.Summary()
	}
	if given, ok := t.given("description", 0); ok {
		t.tool.Description = given
	}
	if given, ok := t.given("title", -1); ok {
		t.tool.Title = given
	}
	if t.tool.Description == "" {
		hint := "write a doc comment"
		if !t.hook.Receiver.Own {
			hint = "write description: in toolgen.yaml"
		}
		t.diags.Warnf(t.hook.Pos, diag.NoDescription, hint, "tool %s has no description", t.tool.Name)
	}
	if t.doc.Deprecated != "" {
		t.diags.Warnf(t.hook.Pos, diag.DeprecatedHook, "expose its successor", "tool %s: method %s is deprecated: %s", t.tool.Name, t.hook.Method.Name(), t.doc.Deprecated)
	}
	t.checkText(t.hook.Pos, "description", t.tool.Description)
}

// given returns a text that the directive expose or toolgen.yaml sets. Both
// with two values is an error.
func (t *toolBuilder) given(key string, positional int) (string, bool) {
	var fromDirective, fromYAML textAt
	if d := t.hook.Directive("expose"); d != nil {
		if arg, ok := d.Value(key); ok {
			fromDirective = textAt{arg.Value, arg.Pos}
		}
		if words := d.Positional(); positional >= 0 && len(words) > positional {
			fromDirective = textAt{words[positional].Value, words[positional].Pos}
		}
	}
	if c := t.hook.Config; c != nil {
		set := c.Description
		if key == "title" {
			set = c.Title
		}
		if set.IsSet() {
			fromYAML = textAt{set.Value, set.Pos}
		}
	}
	if fromDirective.pos.IsValid() && fromYAML.pos.IsValid() && fromDirective.value != fromYAML.value {
		t.errorf(fromDirective.pos, diag.Conflict, "drop one", "its %s is set here and in toolgen.yaml", key)
		t.diags.Relate(fromYAML.pos, "the other place")
	}
	if fromYAML.pos.IsValid() {
		return fromYAML.value, true
	}
	return fromDirective.value, fromDirective.pos.IsValid()
}

// readTexts gathers what the doc comment says of parameters.
func (t *toolBuilder) readTexts() {
	for _, p := range t.doc.Params {
		if first, _, _ := strings.Cut(p.Name, "."); !slices.Contains(t.paramNames(), first) {
			t.diags.Warnf(t.itemPos(p.Name), diag.TextUnknown, oneOf(first, t.paramNames()), "tool %s: the doc comment describes a parameter %s that isn't there", t.tool.Name, p.Name)
		} else if _, given := t.texts[p.Name]; !given && strings.Contains(p.Name, ".") {
			t.texts[p.Name] = textAt{p.Text, t.hook.Pos}
		}
	}
}

// itemPos is where a doc comment describes a parameter, else the hook.
func (t *toolBuilder) itemPos(name string) diag.Position {
	for _, c := range t.hook.Doc.List {
		for _, separator := range []string{":", " -"} {
			if i := strings.Index(c.Text, name+separator); i >= 0 && t.hook.Receiver.Own {
				return diag.At(t.program.Position(c.Pos() + token.Pos(i)))
			}
		}
	}
	return t.hook.Pos
}

// oneOf is the nearest of some names, or all of them where none is near.
func oneOf(name string, names []string) string {
	if near := hintNear(name, names); near != "" || len(names) == 0 {
		return near
	}
	return "there are " + strings.Join(names, ", ")
}

// paramText returns the description of a parameter: directive or yaml, then
// the doc comment's section, then the comments in the parameter list. The keys
// are those of a directive in that list.
func (t *toolBuilder) paramText(goName, name string) (string, []schema.Key) {
	words, given, keys := t.listComment(goName)
	if text, ok := t.texts[goName]; ok {
		return text.value, keys
	}
	if given {
		return words, keys
	}
	for _, n := range []string{goName, name} {
		if text, ok := t.doc.Param(n); ok {
			return text, keys
		}
	}
	return words, keys
}

// listComment returns the comment above a parameter in its list, else the one
// after it on its line, and whether it is a directive.
func (t *toolBuilder) listComment(name string) (words string, given bool, keys []schema.Key) {
	if t.hook.Func == nil {
		return "", false, nil
	}
	for _, f := range t.hook.Func.Params.List {
		for _, id := range f.Names {
			if id.Name != name {
				continue
			}
			if c := t.commentAt(f, id); c != nil {
				return t.commentText(c, name)
			}
		}
	}
	return "", false, nil
}

// commentAt finds the comment of a parameter: the one that stands alone on the
// lines above, else the one before it on its line, else the one after it.
func (t *toolBuilder) commentAt(f *ast.Field, id *ast.Ident) *ast.CommentGroup {
	line := t.line(f.Pos())
	var trailing *ast.CommentGroup
	for _, c := range t.listComments() {
		left, right := t.neighbours(c)
		switch {
		case left == nil && t.line(c.End()) == line-1 && t.firstOn(line) == f:
			return c
		case right == f:
			return c
		case left == f && right == nil && c.Pos() > id.Pos():
			trailing = c
		}
	}
	return trailing
}

func (t *toolBuilder) line(pos token.Pos) int { return t.program.Position(pos).Line }

// firstOn returns the first parameter of a line.
func (t *toolBuilder) firstOn(line int) *ast.Field {
	for _, f := range t.hook.Func.Params.List {
		if t.line(f.Pos()) == line {
			return f
		}
	}
	return nil
}

// neighbours returns the parameters next to a comment on its own line.
func (t *toolBuilder) neighbours(c *ast.CommentGroup) (left, right *ast.Field) {
	for _, f := range t.hook.Func.Params.List {
		switch {
		case f.End() <= c.Pos() && t.line(f.End()) == t.line(c.Pos()):
			left = f
		case right == nil && f.Pos() >= c.End() && t.line(f.Pos()) == t.line(c.End()):
			right = f
		}
	}
	return left, right
}

// listComments returns the comments of the parameter list. The parser groups
// those on neighbouring lines, of which one may trail a parameter and the next
// stand before another: they are taken apart.
func (t *toolBuilder) listComments() []*ast.CommentGroup {
	if t.split != nil {
		return t.split
	}
	for _, g := range t.hook.Params {
		var run *ast.CommentGroup
		for _, c := range g.List {
			single := &ast.CommentGroup{List: []*ast.Comment{c}}
			left, right := t.neighbours(single)
			if run == nil || left != nil || right != nil {
				run = single
				t.split = append(t.split, run)
			} else {
				run.List = append(run.List, c)
			}
			if left != nil || right != nil {
				run = nil
			}
		}
	}
	return t.split
}

func (t *toolBuilder) commentText(c *ast.CommentGroup, name string) (words string, given bool, keys []schema.Key) {
	t.attached[c] = true
	found, diags := directive.Parse(t.program.Fset, directive.Parameters, c)
	t.diags = append(t.diags, diags...)
	for _, d := range found {
		text, more := schema.Words(d.Args)
		keys = append(keys, more...)
		if text != "" {
			words = text
		}
	}
	if words != "" {
		return words, true, keys
	}
	return doccomment.Parse(doccomment.Text(directive.Prose(c)), name, nil).Text, false, keys
}

// lostComments reports directives in the parameter list that are at no
// parameter.
func (t *toolBuilder) lostComments() {
	for _, g := range t.listComments() {
		for _, c := range g.List {
			if !t.attached[g] && directive.IsMarked(c) {
				pos := diag.At(t.program.Position(c.Pos()))
				t.errorf(pos, diag.DirectiveLost, "move it above a parameter, or after it on its line", "this directive belongs to no parameter")
			}
		}
	}
}

// checkText refuses characters that a person doesn't see and a model does.
func (t *toolBuilder) checkText(pos diag.Position, what, text string) {
	for _, r := range text {
		if r >= ' ' && r < 0x7F {
			continue
		}
		control := unicode.IsControl(r) && r != '\n' && r != '\t'
		if control || unicode.Is(unicode.Cf, r) && r != 0x200D {
			t.errorf(pos, diag.TextHidden, "remove it", "its %s has the invisible character %U", what, r)
			return
		}
	}
}

// linkTargets maps methods to tool names, so that a link to a method becomes
// the name by which the model can call it.
func linkTargets(p *load.Program, hooks []*discover.Hook) map[string]string {
	b := &builder{program: p}
	out := make(map[string]string, len(hooks))
	for _, h := range hooks {
		out[h.Receiver.Package.Path+"."+h.Receiver.Name.Name()+"."+h.Method.Name()] = b.toolName(h)
	}
	return out
}

// link returns the tool name for [Desk.Cancel], or [Cancel] of the same
// receiver; "" leaves a link as it is written.
func (t *toolBuilder) link(l *comment.DocLink) string {
	recv := l.Recv
	if recv == "" { // a bare name is a method of this receiver, unless the package has something of that name
		if t.hook.Receiver.Package.Types.Scope().Lookup(l.Name) != nil || l.ImportPath != "" {
			return ""
		}
		recv = t.hook.Receiver.Name.Name()
	}
	pkg := l.ImportPath
	if pkg == "" {
		pkg = t.hook.Receiver.Package.Path
	}
	return t.linked[pkg+"."+recv+"."+l.Name]
}
