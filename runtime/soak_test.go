package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	goruntime "runtime"
	"strconv"
	"testing"
	"time"

	"github.com/toolgen/toolgen/runtime"
)

// TestR10NothingIsLeft makes 10,000 calls that end in every way, some of them cancelled,
// and finds as many goroutines and open files as before.
func TestR10NothingIsLeft(t *testing.T) {
	ends := newFake("x", func(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
		switch string(args) {
		case "0":
			return nil, errors.New("broken")
		case "1":
			panic("x")
		case "2":
			goruntime.Goexit()
		case "3":
			<-ctx.Done()
			return nil, ctx.Err()
		case "4":
			return nil, runtime.Retryf("again")
		case "5":
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			return runtime.TextResult("ok"), child.Err()
		}
		return runtime.TextResult("ok"), nil
	})
	ends.def.Timeout = time.Millisecond
	registry, err := runtime.NewRegistry(set{ends})
	if err != nil {
		t.Fatal(err)
	}
	goroutines, files := goruntime.NumGoroutine(), openFiles()
	for range 100 {
		run, err := registry.Start(t.Context(), runtime.NoBudgets(), runtime.ErrorsEndCall())
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			ctx, cancel := context.WithCancel(t.Context())
			batch := make([]runtime.Call, 20)
			for i := range batch {
				batch[i] = runtime.Call{ID: strconv.Itoa(i), Name: "x", Args: json.RawMessage(strconv.Itoa(rand.IntN(8)))}
			}
			if rand.IntN(4) == 0 {
				cancel()
			}
			if _, err := run.Call(ctx, batch...); err != nil {
				t.Fatal(err)
			}
			cancel()
		}
		if err := run.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 { // workers end by themselves once they are told
		if goruntime.NumGoroutine() <= goroutines {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := goruntime.NumGoroutine(); got > goroutines {
		t.Errorf("%d goroutines are left, there were %d", got, goroutines)
	}
	if got := openFiles(); got > files {
		t.Errorf("%d files are open, there were %d", got, files)
	}
}

func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // not on this system
	}
	return len(entries)
}
