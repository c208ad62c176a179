package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/internal/sqltest"
)

// TestV9ViewNames defines a WITH of a listed view's name, over the table below it.
func TestV9ViewNames(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, setup(t)), sqltool.Options{AllowedTables: []string{"secret_view"}})
	for sql, want := range map[string]string{
		"WITH secret_view AS (SELECT * FROM secrets) SELECT * FROM secret_view": "retry query: WITH may not define secret_view",
		"SELECT count(*) FROM secrets":                                          "retry query: table secrets is not allowed",
		"SELECT count(*) FROM secret_view":                                      `{"columns":["count(*)"]`,
	} {
		if got := s.Query(sql); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// TestV10Files asks for other files: none appears.
func TestV10Files(t *testing.T) {
	t.Parallel()
	path := database(t, setup(t))
	dir := filepath.Dir(path)
	for _, writes := range []bool{false, true} {
		s := open(t, path, sqltool.Options{AllTables: true, AllowWrites: writes})
		for _, sql := range []string{"ATTACH '" + dir + "/evil.db' AS e", "VACUUM INTO '" + dir + "/f'", "ATTACH ':memory:' AS m", "EXPLAIN ATTACH '" + dir + "/evil.db' AS e", "VACUUM", "PRAGMA journal_mode = WAL"} {
			if got := s.Query(sql); !strings.HasPrefix(got, "retry query: ") {
				t.Errorf("%s: %s", sql, got)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestV14Deadline has functions on texts so long that SQLite's own don't end for minutes:
// each is done, refused, or ended by the deadline.
func TestV14Deadline(t *testing.T) {
	t.Parallel()
	path := database(t, setup(t))
	s := open(t, path, sqltool.Options{AllTables: true, Timeout: time.Second})
	next := open(t, path, sqltool.Options{AllTables: true})
	for _, sql := range []string{
		"SELECT instr(hex(zeroblob(500000)), hex(zeroblob(250000)) || '1')",
		"SELECT hex(zeroblob(500000)) LIKE '%" + strings.Repeat("0", 40_000) + "1'",
		"SELECT hex(zeroblob(500000)) LIKE '%" + strings.Repeat("0%", 450) + "1'",
		"SELECT length(unhex(replace(hex(zeroblob(7000000)), '0', 'x'), replace(hex(zeroblob(7000000)), '0', 'y') || 'x'))",
		"SELECT length(trim(hex(zeroblob(4000000)), replace(hex(zeroblob(4000000)), '0', 'y') || '0'))",
	} {
		begin := time.Now()
		got := s.Query(sql)
		if took := time.Since(begin); took > 10*time.Second*sqltest.Slow || strings.HasPrefix(got, "fatal") {
			t.Errorf("%.60s: took %s: %s", sql, took, got)
		}
		if got := next.Query("SELECT 1 AS one"); !strings.Contains(got, "[[1]]") {
			t.Errorf("after %.60s: %s", sql, got)
		}
	}
}

// TestS44Metamorphic writes each line of the corpus in other ways: the verdict stays.
func TestS44Metamorphic(t *testing.T) {
	t.Parallel()
	path := database(t, setup(t))
	refused := func(s *sqltest.Session, sql string) bool {
		got := s.CallTool("check_query", map[string]any{"sql": sql})
		return strings.HasPrefix(got, `{"valid":false`) && !strings.Contains(got, "syntax") && !strings.Contains(got, "unknown_column")
	}
	compared := 0
	for _, l := range sqltest.Lines(t, "sqlite.jsonl") {
		s := open(t, path, sqltool.Options{AllowedTables: l.AllowedTables, AllTables: l.AllowedTables == nil})
		if l.AllowWrites || !sqltest.IsQuery(l.SQL) {
			continue
		}
		want := refused(s, l.SQL)
		for name, rewrite := range sqltest.Rewrites {
			if name == "brackets" { // SQLite takes none around a whole query
				continue
			}
			if got := refused(s, rewrite(l.SQL)); got != want && !strings.Contains(s.CallTool("check_query", map[string]any{"sql": rewrite(l.SQL)}), "syntax") {
				t.Errorf("%s as %s: %s: refused: %t, before: %t", l.ID, name, rewrite(l.SQL), got, want)
			}
			compared++
		}
	}
	if compared < 300 {
		t.Errorf("only %d texts were compared", compared)
	}
}
