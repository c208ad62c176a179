package main

import (
	"context"
	"fmt"

	"github.com/toolgen/toolgen/gen"
)

// diff prints what would change.
func (c *command) diff(ctx context.Context) (int, error) {
	if c.format != "text" {
		return exitUsage, usagef("diff prints a unified diff; check -format %s lists the files", c.format)
	}
	r, ok, err := c.result(ctx)
	if err != nil {
		return exitError, err
	}
	c.report(report{diagnostics: r.Diagnostics})
	if !ok {
		return exitError, nil
	}
	text, err := gen.Diff(r)
	if err != nil || text == "" {
		return exitDone, err
	}
	fmt.Fprint(c.stdout, text)
	return exitError, nil
}
