package sqlite

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/worker"
)

// linked reports whether files are open in children.
func linked() bool { return worker.Linked(Worker.Name) }

// killAfter is how long a child may take to see that its time is over.
const killAfter = 2 * time.Second

// remote is a file that is open in children, one a connection.
type remote struct {
	path    string
	options sqltool.Options
	slots   chan struct{} // one a child that is in use
	warned  sync.Once

	mu     sync.Mutex
	idle   []*worker.Process
	closed bool
}

// openRemote opens a file in a first child.
func openRemote(ctx context.Context, path string, o sqltool.Options) (*remote, error) {
	r := &remote{path: path, options: o, slots: make(chan struct{}, o.MaxConns)}
	p, err := r.acquire(ctx)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.release(p)
	return r, nil
}

// warn logs entries of the list that there is nothing of yet.
func warn(ctx context.Context, missing []string) {
	for _, entry := range missing {
		slog.WarnContext(ctx, "sqltool: there is no such table yet", "entry", entry)
	}
}

// A remoteError is an error of a child's.
type remoteError struct {
	problem sqltool.Problem
	text    string
}

func (e *remoteError) Error() string { return e.text }

// acquire waits for a child, or starts one.
func (r *remote) acquire(ctx context.Context) (*worker.Process, error) {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p := r.takeIdle(); p != nil {
		return p, nil
	}
	p, err := worker.Start(ctx, Worker)
	if err == nil {
		var opened *reply
		if opened, err = call(ctx, p, &request{Op: opOpen, Path: r.path, Options: r.options}); err != nil {
			err = errors.Join(err, p.Close())
		} else {
			r.warned.Do(func() { warn(ctx, opened.Names) })
		}
	}
	if err != nil {
		<-r.slots
		return nil, err
	}
	return p, nil
}

func (r *remote) takeIdle() *worker.Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.idle) > 0 {
		p := r.idle[len(r.idle)-1]
		r.idle = r.idle[:len(r.idle)-1]
		select {
		case <-p.Ended():
		default:
			return p
		}
	}
	return nil
}

// release gives a child back, unless it has ended.
func (r *remote) release(p *worker.Process) {
	defer func() { <-r.slots }()
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-p.Ended():
		return
	default:
	}
	if r.closed {
		_ = p.Close() // it has nothing open that is not closed so
		return
	}
	r.idle = append(r.idle, p)
}

// call asks a child. One that doesn't end with its time is killed, and one whose caller has
// gone.
func call(ctx context.Context, p *worker.Process, q *request) (*reply, error) {
	if deadline, ok := ctx.Deadline(); ok {
		q.Within = max(time.Until(deadline), time.Millisecond)
	}
	raw, err := encode(q)
	if err != nil {
		return nil, err
	}
	alive, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			time.AfterFunc(killAfter, kill)
		} else {
			kill()
		}
	})
	defer stop()
	answer, err := p.Call(alive, raw)
	if err != nil {
		return nil, ended(ctx, err)
	}
	r := new(reply)
	if err := gob.NewDecoder(bytes.NewReader(answer)).Decode(r); err != nil {
		return nil, err
	}
	if r.Problem != nil {
		return nil, &remoteError{*r.Problem, r.Failed}
	}
	if r.Failed != "" {
		return nil, errors.New(r.Failed)
	}
	return r, nil
}

// ended is the error of a child that has ended: killed in the end of its time, or crashed.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, ok := errors.AsType[*worker.EndedError](err); ok {
		return errors.Join(errTooComplex, err)
	}
	return err
}

// Guard implements [sqltool.Engine].
func (r *remote) Guard(ctx context.Context, sql string) (sqltool.Statement, error) {
	p, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := call(ctx, p, &request{Op: opGuard, SQL: sql})
	if err != nil {
		r.release(p)
		return nil, err
	}
	return &remoteStatement{r, p, answer.Verdict}, nil
}

// Relations implements [sqltool.Engine].
func (r *remote) Relations(ctx context.Context, page sqltool.Page) ([]sqltool.Relation, error) {
	answer, err := r.ask(ctx, &request{Op: opRelations, Page: page})
	if err != nil {
		return nil, err
	}
	return answer.Relations, nil
}

// Triggered implements [sqltool.Engine].
func (r *remote) Triggered(ctx context.Context) ([]string, error) {
	answer, err := r.ask(ctx, &request{Op: opTriggered})
	if err != nil {
		return nil, err
	}
	return answer.Names, nil
}

// Schema implements [sqltool.Engine].
func (r *remote) Schema(ctx context.Context, name string) (*sqltool.Schema, error) {
	answer, err := r.ask(ctx, &request{Op: opSchema, Name: name})
	if err != nil {
		return nil, err
	}
	return answer.Schema, nil
}

func (r *remote) ask(ctx context.Context, q *request) (*reply, error) {
	p, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer r.release(p)
	return call(ctx, p, q)
}

// Classify implements [sqltool.Engine].
func (r *remote) Classify(err error) sqltool.Problem {
	if e, ok := errors.AsType[*remoteError](err); ok {
		return e.problem
	}
	return new(engine).Classify(err)
}

// Close implements [sqltool.Engine].
func (r *remote) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	var errs []error
	for _, p := range r.idle {
		errs = append(errs, p.Close())
	}
	r.idle = nil
	return errors.Join(errs...)
}

// remoteStatement is one that has passed, in the child that it holds.
type remoteStatement struct {
	remote  *remote
	p       *worker.Process
	verdict *sqltool.Verdict
}

// Verdict implements [sqltool.Statement].
func (s *remoteStatement) Verdict() *sqltool.Verdict { return s.verdict }

// Describe implements [sqltool.Statement].
func (s *remoteStatement) Describe(ctx context.Context) ([]sqltool.Column, int, error) {
	answer, err := call(ctx, s.p, &request{Op: opDescribe})
	if err != nil {
		return nil, 0, err
	}
	return answer.Columns, answer.Params, nil
}

// Query implements [sqltool.Statement].
func (s *remoteStatement) Query(ctx context.Context, params []sqltool.Param, sink sqltool.RowSink) (affected int64, err error) {
	q := &request{Op: opQuery}
	for _, p := range params {
		q.Params = append(q.Params, p.JSON)
	}
	answer, err := call(ctx, s.p, q)
	if err != nil {
		return 0, err
	}
	rows := answer.Rows
	if rows == nil {
		return answer.Affected, nil
	}
	w := sink(rows.Columns)
	for _, note := range rows.Notes {
		w.Note(note)
	}
	for _, row := range rows.Rows {
		if !w.Row(row...) {
			return answer.Affected, nil
		}
	}
	if rows.Cut >= 0 {
		w.TooLarge(rows.Cut)
	}
	return answer.Affected, nil
}

// Close implements [sqltool.Statement].
func (s *remoteStatement) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), killAfter)
	defer cancel()
	_, err := call(ctx, s.p, &request{Op: opClose})
	s.remote.release(s.p)
	if _, crashed := errors.AsType[*worker.EndedError](err); crashed || errors.Is(err, context.DeadlineExceeded) {
		return nil // it was said before, and all that it had is gone
	}
	return err
}
