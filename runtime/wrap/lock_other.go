//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package wrap

import (
	"errors"
	"os"
)

// lockFile fails: without a lock two processes could go on with one run.
func lockFile(*os.File) (free bool, err error) {
	return false, errors.New("DirStore needs a system with flock: keep journals in a database")
}

func unlockFile(*os.File) error { return nil }
