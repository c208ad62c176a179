//go:build !unix

package testserver

import (
	"errors"
	"os/exec"
)

func asUser(*exec.Cmd, string, ...string) error {
	return errors.New("servers are started on Unix only: name one in the environment")
}
