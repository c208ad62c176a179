package sqltool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The bounds of a statement, before any parser sees it. Parsers recurse, and end their
// process, or the thread that they are in, on what is nested or chained too deep.
const (
	maxText   = 64 << 10 // bytes
	maxNested = 200      // brackets and CASE
	maxChain  = 1000     // operators and words that chain
	maxRanges = 100      // BETWEEN, which costs parsers more
)

// clip takes a statement's end off, and refuses what no parser should see.
func clip(sql string) (string, error) {
	switch {
	case len(sql) > maxText:
		return "", Refuse(fmt.Sprintf("the statement has %d bytes, the limit is %d: shorten it, or pass values as params", len(sql), maxText))
	case strings.ContainsRune(sql, 0):
		return "", Refuse("the statement has a NUL character: take it out")
	case strings.Contains(sql, "\ufeff"):
		return "", Refuse("the statement has a byte order mark (U+FEFF), which databases read in different ways: take it out")
	case !utf8.ValidString(sql):
		return "", Refuse("the statement is not valid UTF-8")
	}
	if sql = strings.Trim(sql, "; \t\r\n\f"); sql == "" {
		return "", Refuse("the statement is empty: write one")
	}
	return sql, nil
}

// Words that chain operands, as operators do.
var chainWords = map[string]bool{
	"and": true, "or": true, "not": true, "join": true, "union": true, "except": true, "intersect": true, "is": true, "collate": true,
	"at": true, "isnull": true, "notnull": true, // AT TIME ZONE
}

// CheckCaps refuses a statement that nests or chains too deep, by its tokens. Commas and
// literals are free: a long list of values is no danger.
func CheckCaps(tokens []Token) *Refusal {
	depth, chain, ranges := 0, 0, 0
	for _, t := range tokens {
		word := ""
		if t.Kind == Word {
			word = FoldASCII(t.Text)
		}
		switch {
		case t.Kind == Other && (t.Text == "(" || t.Text == "[") || word == "case":
			depth++
		case (t.Kind == Other && (t.Text == ")" || t.Text == "]") || word == "end") && depth > 0:
			depth--
		case word == "between":
			ranges++
		case t.Kind == Operator || chainWords[word]:
			chain++
		}
		if depth > maxNested {
			return Refuse(fmt.Sprintf("the statement is nested deeper than %d levels: write it flatter", maxNested))
		}
		if ranges > maxRanges {
			return Refuse(fmt.Sprintf("the statement has more than %d BETWEEN: join a list of ranges", maxRanges))
		}
		if chain > maxChain {
			return Refuse(fmt.Sprintf("the statement has more than %d operators: use IN with a list, or a join", maxChain))
		}
	}
	return nil
}
