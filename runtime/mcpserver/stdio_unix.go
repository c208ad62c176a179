//go:build unix

package mcpserver

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// takeStdio takes standard input and output for itself: they become private
// descriptors that no child process inherits; descriptor 0 is the null device
// then, and descriptor 1 a copy of standard error. So no print and no child
// breaks the framing or eats messages, whoever holds the numbers.
func takeStdio() (io.ReadCloser, io.WriteCloser, error) {
	in, err := private(0, "stdin")
	if err != nil {
		return nil, nil, err
	}
	out, err := private(1, "stdout")
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	null, err := os.Open(os.DevNull)
	if err == nil {
		err = errors.Join(dupOver(int(null.Fd()), 0), dupOver(2, 1), null.Close())
	}
	if err != nil {
		return nil, nil, errors.Join(err, in.Close(), out.Close())
	}
	return in, out, nil
}

func private(fd int, name string) (*os.File, error) {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(dup), name), nil
}
