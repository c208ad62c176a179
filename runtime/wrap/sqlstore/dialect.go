package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A dialect is what the databases don't have in common.
type dialect struct {
	schema []string

	get, put, writer, list, remove string // of records
	lease, holder, release         string

	isolation *sql.TxOptions
	synced    string // makes the transaction that it is in durable

	// set makes a connection's transactions durable and patient until restore.
	set func(ctx context.Context, conn *sql.Conn) (restore func(), err error)

	// check fails where nothing that is written stays.
	check func(ctx context.Context, conn *sql.Conn) error
}

// What all have in common. Columns of text hold ASCII. A record's writer is a word that
// no other has, an owner the name of a process; expires is in seconds of Unix time.
const (
	get     = `SELECT record FROM toolgen_journal WHERE run = ? AND name = ?`
	put     = `INSERT INTO toolgen_journal (run, name, record, writer) VALUES (?, ?, ?, ?)`
	writer  = `SELECT writer FROM toolgen_journal WHERE run = ? AND name = ?`
	list    = `SELECT name FROM toolgen_journal WHERE run = ?`
	remove  = `DELETE FROM toolgen_journal WHERE run = ?`
	holder  = `SELECT owner, expires - NOW FROM toolgen_lease WHERE run = ?`
	release = `DELETE FROM toolgen_lease WHERE run = ? AND owner = ?`
)

// takeOver ends the statement that takes a lease, where it is said the standard's
// way: an owner's own, and one that has run out, can be taken.
const takeOver = ` ON CONFLICT (run) DO UPDATE SET owner = excluded.owner, expires = excluded.expires` +
	` WHERE toolgen_lease.owner = excluded.owner OR toolgen_lease.expires < `

// SQLiteSchema makes the tables in SQLite.
const SQLiteSchema = `CREATE TABLE IF NOT EXISTS toolgen_journal (
	run TEXT NOT NULL, name TEXT NOT NULL, record BLOB NOT NULL, writer TEXT NOT NULL,
	PRIMARY KEY (run, name)
);
CREATE TABLE IF NOT EXISTS toolgen_lease (
	run TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, expires INTEGER NOT NULL
);`

// PostgreSQLSchema makes the tables in PostgreSQL.
const PostgreSQLSchema = `CREATE TABLE IF NOT EXISTS toolgen_journal (
	run varchar(190) COLLATE "C" NOT NULL, name varchar(190) COLLATE "C" NOT NULL, record bytea NOT NULL, writer varchar(40) NOT NULL,
	PRIMARY KEY (run, name)
);
CREATE TABLE IF NOT EXISTS toolgen_lease (
	run varchar(190) COLLATE "C" NOT NULL PRIMARY KEY, owner text NOT NULL, expires bigint NOT NULL
);`

// MySQLSchema makes the tables in MySQL and MariaDB.
const MySQLSchema = `CREATE TABLE IF NOT EXISTS toolgen_journal (
	run varchar(190) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, name varchar(190) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	record longblob NOT NULL, writer varchar(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	PRIMARY KEY (run, name)
) ENGINE=InnoDB;
CREATE TABLE IF NOT EXISTS toolgen_lease (
	run varchar(190) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
	owner varchar(700) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, expires bigint NOT NULL
) ENGINE=InnoDB;`

// statements are those of a schema.
func statements(schema string) []string {
	return strings.SplitAfter(strings.TrimSuffix(schema, ";"), ";\n")
}

const sqliteNow = `CAST(strftime('%s', 'now') AS INTEGER)`

var sqlite = &dialect{
	schema: statements(SQLiteSchema),
	get:    get, put: put + ` ON CONFLICT (run, name) DO NOTHING`, writer: writer, list: list, remove: remove,
	lease:  `INSERT INTO toolgen_lease (run, owner, expires) VALUES (?, ?, ` + sqliteNow + ` + ?)` + takeOver + sqliteNow,
	holder: strings.Replace(holder, "NOW", sqliteNow, 1), release: release,
	set:   sqliteSet,
	check: sqliteCheck,
}

