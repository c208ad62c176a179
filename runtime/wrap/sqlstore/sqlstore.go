// Package sqlstore keeps the journals of runs in a database that a team already has:
// SQLite, PostgreSQL, MySQL or MariaDB, over whatever driver of database/sql the
// program links; this package links none.
//
//	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
//	...
//	run, err := registry.Start(ctx, runtime.Journal(sqlstore.PostgreSQL(db), runID, version))
//
// Two tables, toolgen_journal and toolgen_lease, are made at the first use where they
// aren't there; [SQLiteSchema], [PostgreSQLSchema] and [MySQLSchema] are what makes
// them, for those whose programs may not. Names aren't qualified: which schema or
// database they are in is the connection's business.
//
// # What a record is worth
//
// A record is committed, in a transaction of its own, before the call that it speaks of
// is made. On SQLite and PostgreSQL the commit is synced even where the connection's
// own settings are laxer (synchronous, synchronous_commit); on MySQL it is synced if
// the server says so (innodb_flush_log_at_trx_commit=1, the default), which no
// connection can change. A SQLite database in memory is refused.
//
// # Leases
//
// A run is its owner's until the lease runs out, by the clock of the database: after a
// process has died, another can go on with its run in 30 seconds. A commit whose
// confirmation is lost is no riddle: a record and a lease say whose they are, and are
// read back.
package sqlstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolgen/toolgen/runtime"
)

// SQLite keeps journals in a SQLite database, which is a file: 3.24 or newer. Processes
// of one machine can share it.
func SQLite(db *sql.DB) runtime.JournalStore { return newStore(db, sqlite) }

// PostgreSQL keeps journals in PostgreSQL 9.5 or newer.
func PostgreSQL(db *sql.DB) runtime.JournalStore { return newStore(db, postgres) }

// MySQL keeps journals in MySQL 5.7 or newer, or MariaDB 10.2 or newer.
func MySQL(db *sql.DB) runtime.JournalStore { return newStore(db, mysql) }

type store struct {
	db      *sql.DB
	dialect *dialect

	preparing chan struct{} // whoever looks whether the tables are there has put something in
	ready     atomic.Bool   // they are
}

func newStore(db *sql.DB, d *dialect) *store {
	return &store{db: db, dialect: d, preparing: make(chan struct{}, 1)}
}

