package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// A Process is a child. It serves one request at a time; it is safe for concurrent use.
type Process struct {
	kind    *Kind
	cmd     *exec.Cmd
	in      *os.File // requests
	out     *os.File // replies
	stderr  *said
	turn    chan struct{}
	ended   chan struct{} // closed once the child has
	release chan struct{} // closed to let the thread go that the child depends on

	mu     sync.Mutex
	killed error // why
}

// An EndedError says that a child has ended, and how: it crashed, was killed, or was
// stopped. Another one can be started.
type EndedError struct {
	Kind string
	Err  error // how it ended; what it said last
}

// Error says how it ended.
func (e *EndedError) Error() string {
	return "the child process " + e.Kind + " has ended: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *EndedError) Unwrap() error { return e.Err }

// A RefusedError is an error of [Kind.Serve], or of [Kind.Start], as text. The child
// serves on after the former.
type RefusedError struct{ Message string }

// Error returns the text.
func (e *RefusedError) Error() string { return e.Message }

// Start starts a child, and waits until it serves, or ctx ends.
func Start(ctx context.Context, k Kind) (*Process, error) {
	if !named(k.Name) {
		return nil, &NotLinkedError{k.Name}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := self()
	if err != nil {
		return nil, err
	}
	p := &Process{kind: &k, stderr: &said{}, turn: make(chan struct{}, 1), ended: make(chan struct{}), release: make(chan struct{})}
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), in.Close())
	}
	p.in, p.out = in, out
	p.cmd = exec.Command(path) //nolint:noctx,gosec // it lives longer than the call that starts it; the path is this program's
	p.cmd.Env = []string{kindVariable + "=" + k.Name, "TMPDIR=" + os.TempDir()}
	p.cmd.Dir = os.TempDir()
	p.cmd.ExtraFiles = []*os.File{childIn, childOut} // requests, replies
	p.cmd.Stderr = p.stderr
	separate(p.cmd)
	started := make(chan error, 1)
	go p.live(started)
	err = errors.Join(<-started, childIn.Close(), childOut.Close())
	if err != nil {
		close(p.release)
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	if _, err := p.receive(ctx); err != nil {
		p.kill(err)
		<-p.ended
		return nil, err
	}
	return p, nil
}

// live starts the child on a thread that lives as long as it: the system kills the child
// when the thread that started it ends.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	err = p.cmd.Wait()
	killGroup(p.cmd.Process) // what it has started holds its pipes
	p.mu.Lock()
	if p.killed == nil {
		if err == nil {
			err = errors.New("it ended by itself")
		}
		if said := p.stderr.String(); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		p.killed = err
	}
	p.mu.Unlock()
	close(p.ended)
	_ = p.in.Close() // nobody is at the other end; what it has written last is still to be read
}

// Call sends a request and returns the reply. If ctx ends first the child is killed: what
// it does can't be stopped in another way. An error that isn't a [RefusedError] means that
// the child has ended.
func (p *Process) Call(ctx context.Context, request []byte) ([]byte, error) {
	if len(request) > p.kind.maxFrame() {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", errTooLong, len(request), p.kind.maxFrame())
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-p.ended:
		return nil, p.how()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	stop := context.AfterFunc(ctx, func() { p.kill(context.Cause(ctx)) }) // writing waits where the child doesn't read
	defer stop()
	if err := writeFrame(p.in, request, p.kind.maxFrame()); err != nil {
		p.kill(err)
		<-p.ended
		return nil, p.how()
	}
	return p.receive(ctx)
}

// receive reads one reply.
func (p *Process) receive(ctx context.Context) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { p.kill(context.Cause(ctx)) })
	defer stop()
	frame, err := readFrame(p.out, p.kind.maxFrame())
	if err != nil || len(frame) == 0 {
		if err == nil || errors.Is(err, errTooLong) {
			p.kill(errors.Join(err, errors.New("its reply makes no sense")))
		}
		<-p.ended // it closes its end of the pipe by ending
		_ = p.out.Close()
		return nil, p.how()
	}
	if frame[0] == failed {
		return nil, &RefusedError{string(frame[1:])}
	}
	return frame[1:], nil
}

// how is the error of a child that has ended.
func (p *Process) how() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &EndedError{p.kind.Name, p.killed}
}

// kill ends the child and what it has started.
func (p *Process) kill(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.ended:
		return
	default:
	}
	if p.killed == nil {
		p.killed = why
	}
	killGroup(p.cmd.Process)
}

// PID is the child's process number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// CPUTime is how long the processors have worked for the child since it was started; false
// where the system doesn't say.
func (p *Process) CPUTime() (time.Duration, bool) { return cpuTime(p.cmd.Process) }

// Ended is closed once the child has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Close ends the child and waits for that.
func (p *Process) Close() error {
	p.kill(errors.New("it was closed"))
	<-p.ended
	_ = p.out.Close() // it may be closed
	return nil
}

// said keeps the beginning of what a child says: of a crash, what it was.
type said struct {
	mu   sync.Mutex
	text []byte
}

// maxSaid is how much of it.
const maxSaid = 2 << 10

func (t *said) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[:min(len(b), maxSaid-len(t.text))]...)
	return len(b), nil
}

func (t *said) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
