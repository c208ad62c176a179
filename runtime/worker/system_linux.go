package worker

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// self is the program that runs, even if the file has been replaced since.
func self() (string, error) { return "/proc/self/exe", nil }

// separate gives a child a process group of its own, and has it die with the thread that
// starts it.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// restrict is done in a child before anything else: no descriptor of the program's, no
// core file, and no more memory than the kind has.
func restrict(k *Kind) error {
	const last = ^uint(0)
	if err := unix.CloseRange(replies+1, last>>33, 0); err != nil { // the highest number that there can be
		return fmt.Errorf("close what is open: %w", err)
	}
	if os.Getppid() == 1 {
		return errors.New("the program has ended")
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("turn core files off: %w", err)
	}
	if k.MaxMemory > 0 {
		if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: k.MaxMemory, Max: k.MaxMemory}); err != nil {
			return fmt.Errorf("bound the memory: %w", err)
		}
	}
	return nil
}

// killGroup kills a child and all that it has started.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // it may have ended
}
