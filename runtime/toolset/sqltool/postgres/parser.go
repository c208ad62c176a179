package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasilibs/go-pgquery/parser"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/worker"
)

// Worker is the child process that PostgreSQL's parser runs in, if the first line of main
// is worker.Main(postgres.Worker). One statement can break the parser for all that come
// after it; a child that has seen one is replaced. Two are started with the first toolset,
// the second to be there when the first has ended; each takes 2 seconds of a processor to
// start, and 265 MB. With the build tag pgquery_cgo it is PostgreSQL's C, compiled by cgo,
// which starts at once and needs less. A program without the line has the parser in its
// own process, where a statement that breaks it ends the toolset's service.
var Worker = worker.Kind{Name: "postgres", Serve: serve, Start: warm, MaxFrame: maxTree}

const (
	maxTree   = 64 << 20        // bytes of a tree
	maxCPU    = time.Second     // of one statement
	maxWait   = 2 * time.Minute // for a child to start, on a machine that is busy
	maxGrowth = 64 << 10        // KiB of a child's memory
)

// errTooComplex is said of what the parser couldn't read in its bounds.
func errTooComplex() error {
	return sqltool.Refuse("the statement is too complex to check: write it simpler, or as several")
}

// A syntaxError is what the parser finds wrong in a text.
type syntaxError struct {
	message string
	at      int // character, from 1; 0: unknown
	sql     string
}

func (e *syntaxError) Error() string { return e.message }

// The answers of a child: what its first byte says.
const (
	isTree = iota
	isSyntaxError
)

// serve reads a statement, in a child. Its answer says whether the child has grown too
// large. A panic ends the child.
func serve(_ context.Context, sql []byte) ([]byte, error) {
	tree, err := parse(string(sql))
	answer := []byte{isTree, 0}
	if peak()-atStart > maxGrowth {
		answer[1] = 1
	}
	if err != nil {
		wrong, ok := errors.AsType[*syntaxError](err)
		if !ok {
			return nil, err
		}
		answer[0] = isSyntaxError
		return append(binary.AppendUvarint(answer, uint64(wrong.at)), wrong.message...), nil //nolint:gosec // it is positive
	}
	return append(answer, tree...), nil
}

func parse(sql string) ([]byte, error) {
	tree, err := parser.ParseToProtobuf(sql)
	if e, ok := errors.AsType[*parser.Error](err); ok {
		return nil, &syntaxError{e.Message, max(e.Cursorpos, 0), sql}
	}
	return tree, err
}

var atStart int64 // what a child has needed to start, in KiB

// warm compiles the parser, before the first statement comes.
func warm() error {
	_, err := parse("SELECT 1")
	atStart = peak()
	return err
}

// parsers are the children of the program, or the parser in it, for all its toolsets.
var parsers pool

// pool has the child that is in use and a spare one.
type pool struct {
	mu     sync.Mutex
	users  int
	turn   chan struct{} // one statement at a time
	child  *child
	spare  *child
	ending *time.Timer // of the children
	broken atomic.Bool // the parser in this process
}

// child is one that is started, or is starting.
type child struct {
	ready   chan struct{} // closed once the others are set
	process *worker.Process
	err     error
}

func newChild() *child {
	c := &child{ready: make(chan struct{})}
	go func() {
		defer close(c.ready)
		ctx, cancel := context.WithTimeout(context.Background(), maxWait)
		defer cancel()
		c.process, c.err = worker.Start(ctx, Worker)
	}()
	return c
}

func (c *child) close() {
	<-c.ready
	if c.process != nil {
		_ = c.process.Close()
	}
}

// linked reports whether there are children.
func linked() bool { return worker.Linked(Worker.Name) }

// open starts what is needed, for one more toolset. Nobody waits for it.
func (p *pool) open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.turn == nil {
		p.turn = make(chan struct{}, 1)
	}
	p.users++
	if p.ending != nil {
		p.ending.Stop()
	}
	if p.child == nil && linked() {
		p.child, p.spare = newChild(), newChild()
	}
}

