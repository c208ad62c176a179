// Package directive reads //toolgen: comments.
//
// One table says which directives there are, where they may stand and what
// they take. It drives the parser, the hints for near misses and whatever
// explains directives to people, so that none of them can know of one that the
// others don't.
//
// The grammar is that of Go's own directives ([ast.ParseDirective] and
// ParseArgs): a directive is a line of its own, words are bare, "quoted" or
// `raw`, and quotes go around a whole word. A bare word identifier=… is a
// key with a value; a quoted one is only if its key is known.
package directive

import (
	"slices"
	"strings"
)

// A Target is a kind of place at which a directive may stand.
type Target uint8

// The targets; a spec has a set of them.
const (
	Method     Target = 1 << iota // doc comment of a method
	Type                          // doc comment of a type
	Field                         // doc or trailing comment of a struct field
	Parameters                    // comment in a parameter list
)

func (t Target) String() string {
	var names []string
	for _, n := range []struct {
		target Target
		name   string
	}{{Method, "a method"}, {Type, "a type"}, {Field, "a struct field"}, {Parameters, "a parameter"}} {
		if t&n.target != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ", ")
}

// A Spec is one row of the table.
type Spec struct {
	Name    string
	Targets Target
	Usage   string   // arguments, as a reader writes them
	Help    string   // what it means, one sentence
	Keys    []string // known keys of key=value words
	Min     int      // positional words on a method or type
	Max     int
	Repeat  bool // may stand more than once
	Example string
}

// End is the directive that ends what a model reads of a doc comment.
const End = "end"

// ParamKeys are the keywords of the directive param: those of JSON Schema.
var ParamKeys = []string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "format",
	"minItems", "maxItems", "minProperties", "maxProperties", "enum", "default", "title", "schema", "encoding",
}

// Flags are the keywords of param that need no value.
var Flags = []string{"required", "optional", "secret", "uniqueItems"}

