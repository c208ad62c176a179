//go:build unix

package postgres

import "syscall"

// peak is the most memory that this process has had, in KiB.
func peak() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return int64(u.Maxrss) //nolint:unconvert // it is no int64 on every system
}