// linger is how long the children stay when the last toolset is closed: one that is opened
// again, because its server was away, is not to start them each time.
const linger = time.Minute

// close ends the children some time after the last toolset, if none is opened again.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users--; p.users == 0 && p.child != nil {
		p.ending = time.AfterFunc(linger, p.end)
	}
}

func (p *pool) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users > 0 || p.child == nil {
		return
	}
	for _, c := range []*child{p.child, p.spare} {
		go c.close() // one that is starting is waited for
	}
	p.child, p.spare = nil, nil
}

// replace puts the spare child in a child's place.
func (p *pool) replace(old *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child == old {
		p.child, p.spare = p.spare, newChild()
	}
	go old.close()
}

// parse returns the tree of a statement. Its error is a syntaxError, a refusal, or one of
// the host's.
func (p *pool) parse(ctx context.Context, sql string) (*node, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var raw []byte
	var err error
	if linked() {
		raw, err = p.inChild(ctx, sql)
	} else {
		raw, err = p.inProcess(sql)
	}
	if err != nil {
		return nil, err
	}
	return readTree(raw)
}

func (p *pool) inChild(ctx context.Context, sql string) ([]byte, error) {
	p.mu.Lock()
	c := p.child
	p.mu.Unlock()
	if c == nil {
		return nil, errors.New("the toolset is closed")
	}
	select {
	case <-c.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.err != nil {
		p.replace(c) //nolint:contextcheck // children live longer than a call
		return nil, fmt.Errorf("PostgreSQL's parser doesn't start: %w", c.err)
	}
	bounded, cancel := context.WithCancelCause(ctx)
	stop := bound(c.process, func() { cancel(errBusy) })
	answer, err := c.process.Call(bounded, []byte(sql))
	stop()
	cancel(nil)
	if err != nil {
		p.replace(c) //nolint:contextcheck // see above
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errTooComplex()
	}
	return p.answer(c, answer, sql) //nolint:contextcheck // see above
}

// answer reads what a child has answered.
func (p *pool) answer(c *child, answer []byte, sql string) ([]byte, error) {
	const head = 2
	if len(answer) < head {
		p.replace(c)
		return nil, errTooComplex()
	}
	if answer[1] != 0 {
		p.replace(c)
	}
	rest := answer[head:]
	if answer[0] == isTree {
		return rest, nil
	}
	at, size := binary.Uvarint(rest)
	if size <= 0 {
		return nil, errTooComplex()
	}
	return nil, &syntaxError{string(rest[size:]), int(at), sql} //nolint:gosec // it is a place in a short text
}

var errBusy = errors.New("it has taken too long")

// bound calls a function when a child has worked for maxCPU; stop ends that. A child that
// has to wait for a processor has more time by the clock. The child is asked how long it
// has worked only when half of the time is over, since that costs more than most parses.
func bound(c *worker.Process, do func()) (stop func()) {
	const half = maxCPU / 2
	ended := make(chan struct{})
	timer := time.AfterFunc(half, func() {
		before, known := c.CPUTime()
		for {
			select {
			case <-ended:
				return
			case <-time.After(half):
			}
			if now, ok := c.CPUTime(); !ok || !known || now-before >= half {
				do()
				return
			}
		}
	})
	return func() {
		timer.Stop()
		close(ended)
	}
}

// inProcess reads a statement in this process. What breaks the parser there breaks it for
// good.
func (p *pool) inProcess(sql string) (tree []byte, err error) {
	if p.broken.Load() {
		return nil, errors.New("PostgreSQL's parser in this process was broken by a statement: restart the program, and make worker.Main(postgres.Worker) the first line of main, so that it runs in a process of its own")
	}
	defer func() {
		if v := recover(); v != nil {
			p.broken.Store(true)
			tree, err = nil, errTooComplex()
		}
	}()
	return parse(sql)
}
