// Package lint looks at what a model reads with the eyes of one: what is there
// but misleads. Nothing that it finds is wrong for Go or for JSON, so a plain
// run doesn't report it; toolgen lint does.
package lint

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
)

// descriptionMax is how many characters a description may have where
// toolgen.yaml doesn't say.
const descriptionMax = 1024

// Check looks at every tool, and at every pair of them.
func Check(packages []*model.Package, settings *config.Lint) diag.List {
	l := linter{settings: settings, byMethod: make(map[string]string)}
	var tools []*model.Tool
	var owners []*model.Package
	for _, p := range packages {
		for i := range p.Toolsets {
			ts := &p.Toolsets[i]
			for j := range ts.Tools {
				tools, owners = append(tools, &ts.Tools[j]), append(owners, p)
				if method := ts.Tools[j].Method; strings.Contains(naming.Snake(method), "_") { // one word may be any
					l.byMethod[method] = ts.Tools[j].Name
				}
			}
		}
	}
	for i, t := range tools {
		l.pkg, l.tool, l.input = owners[i], t, descriptions(t.Input)
		l.hints()
		l.texts()
		l.parameters()
	}
	l.pairs(tools)
	return l.diags
}

type linter struct {
	settings *config.Lint
	diags    diag.List
	pkg      *model.Package
	tool     *model.Tool
	input    []described       // of the tool's arguments
	byMethod map[string]string // names of tools by the Go names of their methods
}

// report adds a diagnostic of the tool at hand, unless it is accepted.
func (l *linter) report(severity diag.Severity, pos diag.Position, code diag.Code, hint, message string) {
	disabled := slices.ContainsFunc(l.settings.Disable, func(t config.Text) bool { return t.Value == string(code) })
	if disabled || slices.Contains(l.tool.Allowed, string(code)) {
		return
	}
	l.diags = append(l.diags, diag.Diagnostic{Pos: pos, Severity: severity, Code: code, Hint: hint, Message: "tool " + l.tool.Name + ": " + message})
}

func (l *linter) warn(pos diag.Position, code diag.Code, hint, message string) {
	l.report(diag.Warning, pos, code, hint, message)
}

// Verbs that a method's name begins with, after a word for how. Those that add
// something say so and need no hint; what the others do to what is there, a hint
// must say.
var (
	changing = []string{
		"apply", "archive", "cancel", "clear", "close", "delete", "deploy", "destroy", "detach", "disable", "drop", "edit", "erase", "evict", "flush", "kill", "merge",
		"modify", "move", "overwrite", "patch", "pay", "prune", "purge", "put", "refund", "remove", "rename", "replace", "reset", "revoke", "rollback", "set", "stop",
		"terminate", "transfer", "truncate", "uninstall", "unset", "update", "upsert", "wipe", "write",
	}
	adding  = []string{"add", "append", "copy", "create", "insert", "post", "publish", "save", "send", "start", "store", "submit", "upload"}
	manners = []string{"batch", "bulk", "force", "hard", "mass", "must", "soft", "try"}
	free    = []string{"eval", "evaluate", "exec", "execute", "raw", "run", "shell", "spawn", "system"}
	freely  = []string{"", "bash", "cmd", "code", "command", "program", "query", "raw", "script", "shell", "sql", "statement"}
)

// words are those of the method's name, from its verb on.
func (l *linter) words() (verb, object string) {
	words := strings.Split(naming.Snake(l.tool.Method), "_")
	for len(words) > 1 && slices.Contains(manners, words[0]) {
		words = words[1:]
	}
	if len(words) > 1 {
		object = words[1]
	}
	return words[0], object
}

