package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolgen/toolgen/runtime/worker"
)

// echo is a child that does what it is told.
var echo = worker.Kind{Name: "echo", MaxFrame: 1 << 16, Serve: func(_ context.Context, request []byte) ([]byte, error) {
	verb, rest, _ := strings.Cut(string(request), " ")
	switch verb {
	case "say":
		return []byte(rest), nil
	case "refuse":
		return nil, errors.New(rest)
	case "environment":
		return []byte(strings.Join(os.Environ(), "\n")), nil
	case "descriptors":
		return descriptors()
	case "hang":
		for {
			time.Sleep(time.Hour)
		}
	case "crash":
		panic(rest)
	case "exit":
		os.Exit(7)
	case "long":
		n, err := strconv.Atoi(rest)
		return make([]byte, n), err
	case "child":
		cmd := exec.CommandContext(context.Background(), "/bin/sleep", "1000")
		err := cmd.Start()
		return []byte(strconv.Itoa(cmd.Process.Pid)), err
	case "core":
		var limit syscall.Rlimit
		err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit)
		return []byte(fmt.Sprint(limit.Cur, limit.Max)), err
	}
	return nil, errors.New("unknown verb")
}}

var (
	failing = worker.Kind{Name: "failing", Start: func() error { return errors.New("no engine") }, Serve: echo.Serve}
	small   = worker.Kind{Name: "small", MaxMemory: 4 << 30, Serve: func(context.Context, []byte) ([]byte, error) {
		big := make([]byte, 32<<30)
		for i := range big {
			big[i] = 1
		}
		return big[:1], nil
	}}
)

// descriptors are the numbers of those that are open, and what they are.
func descriptors() ([]byte, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	var all []string
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && !strings.Contains(target, "/proc/") {
			all = append(all, e.Name()+" "+target)
		}
	}
	return []byte(strings.Join(all, "\n")), err
}

func TestMain(m *testing.M) {
	worker.Main(echo, failing, small)
	os.Exit(m.Run())
}

