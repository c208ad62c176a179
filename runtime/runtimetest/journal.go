package runtimetest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolgen/toolgen/runtime"
)

// JournalStore checks a store of journals: a record is put once, whoever is first;
// what was put is there for another store over the same place, and goes with its run;
// a run is one owner's until it is given back. Open makes a store over one and the
// same place each time, as another process would.
func JournalStore(tb testing.TB, open func() runtime.JournalStore) {
	tb.Helper()
	ctx := context.Background()
	s, other := open(), open()
	check := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	if _, ok, err := s.Get(ctx, "r", "a"); err != nil || ok {
		tb.Errorf("a record that isn't there: %v, %v", ok, err)
	}
	if keys, err := s.List(ctx, "r"); err != nil || len(keys) != 0 {
		tb.Errorf("a run that isn't there: %v, %v", keys, err)
	}
	for _, key := range []string{"b.done.0f", "a.started"} {
		kept, err := s.Put(ctx, "r", key, []byte(`{"of":"`+key+`"}`))
		if check(err); !kept {
			tb.Errorf("%s is not kept", key)
		}
	}
	if kept, err := other.Put(ctx, "r", "a.started", []byte("other")); err != nil || kept {
		tb.Errorf("a record is put twice: %v, %v", kept, err)
	}
	if data, ok, err := other.Get(ctx, "r", "a.started"); err != nil || !ok || string(data) != `{"of":"a.started"}` {
		tb.Errorf("%s, %v, %v", data, ok, err)
	}
	keys, err := other.List(ctx, "r")
	check(err)
	if slices.Sort(keys); !slices.Equal(keys, []string{"a.started", "b.done.0f"}) {
		tb.Errorf("keys %v", keys)
	}
	first(tb, open)
	leases(tb, s, other)
	check(s.Delete(ctx, "r"))
	if keys, err := other.List(ctx, "r"); err != nil || len(keys) != 0 {
		tb.Errorf("a run that was deleted: %v, %v", keys, err)
	}
	if _, ok, err := s.Get(ctx, "r", "a.started"); err != nil || ok {
		tb.Errorf("a record of a run that was deleted: %v, %v", ok, err)
	}
}

// first has many put one record at once: one is first.
func first(tb testing.TB, open func() runtime.JournalStore) {
	tb.Helper()
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			kept, err := open().Put(context.Background(), "r", "c.started", []byte(strconv.Itoa(i)))
			if err != nil {
				tb.Errorf("put: %v", err)
			}
			if kept {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		tb.Errorf("%d were first", won.Load())
	}
}

func leases(tb testing.TB, s, other runtime.JournalStore) {
	tb.Helper()
	ctx := context.Background()
	const long = time.Minute
	for range 2 { // taken, and renewed
		if err := s.Lease(ctx, "r", "ann", long); err != nil {
			tb.Errorf("lease: %v", err)
		}
	}
	for _, store := range []runtime.JournalStore{s, other} {
		err := store.Lease(ctx, "r", "bob", long)
		if held, ok := errors.AsType[*runtime.RunHeldError](err); !ok || held.Owner != "ann" || held.Run != "r" {
			tb.Errorf("a run that is held: %v", err)
		}
	}
	if err := other.Lease(ctx, "another", "bob", long); err != nil {
		tb.Errorf("another run: %v", err)
	}
	for _, give := range []struct {
		store runtime.JournalStore
		run   string
		owner string
	}{{s, "r", "ann"}, {other, "another", "bob"}} {
		if err := give.store.Lease(ctx, give.run, give.owner, 0); err != nil {
			tb.Errorf("give back: %v", err)
		}
	}
	if err := other.Lease(ctx, "r", "bob", long); err != nil {
		tb.Errorf("a run that was given back: %v", err)
	}
	if err := other.Lease(ctx, "r", "bob", 0); err != nil {
		tb.Errorf("give back: %v", err)
	}
}
