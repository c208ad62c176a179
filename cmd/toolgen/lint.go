package main

import (
	"context"
	"fmt"
)

// lint looks at what a model reads, and writes nothing.
func (c *command) lint(ctx context.Context) (int, error) {
	c.options.Lint = true
	r, ok, err := c.result(ctx)
	if err != nil {
		return exitError, err
	}
	c.report(report{diagnostics: r.Diagnostics, tools: r.Tools})
	if !ok {
		return exitError, nil
	}
	if c.format == "text" && c.verbose {
		fmt.Fprintf(c.stderr, "toolgen: %d tools\n", len(r.Tools))
	}
	return exitDone, nil
}
