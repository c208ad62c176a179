package fileconn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/connection/fileconn"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	temp := path + ".new"
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, path); err != nil {
		t.Fatal(err)
	}
}

func file(t *testing.T, text string, opts ...fileconn.Option) *fileconn.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "connections.yaml")
	write(t, path, text)
	return fileconn.New(path, opts...)
}

func TestR37File(t *testing.T) {
	t.Setenv("ORDERS_PASSWORD", "hunter2")
	t.Setenv("ORDERS_EXTRA", `{"a":1}`)
	f := file(t, `# ours
uri: "postgresql://ann:p%40ss@Db.Example:5432/shop?sslmode=require"
json: '{"conn_type":"my-type","port":"1"}'
folded: >
  x://host
fields:
  conn_type: mysql
  description: |
    two
    lines
  host: Db
  login: 007
  password: {env: ORDERS_PASSWORD}
  schema: true
  port: 3306
  extra:
    ssl: true
    n: 9007199254740993
    list: [1.50, null, {a: b}]
    token: {from: "secret://token"}
    env: {deep: 1}
dejson:
  conn_type: x
  extra_dejson: {a: 1}
text:
  conn_type: x
  extra: '{"a": 1}'
  port: "7"
elsewhere: {from: "secret://uri"}
null_fields: {conn_type: x, host: null, port: ~, extra: }
same: {conn_id: same, conn_type: x}
data: {conn_type: x, extra: {env: prod, tags: {env: prod}, token: {env: ORDERS_PASSWORD}}}
extra_env: {conn_type: x, extra: {env: ORDERS_EXTRA}}
`, fileconn.Values(func(_ context.Context, url string) (string, error) {
		return map[string]string{"secret://token": "t0ken", "secret://uri": "x://u:p@elsewhere"}[url], nil
	}))
	for id, want := range map[string]struct {
		uri, password, extra string
	}{
		"uri":         {"postgres://ann:[redacted]@db.example:5432/shop", "p@ss", `{"sslmode":"require"}`},
		"json":        {"my_type://:1", "", "null"},
		"folded":      {"x://host", "", "null"},
		"fields":      {"mysql://007:[redacted]@Db:3306/true", "hunter2", `{"env":{"deep":1},"list":[1.50,null,{"a":"b"}],"n":9007199254740993,"ssl":true,"token":"t0ken"}`},
		"dejson":      {"x://", "", `{"a":1}`},
		"text":        {"x://:7", "", `{"a":1}`},
		"elsewhere":   {"x://u:[redacted]@elsewhere", "p", "null"},
		"null_fields": {"x://", "", "null"},
		"same":        {"x://", "", "null"},
		"data":        {"x://", "", `{"env":"prod","tags":{"env":"prod"},"token":"hunter2"}`},
		"extra_env":   {"x://", "", `{"a":1}`},
	} {
		c, err := f.Resolve(t.Context(), id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		extra, err := json.Marshal(c.Extra)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{want.uri, want.password, want.extra, id}, []string{c.String(), c.Password.Reveal(), string(extra), c.ID}); diff != "" {
			t.Errorf("%s:\n%s", id, diff)
		}
	}
	if c, err := f.Resolve(t.Context(), "fields"); err != nil || c.Description != "two\nlines\n" {
		t.Errorf("%v, %v", c, err)
	}
}

