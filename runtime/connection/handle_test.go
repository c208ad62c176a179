package connection_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/secret"
)

// vault is a source whose secret is rotated.
type vault struct {
	mu       sync.Mutex
	password string
	err      error
	resolved int
	watcher  func()
}

func (v *vault) ID() string { return "orders" }

func (v *vault) Connection(context.Context) (*connection.Connection, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.resolved++
	return &connection.Connection{ID: "orders", Password: secret.New(v.password)}, v.err
}

func (v *vault) rotate(password string, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.password, v.err = password, err
}

// pool is what is opened; it knows whether it is used after it was closed.
type pool struct {
	password string
	closed   atomic.Int32
}

func (p *pool) Close() error {
	p.closed.Add(1)
	return nil
}

func handle(v connection.Source, opened *[]*pool) *connection.Handle[*pool] {
	var mu sync.Mutex
	return connection.NewHandle(v, func(_ context.Context, c *connection.Connection) (*pool, error) {
		mu.Lock()
		defer mu.Unlock()
		time.Sleep(100 * time.Millisecond)
		p := &pool{password: c.Password.Reveal()}
		if strings.Contains(p.password, "wrong") {
			return nil, fmt.Errorf("login with %s failed", p.password)
		}
		*opened = append(*opened, p)
		return p, nil
	})
}

// get is one call: it returns the password that it worked with.
func get(t *testing.T, h *connection.Handle[*pool]) string {
	t.Helper()
	lease, err := h.Get(t.Context())
	if err != nil {
		return err.Error()
	}
	defer lease.Release()
	if lease.Value.closed.Load() != 0 {
		t.Error("it is closed")
	}
	return lease.Value.password
}

// TestR39Shares opens once for all who ask at once, nothing before that, and again
// after it was closed.
func TestR39Shares(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vault{password: "one"}
		var opened []*pool
		h := handle(v, &opened)
		if v.resolved != 0 {
			t.Error("making a handle resolves")
		}
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if got := get(t, h); got != "one" {
					t.Error(got)
				}
			})
		}
		wg.Wait()
		if len(opened) != 1 || v.resolved != 1 {
			t.Errorf("opened %d times, resolved %d", len(opened), v.resolved)
		}
		if err := errors.Join(h.Close(), h.Close()); err != nil || opened[0].closed.Load() != 1 {
			t.Errorf("%v, closed %d times", err, opened[0].closed.Load())
		}
		if got := get(t, h); got != "one" || len(opened) != 2 {
			t.Errorf("%s, opened %d times", got, len(opened))
		}
		_ = h.Close()
	})
}

// TestR39Failures are those of all who wait, and of who comes within a second; none
// tells a secret.
func TestR39Failures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vault{password: "wrong-hunter2"}
		var opened []*pool
		h := handle(v, &opened)
		for i := range 3 {
			if got := get(t, h); got != "connection orders: login with [redacted] failed" {
				t.Errorf("%d: %s", i, got)
			}
		}
		if v.resolved != 1 {
			t.Errorf("resolved %d times within a second", v.resolved)
		}
		v.rotate("right", nil)
		time.Sleep(time.Second)
		if got := get(t, h); got != "right" {
			t.Error(got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = h.Close()
		if _, err := h.Get(ctx); err == nil || !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that gives up: %v", err)
		}
		synctest.Wait()
		panics := connection.NewHandle(v, func(context.Context, *connection.Connection) (*pool, error) { panic("with right in it") })
		if _, err := panics.Get(t.Context()); err == nil || strings.Contains(err.Error(), "right") {
			t.Errorf("an open that panics: %v", err)
		}
		hangs := connection.NewHandle(v, func(ctx context.Context, _ *connection.Connection) (*pool, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		begin := time.Now()
		if _, err := hangs.Get(t.Context()); err == nil || time.Since(begin) != 30*time.Second {
			t.Errorf("an open that hangs: %v after %s", err, time.Since(begin))
		}
		time.Sleep(time.Second) // the first attempt may be made again
		go func() {
			time.Sleep(time.Second)
			_ = hangs.Close()
		}()
		if _, err := hangs.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "closed meanwhile") {
			t.Errorf("closed while it is opened: %v", err)
		}
		_ = h.Close()
	})
}

// TestR39Rotation changes the secret while a thousand calls run: none fails, none has to
// wait, and the old pool is closed once, when its last user is done.
func TestR39Rotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vault{password: "one"}
		var opened []*pool
		h := handle(v, &opened)
		get(t, h)
		var wg sync.WaitGroup
		var used sync.Map
		for i := range 1000 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Second) // over 16 minutes
				begin := time.Now()
				lease, err := h.Get(t.Context())
				if err != nil || time.Since(begin) != 0 {
					t.Errorf("call %d: %v after %s", i, err, time.Since(begin))
					return
				}
				time.Sleep(10 * time.Second)
				used.Store(lease.Value.password, true)
				if lease.Value.closed.Load() != 0 {
					t.Errorf("call %d: its pool is closed", i)
				}
				lease.Release()
				lease.Release()
			})
		}
		time.Sleep(time.Minute)
		v.rotate("two", nil)
		time.Sleep(5 * time.Minute)
		v.rotate("", errors.New("the store is down"))
		time.Sleep(5 * time.Minute)
		v.rotate("wrong", nil)
		time.Sleep(time.Minute)
		v.rotate("three", nil)
		wg.Wait()
		for _, password := range []string{"one", "two", "three"} {
			if _, ok := used.Load(password); !ok {
				t.Errorf("%s was never used", password)
			}
		}
		if len(opened) != 3 || opened[0].closed.Load() != 1 || opened[1].closed.Load() != 1 || opened[2].closed.Load() != 0 {
			t.Errorf("%d pools; closed %d, %d", len(opened), opened[0].closed.Load(), opened[1].closed.Load())
		}
		if got := h.FindSecrets("three"); len(got) != 1 {
			t.Error("the secret of now isn't known")
		}
		if got := h.FindSecrets("one, which some call may still show"); len(got) != 0 {
			t.Error("a secret of three bytes is found inside of text")
		}
		if err := h.Close(); err != nil || opened[2].closed.Load() != 1 {
			t.Errorf("%v", err)
		}
	})
}

