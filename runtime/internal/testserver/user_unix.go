//go:build unix

package testserver

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// asUser has root start a command as the first of some users that there is, to whom
// the folder is given; servers refuse to be root's. The command has a process group of
// its own: an interrupt on the terminal is for the tests.
func asUser(cmd *exec.Cmd, dir string, names ...string) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() != 0 {
		return nil
	}
	var errs []error
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return err
		}
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return os.Chown(dir, int(uid), int(gid))
	}
	return errors.Join(errs...)
}
