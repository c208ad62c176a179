package sqltool

import (
	"slices"
	"strings"
)

// A TableRef is a name at a place in a statement where a table stands.
type TableRef struct {
	Name      string // as it is written, without quotes
	Qualifier string // the name before the dot; "": none
}

// TableRefs finds the names in a statement that stand where a table does: behind FROM,
// JOIN, INTO, UPDATE and IN, and behind the commas of a FROM. It knows no scope: a common
// table expression's name is among them. It is for guards whose engines say what a
// statement opens, and not by which name.
func TableRefs(tokens []Token) []TableRef {
	w := refWalk{levels: []level{{}}}
	for i, t := range tokens {
		w.token(tokens, i, t)
	}
	return w.refs
}

// Defined are the names, as fold writes them, that a WITH of a statement may define: those
// before AS and a bracket, with or without columns.
func Defined(tokens []Token, fold func(string) string) map[string]bool {
	out := make(map[string]bool)
	for i, t := range tokens {
		if isName(t) && defines(tokens[i+1:]) {
			out[fold(t.Text)] = true
		}
	}
	return out
}

func isName(t Token) bool { return t.Kind == Word || t.Kind == Quoted || t.Kind == Literal }

// defines reports whether what follows a name makes it that of a common table expression.
func defines(after []Token) bool {
	if len(after) > 0 && after[0].Kind == Other && after[0].Text == "(" { // its columns
		end := 1
		for end < len(after) && (after[end].Kind != Other || after[end].Text != ")") {
			end++
		}
		after = after[min(end+1, len(after)):]
	}
	if len(after) < 2 || !isWordOf(after[0], "as") {
		return false
	}
	return after[1].Kind == Other && after[1].Text == "(" || isWordOf(after[1], "not", "materialized")
}

func isWordOf(t Token, words ...string) bool {
	return t.Kind == Word && slices.Contains(words, FoldASCII(t.Text))
}

// FoldASCII is a word in lower case as databases have it: of ASCII only, so that no other
// letter becomes one of a keyword.
func FoldASCII(word string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, word)
}

// level is one of brackets.
type level struct {
	from     bool // its commas are those of a FROM
	expected bool // a table stands here
}

type refWalk struct {
	levels []level
	refs   []TableRef
}

func (w *refWalk) top() *level { return &w.levels[len(w.levels)-1] }

func (w *refWalk) token(tokens []Token, i int, t Token) {
	top := w.top()
	switch {
	case t.Kind == Other && t.Text == "(":
		inside := level{from: top.expected, expected: top.expected}
		if i > 0 && isWordOf(tokens[i-1], "in") { // values, or a query
			inside = level{}
		}
		top.expected = false
		w.levels = append(w.levels, inside)
	case t.Kind == Other && t.Text == ")":
		if len(w.levels) > 1 {
			w.levels = w.levels[:len(w.levels)-1]
		}
	case t.Kind == Other && t.Text == ",":
		top.expected = top.from
	case t.Kind == Other && t.Text == ".":
	case t.Kind == Word && w.keyword(tokens, i, FoldASCII(t.Text)):
	case isName(t) && top.expected:
		w.name(tokens, i)
	default:
		top.expected = false
	}
}

// keyword changes what is expected; it reports whether a word is one that does. It knows
// only words that no database takes for a name without quotes: others, such as UNION, may
// be an alias, behind which a FROM goes on. What is not ended by one of these goes on as a
// FROM too: better a column that is taken for a table than a table that is not seen.
func (w *refWalk) keyword(tokens []Token, i int, word string) bool {
	top := w.top()
	after := func(words ...string) bool { return i > 0 && isWordOf(tokens[i-1], words...) }
	switch word {
	case "from":
		if after("distinct") { // IS DISTINCT FROM
			return true
		}
		top.from, top.expected = true, true
	case "join", "into", "update", "in":
		top.expected = true
	case "or", "rollback", "abort", "fail", "ignore", "replace": // of UPDATE OR FAIL
		if !top.expected || word != "or" && !after("or") {
			return false
		}
	case "select", "values", "set", "where", "group", "having", "order", "limit", "returning":
		*top = level{}
	case "on", "using":
		top.expected = false
	default:
		return false
	}
	return true
}

// name takes a name where a table stands, with what is before its dot.
func (w *refWalk) name(tokens []Token, i int) {
	if i+1 < len(tokens) && tokens[i+1].Kind == Other && tokens[i+1].Text == "." {
		return // what is behind the dot is the table
	}
	ref := TableRef{Name: tokens[i].Text}
	if i > 1 && tokens[i-1].Kind == Other && tokens[i-1].Text == "." {
		ref.Qualifier = tokens[i-2].Text
	}
	w.refs = append(w.refs, ref)
	w.top().expected = false
}