// Table lists every directive, sorted by name.
var Table = []Spec{
	{
		Name: "allow", Targets: Method | Type, Usage: `CODE ["why"]`, Min: 1, Max: 2, Repeat: true,
		Help: "accepts a warning of that code here, and says why", Example: "//toolgen:allow TG310 \"any JSON is stored as it is\"",
	},
	{
		Name: "approve", Targets: Method, Usage: "[when=FUNC]", Keys: []string{"when"},
		Help: "a person approves each call first, or those for which the function of the context and all parameters says true", Example: "//toolgen:approve when=IsLarge",
	},
	{Name: "closedworld", Targets: Method, Help: "the tool reaches nothing beyond the host's own systems", Example: "//toolgen:closedworld"},
	{
		Name: "collect", Targets: Method, Usage: "NAME", Min: 1, Max: 1, Repeat: true,
		Help: "what the hook calls a callback with is the tool's result", Example: "//toolgen:collect visit\nfunc (d *Desk) Walk(ctx context.Context, visit func(Order) error) error",
	},
	{
		Name: "confine", Targets: Method, Usage: "NAME [enum=A,B] [prefix=P] [under=DIR] [pattern=RE] [minimum=N] [maximum=N]", Min: 1, Max: 1, Repeat: true,
		Keys: []string{"enum", "prefix", "under", "pattern", "minimum", "maximum"}, Help: "the host's policy for an argument, on top of all else", Example: "//toolgen:confine repo enum=site,docs\n//toolgen:confine path under=reports",
	},
	{Name: "defer", Targets: Method, Help: "the tool is not in the first list: a model finds it by search", Example: "//toolgen:defer"},
	{Name: "destructive", Targets: Method, Help: "the tool may delete or overwrite", Example: "//toolgen:destructive"},
	{
		Name: End, Targets: Method | Type | Field,
		Help: "what follows in the doc comment is not for the model; gofmt moves directives to a comment's end, so a heading # Internal lasts longer", Example: "// Keep keeps an order.\n//toolgen:expose\n//toolgen:end\n// It writes two rows.",
	},
	{
		Name: "enum", Targets: Type, Usage: "names, open or off", Min: 1, Max: 1,
		Help: "the constants of a type: integers by their names, values described and not enforced, or nothing of them", Example: "//toolgen:enum names\ntype Priority int",
	},
	{
		Name: "errors", Targets: Method, Usage: "[retry=ErrA,ErrB] [failed=ErrC]", Keys: []string{"retry", "failed"},
		Help: "which errors of the hook package a model may see: those that it can correct, and those that it can't", Example: "//toolgen:errors retry=ErrBadRange failed=ErrGone",
	},
	{Name: "example", Targets: Method, Usage: "`{\"n\":1}`", Min: 1, Max: 1, Repeat: true, Help: "arguments that show how to call the tool", Example: "//toolgen:example `{\"order_id\":\"A-17\",\"cents\":250}`"},
	{
		Name: "expose", Targets: Method, Usage: `[name=NAME] [title=TITLE] ["prose"]`, Max: 1,
		Keys: []string{"name", "title"}, Help: "the method is a tool", Example: "// Refund pays an order back.\n//\n//toolgen:expose title=Refund\nfunc (d *Desk) Refund(ctx context.Context, orderID string) error",
	},
	{
		Name: "guard", Targets: Method, Usage: "FUNC NAME...", Min: 1, Max: 32, Repeat: true,
		Help: "a function of the context and the named arguments, whose error refuses the call", Example: "//toolgen:guard CheckOwner owner\n\nfunc CheckOwner(ctx context.Context, owner string) error",
	},
	{
		Name: "hide", Targets: Method | Field, Usage: "[NAME]", Max: 1, Repeat: true,
		Help: "a parameter or field is not offered to the model and has its zero value", Example: "//toolgen:hide opts",
	},
	{Name: "idempotent", Targets: Method, Help: "the same call twice does no more than once", Example: "//toolgen:idempotent"},
	{
		Name: "options", Targets: Method, Usage: "NAME WithA,WithB", Min: 2, Max: 2, Repeat: true,
		Help: "offers constructors of functional options, in the order in which they are applied", Example: "//toolgen:options opts WithLimit,WithPrefix",
	},
	{
		Name: "param", Targets: Method | Field | Parameters, Usage: `NAME[.field] ["prose"] [KEY=VALUE] [required] [optional] [secret] [uniqueItems]`, Min: 1, Max: 6, Repeat: true,
		Keys: append(slices.Clone(ParamKeys), Flags...), Help: "describes and constrains a parameter, or a field of one; at a field or parameter itself the name is left out", Example: "//toolgen:param cents \"how much to pay back\" minimum=1\n//toolgen:param order.note maxLength=200",
	},
	{
		Name: "pin", Targets: Method, Usage: "NAME VALUE, NAME const=C, NAME from=FUNC or NAME option", Min: 1, Max: 2, Repeat: true,
		Keys: []string{"const", "from"}, Help: "a parameter is not offered: the host sets it", Example: "//toolgen:pin owner acme\n//toolgen:pin tenant from=TenantOf",
	},
	{Name: "readonly", Targets: Method, Help: "the tool changes nothing", Example: "//toolgen:readonly"},
	{
		Name: "result", Targets: Method, Usage: "[max_bytes=N] [max_items=N] [media=TYPE] [redact=a.b] [drop=N] [unwrap=METHOD]",
		Keys: []string{"max_bytes", "max_items", "media", "redact", "drop", "unwrap"}, Help: "how results are shown; drop counts from 0", Example: "//toolgen:result max_items=50 redact=customer.email",
	},
	{Name: "retries", Targets: Method, Usage: "N", Min: 1, Max: 1, Help: "how many calls in a row a model may correct; 0 is none", Example: "//toolgen:retries 2"},
	{
		Name: "schema", Targets: Type | Field, Usage: "`{…}`", Min: 1, Max: 1,
		Help: "a JSON Schema in the place of the derived one, for a type that encodes itself", Example: "//toolgen:schema `{\"type\":\"string\",\"format\":\"date\"}`\ntype Date struct{ … }",
	},
	{Name: "sequential", Targets: Method, Help: "the tool runs alone: a barrier in its batch", Example: "//toolgen:sequential"},
	{Name: "timeout", Targets: Method, Usage: "DURATION", Min: 1, Max: 1, Help: "how long one call may take, such as 30s", Example: "//toolgen:timeout 30s"},
	{
		Name: "toolset", Targets: Type, Usage: "[prefix=PREFIX] [name=NAME]", Keys: []string{"prefix", "name"},
		Help: "names the tools of a receiver type: their prefix, and the toolset's own Go name", Example: "//toolgen:toolset prefix=shop\ntype Desk struct{ … }",
	},
}

// Hints are the names of the directives that are hints.
var Hints = []string{"readonly", "destructive", "idempotent", "closedworld"}

// Find returns the row of a name, or nil.
func Find(name string) *Spec {
	for i := range Table {
		if Table[i].Name == name {
			return &Table[i]
		}
	}
	return nil
}

func names() []string {
	out := make([]string, len(Table))
	for i := range Table {
		out[i] = Table[i].Name
	}
	return out
}
