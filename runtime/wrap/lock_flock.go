//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package wrap

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the lock of a file if it is free; closing the file, and the end of
// the process, give it back.
func lockFile(f *os.File) (free bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
