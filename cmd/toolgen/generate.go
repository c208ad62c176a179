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
	if !c.quiet {
		printChanges(c, r, changes)
	}
	return exitDone, nil
}

func printChanges(c *command, r *gen.Result, changes []gen.Change) {
	for _, change := range changes {
		fmt.Fprintf(c.stdout, "%s %s\n", change.Kind, r.Rel(change.Path))
	}
}
