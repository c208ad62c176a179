package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
)

// list prints a tool a line, below a header.
func (c *command) list(ctx context.Context) (int, error) {
	r, ok, err := c.result(ctx)
	if err != nil {
		return exitError, err
	}
	w := tabwriter.NewWriter(c.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "TOOL\tHOOK\tHINTS\tINPUT\tOUTPUT BYTES")
	for _, t := range r.Tools {
		hints := strings.Join(t.Hints, ",")
		if hints == "" {
			hints = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\n", t.Name, t.Hook, hints, t.Input, t.Output)
	}
	if err := w.Flush(); err != nil {
		return exitError, err
	}
	if !ok {
		return exitError, nil
	}
	return exitDone, nil
}