func start(t *testing.T, k worker.Kind) *worker.Process {
	t.Helper()
	p, err := worker.Start(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// gone reports whether a process has ended.
func gone(pid int) bool {
	for range 500 {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(data), ") Z ") {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func TestW1Calls(t *testing.T) {
	t.Parallel()
	p := start(t, echo)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			want := strings.Repeat("x", i*100)
			if got, err := p.Call(t.Context(), []byte("say "+want)); err != nil || string(got) != want {
				t.Errorf("%d: %d bytes, %v", i, len(got), err)
			}
		})
	}
	wg.Wait()
	if _, err := p.Call(t.Context(), []byte("refuse no\nsuch thing")); err == nil || err.Error() != "no\nsuch thing" {
		t.Errorf("%v", err)
	}
	if _, ok := errors.AsType[*worker.RefusedError](func() error { _, err := p.Call(t.Context(), []byte("nope")); return err }()); !ok {
		t.Error("an error of Serve is none of its kind")
	}
	if got, err := p.Call(t.Context(), []byte("say on")); err != nil || string(got) != "on" {
		t.Errorf("after an error: %s, %v", got, err)
	}
}

// TestW1Restricted plants a variable and a descriptor: a child sees neither.
func TestW1Restricted(t *testing.T) {
	t.Setenv("PLANTED_SECRET", "hunter2")
	planted, err := os.Create(filepath.Join(t.TempDir(), "planted"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, planted.Fd(), syscall.F_SETFD, 0); errno != 0 { // it stays open over exec
		t.Fatal(errno)
	}
	p := start(t, echo)
	environment, err := p.Call(t.Context(), []byte("environment"))
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Split(string(environment), "\n")
	slices.Sort(names)
	if len(names) != 2 || !strings.HasPrefix(names[0], "TMPDIR=") || names[1] != "TOOLGEN_WORKER=echo" {
		t.Errorf("%q", names)
	}
	open, err := p.Call(t.Context(), []byte("descriptors"))
	if err != nil || bytes.Contains(open, []byte("planted")) {
		t.Errorf("%s, %v", open, err)
	}
	if core, err := p.Call(t.Context(), []byte("core")); err != nil || string(core) != "0 0" {
		t.Errorf("%s, %v", core, err)
	}
	if err := planted.Close(); err != nil {
		t.Error(err)
	}
}

// TestW1Ends has children that hang, crash, exit, and send too much: each ends, says how,
// and leaves nothing; another one can be started.
func TestW1Ends(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"hang":        "context deadline exceeded",
		"crash so":    "panic: so",
		"exit":        "exit status 7",
		"long 100000": "exit status 123",
		"long 65537":  "exit status 123",
	} {
		p := start(t, echo)
		ctx := t.Context()
		if request == "hang" {
			var cancel func()
			ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
			defer cancel()
		}
		_, err := p.Call(ctx, []byte(request))
		ended, ok := errors.AsType[*worker.EndedError](err)
		if !ok || !strings.Contains(err.Error(), want) || ended.Kind != "echo" {
			t.Errorf("%s: %v, want %s", request, err, want)
		}
		if !gone(p.PID()) {
			t.Errorf("%s: it lives", request)
		}
		if _, err := p.Call(t.Context(), []byte("say x")); err == nil {
			t.Errorf("%s: it serves on", request)
		}
	}
	p := start(t, echo)
	if _, err := p.Call(t.Context(), make([]byte, 1<<16+1)); err == nil || !strings.Contains(err.Error(), "longer than its kind allows") {
		t.Errorf("a request that is too long: %v", err)
	}
	if got, err := p.Call(t.Context(), []byte("say still here")); err != nil || string(got) != "still here" {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := p.Call(t.Context(), []byte("long 65536")); err != nil || len(got) != 65536 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	grandchild, err := p.Call(t.Context(), []byte("child"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	if pid, _ := strconv.Atoi(string(grandchild)); !gone(pid) {
		t.Error("what a child has started lives")
	}
}

func TestW1Memory(t *testing.T) {
	t.Parallel()
	p, err := worker.Start(t.Context(), small)
	if err == nil { // with the race detector it has more already
		_, err = p.Call(t.Context(), []byte("x"))
		_ = p.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "out of memory") && !strings.Contains(err.Error(), "cannot allocate") && !strings.Contains(err.Error(), "address space") {
		t.Errorf("%.300v", err)
	}
}

func TestW1Start(t *testing.T) {
	t.Parallel()
	if _, err := worker.Start(t.Context(), failing); err == nil || err.Error() != "no engine" {
		t.Errorf("%v", err)
	}
	_, err := worker.Start(t.Context(), worker.Kind{Name: "other"})
	if _, ok := errors.AsType[*worker.NotLinkedError](err); !ok || !strings.Contains(err.Error(), "write worker.Main, with that kind, as the first line of main") {
		t.Errorf("%v", err)
	}
	if !worker.Linked("echo") || worker.Linked("other") {
		t.Error("kinds that are linked aren't, or the other way round")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := worker.Start(ctx, echo); err == nil {
		t.Error("a start that nobody waits for succeeds")
	}
}

// TestW1DiesWithTheProgram kills a program that has a child: the child ends.
func TestW1DiesWithTheProgram(t *testing.T) {
	t.Parallel()
	if os.Getenv("TOOLGEN_TEST_PARENT") != "" {
		p := start(t, echo)
		fmt.Println("child", p.PID())
		select {}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.CommandContext(t.Context(), self, "-test.run=^TestW1DiesWithTheProgram$")
	parent.Env = append(os.Environ(), "TOOLGEN_TEST_PARENT=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	if _, err := fmt.Fscanf(out, "child %d\n", &pid); err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	if !gone(pid) {
		t.Error("the child lives on")
	}
}
