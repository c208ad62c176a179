package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// backend is the server's side of a connection.
type backend struct {
	pid, start string
	closed     time.Time // our side
}

const backendSQL = "SELECT json_build_array(pid::text, backend_start::text)::text FROM pg_stat_activity WHERE pid = pg_backend_pid()"

// know asks a connection that is new who is on the other side.
func know(ctx context.Context, c *pgx.Conn) error {
	var raw []byte
	if err := c.QueryRow(ctx, backendSQL).Scan(&raw); err != nil {
		return err
	}
	var b []string
	if err := decode(raw, &b); err != nil {
		return err
	}
	c.PgConn().CustomData()[backendSQL] = backend{pid: b[0], start: b[1]}
	return nil
}

// deaf are backends whose connections were closed, and which may work on: a few functions
// of the server's, such as xpath, never look whether they are to stop.
type deaf struct {
	mu  sync.Mutex
	all []backend
}

func (d *deaf) add(c *pgconn.PgConn) {
	if b, ok := c.CustomData()[backendSQL].(backend); ok {
		b.closed = time.Now()
		d.mu.Lock()
		d.all = append(d.all, b)
		d.mu.Unlock()
	}
}

// errDeaf says that what was to stop takes all that there is.
var errDeaf = errors.New("statements that were to stop still work in the server")

const aliveSQL = `SELECT coalesce(json_agg(json_build_array(a.pid::text, a.backend_start::text)), '[]')::text FROM pg_stat_activity a
	JOIN unnest($1::int[], $2::timestamptz[]) AS b(pid, start) ON a.pid = b.pid AND a.backend_start = b.start`

// check forgets those that have ended, and refuses to begin more while there are as many
// as there may be connections.
func (d *deaf) check(ctx context.Context, s *session, most int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.all) == 0 {
		return nil
	}
	pids, starts := make([]string, len(d.all)), make([]string, len(d.all))
	for i, b := range d.all {
		pids[i], starts[i] = b.pid, b.start
	}
	raw, err := s.own(ctx, aliveSQL, arrayLiteral(pids), arrayLiteral(starts))
	if err != nil {
		return err
	}
	var alive [][]string
	if err := decode(raw, &alive); err != nil {
		return err
	}
	d.all = slices.DeleteFunc(d.all, func(b backend) bool {
		return !slices.ContainsFunc(alive, func(a []string) bool { return a[0] == b.pid && a[1] == b.start })
	})
	late := 0
	for _, b := range d.all {
		if time.Since(b.closed) > endWithin { // others are about to end
			late++
		}
	}
	if late >= most {
		return errDeaf
	}
	return nil
}
