// Package lint looks at what a model reads with the eyes of one: what is there
// but misleads. Nothing that it finds is wrong for Go or for JSON, so a plain
// run doesn't report it; toolgen lint does.
package lint

import (
	"encoding/json"
	"regexp"
	"slices"
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
	for _, p := range packages {
		for i := range p.Toolsets {
			ts := &p.Toolsets[i]
			for j := range ts.Tools {
				tools = append(tools, &ts.Tools[j])
				l.byMethod[ts.Tools[j].Method] = ts.Tools[j].Name
			}
		}
	}
	for _, t := range tools {
		l.tool = t
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
	tool     *model.Tool
	byMethod map[string]string // names of tools by the Go names of their methods
}

// report adds a diagnostic of the tool at hand, unless it is accepted.
func (l *linter) report(severity diag.Severity, pos diag.Position, code diag.Code, hint, message string) {
	disabled := slices.ContainsFunc(l.settings.Disable, func(t config.Text) bool { return t.Value == string(code) })
	if disabled || severity == diag.Warning && slices.Contains(l.tool.Allowed, string(code)) {
		return
	}
	l.diags = append(l.diags, diag.Diagnostic{Pos: pos, Severity: severity, Code: code, Hint: hint, Message: "tool " + l.tool.Name + ": " + message})
}

func (l *linter) warn(pos diag.Position, code diag.Code, hint, message string) {
	l.report(diag.Warning, pos, code, hint, message)
}

// Verbs that a method's name begins with. Those that add something say so and
// need no hint; what the others do to what is there, a hint must say.
var (
	changing = []string{
		"cancel", "clear", "delete", "destroy", "drop", "edit", "merge", "modify", "move", "overwrite", "patch", "purge", "put", "remove", "rename", "replace",
		"reset", "revoke", "set", "stop", "terminate", "truncate", "update", "upsert", "write",
	}
	adding = []string{"add", "append", "copy", "create", "insert", "post", "publish", "save", "send", "start", "store", "submit", "upload"}
	free   = []string{"command", "do", "eval", "exec", "execute", "raw", "run", "shell"}
)

// hints compares the method's verb with what the host is told.
func (l *linter) hints() {
	h := &l.tool.Hints
	verb, _, _ := strings.Cut(naming.Snake(l.tool.Method), "_")
	writes := slices.Contains(changing, verb)
	readOnly := h.ReadOnly != nil && *h.ReadOnly
	switch {
	case readOnly && (writes || slices.Contains(adding, verb)):
		l.warn(l.tool.Pos, diag.HintImplausible, "drop the hint, or allow "+string(diag.HintImplausible), "it is read-only, and its method is called "+l.tool.Method)
	case writes && h.ReadOnly == nil && h.Destructive == nil && h.Idempotent == nil:
		l.warn(l.tool.Pos, diag.HintMissing, "add the hint destructive, idempotent or readonly", "its method is called "+l.tool.Method+", and no hint says what it does")
	}
	if slices.Contains(free, verb) && l.takesText() {
		l.warn(l.tool.Pos, diag.FreeCommand, "expose what is wanted by itself, confine the argument, or let a person approve it", "method "+l.tool.Method+" takes whatever a model writes")
	}
}

// takesText reports whether an argument is free text that nothing checks.
func (l *linter) takesText() bool {
	if l.tool.Approve || len(l.tool.Guards) > 0 {
		return false
	}
	return slices.ContainsFunc(l.tool.Params, func(p model.Param) bool {
		text := p.Type.Kind == model.String || p.Type.Kind == model.Any || p.Type.Kind == model.Raw || p.Type.Kind == model.Slice
		return p.Offered() && text && l.tool.Confined["/"+p.Name] == ""
	})
}

// Texts that are not for a model.
var (
	unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)
	secret     = regexp.MustCompile(`AKIA[0-9A-Z]{16}|-----BEGIN [A-Z ]*PRIVATE KEY|\bgh[opsur]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bsk-[A-Za-z0-9_-]{20,}|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.|[a-z]://[^\s/:@]+:[^\s/@]+@`)
	word       = regexp.MustCompile(`[\pL_][\pL\pN_]*`)
)

// texts looks at the prose of the tool and of all that its schemas describe.
func (l *linter) texts() {
	limit := l.settings.DescriptionMax
	if limit == 0 {
		limit = descriptionMax
	}
	if n := utf8.RuneCountInString(l.tool.Description); n > limit {
		l.warn(l.tool.Pos, diag.DescriptionLong, "say what a caller needs; the rest goes below a heading # Internal",
			"the description has "+decimal(n)+" characters, more than "+decimal(limit))
	}
	names := l.goNames()
	l.text(l.tool.Pos, "description", l.tool.Description, names)
	for _, schema := range []struct{ what, text string }{{"input schema", l.tool.Input}, {"output schema", l.tool.Output}} {
		for _, found := range descriptions(schema.text) {
			l.text(l.place(found.pointer), schema.what+" at "+found.pointer, found.text, names)
		}
	}
}

func (l *linter) text(pos diag.Position, what, text string, names map[string]string) {
	if m := unfinished.FindString(text); m != "" {
		l.warn(pos, diag.TextUnfinished, "finish it, or move it below a heading # Internal", "its "+what+" says "+m)
	}
	if secret.MatchString(text) {
		l.report(diag.Error, pos, diag.TextSecret, "remove it, and change the secret if it is one", "its "+what+" has what looks like a secret")
	}
	for _, w := range word.FindAllString(text, -1) {
		if known := names[w]; known != "" {
			l.warn(pos, diag.TextGoName, "write "+known, "its "+what+" says "+w+", which a model knows as "+known)
			return
		}
	}
}

// goNames are names of the Go code that a model has others for: of parameters,
// and of methods that are tools.
func (l *linter) goNames() map[string]string {
	out := make(map[string]string)
	for method, tool := range l.byMethod {
		if strings.Contains(naming.Snake(method), "_") && method != l.tool.Method {
			out[method] = tool
		}
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

// place is the parameter that a pointer begins with, else the tool.
func (l *linter) place(pointer string) diag.Position {
	first, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	for i := range l.tool.Params {
		if l.tool.Params[i].Name == first && l.tool.Params[i].Pos.IsValid() {
			return l.tool.Params[i].Pos
		}
	}
	return l.tool.Pos
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
	for _, d := range descriptions(l.tool.Input) {
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
		if !strings.HasSuffix(pos.File, ".go") {
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
