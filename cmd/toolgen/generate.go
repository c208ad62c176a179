package main

import (
	"context"
	"fmt"

	"github.com/toolgen/toolgen/gen"
)

// generate writes what changed and prints it.
func (c *command) generate(ctx context.Context) (int, error) {
	r, ok, err := c.result(ctx)
	if err != nil {
		return exitError, err
	}
	if !ok {
		c.report(report{diagnostics: r.Diagnostics})
		fmt.Fprintln(c.stderr, "toolgen: nothing was written")
		return exitError, nil
	}
	if len(r.Tools) == 0 && !c.quiet {
		fmt.Fprintln(c.stderr, "toolgen: no hooks: mark a method with //toolgen:expose, or name one in toolgen.yaml")
	}
	changes, err := gen.Apply(ctx, r)
	if err != nil {
		return exitError, err
	}
	done := report{diagnostics: r.Diagnostics, tools: r.Tools}
	if !c.quiet || c.format != "text" {
		done.files = changedFiles(r, changes)
	}
	c.report(done)
	return exitDone, nil
}
