package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxFrame = 4 << 20         // bytes of one message
	drain    = 5 * time.Second // for running calls after the end of input
	lastWait = time.Second     // after their contexts were cancelled
)

// ServeStdio serves one client on standard input and output until the input
// ends or ctx does. Calls that are running then get five seconds and are
// answered. Nothing else may use the two files: what is printed meanwhile goes
// to standard error.
func (s *Server) ServeStdio(ctx context.Context) error {
	in, out, err := takeStdio()
	if err != nil {
		return fmt.Errorf("mcpserver: take over standard input and output: %w", err)
	}
	return s.serve(ctx, in, out)
}

// serve serves one client on a pair of streams.
func (s *Server) serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	sdk, err := s.start(ctx)
	if err != nil {
		return err
	}
	run, err := s.newRun(ctx)
	if err != nil {
		return err
	}
	defer run.Close()
	if _, err := run.Step(ctx); err != nil {
		return err
	}
	// Calls outlive ctx for the time of the drain: the transport ends them.
	calls := context.WithValue(context.WithoutCancel(ctx), connectionKey{}, newConnection(run))
	t := newLineTransport(in, out)
	stop := context.AfterFunc(ctx, t.endInput)
	defer stop()
	stopped := context.AfterFunc(s.done, t.endInput) //nolint:contextcheck // the server's own life
	defer stopped()
	session, err := sdk.Connect(calls, t, nil)
	if err != nil {
		return err
	}
	return waitFor(session, t)
}

// waitFor waits for a session to end, but after its input has ended no longer
// than its calls are given.
func waitFor(session *mcp.ServerSession, t *lineTransport) error {
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err := <-ended:
		return clean(err)
	case <-t.ended:
	}
	bound := time.NewTimer(drain + lastWait)
	defer bound.Stop()
	select {
	case err := <-ended:
		return clean(err)
	case <-t.drained:
	case <-bound.C:
		return nil // the client doesn't read what it asked for
	}
	select {
	case err := <-ended:
		return clean(err)
	case <-time.After(lastWait):
		return nil // a call ignores its context: the process is about to end
	}
}

// clean drops the errors that say that a connection ended as it should.
func clean(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	return err
}

// lineTransport is JSON-RPC, a message a line. Unlike the SDK's own it answers
// what came before the end of input, and survives a line that is no message.
type lineTransport struct {
	in      io.ReadCloser
	out     io.WriteCloser
	lines   chan []byte   // nil elements: a line that was too long
	ended   chan struct{} // input is over
	drained chan struct{} // and what was running is answered, or out of time
	endOnce sync.Once

	writing sync.Mutex // one message at a time; held while a client is slow to read

	mu      sync.Mutex
	pending map[jsonrpc.ID]bool // calls without an answer
	idle    chan struct{}       // closed when there are none after the end
}

func newLineTransport(in io.ReadCloser, out io.WriteCloser) *lineTransport {
	return &lineTransport{
		in: in, out: out, lines: make(chan []byte), ended: make(chan struct{}),
		drained: make(chan struct{}), idle: make(chan struct{}), pending: make(map[jsonrpc.ID]bool),
	}
}

// Connect implements [mcp.Transport].
func (t *lineTransport) Connect(context.Context) (mcp.Connection, error) {
	go t.pump()
	return t, nil
}

// SessionID implements [mcp.Connection]: there is one session only.
func (t *lineTransport) SessionID() string { return "" }

func (t *lineTransport) endInput() { t.endOnce.Do(func() { close(t.ended) }) }

// pump reads lines until the input ends.
func (t *lineTransport) pump() {
	defer t.endInput()
	r := bufio.NewReaderSize(t.in, 64<<10)
	for {
		line, err := readLine(r)
		if len(bytes.TrimSpace(line)) > 0 || line == nil {
			select {
			case t.lines <- line:
			case <-t.ended:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine returns the next line, or nil for one of more than maxFrame bytes,
// which is read to its end and dropped.
func readLine(r *bufio.Reader) ([]byte, error) {
	line := []byte{}
	for {
		part, err := r.ReadSlice('\n')
		if line != nil {
			if line = append(line, part...); len(line) > maxFrame {
				line = nil
			}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Read implements [mcp.Connection].
func (t *lineTransport) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case line := <-t.lines:
			if m, ok := t.decode(line); ok {
				return m, nil
			}
		case <-t.ended:
			t.drainCalls()
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// decode answers what is no message itself; the SDK would end the connection.
// It answers aside: reading must not wait for a client that doesn't read.
func (t *lineTransport) decode(line []byte) (jsonrpc.Message, bool) {
	if line == nil {
		go t.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is larger than %d bytes", maxFrame))
		return nil, false
	}
	if !json.Valid(line) {
		go t.refuse(jsonrpc.CodeParseError, "the message is not valid JSON")
		return nil, false
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		go t.refuse(jsonrpc.CodeInvalidRequest, "the message is no JSON-RPC 2.0")
		return nil, false
	}
	r, ok := m.(*jsonrpc.Request)
	if !ok || !r.IsCall() {
		return m, true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending[r.ID] { // the SDK would drop it without a word
		go t.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the id %v belongs to a request that is not answered yet", r.ID.Raw()))
		return nil, false
	}
	t.pending[r.ID] = true
	return m, true
}

// refuse answers a line that can't be answered by its id.
func (t *lineTransport) refuse(code int64, message string) {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": message},
	})
	if err == nil {
		_ = t.writeLine(line) // a client that is gone ends the input too
	}
}

func (t *lineTransport) writeLine(line []byte) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	_, err := t.out.Write(append(line, '\n'))
	return err
}

// Write implements [mcp.Connection].
func (t *lineTransport) Write(_ context.Context, m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err == nil {
		err = t.writeLine(line)
	}
	if r, ok := m.(*jsonrpc.Response); ok {
		t.answered(r.ID)
	}
	return err
}

func (t *lineTransport) answered(id jsonrpc.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pending, id)
	t.closeIfIdle()
}

// closeIfIdle tells drainCalls that nothing is running. t.mu is held.
func (t *lineTransport) closeIfIdle() {
	select {
	case <-t.ended:
	default:
		return
	}
	if len(t.pending) == 0 {
		select {
		case <-t.idle:
		default:
			close(t.idle)
		}
	}
}

// drainCalls waits until what is running is answered, for a bounded time.
func (t *lineTransport) drainCalls() {
	t.mu.Lock()
	t.closeIfIdle()
	t.mu.Unlock()
	select {
	case <-t.idle:
	case <-time.After(drain):
	}
	close(t.drained)
}

// Close implements [mcp.Connection].
func (t *lineTransport) Close() error {
	t.endInput()
	return errors.Join(t.in.Close(), t.out.Close())
}
