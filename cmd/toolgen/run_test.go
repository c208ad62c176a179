package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/gen"
)

// module lays out a module with one hook.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/shop\n\ngo 1.26.0\n",
		"orders/orders.go": "// Package orders is a shop.\npackage orders\n\n// Desk serves.\ntype Desk struct{}\n\n" +
			"// Get gets.\n//\n//toolgen:expose\nfunc (d *Desk) Get(id string) error { return nil }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// files lists what is in a folder.
func files(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// cancelAt is a context that ends when it was asked for the n-th time.
type cancelAt struct {
	context.Context //nolint:containedctx // it is one

	left int
	stop context.CancelFunc
}

func (c *cancelAt) Err() error {
	if c.left--; c.left == 0 {
		c.stop()
	}
	return c.Context.Err()
}

// TestInterrupt ends runs at every place at which they look whether they should go
// on: nothing is written then, and no temporary file is left.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	written := false
	for n := 1; !written; n++ {
		dir := module(t)
		before := files(t, dir)
		ctx, stop := context.WithCancel(t.Context())
		var stdout, stderr bytes.Buffer
		code := run(&cancelAt{ctx, n, stop}, []string{"-C", dir, "-o", "out.txt"}, &stdout, &stderr)
		stop()
		after := files(t, dir)
		switch code {
		case exitDone:
			written = true
			if !strings.Contains(after, "tools_gen.go") || strings.Contains(after, ".toolgen-") {
				t.Errorf("after %d looks: %s", n, after)
			}
		default:
			if before != after || !strings.Contains(stderr.String(), "interrupted; nothing was written") {
				t.Errorf("after %d looks, %s: %s", n, stderr.String(), after)
			}
		}
		if n > 1000 {
			t.Fatal("it never ends")
		}
	}
}

// TestProgress shows a line once it is time, and takes it away.
func TestProgress(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	p := &progressLine{w: &b}
	p.set(gen.Event{Stage: "loading packages"})
	if b.Len() > 0 {
		t.Errorf("before it is time: %q", b.String())
	}
	p.show()
	p.set(gen.Event{Stage: "making 3 tools"})
	p.clear()
	p.set(gen.Event{Stage: "late"})
	p.show()
	const line = "\r\x1b[Ktoolgen: "
	if want := line + "loading packages" + line + "making 3 tools" + "\r\x1b[K"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
