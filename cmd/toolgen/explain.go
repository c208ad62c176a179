package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolgen/toolgen/gen"
)

// explain prints the page of a code or directive, or, without a word, of what
// there are pages.
func (c *command) explain(context.Context) (int, error) {
	if len(c.options.Patterns) == 0 {
		for _, p := range gen.Pages() {
			fmt.Fprintf(c.stdout, "%-12s %s\n", p.Name, p.Meaning)
		}
		return exitDone, nil
	}
	for i, word := range c.options.Patterns {
		page, ok := gen.Explain(word)
		if !ok {
			return exitUsage, usagef("explain %s: there is no such code or directive%s", word, gen.NearestPage(word))
		}
		if i > 0 {
			fmt.Fprintln(c.stdout)
		}
		fmt.Fprint(c.stdout, text(page))
	}
	return exitDone, nil
}

// text is a page as plain text.
func text(p gen.Page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", p.Name, p.Meaning)
	for _, part := range []struct{ title, text string }{{"Cause", p.Cause}, {"Fix", p.Fix}, {"Usage", p.Usage}, {"Example", p.Example}} {
		if part.text != "" {
			fmt.Fprintf(&b, "\n%s:\n    %s\n", part.title, strings.ReplaceAll(part.text, "\n", "\n    "))
		}
	}
	return b.String()
}
