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

import "strings"

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
}

// Table lists every directive, sorted by name.
var Table = []Spec{
	{Name: "closedworld", Targets: Method, Help: "the tool reaches nothing beyond the host's own systems"},
	{Name: "destructive", Targets: Method, Help: "the tool may delete or overwrite"},
	{
		Name: "errors", Targets: Method, Usage: "[retry=ErrA,ErrB] [failed=ErrC]", Keys: []string{"retry", "failed"},
		Help: "which errors of the hook package a model may see: those that it can correct, and those that it can't",
	},
	{
		Name: "expose", Targets: Method, Usage: `[name=NAME] [title=TITLE] ["prose"]`, Max: 1,
		Keys: []string{"name", "title"}, Help: "the method is a tool",
	},
	{
		Name: "hide", Targets: Method | Field, Usage: "[NAME]", Max: 1, Repeat: true,
		Help: "a parameter or field is not offered to the model and has its zero value",
	},
	{Name: "idempotent", Targets: Method, Help: "the same call twice does no more than once"},
	{
		Name: "param", Targets: Method | Field | Parameters, Usage: `NAME[.field] "prose"`, Min: 1, Max: 2, Repeat: true,
		Help: "describes a parameter, or a field of one; at a field or parameter itself the name is left out",
	},
	{Name: "readonly", Targets: Method, Help: "the tool changes nothing"},
	{Name: "sequential", Targets: Method, Help: "the tool runs alone: a barrier in its batch"},
	{Name: "timeout", Targets: Method, Usage: "DURATION", Min: 1, Max: 1, Help: "how long one call may take, such as 30s"},
	{
		Name: "toolset", Targets: Type, Usage: "[prefix=PREFIX] [name=NAME]", Keys: []string{"prefix", "name"},
		Help: "names the tools of a receiver type: their prefix, and the toolset's own Go name",
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
