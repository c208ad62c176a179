package gen_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/toolgen/toolgen/gen"
)

// twoPackages is a module with two hook packages and a registry.
const twoPackages = `
-- toolgen.yaml --
version: 1
registry: {output: ./agenttools}
-- orders/orders.go --
// Package orders is a shop.
package orders

// Desk serves orders.
type Desk struct{}

// Line is a line.
type Line struct{ N int }

// Count counts orders.
//
//toolgen:expose
func (d *Desk) Count(lines []Line, m map[string]Line) (map[string][]Line, error) { return nil, nil }

// Cancel cancels one.
//
//toolgen:expose
func (d *Desk) Cancel(line Line) error { return nil }
-- stock/stock.go --
// Package stock is another.
package stock

import "example.com/shop/orders"

// Store stores.
type Store struct{}

// Count counts what is there.
//
//toolgen:expose
func (s *Store) Count(line orders.Line) (orders.Line, error) { return line, nil }
`

func generated(t *testing.T, o gen.Options) map[string]string {
	t.Helper()
	r, err := gen.Generate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if hasError(r) {
		t.Fatal(r.Diagnostics)
	}
	out := make(map[string]string)
	for _, f := range r.Files {
		rel, err := filepath.Rel(o.Dir, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		out[rel] = string(f.Data)
	}
	return out
}

// TestSameBytes generates from other folders, in other orders and on other
// numbers of cores.
func TestSameBytes(t *testing.T) {
	archive := txtar.Parse([]byte(twoPackages))
	first := tempModule(t, archive)
	want := generated(t, gen.Options{Dir: first})
	if len(want) != 4 {
		t.Fatalf("%d files", len(want))
	}
	slices.Reverse(archive.Files)
	second := tempModule(t, archive)
	for name, o := range map[string]gen.Options{
		"again":         {Dir: first},
		"other folder":  {Dir: second},
		"one by one":    {Dir: second, Patterns: []string{"./stock", "./orders"}},
		"other order":   {Dir: second, Patterns: []string{"./orders/...", "example.com/shop/stock"}},
		"with a config": {Dir: second, Config: filepath.Join(second, "toolgen.yaml")},
	} {
		for _, cores := range []int{1, 8} {
			before := runtime.GOMAXPROCS(cores)
			got := generated(t, o)
			runtime.GOMAXPROCS(before)
			for path, data := range got {
				if data != want[path] {
					t.Errorf("%s on %d cores: %s differs", name, cores, path)
				}
			}
			if _, registry := got["agenttools/registry_gen.go"]; registry == (o.Patterns != nil) {
				t.Errorf("%s: a registry is generated: %t", name, registry)
			}
		}
	}
	for path, data := range want {
		if strings.Contains(data, first) || strings.Contains(data, "2026") {
			t.Errorf("%s has a path of the machine or a date", path)
		}
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	dir := tempModule(t, txtar.Parse([]byte(twoPackages)))
	r, err := gen.Generate(t.Context(), gen.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gen.Apply(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	for _, path := range []string{"orders/orderstools", "stock/stocktools", "agenttools"} {
		if _, err := os.Stat(filepath.Join(dir, path)); err == nil {
			t.Errorf("%s is there after an interruption", path)
		}
	}
	if _, err := gen.Generate(ctx, gen.Options{Dir: dir}); err == nil {
		t.Error("a cancelled run is no error")
	}
}

func TestOverlay(t *testing.T) {
	t.Parallel()
	dir := tempModule(t, txtar.Parse([]byte(twoPackages)))
	path := filepath.Join(dir, "stock", "stock.go")
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string][]byte{path: bytes.ReplaceAll(src, []byte("Count("), []byte("Tally("))}
	files := generated(t, gen.Options{Dir: dir, Overlay: overlay})
	if !strings.Contains(files["stock/stocktools/tools_gen.go"], `"stock_tally"`) {
		t.Error("the overlay isn't read")
	}
}

// TestNoInit reads the symbol table of generated packages: definitions, tables
// and schemas are laid out by the compiler, so starting a program costs
// nothing. What it leaves of an init function is an empty one, of a single
// instruction.
func TestNoInit(t *testing.T) {
	t.Parallel()
	for _, pkg := range []string{"./hooks/sqlitedb/sqlitedbtools", "./examples/github/githubtools", "./examples/demo/agenttools"} {
		out := filepath.Join(t.TempDir(), "pkg.a")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", out, pkg)
		build.Dir = ".."
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		symbols, err := exec.CommandContext(t.Context(), "go", "tool", "nm", "-size", out).Output()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(symbols, []byte("Definitions")) {
			t.Fatalf("%s: no symbols were read", pkg)
		}
		for line := range strings.Lines(string(symbols)) {
			fields := strings.Fields(line) // address, size, kind, name
			if len(fields) != 4 || !strings.HasSuffix(fields[3], "tools.init") {
				continue
			}
			if size, err := strconv.Atoi(fields[1]); err != nil || size > 8 {
				t.Errorf("%s has an init function of %s bytes", pkg, fields[1])
			}
		}
	}
}

// TestRepository checks that what is committed is what this generator writes.
func TestRepository(t *testing.T) {
	t.Parallel()
	r, err := gen.Generate(t.Context(), gen.Options{Dir: ".."})
	if err != nil {
		t.Fatal(err)
	}
	changes, err := gen.Check(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		t.Errorf("%s %s; run make generate", c.Kind, r.Rel(c.Path))
	}
}
