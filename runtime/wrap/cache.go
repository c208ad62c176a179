package wrap

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/schema"
)

// The bounds of a cache unless an option sets others.
const (
	CacheFor   = 5 * time.Minute
	CacheBytes = 64 << 20
)

// A CacheOption changes a cache.
type CacheOption func(*cache)

// KeyBy shares a cache between runs, by what key returns: a tenant, a user. Without
// it each run has its own.
func KeyBy(key func(ctx context.Context) string) CacheOption {
	return func(c *cache) { c.keyBy, c.shared = key, &store{} }
}

// Cache keeps results for a time, and equal calls at one time share one. Only tools
// that say they change nothing may be cached: any other is an error of Tools. A
// positive ttl and size in bytes are needed; 0 stands for [CacheFor] and
// [CacheBytes].
func Cache(ts runtime.Toolset, ttl time.Duration, size int, opts ...CacheOption) runtime.Toolset {
	c := &cache{ttl: ttl, size: size}
	if ttl == 0 {
		c.ttl = CacheFor
	}
	if size == 0 {
		c.size = CacheBytes
	}
	for _, o := range opts {
		o(c)
	}
	return Each(ts, func(t runtime.Tool) (runtime.Tool, error) {
		switch def := t.Definition(); {
		case c.ttl < 0 || c.size < 0:
			return nil, errors.New("cache: its time and size must be positive")
		case def.Hints.ReadOnly != runtime.Yes:
			return nil, fmt.Errorf("cache: tool %s doesn't say that it is read-only: filter it out, or hint it", def.Name)
		}
		return &intercepted{t, func(ctx context.Context, args json.RawMessage) (*runtime.Result, error) { return c.call(ctx, t, args) }}, nil
	})
}

type cache struct {
	ttl    time.Duration
	size   int
	keyBy  func(ctx context.Context) string
	shared *store
}

// store is what is kept, the latest used first.
type store struct {
	mu     sync.Mutex
	byKey  map[string]*list.Element
	recent list.List
	bytes  int
}

// kept is one result, or one that is on its way.
type kept struct {
	key    string
	ready  chan struct{}
	result *runtime.Result // nil: the call that was to bring it failed
	until  time.Time
	bytes  int
}

func (c *cache) call(ctx context.Context, t runtime.Tool, args json.RawMessage) (*runtime.Result, error) {
	s, err := c.storeOf(ctx)
	if err != nil {
		return t.Call(ctx, args) // outside of a run nothing is kept
	}
	key, ok := c.key(ctx, t, args)
	if !ok {
		return t.Call(ctx, args) // its decoder says what is wrong
	}
	for {
		k, mine := s.claim(key)
		if mine {
			return c.fill(ctx, s, k, t, args)
		}
		select {
		case <-k.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if k.result != nil {
			return k.result, nil
		}
	}
}

func (c *cache) storeOf(ctx context.Context) (*store, error) {
	if c.shared != nil {
		return c.shared, nil
	}
	return runtime.PerRun(ctx, c, func(context.Context) (*store, error) { return &store{}, nil })
}

// key is over the tool, its schemas and the arguments.
func (c *cache) key(ctx context.Context, t runtime.Tool, args json.RawMessage) (string, bool) {
	canonical, err := schema.Canonical(args)
	if err != nil {
		return "", false
	}
	h := sha256.New()
	def := t.Definition()
	by := ""
	if c.keyBy != nil {
		by = c.keyBy(ctx)
	}
	for _, part := range []string{by, def.Name, def.SchemaHash, string(canonical)} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return string(h.Sum(nil)), true
}

// claim returns what there is for a key, or a place for it that is the caller's to
// fill.
func (s *store) claim(key string) (k *kept, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byKey[key]; ok {
		k, _ = e.Value.(*kept)
		if k.until.IsZero() || time.Now().Before(k.until) {
			s.recent.MoveToFront(e)
			return k, false
		}
		s.drop(e)
	}
	k = &kept{key: key, ready: make(chan struct{})}
	if s.byKey == nil {
		s.byKey = make(map[string]*list.Element)
	}
	s.byKey[key] = s.recent.PushFront(k)
	return k, true
}

// drop forgets an entry. The mutex is held.
func (s *store) drop(e *list.Element) {
	if k, ok := s.recent.Remove(e).(*kept); ok {
		delete(s.byKey, k.key)
		s.bytes -= k.bytes
	}
}

// fill calls the tool. Only a result is kept, and only one that fits; whoever waits
// for one that failed calls by itself.
func (c *cache) fill(ctx context.Context, s *store, k *kept, t runtime.Tool, args json.RawMessage) (result *runtime.Result, err error) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		defer close(k.ready)
		e := s.byKey[k.key]
		if err != nil || result == nil || size(result) > c.size {
			if err == nil {
				k.result = result // for those who wait now
			}
			if e != nil && e.Value == any(k) {
				s.drop(e)
			}
			return
		}
		k.result, k.until, k.bytes = result, time.Now().Add(c.ttl), size(result)
		s.bytes += k.bytes
		for last := s.recent.Back(); s.bytes > c.size && last != nil && last != e; last = s.recent.Back() {
			s.drop(last)
		}
	}()
	err = errors.New("the call ended without a result")
	return t.Call(ctx, args)
}
