package gen_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/toolgen/toolgen/gen"
)

// cpu returns the CPU time of this process and of the children that it waited
// for, which is where the go command works.
func cpu() time.Duration {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			panic(err)
		}
		total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return total
}

// peak samples the size of the heap until it is stopped.
func peak() (stop func() uint64) {
	runtime.GC()
	var most atomic.Uint64
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.HeapAlloc))
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(done)
		<-ended
		return most.Load()
	}
}

// hookPackages lays out a module of n packages with eight hooks each, which all
// use one struct of another package.
func hookPackages(tb testing.TB, n int) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	root, err := filepath.Abs("..")
	if err != nil {
		tb.Fatal(err)
	}
	put("go.mod", "module example.com/big\n\ngo 1.26.0\n\nrequire github.com/toolgen/toolgen v0.0.0\n\nreplace github.com/toolgen/toolgen => "+root+"\n")
	put("shared/shared.go", "// Package shared has what all use.\npackage shared\n\nimport \"time\"\n\n// Page is a page.\ntype Page struct {\n\tNumber int `json:\"number\"`\n\tSince time.Time `json:\"since\"`\n}\n")
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "// Package p%d has hooks.\npackage p%d\n\nimport (\n\t\"context\"\n\t\"net/http\"\n\n\t\"example.com/big/shared\"\n)\n\n// Desk serves.\ntype Desk struct{ client *http.Client }\n\n", i, i)
		fmt.Fprintf(&b, "// Order is an order.\ntype Order struct {\n\t// ID is its number.\n\tID string `json:\"id\"`\n\tLines []Line `json:\"lines\"`\n\tNotes map[string]string `json:\"notes,omitempty\"`\n}\n\n// Line is a line.\ntype Line struct {\n\tSKU string `json:\"sku\"`\n\tQty int `json:\"qty\"`\n}\n\n")
		for j := range 8 {
			fmt.Fprintf(&b, "// Hook%d does something useful with an order.\n//\n// Parameters:\n//   - id: the number on the invoice\n//   - page: where to go on\n//\n//toolgen:expose\n//toolgen:readonly\nfunc (d *Desk) Hook%d(ctx context.Context, id string, page *shared.Page, order Order) (Order, error) {\n\treturn order, ctx.Err()\n}\n\n", j, j)
		}
		put(fmt.Sprintf("p%d/p%d.go", i, i), b.String())
	}
	return dir
}

func generateIn(tb testing.TB, dir string) *gen.Result {
	tb.Helper()
	r, err := gen.Generate(context.Background(), gen.Options{Dir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	for _, d := range r.Diagnostics {
		if d.Severity == "error" {
			tb.Fatal(d)
		}
	}
	return r
}

// BenchmarkPackages generates 350 packages with 2,800 hooks, of which nothing
// has been compiled: F9. The ratios are to a plain load with types.
func BenchmarkPackages(b *testing.B) {
	dir := hookPackages(b, 350)
	for b.Loop() {
		start, stop := cpu(), peak()
		r := generateIn(b, dir)
		ours := cpu() - start
		b.ReportMetric(ours.Seconds(), "cpu-s/run")
		b.ReportMetric(float64(stop())/(1<<20), "MB-heap")
		b.ReportMetric(float64(len(r.Tools)), "tools")
		start = cpu()
		loaded, err := packages.Load(&packages.Config{Dir: dir, Mode: packages.LoadSyntax}, "./...")
		if err != nil || len(loaded) < 350 {
			b.Fatal(err, len(loaded))
		}
		b.ReportMetric(ours.Seconds()/(cpu()-start).Seconds(), "of-plain-load")
	}
}

// BenchmarkGrowth compares 3,500 packages with 350: F10.
func BenchmarkGrowth(b *testing.B) {
	small, large := hookPackages(b, 350), hookPackages(b, 3500)
	for b.Loop() {
		start := cpu()
		generateIn(b, small)
		first := cpu() - start
		start = cpu()
		generateIn(b, large)
		b.ReportMetric((cpu()-start).Seconds()/first.Seconds(), "times-for-10x")
	}
}

// BenchmarkGithub generates every tool that go-github can give, in one run: F11.
// The export data of its dependencies is warm.
func BenchmarkGithub(b *testing.B) {
	config := filepath.Join("testdata", "corpus", "out", "github", "toolgen.yaml")
	if _, err := os.Stat(config); err != nil {
		b.Skip("run make coverage first: it writes " + config)
	}
	for b.Loop() {
		start, stop := cpu(), peak()
		r, err := gen.Generate(context.Background(), gen.Options{Dir: filepath.Join("testdata", "corpus"), Config: config})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric((cpu() - start).Seconds(), "cpu-s/run")
		b.ReportMetric(float64(stop())/(1<<20), "MB-heap")
		b.ReportMetric(float64(len(r.Tools)), "tools")
	}
}