const postgresNow = `CAST(extract(epoch FROM clock_timestamp()) AS bigint)`

var postgres = &dialect{
	schema: statements(PostgreSQLSchema),
	get:    numbered(get), put: numbered(put + ` ON CONFLICT (run, name) DO NOTHING`), writer: numbered(writer), list: numbered(list), remove: numbered(remove),
	lease:  numbered(`INSERT INTO toolgen_lease (run, owner, expires) VALUES (?, ?, ` + postgresNow + ` + ?)` + takeOver + postgresNow),
	holder: numbered(strings.Replace(holder, "NOW", postgresNow, 1)), release: numbered(release),
	// At a higher level a row that another has put is an error, not a conflict.
	isolation: &sql.TxOptions{Isolation: sql.LevelReadCommitted},
	synced: `SELECT set_config('synchronous_commit', 'on', true) ` +
		`WHERE current_setting('synchronous_commit') IN ('off', 'false', 'no', '0')`,
}

var mysql = &dialect{
	schema: statements(MySQLSchema),
	get:    get, put: put + ` ON DUPLICATE KEY UPDATE run = run`, writer: writer, list: list, remove: remove,
	// Assignments are made from left to right, and see those before them.
	lease: `INSERT INTO toolgen_lease (run, owner, expires) VALUES (?, ?, UNIX_TIMESTAMP() + ?) ON DUPLICATE KEY UPDATE ` +
		`owner = IF(owner = VALUES(owner) OR expires < UNIX_TIMESTAMP(), VALUES(owner), owner), ` +
		`expires = IF(owner = VALUES(owner), VALUES(expires), expires)`,
	holder: strings.Replace(holder, "NOW", "UNIX_TIMESTAMP()", 1), release: release,
	isolation: &sql.TxOptions{Isolation: sql.LevelReadCommitted},
}

// numbered writes placeholders as PostgreSQL does: $1, $2.
func numbered(statement string) string {
	parts := strings.Split(statement, "?")
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}

// SQLite's settings of a connection: a commit is synced from synchronous=FULL (2) on,
// and a writer waits its turn.
const (
	sqliteFull = 2
	sqliteWait = 10_000 // ms
)

func sqliteSet(ctx context.Context, conn *sql.Conn) (restore func(), err error) {
	was := make(map[string]int)
	restore = func() {
		for name, value := range was {
			// Where this fails the connection is more careful than it was.
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("PRAGMA %s = %d", name, value))
		}
	}
	for name, least := range map[string]int{"synchronous": sqliteFull, "busy_timeout": sqliteWait} {
		var now int
		if err := conn.QueryRowContext(ctx, "PRAGMA "+name).Scan(&now); err != nil {
			restore()
			return nil, err
		}
		if now >= least {
			continue
		}
		was[name] = now
		if err := pragma(ctx, conn, name, least); err != nil {
			restore()
			return nil, err
		}
	}
	return restore, nil
}

// pragma sets a setting and reads it back: SQLite ignores what it doesn't know.
func pragma(ctx context.Context, conn *sql.Conn, name string, want int) error {
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA %s = %d", name, want)); err != nil {
		return err
	}
	var got int
	if err := conn.QueryRowContext(ctx, "PRAGMA "+name).Scan(&got); err != nil {
		return err
	}
	if got < want {
		return fmt.Errorf("the database's %s stays %d: a record would not outlive a crash", name, got)
	}
	return nil
}

// sqliteCheck refuses a database in memory, of which each connection may have another.
func sqliteCheck(ctx context.Context, conn *sql.Conn) error {
	var file string
	err := conn.QueryRowContext(ctx, `SELECT coalesce(file, '') FROM pragma_database_list WHERE name = 'main'`).Scan(&file)
	if err != nil {
		return err
	}
	if file == "" {
		return errors.New("a journal in memory is gone with the process: open a database that is a file")
	}
	return nil
}
