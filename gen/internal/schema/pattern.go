package schema

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
)

// escapePattern returns a pattern that matches a text itself.
func escapePattern(text string) string {
	return regexp.MustCompile(`[\\^$.*+?()[\]{}|/]`).ReplaceAllString(text, `\$0`)
}

// isCleanFolder reports whether under can be a folder: relative, with slashes,
// and nothing to be resolved in it.
func isCleanFolder(dir string) bool {
	if dir == "" || dir[0] == '/' || strings.ContainsAny(dir, "\\\x00") || strings.Contains(dir, "://") {
		return false
	}
	for part := range strings.SplitSeq(dir, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// unportable says why RE2 or ECMA-262 can't read a pattern, or reads it
// differently.
func unportable(pattern string) string {
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	for i := range pattern {
		for _, special := range goOnly {
			if strings.HasPrefix(pattern[i:], special) && (special[0] != '\\' && special[0] != '(' || !escapedAt(pattern, i)) {
				return special + " means something else in ECMA-262"
			}
		}
	}
	return ""
}

// goOnly is syntax of RE2 that ECMA-262 doesn't have, or reads as something else.
var goOnly = []string{`(?i`, `(?s`, `(?m`, `(?U`, `(?-`, `(?P`, `\A`, `\z`, `\Q`, `\a`, `\C`, `\p`, `\P`, `[:`, `\x{`, `{,`}

// escapedAt reports whether what is at i is escaped by a backslash before it.
func escapedAt(s string, i int) bool {
	n := 0
	for i--; i >= 0 && s[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// pattern returns the variable that holds a pattern, made once.
func (w *Walker) pattern(text string) string {
	for _, p := range w.patterns {
		if p.Text == text {
			return p.Var
		}
	}
	name := w.names.Name(naming.Unexported(w.property) + "Pattern")
	w.patterns = append(w.patterns, model.Pattern{Var: name, Text: text})
	return name
}
