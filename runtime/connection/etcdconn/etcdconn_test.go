package etcdconn_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/connection/etcdconn"
	"github.com/toolgen/toolgen/runtime/internal/testserver"
)

func client(t *testing.T, config clientv3.Config) *clientv3.Client {
	t.Helper()
	config.Logger = zap.NewNop()
	c, err := clientv3.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestR37Etcd(t *testing.T) {
	c := client(t, clientv3.Config{Endpoints: []string{testserver.Etcd(t)}})
	prefix := "/" + rand.Text() + "/"
	put := func(id, text string) {
		t.Helper()
		if _, err := c.Put(t.Context(), prefix+id, text); err != nil {
			t.Fatal(err)
		}
	}
	put("orders", "postgres://u:hunter2@one/shop")
	put("bad", "hunter2")
	r := etcdconn.New(c, prefix)
	for id, want := range map[string]string{
		"orders": "postgres://u:[redacted]@one/shop",
		"bad":    "connection bad: want JSON, or a URI that begins with its type and ://",
		"order":  "connection order is not found: looked for it in etcd " + prefix + "order",
		"":       "a connection has no id",
	} {
		var got string
		if found, err := r.Resolve(t.Context(), id); err != nil {
			got = err.Error()
		} else {
			got = found.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}

	// A handle takes up what changes.
	h := connection.NewHandle(connection.Named(r, "orders"), func(_ context.Context, c *connection.Connection) (string, error) {
		return c.Host, nil
	})
	for _, want := range []string{"one", "two", "three"} {
		put("orders", "postgres://u:hunter2@"+want)
		for n := 1; ; n++ {
			lease, err := h.Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := lease.Value
			if lease.Release(); got == want {
				break
			}
			if n%100 == 0 {
				put("orders", "postgres://u:hunter2@"+want) // the watch may begin after the first
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// TestR37EtcdDown has no server, and one that refuses: neither is "not found".
func TestR37EtcdDown(t *testing.T) {
	t.Parallel()
	down := client(t, clientv3.Config{Endpoints: []string{"http://127.0.0.1:1"}})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := connection.Chain(etcdconn.New(down, "/"), connection.Static(connection.Connection{ID: "a"})).Resolve(ctx, "a")
	if err == nil || !strings.HasPrefix(err.Error(), "connection a: etcd: ") || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	stop := etcdconn.New(down, "/").(connection.Watcher).Watch("a", func() {})
	stop()
}
