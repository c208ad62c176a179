package wrap_test

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/runtimetest"
	"github.com/toolgen/toolgen/runtime/wrap"
)

// BenchmarkWrapper is what each wrapper adds to a call: F13.
func BenchmarkWrapper(b *testing.B) {
	all := wrappers()
	all["log on"] = func(ts runtime.Toolset) runtime.Toolset {
		return wrap.Log(ts, slog.New(slog.NewJSONHandler(nowhere{}, nil)))
	}
	all["dynamic"] = func(ts runtime.Toolset) runtime.Toolset {
		return wrap.Dynamic(func(context.Context) (runtime.Toolset, error) { return ts, nil }, wrap.PerRun)
	}
	all["none"] = nil
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(name, func(b *testing.B) { runtimetest.Overhead(b, all[name]) })
	}
}

// nowhere takes what is written, as a file would that costs nothing.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkJournal is what a journal adds to a call of a read-only tool, which is one
// record synced to the disk.
func BenchmarkJournal(b *testing.B) {
	runtimetest.Overhead(b, nil, runtime.Journal(wrap.DirStore(filepath.Join(b.TempDir(), "journal")), "r", "v1"))
}
