package worker

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// supported says that the system has what children need.
const supported = true

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
	if err := closeInherited(); err != nil {
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

// closeInherited closes what the program has left open for the child: what isn't closed by
// the start of another program. What Go has opened in the child itself is.
func closeInherited() error {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd <= replies {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd) // it is open
		}
	}
	return nil
}

// killGroup kills a child and all that it has started.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // it may have ended
}

// cpuTime is how long the processors have worked for a child, in steps of 10 ms.
func cpuTime(p *os.Process) (time.Duration, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
	if err != nil {
		return 0, false
	}
	_, after, _ := strings.Cut(string(text), ") ") // the name may have blanks
	const user, system = 11, 12                    // of what is behind it, see proc(5)
	fields := strings.Fields(after)
	if len(fields) <= system {
		return 0, false
	}
	u, err := strconv.ParseInt(fields[user], 10, 64)
	s, err2 := strconv.ParseInt(fields[system], 10, 64)
	const tick = 10 * time.Millisecond // of every Linux that Go runs on
	return time.Duration(u+s) * tick, err == nil && err2 == nil
}
