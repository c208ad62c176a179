package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/tabular"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/internal/sqltest"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/postgres"
)

// lifted is a number of rows, or bytes, that no benchmark comes to.
const lifted = 1 << 40

func engine(tb testing.TB, database string, maxRows int) sqltool.Engine {
	tb.Helper()
	o := sqltool.Options{AllTables: true, MaxRows: maxRows, MaxResultBytes: maxRows * 1000, MaxConns: 1, Timeout: 10 * time.Minute, Schema: "public"}
	e, err := postgres.Dialect.Open(context.Background(), connection.Direct(conn(tb, database)), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = e.Close() })
	return e
}

// BenchmarkFetch compares a query with its bounds lifted with the driver's own loop, which
// reads every value into Go: throughput is the loop's time by ours.
func BenchmarkFetch(b *testing.B) {
	const n = 300_000
	db := database(b, "template1", "CREATE TABLE t AS SELECT g AS id, 'name ' || g AS name, g * 0.5::float8 AS price, 'a note about number ' || g AS note FROM generate_series(1, 300000) g", "ANALYZE t")
	e := engine(b, db, lifted)
	config, err := pgx.ParseConfig("")
	if err != nil {
		b.Fatal(err)
	}
	c := conn(b, db)
	config.Host, config.Port, config.User, config.Database, config.TLSConfig = c.Host, uint16(c.Port), c.Login, db, nil
	plain, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = plain.Close(context.Background()) }()
	raw := func() {
		rows, err := plain.Query(context.Background(), "SELECT * FROM t")
		if err != nil {
			b.Fatal(err)
		}
		var id int64
		var price float64
		var name, note string
		got := 0
		for ; rows.Next(); got++ {
			if err := rows.Scan(&id, &name, &price, &note); err != nil {
				b.Fatal(err)
			}
		}
		if rows.Err() != nil || got != n {
			b.Fatal(rows.Err(), got)
		}
	}
	ours := func() {
		sqltest.Fetch(b, e, "SELECT * FROM t", tabular.Bounds{MaxRows: lifted, MaxResultBytes: lifted})
	}
	for b.Loop() {
		const turns = 7
		bare, guarded := sqltest.Median(turns, raw), sqltest.Median(turns, ours)
		b.ReportMetric(bare/guarded, "throughput")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkBounded compares 50 rows of 3 million with a query that says LIMIT 51, and
// prints how much the heap grows.
func BenchmarkBounded(b *testing.B) {
	db := database(b, "template1", "CREATE TABLE t AS SELECT g AS id, 'name ' || g AS name, g * 0.5::float8 AS price, 'a note about number ' || g AS note FROM generate_series(1, 3000000) g", "ANALYZE t")
	e := engine(b, db, tabular.DefaultMaxRows)
	sqltest.Bounded(b, e)
}

// BenchmarkGuard compares what the guard does with a statement but for the catalogue's
// answer, the parser's process included, with the parser alone, in this process.
func BenchmarkGuard(b *testing.B) {
	in := func(size int) string {
		var s strings.Builder
		s.WriteString("SELECT id FROM t WHERE id IN (1")
		for s.Len() < size {
			s.WriteString(", 123456")
		}
		return s.String() + ")"
	}
	for name, sql := range map[string]string{
		"110B": "SELECT name, count(*), sum(price) FROM t WHERE id > 5 AND note LIKE 'a%' GROUP BY name ORDER BY 2 DESC LIMIT 10",
		"13kB": in(13_000), "60kB": in(60_000),
	} {
		b.Run(name, func(b *testing.B) {
			if _, err := postgres.ParseHere(sql); err != nil { // it starts
				b.Fatal(err)
			}
			for b.Loop() {
				const turns = 200
				bare := sqltest.Median(turns, func() {
					if _, err := postgres.ParseHere(sql); err != nil {
						b.Fatal(err)
					}
				})
				guarded := sqltest.Median(turns, func() {
					if err := postgres.Check(sql); err != nil {
						b.Fatal(err)
					}
				})
				b.ReportMetric(guarded/bare, "ratio")
				b.ReportMetric(guarded/1e3, "µs/guard")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkQuery shows what a query of one row costs in all: the guard, the catalogue, the
// transaction and the reset.
func BenchmarkQuery(b *testing.B) {
	e := engine(b, database(b, "template1", "CREATE TABLE t AS SELECT 1 AS id"), tabular.DefaultMaxRows)
	b.ReportAllocs()
	for b.Loop() {
		sqltest.Fetch(b, e, "SELECT id FROM t WHERE id = 1", tabular.Bounds{})
	}
}
