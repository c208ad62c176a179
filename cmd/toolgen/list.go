package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/toolgen/toolgen/gen"
)

// list prints a tool a line, below a header; with -v also what a model doesn't
// get of each.
func (c *command) list(ctx context.Context) (int, error) {
	r, ok, err := c.result(ctx)
	if err != nil {
		return exitError, err
	}
	c.report(report{diagnostics: r.Diagnostics, tools: r.Tools})
	if c.format == "text" {
		if err := c.table(r.Tools); err != nil {
			return exitError, err
		}
	}
	if !ok {
		return exitError, nil
	}
	return exitDone, nil
}

func (c *command) table(tools []gen.Tool) error {
	w := tabwriter.NewWriter(c.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "TOOL\tHOOK\tHINTS\tINPUT\tOUTPUT BYTES")
	for _, t := range tools {
		hints := strings.Join(t.Hints, ",")
		if hints == "" {
			hints = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\n", t.Name, t.Hook, hints, t.Input, t.Output)
		if !c.verbose {
			continue
		}
		for _, more := range []struct {
			what string
			list []string
		}{{"hidden", t.Hidden}, {"pinned", t.Pinned}, {"left out", t.Omitted}} {
			if len(more.list) > 0 {
				fmt.Fprintf(w, "  %s: %s\n", more.what, strings.Join(more.list, ", "))
			}
		}
	}
	return w.Flush()
}
