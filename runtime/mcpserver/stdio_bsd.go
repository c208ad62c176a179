//go:build unix && !linux

package mcpserver

import "golang.org/x/sys/unix"

// dupOver makes descriptor to a copy of from.
func dupOver(from, to int) error { return unix.Dup2(from, to) }
