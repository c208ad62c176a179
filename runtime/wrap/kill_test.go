package wrap_test

import (
	"context"
	crand "crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/internal/testserver"
	"github.com/toolgen/toolgen/runtime/wrap"
	"github.com/toolgen/toolgen/runtime/wrap/sqlstore"
)

// The child of TestR34Kill: an agent that makes ten calls, each once it has read how
// the one before ended.
const childCalls = 10

func TestMain(m *testing.M) {
	if dir := os.Getenv("TOOLGEN_JOURNAL_CHILD"); dir != "" {
		if err := child(dir, os.Getenv("TOOLGEN_JOURNAL_STORE")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child goes on with the agent run of a folder. A call that waits for a person is
// decided by looking at what happened, as a person would.
func child(dir, store string) error {
	l := &ledger{path: filepath.Join(dir, "ledger")}
	registry, err := runtime.NewRegistry(l)
	if err != nil {
		return err
	}
	s, err := openStore(dir, store)
	if err != nil {
		return err
	}
	journal := runtime.Journal(s, "r1", "v1")
	ctx := context.Background()
	run, err := registry.Start(ctx, journal)
	if err != nil {
		return err
	}
	for i := range childCalls {
		args := json.RawMessage(strconv.Itoa(i))
		out, err := run.Call(ctx, runtime.Call{ID: "c" + string(args), Name: "write", Args: args})
		if err != nil {
			return err
		}
		if out[0].Kind == runtime.Pending {
			state, err := run.State()
			if err != nil {
				return err
			}
			d := run.Pending()[0].Decide(runtime.Approve)
			if slices.Contains(l.lines(), "write"+string(args)) {
				d.Verdict, d.Result = runtime.UseResult, runtime.TextResult("wrote "+string(args))
			}
			if err := run.Close(); err != nil {
				return err
			}
			if run, out, err = registry.Resume(ctx, state, []runtime.Decision{d}, journal); err != nil {
				return err
			}
		}
		if text(out[0]) != "wrote "+string(args) {
			return fmt.Errorf("call %d ended as %s", i, text(out[0]))
		}
	}
	return run.Close()
}

// killStores are the stores that agents are killed over, and how many of them in one
// run of the tests.
var killStores = []struct {
	name string
	runs int
	dsn  func(t *testing.T, dir string) string
}{
	{"dir", 20, nil},
	{"sqlite3", 10, func(_ *testing.T, dir string) string { return "file:" + filepath.Join(dir, "journal.db") }},
	{"pgx", 10, func(t *testing.T, _ string) string {
		t.Helper()
		dsn, name := testserver.PostgreSQL(t), "kill_"+strings.ToLower(crand.Text())
		execute(t, "pgx", dsn, "CREATE SCHEMA "+name)
		return dsn + "&search_path=" + name
	}},
	{"mysql", 10, func(t *testing.T, _ string) string {
		t.Helper()
		dsn, name := testserver.MySQL(t), "kill_"+strings.ToLower(crand.Text())
		execute(t, "mysql", dsn, "CREATE DATABASE "+name)
		return dsn + name
	}},
}

var sqlStores = map[string]struct {
	store  func(*sql.DB) runtime.JournalStore
	schema string
}{
	"sqlite3": {sqlstore.SQLite, sqlstore.SQLiteSchema},
	"pgx":     {sqlstore.PostgreSQL, sqlstore.PostgreSQLSchema},
	"mysql":   {sqlstore.MySQL, sqlstore.MySQLSchema},
}

func execute(t *testing.T, driver, dsn string, statements ...string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// openStore opens what "driver dsn" says; nothing is a folder.
func openStore(dir, store string) (runtime.JournalStore, error) {
	driver, dsn, ok := strings.Cut(store, " ")
	if !ok {
		return wrap.DirStore(filepath.Join(dir, "journal")), nil
	}
	db, err := sql.Open(driver, dsn)
	return sqlStores[driver].store(db), err
}

// TestR34Kill kills an agent at random moments until it is through: no effect happens
// twice, none is lost. TOOLGEN_SOAK times as many runs with make soak.
func TestR34Kill(t *testing.T) {
	t.Parallel()
	times, err := strconv.Atoi(os.Getenv("TOOLGEN_SOAK"))
	if err != nil {
		times = 1
	}
	for _, s := range killStores {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			kills := 0
			for range times * s.runs {
				dir, store := t.TempDir(), ""
				if s.dsn != nil {
					dsn := s.dsn(t, dir)
					execute(t, s.name, dsn, strings.SplitAfter(strings.TrimSuffix(sqlStores[s.name].schema, ";"), ";\n")...)
					store = s.name + " " + dsn
				}
				kills += killed(t, dir, store)
				l := &ledger{path: filepath.Join(dir, "ledger")}
				got := l.lines()
				sorted := slices.Sorted(slices.Values(got))
				if len(slices.Compact(sorted)) != len(got) {
					t.Errorf("an effect happened twice: %v", got)
				}
				if len(got) != childCalls {
					t.Errorf("effects %v, want %d", got, childCalls)
				}
			}
			t.Logf("%d runs, %d kills", times*s.runs, kills)
		})
	}
}

// killed starts the agent again and again until it is through, and returns how often it
// was killed.
func killed(t *testing.T, dir, store string) int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for attempt := range 200 {
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), "TOOLGEN_JOURNAL_CHILD="+dir, "TOOLGEN_JOURNAL_STORE="+store, "GORACE=atexit_sleep_ms=0") // else it sleeps a second at its end
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(3+rand.IntN(30+10*attempt))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		if err == nil {
			return attempt
		}
		if cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		if driver, dsn, ok := strings.Cut(store, " "); ok { // as if the 30 seconds were over
			execute(t, driver, dsn, "UPDATE toolgen_lease SET expires = 0")
		}
	}
	t.Fatal("the agent is never through")
	return 0
}