// Get implements [runtime.JournalStore].
func (s *store) Get(ctx context.Context, run, key string) (record []byte, ok bool, err error) {
	err = s.with(ctx, func(conn *sql.Conn) error {
		err := conn.QueryRowContext(ctx, s.dialect.get, nameOf(run), key).Scan(&record)
		ok = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return record, ok, err
}

// Put implements [runtime.JournalStore].
func (s *store) Put(ctx context.Context, run, key string, record []byte) (kept bool, err error) {
	if err := checkKey(key); err != nil {
		return false, err
	}
	if record == nil {
		record = []byte{} // no NULL
	}
	mine := rand.Text()
	err = s.with(ctx, func(conn *sql.Conn) error {
		return s.commit(ctx, conn, s.dialect.put, nameOf(run), key, record, mine)
	})
	writer, read := s.word(ctx, s.dialect.writer, nameOf(run), key)
	switch {
	case writer == mine: // whatever became of the confirmation
		return true, nil
	case err != nil || read != nil:
		return false, errors.Join(err, read)
	}
	return false, nil
}

// List implements [runtime.JournalStore].
func (s *store) List(ctx context.Context, run string) (keys []string, err error) {
	err = s.with(ctx, func(conn *sql.Conn) (err error) {
		rows, err := conn.QueryContext(ctx, s.dialect.list, nameOf(run))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		for rows.Next() {
			var key string
			if err := rows.Scan(&key); err != nil {
				return err
			}
			keys = append(keys, key)
		}
		return rows.Err()
	})
	return keys, err
}

// Delete implements [runtime.JournalStore].
func (s *store) Delete(ctx context.Context, run string) error {
	return s.with(ctx, func(conn *sql.Conn) error { return s.commit(ctx, conn, s.dialect.remove, nameOf(run)) })
}

// Lease implements [runtime.JournalStore].
func (s *store) Lease(ctx context.Context, run, owner string, d time.Duration) error {
	if d <= 0 {
		return s.with(ctx, func(conn *sql.Conn) error { return s.commit(ctx, conn, s.dialect.release, nameOf(run), owner) })
	}
	seconds := min(int64(math.Ceil(d.Seconds())), longestLease)
	written := s.with(ctx, func(conn *sql.Conn) error { return s.commit(ctx, conn, s.dialect.lease, nameOf(run), owner, seconds) })
	var holder string
	var left int64
	err := s.with(ctx, func(conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, s.dialect.holder, nameOf(run)).Scan(&holder, &left)
	})
	switch {
	case err == nil && holder == owner && left >= seconds/2: // whatever became of the confirmation
		return nil
	case err == nil && holder != owner && left >= 0:
		return &runtime.RunHeldError{Run: run, Owner: holder}
	}
	return errors.Join(written, err)
}

// longestLease is a century, in seconds.
const longestLease = 100 * 365 * 24 * 60 * 60

// word reads one.
func (s *store) word(ctx context.Context, query string, args ...any) (word string, err error) {
	err = s.with(ctx, func(conn *sql.Conn) error { return conn.QueryRowContext(ctx, query, args...).Scan(&word) })
	return word, err
}

// with does something on a connection that is set as a journal needs it, once the
// tables are there.
func (s *store) with(ctx context.Context, do func(*sql.Conn) error) (err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if s.dialect.set != nil {
		restore, err := s.dialect.set(ctx, conn)
		if err != nil {
			return err
		}
		defer restore()
	}
	if err := s.prepare(ctx, conn); err != nil {
		return err
	}
	return do(conn)
}

// commit writes in a transaction of its own, durably.
func (s *store) commit(ctx context.Context, conn *sql.Conn, statement string, args ...any) error {
	tx, err := conn.BeginTx(ctx, s.dialect.isolation)
	if err != nil {
		return err
	}
	if s.dialect.synced != "" {
		if _, err := tx.ExecContext(ctx, s.dialect.synced); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// prepare makes the tables if they aren't there, once.
func (s *store) prepare(ctx context.Context, conn *sql.Conn) error {
	if s.ready.Load() {
		return nil
	}
	select {
	case s.preparing <- struct{}{}:
		defer func() { <-s.preparing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.dialect.check != nil {
		if err := s.dialect.check(ctx, conn); err != nil {
			return err
		}
	}
	if s.there(ctx, conn) != nil {
		var errs []error
		for _, statement := range s.dialect.schema {
			errs = append(errs, s.commit(ctx, conn, statement))
		}
		if err := s.there(ctx, conn); err != nil { // else another was faster
			return fmt.Errorf("the journal's tables can't be made: %w", errors.Join(append(errs, err)...))
		}
	}
	s.ready.Store(true)
	return nil
}

// there fails if a table isn't.
func (s *store) there(ctx context.Context, conn *sql.Conn) error {
	for _, table := range []string{"toolgen_journal", "toolgen_lease"} {
		var n int
		if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM "+table+" WHERE run = ''").Scan(&n); err != nil {
			return err
		}
	}
	return nil
}

// Names of runs and keys are of at most this many bytes in the database, printable
// ASCII: one that is compared alike by every collation.
const maxName = 190

// nameOf is what a run is called in the database: its name, where every database can
// hold that, else the hash of it.
func nameOf(run string) string {
	if run != "" && len(run) <= maxName && !strings.ContainsFunc(run, func(r rune) bool { return r <= ' ' || r > '~' }) && !strings.HasPrefix(run, "sha256:") {
		return run
	}
	sum := sha256.Sum256([]byte(run))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func checkKey(key string) error {
	if key == "" || len(key) > maxName || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New(strconv.Quote(key) + " is no key of a record: want up to " + strconv.Itoa(maxName) + " printable characters")
	}
	return nil
}
