//go:build !linux

package worker

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

// supported says that the system has what children need.
const supported = false

func self() (string, error) {
	return "", errors.New("child processes that can be trusted to end are started on Linux only")
}

func separate(*exec.Cmd) {}

func restrict(*Kind) error { return errors.New("this system can't restrict a child process") }

func killGroup(p *os.Process) { _ = p.Kill() }

// cpuTime is not known here.
func cpuTime(*os.Process) (time.Duration, bool) { return 0, false }
