package runtimevarconn_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	_ "gocloud.dev/runtimevar/blobvar"
	_ "gocloud.dev/runtimevar/constantvar"
	_ "gocloud.dev/runtimevar/filevar"
	_ "gocloud.dev/runtimevar/httpvar"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/connection/fileconn"
	"github.com/toolgen/toolgen/runtime/connection/runtimevarconn"
)

// TestR37Runtimevar reads from a folder, a web server, a bucket and the URL itself.
func TestR37Runtimevar(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"orders": "postgres://u:hunter2@one", "a b": "x://spaced", "bad": "hunter2"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/conn/orders":
			_, _ = w.Write([]byte(`{"conn_type":"x","host":"two"}`))
		case "/conn/down":
			http.Error(w, "no", http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	bucket, err := fileblob.OpenBucket(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.WriteAll(t.Context(), "in-bucket", []byte("x://three"), &blob.WriterOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := bucket.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BLOBVAR_BUCKET_URL", "file://"+filepath.ToSlash(dir))
	for name, c := range map[string]struct{ template, id, want string }{
		"file":         {"file://" + dir + "/{id}", "orders", "postgres://u:[redacted]@one"},
		"escaped":      {"file://" + dir + "/{id}?decoder=string", "a b", "x://spaced"},
		"no file":      {"file://" + dir + "/{id}", "none", "connection none is not found: looked for it in file://" + dir + "/none"},
		"climbing":     {"file://" + dir + "/{id}", "..", `connection "..": an id in a URL is neither`},
		"slash":        {"file://" + dir + "/{id}", "../x", "and has no slashes"},
		"bad":          {"file://" + dir + "/{id}", "bad", "connection bad: want JSON, or a URI"},
		"decoded":      {"file://" + dir + "/{id}?decoder=jsonmap", "orders", "connection orders: file://" + dir + "/orders: "},
		"http":         {server.URL + "/conn/{id}", "orders", "x://two"},
		"no page":      {server.URL + "/conn/{id}", "none", "connection none is not found: looked for it in " + server.URL + "/conn/none"},
		"down":         {server.URL + "/conn/{id}", "down", "503"},
		"blob":         {"blob://{id}", "in-bucket", "x://three"},
		"no blob":      {"blob://{id}", "none", "is not found"},
		"constant":     {"constant://?val=" + url.QueryEscape("x://u:hunter2@four?n=") + "{id}", "a&b", "x://u:[redacted]@four"},
		"bad constant": {"constant://?val=hunter2&decoder=nope&x={id}", "a", "connection a: constant:"},
		"no driver":    {"nope://u:hunter2@{id}?hunter2", "a", "connection a: nope://a: "},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := runtimevarconn.New(c.template)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			if found, err := r.Resolve(t.Context(), c.id); err != nil {
				got = err.Error()
			} else {
				got = found.String()
			}
			if !strings.Contains(got, c.want) || strings.Contains(got, "hunter2") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := runtimevarconn.New(server.URL + "/conn/{id}")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Resolve(ctx, "orders"); err == nil {
		t.Error("a caller that gave up gets an answer")
	}
	one, err := runtimevarconn.One("orders", "constant://?val=x://h&decoder=string")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := one.Resolve(t.Context(), "orders"); err != nil || c.Host != "h" {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := one.Resolve(t.Context(), "other"); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("%v", err)
	}
}

func TestR37RuntimevarRefuses(t *testing.T) {
	t.Parallel()
	for _, template := range []string{"file:///x", "{id}", "", "%zz://{id}"} {
		if _, err := runtimevarconn.New(template); err == nil {
			t.Errorf("%q is taken", template)
		}
	}
	if _, err := runtimevarconn.One("", "file:///x"); err == nil {
		t.Error("no id is taken")
	}
	for _, query := range []string{"z=s3cr3t%2Ftok%3D&a=1&decoder=string", "z=s3cr3t+tok&decoder=string"} {
		_, err := runtimevarconn.Value(t.Context(), "http://127.0.0.1:1/x?"+query)
		if err == nil || strings.Contains(err.Error(), "s3cr3t") || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("%s: %v", query, err)
		}
	}
	if _, err := runtimevarconn.Value(t.Context(), "constant://?val=hunter2&decoder=nope"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}

// TestR37FileFrom reads values of a file of connections from elsewhere.
func TestR37FileFrom(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "connections.yaml")
	text := "a:\n  conn_type: x\n  password: {from: \"constant://?val=hunter2&decoder=string\"}\nb: {from: \"constant://?val=x%3A%2F%2Fh\"}\nc: {from: \"nope://?hunter2\"}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f := fileconn.New(path, fileconn.Values(runtimevarconn.Value))
	if c, err := f.Resolve(t.Context(), "a"); err != nil || c.Password.Reveal() != "hunter2" {
		t.Errorf("%v, %v", c, err)
	}
	if c, err := f.Resolve(t.Context(), "b"); err != nil || c.Host != "h" {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := f.Resolve(t.Context(), "c"); err == nil || !strings.Contains(err.Error(), ":5:11: ") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}

// TestR39RuntimevarWatch has a handle take up what is in a file as soon as it changes.
func TestR39RuntimevarWatch(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	write := func(text string) {
		if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil {
			t.Fatal(err)
		}
	}
	write("x://first")
	r, err := runtimevarconn.New("file://" + filepath.Dir(path) + "/{id}")
	if err != nil {
		t.Fatal(err)
	}
	var opened atomic.Int32
	h := connection.NewHandle(connection.Named(r, "a"), func(_ context.Context, c *connection.Connection) (string, error) {
		opened.Add(1)
		return c.Host, nil
	})
	for _, want := range []string{"first", "second"} {
		for n := 0; ; n++ {
			lease, err := h.Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := lease.Value
			if lease.Release(); got == want {
				break
			}
			if n%100 == 0 {
				write("x://" + want) // the watch may begin after the first
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	if err := h.Close(); err != nil || opened.Load() != 2 {
		t.Errorf("%v, opened %d times", err, opened.Load())
	}
}
