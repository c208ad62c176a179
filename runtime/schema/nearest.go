package schema

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest returns up to limit of the names that somebody who wrote name may
// have meant, the likeliest first: those equal but for case, underscores and
// hyphens, then those within an edit distance of 2 that is at most a third of
// the length of name. Ties go by the order of names.
func Nearest(name string, names []string, limit int) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	folded := fold(name)
	most := min(2, utf8.RuneCountInString(name)/3)
	for _, n := range names {
		if fold(n) == folded {
			found = append(found, candidate{n, 0})
		} else if d := distance(strings.ToLower(name), strings.ToLower(n), most); d <= most {
			found = append(found, candidate{n, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var out []string
	for _, c := range found[:min(limit, len(found))] {
		out = append(out, c.name)
	}
	return out
}

// DidYouMean returns `; did you mean "x"?` for the nearest name, or nothing.
func DidYouMean(name string, names []string) string {
	if near := Nearest(name, names, 1); len(near) > 0 {
		return `; did you mean "` + near[0] + `"?`
	}
	return ""
}

func fold(s string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s))
}

// distance returns the edit distance of a and b, where two neighbours swapped
// count as one edit, or more than most as soon as it is known to be more. Both
// are short names; what isn't is too far away by its length.
func distance(a, b string, most int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > most || len(y)-len(x) > most {
		return most + 1
	}
	before, prev, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(y)]
}

// ValidName reports whether name can be the name of a tool. The rule is the
// common part of what the model APIs and MCP accept.
func ValidName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return true
}
