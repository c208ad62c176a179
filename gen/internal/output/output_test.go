package output_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/gen/internal/output"
)

const header = "// Header"

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tree lists the files below a folder with their contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			out[rel] = "folder"
			return nil
		}
		data, err := os.ReadFile(path)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRollback lets the last of several changes fail after the others were put
// in place: everything must be as it was.
func TestRollback(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "old.go"), header+" old")
	write(t, filepath.Join(dir, "b", "gone.go"), header+" gone")
	write(t, filepath.Join(dir, "z", "folder", "in the way"), "x")
	before := tree(t, dir)
	changes := []output.Change{
		{Path: filepath.Join(dir, "a", "old.go"), Kind: output.Update, Old: []byte(header + " old"), New: []byte(header + " new"), Mode: 0o600},
		{Path: filepath.Join(dir, "b", "gone.go"), Kind: output.Delete, Old: []byte(header + " gone"), Mode: 0o600},
		{Path: filepath.Join(dir, "c", "d", "new.go"), Kind: output.Create, New: []byte(header), Mode: 0o600},
		{Path: filepath.Join(dir, "z", "folder"), Kind: output.Create, New: []byte(header), Mode: 0o600},
	}
	err := output.Apply(t.Context(), changes)
	if err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Fatalf("error is %v", err)
	}
	after := tree(t, dir)
	if len(after) != len(before) {
		t.Errorf("before %v, after %v", before, after)
	}
	for path, text := range before {
		if after[path] != text {
			t.Errorf("%s is %q, was %q", path, after[path], text)
		}
	}
}

func TestModeIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.go")
	write(t, path, header+" old")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	changes, _, err := output.Plan([]output.File{{Path: path, Data: []byte(header + " new"), Ours: func([]byte) bool { return true }}})
	if err != nil || len(changes) != 1 {
		t.Fatal(changes, err)
	}
	if err := output.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestDiffIsAPatch applies diffs of random texts with patch and compares.
func TestDiffIsAPatch(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	for range 60 {
		old, now := text(random), text(random)
		dir := t.TempDir()
		write(t, filepath.Join(dir, "f.go"), old)
		diff := output.Diff([]output.Change{{Path: "f.go", Kind: output.Update, Old: []byte(old), New: []byte(now)}}, func(p string) string { return p })
		if old == now {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "git", "apply", "--unidiff-zero", "-p1")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, diff)
		}
		if got := tree(t, dir)["f.go"]; got != now {
			t.Fatalf("got %q, want %q by\n%s", got, now, diff)
		}
	}
}

// text makes some lines of few kinds, so that texts have much in common.
func text(random *rand.Rand) string {
	var b strings.Builder
	for i := range 12 + random.IntN(20) {
		if random.IntN(4) > 0 {
			b.WriteString(strings.Repeat("x", i/2) + "\n")
		} else {
			b.WriteString(string(rune('a'+random.IntN(3))) + "\n")
		}
	}
	return b.String()
}
