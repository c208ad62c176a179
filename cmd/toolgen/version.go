package main

import (
	"context"
	"fmt"
	"runtime/debug"
)

// version prints what the Go command recorded in the binary.
func (c *command) version(context.Context) (int, error) {
	if len(c.options.Patterns) > 0 {
		return exitUsage, usagef("version takes no arguments")
	}
	version, revision := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value
			}
		}
	}
	fmt.Fprintf(c.stdout, "toolgen %s%s\n", version, revision)
	return exitDone, nil
}
