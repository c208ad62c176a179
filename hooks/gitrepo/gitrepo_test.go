package gitrepo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/toolgen/toolgen/hooks/gitrepo"
)

// history makes a repository of three commits.
func history(t *testing.T) *gitrepo.Repo {
	t.Helper()
	dir := t.TempDir()
	repo, err := git.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	for i, files := range []map[string]string{
		{"a.txt": "one\ntwo\n", "sub/b.txt": "needle\n"},
		{"a.txt": "one\nTWO\nthree\n"},
		{"sub/b.txt": "needle\nNeedle\n", "bin": "needle\x00"},
	} {
		for name, text := range files {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
			if _, err := tree.Add(name); err != nil {
				t.Fatal(err)
			}
		}
		who := &object.Signature{Name: "Ada", Email: "ada@example.com", When: time.Date(2026, 1, i+1, 0, 0, 0, 0, time.UTC)}
		if _, err := tree.Commit([]string{"first\n\nbody", "second", "third"}[i], &git.CommitOptions{Author: who}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := gitrepo.Open(filepath.Join(dir, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func subjects(commits []gitrepo.Commit) string {
	var out []string
	for _, c := range commits {
		out = append(out, c.Subject)
	}
	return strings.Join(out, " ")
}

func TestLog(t *testing.T) {
	t.Parallel()
	r := history(t)
	since := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		options gitrepo.LogOptions
		want    string
	}{
		{gitrepo.LogOptions{}, "third second first"},
		{gitrepo.LogOptions{Limit: 1}, "third"},
		{gitrepo.LogOptions{Path: "a.txt"}, "second first"},
		{gitrepo.LogOptions{Path: "sub/"}, "third first"},
		{gitrepo.LogOptions{Since: &since}, "third second"},
		{gitrepo.LogOptions{Revision: "HEAD~1"}, "second first"},
	} {
		got, err := r.Log(t.Context(), c.options)
		if err != nil || subjects(got) != c.want {
			t.Errorf("%+v: %s, %v; want %s", c.options, subjects(got), err, c.want)
		}
	}
	if _, err := r.Log(t.Context(), gitrepo.LogOptions{Revision: "nope"}); !errors.Is(err, gitrepo.ErrNotFound) {
		t.Errorf("a revision that isn't there: %v", err)
	}
	if _, err := r.Log(t.Context(), gitrepo.LogOptions{Limit: 201}); !errors.Is(err, gitrepo.ErrArgument) {
		t.Errorf("a limit beyond the bound: %v", err)
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	r := history(t)
	d, err := r.Show(t.Context(), "HEAD~1")
	if err != nil || len(d.Changes) != 1 || d.Changes[0] != (gitrepo.Change{Path: "a.txt", Added: 2, Deleted: 1}) || !strings.Contains(d.Patch, "+three") {
		t.Errorf("%+v, %v", d, err)
	}
	root, err := r.Show(t.Context(), "HEAD~2")
	if err != nil || len(root.Changes) != 2 || root.Message != "first\n\nbody" {
		t.Errorf("the first commit: %+v, %v", root, err)
	}
}

func TestBlame(t *testing.T) {
	t.Parallel()
	r := history(t)
	lines, err := r.Blame(t.Context(), "a.txt", 1, 3, nil)
	if err != nil || len(lines) != 3 || lines[0].Hash == lines[1].Hash || lines[1].Hash != lines[2].Hash || lines[2].Text != "three" {
		t.Errorf("%+v, %v", lines, err)
	}
	for _, c := range []struct{ first, last int }{{0, 1}, {2, 1}, {1, 300}, {9, 9}} {
		if _, err := r.Blame(t.Context(), "a.txt", c.first, c.last, nil); !errors.Is(err, gitrepo.ErrArgument) {
			t.Errorf("lines %d to %d: %v", c.first, c.last, err)
		}
	}
	if _, err := r.Blame(t.Context(), "../a.txt", 1, 1, nil); !errors.Is(err, gitrepo.ErrNotFound) {
		t.Errorf("a path out of the repository: %v", err)
	}
}

func TestGrep(t *testing.T) {
	t.Parallel()
	r := history(t)
	got, err := r.Grep(t.Context(), "^needle$", gitrepo.GrepOptions{})
	if err != nil || len(got) != 1 || got[0] != (gitrepo.Match{Path: "sub/b.txt", Line: 1, Text: "needle"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := r.Grep(t.Context(), "needle", gitrepo.GrepOptions{IgnoreCase: true, Path: "/sub"}); err != nil || len(got) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := r.Grep(t.Context(), "needle", gitrepo.GrepOptions{Path: "su"}); err != nil || len(got) != 0 {
		t.Errorf("half of a folder's name: %+v, %v", got, err)
	}
	if _, err := r.Grep(t.Context(), "(", gitrepo.GrepOptions{}); !errors.Is(err, gitrepo.ErrArgument) {
		t.Errorf("no regular expression: %v", err)
	}
}
