package gen_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/gen"
)

// layout writes files into a folder; those that begin with go.mod of the main
// module get the line that replaces the released toolgen.
func layout(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func hook(pkg, method string) string {
	return "// Package " + pkg + " has a hook.\npackage " + pkg + "\n\n// Desk serves.\ntype Desk struct{}\n\n// " + method + " does it.\n//\n//toolgen:expose\nfunc (d *Desk) " + method + "(n int) error { return nil }\n"
}

// compiled runs the generator, applies the result and has it compiled.
func compiled(t *testing.T, o gen.Options, build ...string) string {
	t.Helper()
	ctx := context.Background()
	r, err := gen.Generate(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range r.Diagnostics {
		if d.Severity == "error" {
			t.Error(d)
		}
	}
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
	}
	if _, err := gen.Apply(ctx, r); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build"}, build...)...)
	cmd.Dir, cmd.Env = o.Dir, o.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go build: %v\n%s", err, out)
	}
	return strings.Join(names, " ")
}

// TestTags generates for the files that a build with tags sees.
func TestTags(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"go.mod":      goMod(t),
		"orders/a.go": hook("orders", "Always"),
		"orders/b.go": "//go:build extra\n\npackage orders\n\n// Extra does it.\n//\n//toolgen:expose\nfunc (d *Desk) Extra(n int) error { return nil }\n",
	}
	if got := compiled(t, gen.Options{Dir: layout(t, files)}, "./..."); got != "orders_always" {
		t.Errorf("without the tag: %s", got)
	}
	if got := compiled(t, gen.Options{Dir: layout(t, files), Tags: []string{"extra"}}, "-tags=extra", "./..."); got != "orders_always orders_extra" {
		t.Errorf("with the tag: %s", got)
	}
}

// TestCgo generates for a package that uses C.
func TestCgo(t *testing.T) {
	t.Parallel()
	dir := layout(t, map[string]string{
		"go.mod": goMod(t),
		"orders/orders.go": "// Package orders uses C.\npackage orders\n\n// static int twice(int n) { return 2*n; }\nimport \"C\"\n\n// Desk serves.\ntype Desk struct{}\n\n" +
			"// Twice does it.\n//\n// Parameters:\n//   - n: a number\n//\n//toolgen:expose\nfunc (d *Desk) Twice(n int) int { return int(C.twice(C.int(n))) }\n",
	})
	if got := compiled(t, gen.Options{Dir: dir}, "./..."); got != "orders_twice" {
		t.Errorf("got %s", got)
	}
}

// TestNestedModule leaves a module within the module alone.
func TestNestedModule(t *testing.T) {
	t.Parallel()
	dir := layout(t, map[string]string{
		"go.mod":          goMod(t),
		"orders/a.go":     hook("orders", "Outer"),
		"nested/go.mod":   "module example.com/nested\n\ngo 1.26.0\n",
		"nested/in/in.go": hook("in", "Inner"),
	})
	if got := compiled(t, gen.Options{Dir: dir}, "./..."); got != "orders_outer" {
		t.Errorf("got %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "nested", "in", "intools")); err == nil {
		t.Error("a file was written into the nested module")
	}
}

// TestWorkspace names a package of another module of the workspace, whose source
// is beside it.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	root := layout(t, map[string]string{
		"go.work":           "go 1.26.0\n\nuse (\n\t./shop\n\t./lib\n)\n",
		"lib/go.mod":        "module example.com/lib\n\ngo 1.26.0\n",
		"lib/stock/s.go":    "// Package stock counts.\npackage stock\n\n// Store counts.\ntype Store struct{}\n\n// Count counts what there is.\nfunc (s *Store) Count(sku string) (int, error) { return 1, nil }\n",
		"shop/go.mod":       goMod(t),
		"shop/toolgen.yaml": "version: 1\npackages:\n  - path: example.com/lib/stock\n    output: ./stocktools\n    types:\n      - {type: Store, methods: [Count]}\n",
		"shop/orders/a.go":  hook("orders", "Own"),
	})
	if got := compiled(t, gen.Options{Dir: filepath.Join(root, "shop")}, "./..."); got != "stock_count orders_own" {
		t.Errorf("got %s", got)
	}
}

// TestVendor generates with the packages that are vendored.
func TestVendor(t *testing.T) {
	t.Parallel()
	dir := layout(t, map[string]string{
		"go.mod":       goMod(t) + "\nrequire example.com/lib v1.0.0\n\nreplace example.com/lib => ./lib\n",
		"lib/go.mod":   "module example.com/lib\n\ngo 1.26.0\n",
		"lib/l.go":     "// Package lib counts.\npackage lib\n\n// Store counts.\ntype Store struct{}\n\n// Count counts what there is.\n//\n// Parameters:\n//   - sku: the article\nfunc (s *Store) Count(sku string) (int, error) { return 1, nil }\n",
		"use/use.go":   "// Package use keeps the imports.\npackage use\n\nimport (\n\t_ \"example.com/lib\"\n\t_ \"github.com/toolgen/toolgen/runtime/toolimpl\"\n)\n",
		"toolgen.yaml": "version: 1\npackages:\n  - path: example.com/lib\n    output: ./libtools\n    types:\n      - {type: Store, methods: [Count]}\n",
	})
	cmd := exec.CommandContext(t.Context(), "go", "mod", "vendor")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go mod vendor: %v\n%s", err, out)
	}
	if err := os.RemoveAll(filepath.Join(dir, "lib")); err != nil { // what is vendored must do
		t.Fatal(err)
	}
	env := append(os.Environ(), "GOFLAGS=-mod=vendor")
	if got := compiled(t, gen.Options{Dir: dir, Env: env}, "./libtools"); got != "lib_count" {
		t.Errorf("got %s", got)
	}
	src, err := os.ReadFile(filepath.Join(dir, "libtools", "tools_gen.go"))
	if err != nil || !strings.Contains(string(src), "Counts what there is.") || !strings.Contains(string(src), "the article") {
		t.Errorf("the vendored prose is missing: %v", err)
	}
}

// TestOutputMissing generates a package that doesn't compile because what will
// be generated is missing.
func TestOutputMissing(t *testing.T) {
	t.Parallel()
	dir := layout(t, map[string]string{
		"go.mod":      goMod(t),
		"orders/a.go": hook("orders", "Own"),
		"app/app.go":  "// Package app links it.\npackage app\n\nimport (\n\t\"example.com/shop/orders\"\n\t\"example.com/shop/orders/orderstools\"\n)\n\n// Desk serves.\ntype Desk struct{}\n\nvar _ = orderstools.NewDesk(new(orders.Desk))\n\n// Count does it.\n//\n//toolgen:expose\nfunc (d *Desk) Count(n int) error { return nil }\n",
	})
	if got := compiled(t, gen.Options{Dir: dir}, "./..."); got != "app_count orders_own" {
		t.Errorf("got %s", got)
	}
}
