package mcpserver

import "golang.org/x/sys/unix"

// dupOver makes descriptor to a copy of from. Linux has no dup2 on every
// architecture.
func dupOver(from, to int) error { return unix.Dup3(from, to, 0) }
