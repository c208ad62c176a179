package main

import (
	"context"
	"fmt"

	"github.com/toolgen/toolgen/gen"
)

// check names what drifted and writes nothing.
func (c *command) check(ctx context.Context) (int, error) {
	r, ok, err := c.result(ctx)
	if err != nil || !ok {
		return exitError, err
	}
	changes, err := gen.Check(r)
	if err != nil {
		return exitError, err
	}
	if len(changes) == 0 {
		return exitDone, nil
	}
	printChanges(c, r, changes)
	fmt.Fprintln(c.stderr, "toolgen: generated files are out of date; run: go generate ./...")
	return exitError, nil
}
