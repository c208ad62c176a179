package main

import (
	"context"
	"fmt"

	"github.com/toolgen/toolgen/gen"
)

// diff prints what would change.
func (c *command) diff(ctx context.Context) (int, error) {
	r, ok, err := c.result(ctx)
	if err != nil || !ok {
		return exitError, err
	}
	text, err := gen.Diff(r)
	if err != nil || text == "" {
		return exitDone, err
	}
	fmt.Fprint(c.stdout, text)
	return exitError, nil
}
