// Package sqltest has what the tests of every dialect need: a run over one database, and
// the corpus of statements.
package sqltest

import (
	"bufio"
	"context"
	"encoding/json"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/tabular"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// A Session is a run over one database.
type Session struct {
	*runtime.Run

	TB       testing.TB
	Database string // the schema of the connection
	n        atomic.Int64
}

// Open begins a run over a database, which ends with the test.
func Open(tb testing.TB, d sqltool.Dialect, c connection.Connection, o sqltool.Options) *Session {
	tb.Helper()
	ts, err := sqltool.New(d, connection.Direct(c), o)
	if err != nil {
		tb.Fatal(err)
	}
	registry, err := runtime.NewRegistry(ts)
	if err != nil {
		tb.Fatal(err)
	}
	run, err := registry.Start(context.Background(), runtime.NoBudgets(), runtime.ErrorsEndCall())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = run.Close()
		if err := registry.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &Session{Run: run, TB: tb, Database: c.Schema}
}

// CallTool returns the structured result, or the kind and the message.
func (s *Session) CallTool(tool string, args map[string]any) string {
	s.TB.Helper()
	return s.CallWithin(context.Background(), tool, args)
}

// CallWithin is CallTool with a context.
func (s *Session) CallWithin(ctx context.Context, tool string, args map[string]any) string {
	s.TB.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		s.TB.Fatal(err)
	}
	out, err := s.Call(ctx, runtime.Call{ID: strconv.FormatInt(s.n.Add(1), 10), Name: tool, Args: raw})
	if err != nil {
		return "error " + err.Error()
	}
	if o := out[0]; o.Kind != runtime.OK {
		text := string(o.Kind) + " " + o.Message
		if o.Kind == runtime.Fatal {
			text += " (" + o.Err.Error() + ")"
		}
		return text
	}
	return string(out[0].Result.Structured)
}

// Query calls query.
func (s *Session) Query(sql string, params ...any) string {
	s.TB.Helper()
	args := map[string]any{"sql": sql}
	if len(params) > 0 {
		args["params"] = params
	}
	return s.CallTool("query", args)
}

// Line is one of the corpus.
type Line struct {
	ID            string   `json:"id"`
	SQL           string   `json:"sql"`
	AllowedTables []string `json:"allowed_tables"` // nil: AllTables
	AllowWrites   bool     `json:"allow_writes"`
	Want          string   `json:"want"`
	Why           string   `json:"why"`
}

// corpus is a file of the corpus.
func corpus(name string) string {
	_, here, _, _ := goruntime.Caller(0) //nolint:dogsled // this file is all that is wanted
	return filepath.Join(filepath.Dir(here), "..", "..", "testdata", "corpus", name)
}

// Lines are those of a file of the corpus.
func Lines(tb testing.TB, name string) (all []Line) {
	tb.Helper()
	f, err := os.Open(corpus(name))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var l Line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			tb.Fatal(err)
		}
		all = append(all, l)
	}
	if err := scanner.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

// Setup is the text of a file of the corpus that makes a database.
func Setup(tb testing.TB, name string) string {
	tb.Helper()
	text, err := os.ReadFile(corpus(name))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// Names are those that list_tables shows, over all its pages.
func (s *Session) Names() (names []string) {
	s.TB.Helper()
	for cursor := ""; ; {
		args := map[string]any{}
		if cursor != "" {
			args["cursor"] = cursor
		}
		var page struct {
			Tables []struct {
				Name string `json:"name"`
			} `json:"tables"`
			Next string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(s.CallTool("list_tables", args)), &page); err != nil {
			s.TB.Fatal(err)
		}
		for _, table := range page.Tables {
			names = append(names, table.Name)
		}
		if cursor = page.Next; cursor == "" {
			return names
		}
	}
}

// Texts yields texts that are made of pieces of the corpus: the same ones each time, and
// ten times as many in a soak.
func Texts(tb testing.TB, name string, n int) iter.Seq[string] {
	tb.Helper()
	var pieces []string
	for _, l := range Lines(tb, name) {
		const long = 1000
		if len(l.SQL) < long {
			pieces = append(pieces, strings.Fields(l.SQL)...)
		}
	}
	if os.Getenv("TOOLGEN_SOAK") != "" {
		n *= 10
	}
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the texts are to be the same each time
	return func(yield func(string) bool) {
		for range n {
			var text []string
			for range 1 + random.IntN(14) {
				text = append(text, pieces[random.IntN(len(pieces))])
			}
			if !yield(strings.Join(text, " ")) {
				return
			}
		}
	}
}

// Fetch is a guarded query with these bounds; it returns how many bytes are shown.
func Fetch(tb testing.TB, e sqltool.Engine, sql string, b tabular.Bounds) int {
	tb.Helper()
	s, err := e.Guard(context.Background(), sql)
	if err != nil {
		tb.Fatal(err)
	}
	var w *tabular.Writer
	if _, err := s.Query(context.Background(), nil, func(columns []string) *tabular.Writer {
		w = tabular.New(context.Background(), columns, b)
		return w
	}); err != nil {
		tb.Fatal(err)
	}
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
	return len(w.Finish(false, -1).Structured)
}

// Median is how many nanoseconds a function takes, in the median of n times.
func Median(n int, f func()) float64 {
	times := make([]float64, n)
	for i := range times {
		begin := time.Now()
		f()
		times[i] = float64(time.Since(begin))
	}
	slices.Sort(times)
	return times[n/2]
}

// Rewrites are ways of writing the same statement.
var Rewrites = map[string]func(sql string) string{
	"comments": func(sql string) string {
		return "/* a /* b */ */ " + strings.ReplaceAll(sql, " FROM ", " /* x */ FROM --y\n ")
	},
	"brackets": func(sql string) string { return "(" + sql + ")" },
	"case": func(sql string) string {
		return strings.NewReplacer("SELECT", "sElEcT", "FROM", "fRoM", "WHERE", "where").Replace(sql)
	},
	"cte":      func(sql string) string { return "WITH w__ AS (" + sql + ") SELECT count(*) FROM w__" },
	"subquery": func(sql string) string { return "SELECT EXISTS (" + sql + ")" },
	"union":    func(sql string) string { return "SELECT count(*) FROM (" + sql + ") u__" },
	"blanks":   func(sql string) string { return "\n\t " + strings.ReplaceAll(sql, " FROM ", "\n\tFROM\r\n") + "\n;" },
	"recursive": func(sql string) string {
		return "WITH RECURSIVE w__ AS (SELECT 1) " + "SELECT 1 FROM (" + sql + ") u__"
	},
}

// IsQuery reports whether a text is one query that Rewrites can be made of.
func IsQuery(sql string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
	return slices.Contains([]string{"SELECT", "WITH", "VALUES", "TABLE"}, strings.ToUpper(first)) && !strings.Contains(sql, ";") && !strings.Contains(sql, "--")
}

// Bounded compares 50 rows of table t, which has many, with a query that says LIMIT 51, and
// prints how much the heap grows.
func Bounded(b *testing.B, e sqltool.Engine) {
	b.Helper()
	var before, after goruntime.MemStats
	all := func() { Fetch(b, e, "SELECT * FROM t", tabular.Bounds{}) }
	limited := func() { Fetch(b, e, "SELECT * FROM t LIMIT 51", tabular.Bounds{}) }
	limited()
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	for b.Loop() {
		const turns = 200
		b.ReportMetric(Median(turns, all)/Median(turns, limited), "ratio")
	}
	goruntime.GC()
	goruntime.ReadMemStats(&after)
	b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/(1<<20), "heap-MiB")
	b.ReportMetric(0, "ns/op")
}