// hints compares the method's verb with what the host is told. A method that
// takes no context and can't fail changes nothing: its verb is a noun.
func (l *linter) hints() {
	h := &l.tool.Hints
	verb, object := l.words()
	fails := slices.ContainsFunc(l.tool.Results, func(r model.Result) bool { return r.Error })
	writes := slices.Contains(changing, verb) && (l.tool.Context || fails)
	readOnly := h.ReadOnly != nil && *h.ReadOnly
	switch {
	case readOnly && (writes || slices.Contains(adding, verb) && (l.tool.Context || fails)):
		l.warn(l.tool.Pos, diag.HintImplausible, "drop the hint, or allow "+string(diag.HintImplausible), "it is read-only, and its method is called "+l.tool.Method)
	case writes && h.ReadOnly == nil && h.Destructive == nil && h.Idempotent == nil:
		l.warn(l.tool.Pos, diag.HintMissing, "add the hint destructive, idempotent or readonly, or allow "+string(diag.HintMissing), "its method is called "+l.tool.Method+", and no hint says what it does")
	}
	if slices.Contains(free, verb) && slices.Contains(freely, object) && l.takesText() {
		l.warn(l.tool.Pos, diag.FreeCommand, "expose what is wanted by itself, confine the argument, or let a person approve it", "method "+l.tool.Method+" takes whatever a model writes")
	}
}

// takesText reports whether an argument is free text that nothing checks.
func (l *linter) takesText() bool {
	if l.tool.Approve || len(l.tool.Guards) > 0 {
		return false
	}
	return slices.ContainsFunc(l.tool.Params, func(p model.Param) bool {
		kind := p.Type.Kind
		if kind == model.Pointer {
			kind = p.Type.Elem.Kind
		}
		text := kind == model.String || kind == model.Any || kind == model.Raw || kind == model.Slice || kind == model.Struct
		listed := slices.ContainsFunc(p.Rules, func(r model.Rule) bool { return strings.HasPrefix(r.Func, "One") })
		return p.Offered() && text && !listed && l.tool.Confined["/"+p.Name] == ""
	})
}

// Texts that are not for a model.
var (
	unfinished = regexp.MustCompile(`(?i)\btodo[:(]|\b(TODO|FIXME|TBD)\b\s*[:(-]|(^|[.\n]\s+)(TODO|FIXME|TBD|XXX|HACK)\b`)
	word       = regexp.MustCompile(`[\pL_][\pL\pN_]*`)
	address    = regexp.MustCompile(`[a-z]+://\S+`)
)

// texts looks at the prose of the tool and of all that its schemas describe.
func (l *linter) texts() {
	limit := l.settings.DescriptionMax
	if limit == 0 {
		limit = descriptionMax
	}
	if n := utf8.RuneCountInString(l.tool.Description); n > limit {
		hint := "say what a caller needs; the rest goes below a heading # Internal"
		if !own(l.tool.Pos) {
			hint = "give a shorter one in toolgen.yaml (description: …), or its first paragraph (defaults: {description: summary})"
		}
		l.warn(l.tool.Pos, diag.DescriptionLong, hint,
			"the description has "+strconv.Itoa(n)+" characters, more than "+strconv.Itoa(limit))
	}
	var names map[string]string
	if own(l.tool.Pos) { // who can't change the prose needn't hear of it
		names = l.goNames(false)
		l.text("", "description", l.tool.Description, l.goNames(true))
	} else {
		l.text("", "description", l.tool.Description, nil)
	}
	for _, found := range l.input {
		l.text(found.pointer, "input schema at "+found.pointer, found.text, names)
	}
	for _, found := range descriptions(l.tool.Output) {
		l.text(model.ResultPointer+found.pointer, "output schema at "+found.pointer, found.text, nil)
	}
	for _, all := range []struct{ what, text string }{{"title", l.tool.Title}, {"description", l.tool.Description}, {"input schema", l.tool.Input}, {"output schema", l.tool.Output}} {
		if hasSecret(all.text) {
			l.report(diag.Error, l.tool.Pos, diag.TextSecret, "remove it, and change the secret if it is one; or allow "+string(diag.TextSecret), "its "+all.what+" has what looks like a secret")
		}
	}
}

// own reports whether prose at a place is the user's: in Go, and not that of a
// package that toolgen.yaml names.
func own(pos diag.Position) bool { return strings.HasSuffix(pos.File, ".go") }

