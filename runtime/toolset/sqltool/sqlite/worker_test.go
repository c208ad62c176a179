package sqlite_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/internal/sqltest"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/sqlite"
	"github.com/toolgen/toolgen/runtime/worker"
)

// inChildren says that files are open in children.
const inChildren = "TOOLGEN_SQLITE_CHILDREN"

func TestMain(m *testing.M) {
	if os.Getenv(inChildren) != "" || os.Getenv("TOOLGEN_WORKER") != "" {
		worker.Main(sqlite.Worker)
	}
	os.Exit(m.Run())
}

// TestWorker runs the other tests with their files open in children.
func TestWorker(t *testing.T) {
	if os.Getenv(inChildren) != "" {
		return
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run", "^Test(S3|S4|S6|S7|S8|S9|S10|S12|S15|S18|S19|S22|S34|S38|S39|S42|S48|V|Kill)")
	cmd.Env = append(os.Environ(), inChildren+"=1")
	out, err := cmd.CombinedOutput()
	if text := string(out); err != nil || !strings.Contains(text, "--- PASS: TestKill") || !strings.Contains(text, "--- PASS: TestS42Corpus") {
		t.Errorf("%v: %s", err, text[max(0, len(text)-8000):])
	}
}

// unstoppable takes eight seconds, in one operation, in which SQLite doesn't look whether it
// is to stop.
var unstoppable = "SELECT json_extract(x" + strings.Repeat(", '$[#-1]'", 120) + ") FROM (SELECT '[' || rtrim(replace(hex(zeroblob(3900000)), '0', '0,'), ',') || ']' AS x)"

// TestKill has a statement that SQLite doesn't stop: its child is killed two seconds after
// its time, and the next call has another one. A caller that goes isn't waited for.
func TestKill(t *testing.T) {
	if os.Getenv(inChildren) == "" {
		return // see TestWorker
	}
	t.Parallel()
	path := database(t, shop)
	s := open(t, path, sqltool.Options{AllowedTables: []string{"orders"}, AllowWrites: true, Timeout: time.Second, MaxConns: 1})
	for _, sql := range []string{unstoppable, "UPDATE orders SET note = (" + unstoppable + ")"} {
		begin := time.Now()
		got := s.Query(sql)
		if !strings.HasPrefix(got, "retry query: stopped after 1s") {
			t.Errorf("%s: %s", sql, got)
		}
		if took := time.Since(begin); took > 6*time.Second*sqltest.Slow {
			t.Errorf("%s: took %s", sql, took)
		}
		if got := s.Query("SELECT count(*), max(note) FROM orders"); !strings.Contains(got, `[[3,"very big"]]`) {
			t.Errorf("the next one: %s", got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan string)
	go func() { done <- s.CallWithin(ctx, "query", map[string]any{"sql": unstoppable}) }()
	time.AfterFunc(100*time.Millisecond, cancel)
	<-done
	if got := s.Query("SELECT count(*) FROM orders"); !strings.Contains(got, "[[3]]") {
		t.Errorf("%s", got)
	}
}
