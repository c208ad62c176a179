// Package worker runs a part of a program in a child process of its own binary: what
// can't be stopped, or can't be trusted with the program's memory, such as a parser of C
// code or an interpreter. A child that is stuck, or has grown too large, is killed, and
// the program lives.
//
// The program names the kinds of children that it has, first in main:
//
//	func main() {
//		worker.Main(postgres.Worker)
//		...
//	}
//
// In the program itself Main returns at once. In a child it serves the kind that the
// child was started for, and never returns. There is no registration by import: a program
// without the line is told to add it.
//
// # What a child has
//
// Standard output and error, a pipe to read requests from and one to write replies to.
// Every other descriptor of the program is closed before any code of the kind runs; the
// environment has TMPDIR and the kind, and nothing else, so that no secret of the
// program's is in it. It dumps no core. It is in a process group of its own, and dies
// with the program, however that ends.
//
// # Frames
//
// Requests and replies are frames: four bytes of length, big-endian, and as many bytes.
// One longer than the kind allows ends the child, from either side.
package worker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// A Kind is what a child can be.
type Kind struct {
	// Name tells it from others: it is in the child's environment.
	Name string

	// Serve answers one request, in the child. Its error is the parent's, as text.
	Serve func(ctx context.Context, request []byte) ([]byte, error)

	// MaxFrame is how many bytes a request or a reply may have; 0: 1 MiB.
	MaxFrame int

	// MaxMemory is how many bytes of address space the child may have; 0: no bound. Go
	// itself has about one GiB of it from the start.
	MaxMemory uint64

	// Start is called once in the child, before the first request; nil: nothing is.
	Start func() error
}

const defaultMaxFrame = 1 << 20

func (k *Kind) maxFrame() int {
	if k.MaxFrame == 0 {
		return defaultMaxFrame
	}
	return k.MaxFrame
}

// kindVariable names the kind in a child's environment.
const kindVariable = "TOOLGEN_WORKER"

var kinds struct {
	sync.Mutex

	names []string
}

// Main serves a kind in a child, and doesn't return there. In the program itself it notes
// the kinds, and returns. It panics if two kinds have one name.
func Main(all ...Kind) {
	asked := os.Getenv(kindVariable)
	for _, k := range all {
		if k.Name == asked {
			os.Exit(child(&k))
		}
	}
	if asked != "" {
		fmt.Fprintf(os.Stderr, "worker: this program has no kind %q\n", asked)
		os.Exit(exitNoKind)
	}
	kinds.Lock()
	defer kinds.Unlock()
	for _, k := range all {
		if k.Name == "" || slices.Contains(kinds.names, k.Name) {
			panic("worker: two kinds of children are called " + k.Name)
		}
		kinds.names = append(kinds.names, k.Name)
	}
}

// Linked reports whether the program can start children of a kind: whether its main has
// named it.
func Linked(name string) bool { return supported && named(name) }

func named(name string) bool {
	kinds.Lock()
	defer kinds.Unlock()
	return slices.Contains(kinds.names, name)
}

// A NotLinkedError says that the program's main lacks a line.
type NotLinkedError struct{ Kind string }

// Error says which.
func (e *NotLinkedError) Error() string {
	return "this needs a child process of kind " + e.Kind + ": write worker.Main, with that kind, as the first line of main"
}

// The codes that a child ends with.
const (
	exitNoKind = 120 + iota
	exitRestrict
	exitStart
	exitPipe
)

// The descriptors of a child's pipes.
const (
	requests = 3
	replies  = 4
)

// child serves requests until there are no more, and returns the process's code.
func child(k *Kind) int {
	if err := restrict(k); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		return exitRestrict
	}
	in, out := os.NewFile(requests, "requests"), os.NewFile(replies, "replies")
	if k.Start != nil {
		if err := k.Start(); err != nil {
			_ = writeFrame(out, append([]byte{failed}, err.Error()...), k.maxFrame()) // the parent is told, or is gone
			return exitStart
		}
	}
	if err := writeFrame(out, []byte{fine}, k.maxFrame()); err != nil {
		return exitPipe
	}
	for {
		request, err := readFrame(in, k.maxFrame())
		if errors.Is(err, io.EOF) {
			return 0
		}
		if err != nil {
			return exitPipe
		}
		reply, err := k.Serve(context.Background(), request)
		answer := append([]byte{fine}, reply...)
		if err != nil {
			answer = append([]byte{failed}, err.Error()...)
		}
		if err := writeFrame(out, answer, k.maxFrame()); err != nil {
			return exitPipe
		}
	}
}

// The first byte of a reply.
const (
	fine   = 0
	failed = 1
)

// errTooLong is a frame that is longer than a kind allows.
var errTooLong = errors.New("a frame is longer than its kind allows")

const frameHead = 4

func writeFrame(w io.Writer, frame []byte, most int) error {
	if len(frame) > most+1 {
		return fmt.Errorf("%w: %d bytes, the limit is %d", errTooLong, len(frame)-1, most)
	}
	out := binary.BigEndian.AppendUint32(make([]byte, 0, frameHead+len(frame)), uint32(len(frame))) //nolint:gosec // it is bounded
	_, err := w.Write(append(out, frame...))
	return err
}

func readFrame(r io.Reader, most int) ([]byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if uint64(n) > uint64(most)+1 { //nolint:gosec // it is positive
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", errTooLong, n, most)
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return frame, nil
}
