//go:build !unix

package mcpserver

import (
	"io"
	"os"
)

// takeStdio takes standard input and output for itself. Where descriptors
// can't be exchanged, at least what Go code prints goes to standard error.
func takeStdio() (io.ReadCloser, io.WriteCloser, error) {
	in, out := os.Stdin, os.Stdout
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	os.Stdin, os.Stdout = null, os.Stderr
	return in, out, nil
}