// Watch implements what a source that watches has.
type watchedVault struct{ *vault }

func (w watchedVault) Watch(changed func()) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watcher = changed
	return func() { w.watcher = nil }
}

func TestR39Watch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := watchedVault{&vault{password: "first"}}
		var opened []*pool
		h := handle(v, &opened)
		get(t, h)
		v.rotate("second", nil)
		v.watcher()
		if got := get(t, h); got != "first" {
			t.Errorf("%s: a call waits for what is new", got)
		}
		time.Sleep(time.Second)
		if got := get(t, h); got != "second" {
			t.Error(got)
		}
		v.watcher() // nothing has changed
		get(t, h)
		time.Sleep(time.Second)
		if get(t, h); len(opened) != 2 {
			t.Errorf("opened %d times", len(opened))
		}
		if _ = h.Close(); v.watcher != nil {
			t.Error("it is watched on")
		}
		if got := h.FindSecrets("first and second"); len(got) != 2 {
			t.Errorf("%d secrets are known, want both", len(got))
		}
	})
}

// TestR39Invalidate opens anew when a call says that its credentials aren't taken, once
// for all calls that say so of the same ones.
func TestR39Invalidate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vault{password: "first"}
		var opened []*pool
		h := handle(v, &opened)
		var leases []*connection.Lease[*pool]
		for range 10 {
			lease, err := h.Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			leases = append(leases, lease)
		}
		v.rotate("second", nil)
		for _, lease := range leases[:5] {
			lease.Invalidate()
		}
		if got := get(t, h); got != "second" {
			t.Error(got)
		}
		for _, lease := range leases {
			lease.Invalidate() // late ones are about the old one
			if lease.Value.closed.Load() != 0 {
				t.Error("closed while it is used")
			}
			lease.Release()
		}
		if got := get(t, h); got != "second" || len(opened) != 2 || opened[0].closed.Load() != 1 {
			t.Errorf("%s, opened %d times, the first closed %d", got, len(opened), opened[0].closed.Load())
		}
		lease, err := h.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lease.Invalidate() // though nothing has changed: what was opened is of no use
		lease.Release()
		if get(t, h); len(opened) != 3 || opened[1].closed.Load() != 1 {
			t.Errorf("opened %d times", len(opened))
		}
		_ = h.Close()
	})
}

// moody is a value that is closed in some way.
type moody struct{ close func() }

func (m *moody) Close() error {
	m.close()
	return nil
}

// TestR39Closing has values whose Close panics, takes long, or asks the handle itself:
// nobody waits for it longer than they said, and the process lives.
func TestR39Closing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vault{password: "first"}
		var h *connection.Handle[*moody]
		how := func() { panic("closing") }
		h = connection.NewHandle(v, func(context.Context, *connection.Connection) (*moody, error) { return &moody{how}, nil })
		replace := func() {
			lease, err := h.Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			lease.Invalidate()
			lease.Release()
			within, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begin := time.Now()
			next, err := h.Get(within)
			if err != nil || time.Since(begin) != 0 {
				t.Fatalf("%v after %s", err, time.Since(begin))
			}
			next.Release()
		}
		replace()
		if err := h.Close(); err == nil || !strings.Contains(err.Error(), "closing") {
			t.Errorf("a panic of Close: %v", err)
		}
		how = func() { time.Sleep(time.Hour) }
		replace()
		how = func() {
			within, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if lease, err := h.Get(within); err == nil {
				lease.Release()
			}
		}
		_ = h.Close()
		replace()
		synctest.Wait()
		how = func() {}
		time.Sleep(2 * time.Hour)
		_ = h.Close()
	})
}

// TestR39Ends has what opens end its goroutine, a change that can't be read at first, and
// a handle that is closed while it is opened, often.
func TestR39Ends(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ends := connection.NewHandle(&vault{}, func(context.Context, *connection.Connection) (int, error) {
			goruntime.Goexit()
			return 0, nil
		})
		for range 2 {
			if _, err := ends.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "ended its goroutine") {
				t.Errorf("%v", err)
			}
			time.Sleep(2 * time.Second)
		}
		v := watchedVault{&vault{password: "first"}}
		var opened []*pool
		h := handle(v, &opened)
		get(t, h)
		v.rotate("", errors.New("busy"))
		v.watcher()
		get(t, h)
		time.Sleep(500 * time.Millisecond)
		v.rotate("second", nil)
		for range 3 {
			time.Sleep(time.Second)
			get(t, h)
		}
		if got := get(t, h); got != "second" {
			t.Errorf("%s: the change is forgotten", got)
		}
		_ = h.Close()
	})
	h := connection.NewHandle(&vault{}, func(ctx context.Context, _ *connection.Connection) (int, error) { return 1, ctx.Err() })
	for range 20_000 {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, _ = h.Get(ctx)
		_ = h.Close()
	}
}