// TestR37FileRefuses says what is wrong at its place, and nothing of what is there.
func TestR37FileRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: {conn_type: x, passwort: hunter2}":             ":1:29: passwort: no such field; there are conn_type",
		"a:\n  conn_type: x\n  port: hunter2\n":            ":3:9: port: want a number from 0 to 65535",
		"a:\n  port: 0x10\n":                               ":2:9: want a number as JSON has it",
		"a:\n  port: 1\n  port: 2\n":                       ":3:3: ",
		"a:\n  extra: [hunter2]\n":                         ":2:10: extra: want a JSON object",
		"a:\n  extra: hunter2\n":                           ":2:10: extra: want a JSON object",
		"a:\n  extra: {}\n  extra_dejson: {}\n":            ":3:17: extra and extra_dejson are the same",
		"a:\n  password: {env: NOT_THERE_AT_ALL}\n":        ":2:19: the environment has no NOT_THERE_AT_ALL",
		"a:\n  password: {from: \"x:\"}\n":                 ":2:20: from isn't read: give the file fileconn.Values",
		"a: hunter2":                                       ":1:4: connection a: want JSON, or a URI",
		"a: [hunter2]":                                     ":1:4: want names with values",
		"- hunter2":                                        ":1:1: want names with values",
		"a: x://h\na: x://i\n":                             ":2:1: ",
		"a: x://h\n---\nb: x://i\n":                        "a second document",
		"a: &n {conn_type: x}\nb: *n\n":                    ":1:4: ",
		"a: !!str hunter2":                                 ":1:4: ",
		"b: &n {conn_type: x}\na:\n  <<: *n\n":             "<< isn't read",
		"a: \"hunter2":                                     "is not YAML",
		"a:\n  postgres://u:hunter2@h:\n":                  ": a name: no such field",
		"a: {password: {env: hunter2-x}}":                  "the environment has no such variable",
		"a: {hunter2-: 1, hunter2-: 2}":                    "is not YAML",
		"a: " + strings.Repeat("[", 100_000):               "nested deeper than 1000 brackets",
		"a: {password: hunter2":                            "is not YAML",
		"a:\n  password: hunter2\n login: hunter2\n  x: y": "is not YAML",
		"a: {conn_id: b, conn_type: x}":                    "conn_id is another than the name",
		"a: {conn_type: x, login: [hunter2]}":              "login: want a string",
		"a: {conn_type: x, extra: {k: &a hunter2}}":        "anchors, aliases and tags aren't read",
		"b: x://h": "connection a is not found: looked for it in ",
		"":         "connection a is not found",
		"# empty":  "connection a is not found",
	} {
		f := file(t, text)
		_, err := f.Resolve(t.Context(), "a")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error repeats it: %v", text, err)
		}
	}
	if c, err := file(t, "\ufeffa: x://h").Resolve(t.Context(), "a"); err != nil || c.Host != "h" {
		t.Errorf("behind a byte order mark: %v, %v", c, err)
	}
	goroutines := goruntime.NumGoroutine()
	for range 20 {
		fileconn.New("/not/there/connections.yaml", fileconn.Logger(slog.New(slog.DiscardHandler))).Watch("a", nil)()
	}
	if got := goruntime.NumGoroutine(); got > goroutines+10 {
		t.Errorf("%d goroutines, there were %d", got, goroutines)
	}
	_, err := fileconn.New(filepath.Join(t.TempDir(), "none.yaml")).Resolve(t.Context(), "a")
	if _, ok := errors.AsType[*connection.NotFoundError](err); !ok || !strings.Contains(err.Error(), "none.yaml, which isn't there") {
		t.Errorf("%v", err)
	}
	if _, err := fileconn.New(t.TempDir()).Resolve(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := file(t, "# "+strings.Repeat("x", 4<<20)).Resolve(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "more than 4194304 bytes") {
		t.Errorf("a large file: %v", err)
	}
}

func TestR37FileModeIsWarnedOf(t *testing.T) {
	t.Parallel()
	for mode, want := range map[os.FileMode]int{0o600: 0, 0o400: 0, 0o640: 1, 0o644: 1} {
		var log bytes.Buffer
		path := filepath.Join(t.TempDir(), "connections.yaml")
		write(t, path, "a: x://u:hunter2@h")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		f := fileconn.New(path, fileconn.Logger(slog.New(slog.NewTextHandler(&log, nil))))
		for range 2 {
			if _, err := f.Resolve(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Count(log.String(), "chmod 600"); got != want || strings.Contains(log.String(), "hunter2") {
			t.Errorf("%o: %s", mode, log.String())
		}
	}
}

// TestR39FileRotation rewrites the file while a thousand calls run: none fails, the new
// secret is taken up without a restart, and each pool but the last is closed once.
func TestR39FileRotation(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "connections.yaml")
	write(t, path, "a: x://u:password0@h")
	var mu sync.Mutex
	var pools []*pool
	h := connection.NewHandle(connection.Named(connection.Chain(connection.Static(), fileconn.New(path)), "a"), func(_ context.Context, c *connection.Connection) (*pool, error) {
		mu.Lock()
		defer mu.Unlock()
		pools = append(pools, &pool{password: c.Password.Reveal()})
		return pools[len(pools)-1], nil
	})
	var calls atomic.Int32
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				lease, err := h.Get(t.Context())
				if err != nil {
					t.Errorf("call %d: %v", calls.Load(), err)
					return
				}
				if lease.Value.closed.Load() != 0 {
					t.Error("a pool is closed while it is used")
				}
				calls.Add(1)
				time.Sleep(time.Millisecond)
				lease.Release()
			}
		})
	}
	current := func() string {
		lease, err := h.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer lease.Release()
		return lease.Value.password
	}
	for _, want := range []string{"password0", "password1", "password2"} {
		write(t, path, "a: x://u:"+want+"@h")
		for current() != want {
			time.Sleep(time.Millisecond) // the test's own deadline ends it
		}
	}
	for calls.Load() < 1000 {
		time.Sleep(time.Millisecond)
	}
	close(stop)
	wg.Wait()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range pools {
		if p.closed.Load() != 1 {
			t.Errorf("the pool of %s is closed %d times", p.password, p.closed.Load())
		}
	}
}

type pool struct {
	password string
	closed   atomic.Int32
}

func (p *pool) Close() error {
	p.closed.Add(1)
	return nil
}
