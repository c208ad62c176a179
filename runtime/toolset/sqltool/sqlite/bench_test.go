package sqlite_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/tabular"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/internal/sqltest"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/sqlite"
)

// rowsFile is a file with a table of n rows of four columns.
func rowsFile(tb testing.TB, n int) string {
	tb.Helper()
	return database(tb, "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, price REAL, note TEXT)",
		"INSERT INTO t SELECT value, 'name ' || value, value * 0.5, 'a note about number ' || value FROM generate_series(1, "+strconv.Itoa(n)+")")
}

func engine(tb testing.TB, path string) sqltool.Engine {
	tb.Helper()
	o := sqltool.Options{AllowedTables: []string{"t"}, MaxConns: 2}
	e, err := sqlite.Dialect.Open(context.Background(), connection.Direct(connection.Connection{ID: "db", Host: path}), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = e.Close() })
	return e
}

// BenchmarkFetch compares a query with its bounds lifted with a loop of the driver's, which
// scans every value into Go through database/sql: throughput is the loop's time by ours.
// The other figure is the same with SQLite's own interface, which makes nothing of a value
// but what is asked for.
func BenchmarkFetch(b *testing.B) {
	const n = 300_000
	path := rowsFile(b, n)
	e := engine(b, path)
	db, err := sqlite3.Open("file:" + path + "?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	pool, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	ours := func() {
		sqltest.Fetch(b, e, "SELECT * FROM t", tabular.Bounds{MaxRows: 1 << 40, MaxResultBytes: 1 << 40})
	}
	for b.Loop() {
		const turns = 5
		guarded := sqltest.Median(turns, ours)
		b.ReportMetric(sqltest.Median(turns, func() { scanAll(b, pool, n) })/guarded, "throughput")
		b.ReportMetric(sqltest.Median(turns, func() { stepAll(b, db, n) })/guarded, "of-interface")
	}
	b.ReportMetric(0, "ns/op")
}

// scanAll reads a table through database/sql.
func scanAll(b *testing.B, pool *sql.DB, want int) {
	b.Helper()
	rows, err := pool.QueryContext(context.Background(), "SELECT * FROM t")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var id int64
	var price float64
	var name, note string
	got := 0
	for ; rows.Next(); got++ {
		if err := rows.Scan(&id, &name, &price, &note); err != nil {
			b.Fatal(err)
		}
	}
	if rows.Err() != nil || got != want {
		b.Fatal(rows.Err(), got)
	}
}

// stepAll reads a table through SQLite's own interface.
func stepAll(b *testing.B, db *sqlite3.Conn, want int) {
	b.Helper()
	s, _, err := db.Prepare("SELECT * FROM t")
	if err != nil {
		b.Fatal(err)
	}
	var id int64
	var price float64
	var name, note string
	got := 0
	for ; s.Step(); got++ {
		id, name, price, note = s.ColumnInt64(0), s.ColumnText(1), s.ColumnFloat(2), s.ColumnText(3)
	}
	if err := s.Close(); err != nil || got != want || id == 0 || price == 0 || name == "" || note == "" {
		b.Fatal(err, got)
	}
}

// BenchmarkBounded compares 50 rows of 3 million with a query that says LIMIT 51, and
// prints how much the heap grows.
func BenchmarkBounded(b *testing.B) {
	e := engine(b, rowsFile(b, 3_000_000))
	sqltest.Bounded(b, e)
}

// BenchmarkGuard compares preparing with the authorizer and without.
func BenchmarkGuard(b *testing.B) {
	path := rowsFile(b, 10)
	e := engine(b, path)
	db, err := sqlite3.Open("file:" + filepath.ToSlash(path) + "?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	in := "SELECT id FROM t WHERE id IN (1"
	for len(in) < 13_000 {
		in += ", " + strconv.Itoa(len(in))
	}
	for name, sql := range map[string]string{"110B": "SELECT name, count(*), sum(price) FROM t WHERE id > 5 AND note LIKE 'a%' GROUP BY name ORDER BY 2 DESC LIMIT 10", "13kB": in + ")"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				const turns = 100
				bare := sqltest.Median(turns, func() {
					s, _, err := db.Prepare(sql)
					if err != nil {
						b.Fatal(err)
					}
					_ = s.Close()
				})
				guarded := sqltest.Median(turns, func() {
					s, err := e.Guard(context.Background(), sql)
					if err != nil {
						b.Fatal(err)
					}
					_ = s.Close()
				})
				b.ReportMetric(guarded/bare, "ratio")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