// text looks at one text, which is of what a pointer leads to.
func (l *linter) text(pointer, what, text string, names map[string]string) {
	if m := unfinished.FindString(text); m != "" {
		pos, hint := l.place(pointer), "finish it, or move it below a heading # Internal"
		if !own(pos) {
			hint = "give another text in toolgen.yaml: description: …"
		}
		l.warn(pos, diag.TextUnfinished, hint, "its "+what+" says "+strings.Trim(m, ".:(- \n"))
	}
	if len(names) == 0 {
		return
	}
	for _, w := range word.FindAllString(address.ReplaceAllString(text, ""), -1) {
		if known := names[w]; known != "" {
			l.warn(l.place(pointer), diag.TextGoName, "write "+known, "its "+what+" says "+w+", which a model knows as "+known)
			return
		}
	}
}

// place is where what a pointer leads to is; "" is the tool.
func (l *linter) place(pointer string) diag.Position {
	if pointer == "" {
		return l.tool.Pos
	}
	return l.pkg.Place(l.tool, pointer)
}

// goNames are names of the Go code that a model has others for: of parameters,
// and of methods that are tools.
func (l *linter) goNames(methods bool) map[string]string {
	out := make(map[string]string)
	if methods {
		maps.Copy(out, l.byMethod)
		delete(out, l.tool.Method)
	}
	for i := range l.tool.Params {
		p := &l.tool.Params[i]
		if p.Offered() && !strings.EqualFold(p.Go, p.Name) {
			out[p.Go] = p.Name
			out[strings.ToLower(p.Go[:1])+p.Go[1:]] = p.Name
		}
	}
	return out
}

// parameters reports arguments of which nothing is said.
func (l *linter) parameters() {
	severity := diag.Warning
	switch l.settings.ParamDocs {
	case "off":
		return
	case "error":
		severity = diag.Error
	}
	described := make(map[string]bool)
	for _, d := range l.input {
		described[d.pointer] = true
	}
	var places []diag.Position
	names := make(map[diag.Position][]string) // those of packages that aren't yours are all at one line of toolgen.yaml
	for i := range l.tool.Params {
		p := &l.tool.Params[i]
		if !p.Offered() || described["/"+p.Name] {
			continue
		}
		if names[p.Pos] == nil {
			places = append(places, p.Pos)
		}
		names[p.Pos] = append(names[p.Pos], p.Name)
	}
	for _, pos := range places {
		hint := "say what to send: an item below Parameters:, or //toolgen:param"
		if !own(pos) {
			hint = "say what to send: params: {" + names[pos][0] + ": {description: …}}"
		}
		what := "parameter " + names[pos][0] + " has no description"
		if len(names[pos]) > 1 {
			what = "parameters " + strings.Join(names[pos], ", ") + " have no description"
		}
		l.report(severity, pos, diag.ParameterUndescribed, hint, what)
	}
}

// described is a description in a schema.
type described struct{ pointer, text string }

// descriptions lists the descriptions of a schema's properties, in order of
// their pointers.
func descriptions(schema string) []described {
	var root map[string]any
	if json.Unmarshal([]byte(schema), &root) != nil {
		return nil // there is none
	}
	var out []described
	var walk func(s map[string]any, pointer string)
	walk = func(s map[string]any, pointer string) {
		if text, ok := s["description"].(string); ok && pointer != "" {
			out = append(out, described{pointer, text})
		}
		for _, key := range []string{"properties", "$defs"} {
			props, _ := s[key].(map[string]any)
			for name, sub := range props {
				if sub, ok := sub.(map[string]any); ok {
					walk(sub, pointer+"/"+name)
				}
			}
		}
		for _, key := range []string{"items", "additionalProperties"} {
			if sub, ok := s[key].(map[string]any); ok {
				walk(sub, pointer)
			}
		}
	}
	walk(root, "")
	slices.SortFunc(out, func(a, b described) int { return strings.Compare(a.pointer, b.pointer) })
	return out
}
