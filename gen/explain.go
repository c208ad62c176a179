package gen

import (
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/directive"
	"github.com/toolgen/toolgen/runtime/schema"
)

// A Page explains a diagnostic's code or a directive.
type Page struct {
	Name    string // TG301, or the directive's without //toolgen:
	Meaning string // in one sentence
	Cause   string // of a code: how one comes by it
	Fix     string // of a code: what to do
	Usage   string // of a directive: where it stands and what it takes
	Example string
}

// Pages returns all pages: codes in order, then directives by name. They are
// made of the tables that the generator itself uses.
func Pages() []Page {
	out := make([]Page, 0, len(diag.Pages)+len(directive.Table))
	for _, p := range diag.Pages {
		out = append(out, Page{Name: string(p.Code), Meaning: p.Meaning, Cause: p.Cause, Fix: p.Fix, Example: p.Example})
	}
	for _, d := range directive.Table {
		usage := strings.TrimSpace("//toolgen:"+d.Name+" "+d.Usage) + "\nat " + d.Targets.String()
		if d.Repeat {
			usage += "; it may be there more than once"
		}
		out = append(out, Page{Name: d.Name, Meaning: d.Help, Usage: usage, Example: d.Example})
	}
	return out
}

// Explain returns the page of a code or directive, which may be written as in
// source or as in a message: TG301, [TG301], expose, //toolgen:expose.
func Explain(word string) (Page, bool) {
	word = strings.TrimPrefix(strings.Trim(word, "[]/"), "toolgen:")
	pages := Pages()
	i := slices.IndexFunc(pages, func(p Page) bool { return strings.EqualFold(p.Name, word) })
	if i < 0 {
		return Page{}, false
	}
	return pages[i], true
}

// NearestPage returns "; did you mean X?" for a word without a page, or "".
func NearestPage(word string) string {
	var names []string
	for _, p := range Pages() {
		names = append(names, p.Name)
	}
	return schema.DidYouMean(word, names)
}
