package gen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/toolgen/toolgen/gen"
)

// TestCompare runs every file of testdata/surfaces: a module as it was below
// old/ and as it is below new/, and what lies between their surfaces, with
// positions in the new sources. -update writes it.
func TestCompare(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/surfaces/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 6 {
		t.Errorf("%d files, want at least 6", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			old := surfaceOf(t, archive, "old/")
			fresh := surfaceOf(t, archive, "new/")
			changes, err := gen.Compare(fresh, old.Lock)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, c := range changes {
				fmt.Fprintln(&b, c)
			}
			last := &archive.Files[len(archive.Files)-1]
			if last.Name != "want" {
				t.Fatal("the last section is want")
			}
			if *update {
				last.Data = []byte(b.String())
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(last.Data), b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if same, err := gen.Compare(fresh, fresh.Lock); err != nil || len(same) > 0 {
				t.Errorf("compared with itself: %v, %v", same, err)
			}
		})
	}
}

// surfaceOf generates the module below a prefix.
func surfaceOf(t *testing.T, archive *txtar.Archive, prefix string) *gen.Result {
	t.Helper()
	part := &txtar.Archive{}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, prefix); ok {
			part.Files = append(part.Files, txtar.File{Name: name, Data: f.Data})
		}
	}
	r := generateIn(t, tempModule(t, part))
	if r.Lock == nil {
		t.Fatal("there is no lock")
	}
	return r
}

func TestCompareRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	dir := tempModule(t, &txtar.Archive{Files: []txtar.File{{Name: "orders/orders.go", Data: []byte(
		"// Package orders is a shop.\npackage orders\n\n// Desk serves.\ntype Desk struct{}\n\n// Get gets.\n//\n//toolgen:expose\nfunc (d *Desk) Get(id string) error { return nil }\n")}}})
	r := generateIn(t, dir)
	for _, text := range []string{
		"", "{", "null", "[]", `{"tools":{},"version":2}`, `{"version":1}`, `{"tools":{},"version":1} x`, `{"tools":{"a":{"new":1}},"version":1}`,
		`{"tools":{"orders_get":{"hook":"h","input":1,"sha256":""}},"version":1}`, `{"tools":{"orders_get":{"hook":"h","sha256":""}},"version":1}`,
	} {
		if changes, err := gen.Compare(r, []byte(text)); err == nil {
			t.Errorf("%s: %v; want an error", text, changes)
		}
	}
}
