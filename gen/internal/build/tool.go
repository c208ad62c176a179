package build

import (
	"go/ast"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/directive"
	"github.com/toolgen/toolgen/gen/internal/discover"
	"github.com/toolgen/toolgen/gen/internal/doccomment"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/schema"
	runtimeschema "github.com/toolgen/toolgen/runtime/schema"
)

// toolBuilder builds the model of one hook.
type toolBuilder struct {
	*builder
	hook   *discover.Hook
	tool   *model.Tool
	walker *schema.Walker
	doc    *doccomment.Doc
	texts  map[string]textAt   // of parameters and their fields, from directives and yaml
	said   map[string]*setting // of parameters and their fields, likewise
	roots  []model.Type

	parameters  []named
	extra       *model.Result      // what was captured or collected
	extraSchema *jsonschema.Schema // of its items
	inner       schema.Settings    // of fields of arguments
	redactions  schema.Settings    // of properties of results
	toolset     *model.Toolset

	split    []*ast.CommentGroup        // comments of the parameter list
	attached map[*ast.CommentGroup]bool // those of them that belong to a parameter
}

// textAt is prose with its place.
type textAt struct {
	value string
	pos   diag.Position
}

func (t *toolBuilder) errorf(pos diag.Position, code diag.Code, hint, format string, args ...any) {
	t.diags.Errorf(pos, code, hint, "tool "+t.tool.Name+": "+format, args...)
}

// build fills in the tool. It reports false if there was an error.
func (t *toolBuilder) build() bool {
	reported := len(t.diags)
	defer func() { t.accept(reported) }()
	t.texts = make(map[string]textAt)
	sig := t.hook.Method.Signature()
	t.parameters = t.namedParams(sig)
	if !runtimeschema.ValidName(t.tool.Name) {
		t.errorf(t.namePos(), diag.ToolName, "set its name", "the name is not valid: it must match ^[A-Za-z_][A-Za-z0-9_-]{0,63}$")
	}
	t.prose()
	t.hints()
	t.limits()
	t.errors()
	t.nameConflict()
	t.settings()
	t.readTexts()
	t.redactions = t.redacted()
	t.inner = t.nested()
	t.walker.Use(t.tool.Name, t.options(), t.inner, t.redactions)
	receiver := receiverType(t.hook.Receiver.Name)
	if schema.Nameable(sig, t.walker.Output()) {
		t.tool.Signature = schema.Signature(sig, receiver)
	}
	t.params(sig)
	t.policies()
	t.tool.Confined, t.tool.Pinned = t.hostSays()
	t.results(sig)
	failed := t.diags[reported:]
	if failed.HasErrors() {
		return false
	}
	if !t.visible() {
		return false
	}
	if n := len(t.tool.Output); n > largeOutput {
		t.diags.Warnf(t.hook.Pos, diag.SchemaLarge, "show some of its fields (results: [{index: 0, fields: […], as: NAME}] in toolgen.yaml), or expose a wrapper",
			"tool %s: the output schema has %d bytes, which clients list with every tool", t.tool.Name, n)
	}
	hash, err := runtimeschema.Hash([]byte(t.tool.Input), outputBytes(t.tool.Output))
	if err != nil {
		t.errorf(t.tool.Pos, diag.TypeUnsupported, "", "%s", err)
		return false
	}
	t.tool.SchemaHash = hash
	return true
}

// largeOutput is how large an output schema may be before it is worth a warning.
const largeOutput = 64 << 10

// namePos is where the tool's name was given, else the hook.
func (t *toolBuilder) namePos() diag.Position {
	if d := t.hook.Directive("expose"); d != nil {
		if arg, ok := d.Value("name"); ok {
			return arg.Pos
		}
	}
	if c := t.hook.Config; c != nil && c.Name.IsSet() {
		return c.Name.Pos
	}
	return t.tool.Pos
}

// nameConflict refuses a name that is set in two places.
func (t *toolBuilder) nameConflict() {
	d, c := t.hook.Directive("expose"), t.hook.Config
	if d == nil || c == nil || !c.Name.IsSet() {
		return
	}
	if arg, ok := d.Value("name"); ok {
		t.agreed(wordOf(arg), c.Name, "its name is")
	}
}

// agreed returns what toolgen.yaml sets. A directive that sets something else is
// reported at both places: there is no precedence.
func (t *toolBuilder) agreed(directive, yaml config.Text, what string) config.Text {
	if directive.IsSet() && directive.Value != yaml.Value {
		t.errorf(directive.Pos, diag.Conflict, "drop one", "%s set here and in toolgen.yaml", what)
		t.diags.Relate(yaml.Pos, "the other place")
	}
	return yaml
}

