package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolgen/toolgen/gen"
)

// check names what drifted and writes nothing.
func (c *command) check(ctx context.Context) (int, error) {
	r, ok, err := c.result(ctx)
	if err != nil {
		return exitError, err
	}
	if !ok {
		c.report(report{diagnostics: r.Diagnostics})
		return exitError, nil
	}
	changes, err := gen.Check(r)
	if err != nil {
		return exitError, err
	}
	c.report(report{diagnostics: r.Diagnostics, files: changedFiles(r, changes), tools: r.Tools})
	if len(changes) == 0 {
		return exitDone, nil
	}
	if slices.ContainsFunc(changes, func(change gen.Change) bool { return change.LineEndsOnly() }) {
		fmt.Fprintln(c.stderr, "toolgen: some differ in line ends only; write *_gen.go text eol=lf and toolgen.lock text eol=lf into .gitattributes")
	}
	fmt.Fprintln(c.stderr, "toolgen: generated files are out of date; run: go generate ./...")
	return exitError, nil
}
