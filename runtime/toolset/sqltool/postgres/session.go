package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolgen/toolgen/runtime/connection"
)

// The bounds of connections.
const (
	endWithin   = 2 * time.Second  // of the server's work, once a call has ended
	pingAfter   = 30 * time.Second // idle
	lockTimeout = "2s"
	idleTimeout = "60s"     // within a transaction: a call does nothing for longer
	maxMessage  = 16 << 20  // bytes of a row
	application = "toolgen" // as the server shows it
)

// taken are the parameters of a connection's extra that are used; ignored are those of
// other clients that change nothing of what a session may do.
var (
	taken   = []string{"sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "application_name", "target_session_attrs"}
	ignored = []string{"cursor", "client_encoding", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count"}
)

// config makes the pool's configuration. Nothing of the environment's or of files is in
// it that a connection could have.
func (e *engine) config(c *connection.Connection) (*pgxpool.Config, error) {
	settings := map[string]string{
		"host": c.Host, "user": c.Login, "dbname": c.Schema, "password": c.Password.Reveal(), "passfile": os.DevNull,
		"port": "5432", "sslmode": "prefer", "application_name": application,
	}
	if c.Port != 0 {
		settings["port"] = strconv.Itoa(c.Port)
	}
	for name, v := range c.Extra {
		switch {
		case slices.Contains(taken, name):
			settings[name] = fmt.Sprint(v)
		case !slices.Contains(ignored, name):
			return nil, fmt.Errorf("the connection's extra has %s: want one of %s", name, strings.Join(taken, ", "))
		}
	}
	for _, name := range []string{"host", "user", "dbname"} {
		if settings[name] == "" {
			return nil, fmt.Errorf("the connection has no %s", map[string]string{"host": "host", "user": "login", "dbname": "schema, which is the database"}[name])
		}
	}
	var dsn strings.Builder
	for name, v := range settings {
		fmt.Fprintf(&dsn, "%s='%s' ", name, strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v))
	}
	config, err := pgxpool.ParseConfig(dsn.String())
	if err != nil {
		return nil, errors.New("the connection's parameters are wrong: " + withoutDSN(err))
	}
	config.MaxConns = int32(e.options.MaxConns) //nolint:gosec // it is bounded
	config.MaxConnIdleTime = 5 * time.Minute
	config.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool { return p.IdleDuration > pingAfter }
	config.AfterConnect = know
	e.configure(config.ConnConfig)
	return config, nil
}

// withoutDSN is what is wrong with parameters, without their values.
func withoutDSN(err error) string {
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
		err = cause
	}
	return err.Error()
}

// configure sets the parameters of a session at its start: what RESET returns to.
func (e *engine) configure(c *pgx.ConnConfig) {
	c.RuntimeParams = map[string]string{
		"application_name": c.RuntimeParams["application_name"], "search_path": e.path, "client_encoding": "UTF8",
		"standard_conforming_strings": "on", "lock_timeout": lockTimeout, "idle_in_transaction_session_timeout": idleTimeout,
		"timezone": "UTC", "datestyle": "ISO, YMD", "intervalstyle": "iso_8601", "bytea_output": "hex", "extra_float_digits": "1",
	}
	if !e.options.AllowWrites {
		c.RuntimeParams["default_transaction_read_only"] = "on"
	}
	c.StatementCacheCapacity, c.DescriptionCacheCapacity, c.DefaultQueryExecMode = 0, 0, pgx.QueryExecModeExec
	c.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: endWithin}
	}
	c.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(r, w)
		f.SetMaxBodyLen(maxMessage)
		return f
	}
}

// session is a transaction on a connection of the pool.
type session struct {
	engine *engine
	pooled *pgxpool.Conn
	conn   *pgconn.PgConn
	writes bool
}

// begin begins a transaction.
func (e *engine) begin(ctx context.Context, writes bool) (*session, error) {
	pooled, err := e.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{engine: e, pooled: pooled, conn: pooled.Conn().PgConn(), writes: writes}
	mode := "READ ONLY"
	if writes {
		mode = "READ WRITE"
	}
	limit := e.options.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = max(time.Until(deadline), time.Millisecond)
	}
	if err := s.do(ctx, fmt.Sprintf("BEGIN %s; SET LOCAL statement_timeout = %d; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL jit = off", mode, limit.Milliseconds()+1)); err != nil {
		if s.conn.IsClosed() { // the server has ended it, and so the others that are idle
			e.pool.Reset()
		}
		s.end(ctx)
		return nil, err
	}
	if err := e.deaf.check(ctx, s, e.options.MaxConns); err != nil {
		s.end(ctx)
		return nil, err
	}
	return s, nil
}

// do runs statements of ours, whose text is fixed.
func (s *session) do(ctx context.Context, sql string) error {
	_, err := s.conn.Exec(ctx, sql).ReadAll()
	return err
}

// own runs a query of ours, and returns its only value. It is prepared once a connection.
func (s *session) own(ctx context.Context, sql string, params ...[]byte) ([]byte, error) {
	name, known := s.conn.CustomData()[sql].(string)
	if !known {
		name = "toolgen_" + strconv.Itoa(len(s.conn.CustomData()))
		if _, err := s.conn.Prepare(ctx, name, sql, nil); err != nil {
			return nil, err
		}
		s.conn.CustomData()[sql] = name
	}
	result := s.conn.ExecPrepared(ctx, name, params, nil, nil).Read()
	switch {
	case result.Err != nil:
		return nil, result.Err
	case len(result.Rows) != 1 || len(result.Rows[0]) != 1:
		return nil, errors.New("the catalogue gives no answer")
	}
	return result.Rows[0][0], nil
}

// reset ends a transaction, and returns the session to its start. It is DISCARD ALL
// without what forgets prepared statements, which are ours only, and their plans.
const reset = "ROLLBACK; CLOSE ALL; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES"

// end gives the connection back, or closes it if it can't be made as it was. It is called
// once.
func (s *session) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	if !s.conn.IsClosed() {
		if err := s.do(ctx, reset); err != nil {
			_ = s.conn.Close(ctx) // it is of no use any more
		}
	}
	if s.conn.IsClosed() {
		s.engine.deaf.add(s.conn)
		s.pooled.Hijack() // the pool would wait for its end
		return
	}
	s.pooled.Release()
}

func decode(raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("the catalogue's answer: %w", err)
	}
	return nil
}

// quote writes a name in quotes.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