// visible checks whatever a model reads, wherever it came from.
func (t *toolBuilder) visible() bool {
	before := len(t.diags)
	t.checkText(t.hook.Pos, "title", t.tool.Title)
	t.checkText(t.hook.Pos, "input schema", t.tool.Input)
	t.checkText(t.hook.Pos, "output schema", t.tool.Output)
	return len(t.diags) == before
}

func outputBytes(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// hints gathers the hints of directives and yaml.
func (t *toolBuilder) hints() {
	has := func(name string) bool {
		if t.hook.Directive(name) != nil {
			return true
		}
		c := t.hook.Config
		return c != nil && slices.ContainsFunc(c.Hints, func(h configText) bool { return h.Value == name })
	}
	yes, no := true, false
	set := func(name string, to **bool, value *bool) {
		if has(name) {
			*to = value
		}
	}
	h := &t.tool.Hints
	set("readonly", &h.ReadOnly, &yes)
	set("destructive", &h.Destructive, &yes)
	set("idempotent", &h.Idempotent, &yes)
	set("closedworld", &h.OpenWorld, &no)
	if h.ReadOnly != nil && h.Destructive != nil {
		t.errorf(t.tool.Pos, diag.HintConflict, "drop one", "it is both read-only and destructive")
	}
	t.tool.Sequential = t.hook.Directive("sequential") != nil || t.hook.Config != nil && t.hook.Config.Sequential
}

// limits gathers what bounds a call.
func (t *toolBuilder) limits() {
	set := t.hook.Settings
	t.tool.MaxArgs, t.tool.MaxResult, t.tool.MaxItems, t.tool.Timeout = set.MaxArgs, set.MaxResult, set.MaxItems, set.Timeout
	t.tool.Coerce = set.Coerce != nil && *set.Coerce
	t.tool.NoRepair = set.Repair != nil && !*set.Repair
	t.resultLimit("max_bytes", 1024, &t.tool.MaxResult)
	t.resultLimit("max_items", 1, &t.tool.MaxItems)
	t.retries()
	t.tool.Defer = t.hook.Directive("defer") != nil || t.hook.Config != nil && t.hook.Config.Defer
	d := t.hook.Directive("timeout")
	if d == nil {
		return
	}
	word := d.Positional()[0]
	timeout, err := time.ParseDuration(word.Value)
	switch {
	case err != nil || timeout <= 0:
		t.errorf(word.Pos, diag.DirectiveArgument, "write a duration like 30s", "%q is no duration", word.Value)
	case t.hook.Config != nil && t.hook.Config.Settings.Timeout != 0 && t.hook.Config.Settings.Timeout != timeout:
		t.errorf(word.Pos, diag.Conflict, "drop one", "its timeout is set here and in toolgen.yaml")
		t.diags.Relate(t.hook.Config.Method.Pos, "the other place")
	default:
		t.tool.Timeout = timeout
	}
}

// resultLimit takes a limit from the directive result.
func (t *toolBuilder) resultLimit(key string, least int, to *int) {
	arg, ok := t.resultArg(key)
	if !ok {
		return
	}
	n, err := strconv.Atoi(arg.Value)
	if err != nil || n < least {
		t.errorf(arg.Pos, diag.DirectiveArgument, "write a number of at least "+strconv.Itoa(least), "result: %s is %q", key, arg.Value)
		return
	}
	*to = n
}

// code returns a code that is accepted, if it can be one.
func (t *toolBuilder) code(word config.Text) string {
	if !codeForm.MatchString(word.Value) {
		t.errorf(word.Pos, diag.DirectiveArgument, "write one like TG310", "allow: %q is no code", word.Value)
	}
	return word.Value
}

var codeForm = regexp.MustCompile(`^TG[0-9]{3}$`)

// accept drops the warnings since that directives at the method or its type
// accept.
func (t *toolBuilder) accept(since int) {
	var codes []string
	for _, list := range [2][]directive.Directive{t.hook.Directives, t.hook.Receiver.Directives} {
		for i := range list {
			if list[i].Name == "allow" {
				codes = append(codes, t.code(wordOf(list[i].Positional()[0])))
			}
		}
	}
	for _, code := range t.hook.Settings.Allow {
		codes = append(codes, t.code(code))
	}
	t.tool.Allowed = codes
	if len(codes) == 0 {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(t.diags[since:]), func(d diag.Diagnostic) bool {
		return d.Severity == diag.Warning && slices.Contains(codes, string(d.Code))
	})
	t.diags = append(t.diags[:since], rest...)
}
