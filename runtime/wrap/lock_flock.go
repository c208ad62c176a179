//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package wrap

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the lock of a file if it is free; the end of the process gives it
// back.
func lockFile(f *os.File) (free bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlockFile gives the lock back. Closing alone doesn't while a child that is being
// started has a copy of the file.
func unlockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
