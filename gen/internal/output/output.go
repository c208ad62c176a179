// Package output puts generated files on disk, or says what would change. It
// touches only files that differ, replaces only files that toolgen wrote, and
// writes all of them or none.
package output

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/diag"
)

// A File is a generated file.
type File struct {
	Path    string                // absolute
	Data    []byte                // nil: the file is to be deleted
	Package string                // the package that its folder must hold; "": any
	Ours    func(old []byte) bool // tells what toolgen wrote from what others did
	Last    bool                  // it goes into place after the others
}

// A Change is a difference between what was generated and what is on disk.
type Change struct {
	Path string
	Kind Kind
	Old  []byte // nil: there is none
	New  []byte
	Mode fs.FileMode
}

// LineEndsOnly reports whether what is on disk differs in its line ends only, as
// git makes them on some systems.
func (c *Change) LineEndsOnly() bool {
	return c.Kind == Update && bytes.Equal(bytes.ReplaceAll(c.Old, []byte("\r\n"), []byte("\n")), c.New)
}

// A Kind says what a change does.
type Kind string

// The kinds of changes.
const (
	Create Kind = "create"
	Update Kind = "update"
	Delete Kind = "delete"
)

// Plan compares files with what is on disk, sorted by path. A file in the way
// that toolgen didn't write is an error in the list.
func Plan(files []File) ([]Change, diag.List, error) {
	var changes []Change
	var diags diag.List
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int {
		switch {
		case a.Last == b.Last:
			return strings.Compare(a.Path, b.Path)
		case a.Last:
			return 1
		default:
			return -1
		}
	})
	for _, f := range files {
		old, err := os.ReadFile(f.Path)
		exists := err == nil
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("nothing was changed: %w", err)
		}
		if exists && !f.Ours(old) {
			diags.Errorf(diag.Position{File: f.Path, Line: 1, Column: 1}, diag.ForeignFile, "move it, or choose another output", "toolgen didn't write this file and won't replace it")
			continue
		}
		if f.Package != "" {
			checkPackage(f, &diags)
		}
		if c, differs := change(f, old, exists); differs {
			changes = append(changes, c)
		}
	}
	return changes, diags, nil
}

func change(f File, old []byte, exists bool) (Change, bool) {
	c := Change{Path: f.Path, Kind: Update, Old: old, New: f.Data, Mode: 0o644}
	switch {
	case f.Data == nil && !exists, exists && f.Data != nil && bytes.Equal(old, f.Data):
		return c, false
	case f.Data == nil:
		c.Kind = Delete
	case !exists:
		c.Kind, c.Old = Create, nil
	}
	if info, err := os.Stat(f.Path); err == nil {
		c.Mode = info.Mode().Perm()
	}
	return c, true
}

// checkPackage reports another package in a folder.
func checkPackage(f File, diags *diag.List) {
	entries, err := os.ReadDir(filepath.Dir(f.Path))
	if err != nil {
		return // it is yet to be made
	}
	for _, e := range entries {
		path := filepath.Join(filepath.Dir(f.Path), e.Name())
		if path == f.Path || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			continue
		}
		if in, err := build.Default.MatchFile(filepath.Dir(path), e.Name()); err != nil || !in {
			continue // it is of no build here
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.PackageClauseOnly)
		if err == nil && file.Name.Name != f.Package {
			diags.Errorf(diag.At(fset.Position(file.Name.Pos())), diag.OutputPackageName, "choose another output, or set package:",
				"package %s is to be generated where package %s is", f.Package, file.Name.Name)
			return
		}
	}
}

// Apply makes the changes: all, or, with an error, none.
func Apply(ctx context.Context, changes []Change) error {
	staged := make([]string, len(changes))
	var made []string
	for i, c := range changes {
		if c.Kind == Delete {
			continue
		}
		dirs, err := makeDirs(filepath.Dir(c.Path))
		made = append(made, dirs...)
		if err == nil {
			staged[i], err = stage(c)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return errors.Join(fmt.Errorf("nothing was changed: %w", err), unstage(staged), removeDirs(made))
		}
	}
	for i, c := range changes {
		if err := commit(c, staged[i]); err != nil {
			return errors.Join(fmt.Errorf("nothing was changed: %w", err), rollback(changes[:i]), unstage(staged), removeDirs(made))
		}
		staged[i] = ""
	}
	return nil
}

// unstage removes what was written beside its target and not put in place.
func unstage(staged []string) error {
	var errs []error
	for _, name := range staged {
		if name != "" {
			errs = append(errs, os.Remove(name))
		}
	}
	return errors.Join(errs...)
}

// makeDirs makes the folders that are missing and returns them, outer first.
func makeDirs(dir string) ([]string, error) {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		missing = append(missing, at)
	}
	slices.Reverse(missing)
	return missing, os.MkdirAll(dir, 0o755)
}

func removeDirs(dirs []string) error {
	for _, dir := range slices.Backward(dirs) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// stage writes a file beside its target.
func stage(c Change) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(c.Path), ".toolgen-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(c.New)
	err = errors.Join(err, f.Chmod(c.Mode), f.Sync(), f.Close())
	return f.Name(), err
}

func commit(c Change, staged string) error {
	if c.Kind == Delete {
		return os.Remove(c.Path)
	}
	return os.Rename(staged, c.Path)
}

// rollback undoes changes that were made.
func rollback(changes []Change) error {
	var errs []error
	for _, c := range slices.Backward(changes) {
		if c.Kind == Create {
			errs = append(errs, os.Remove(c.Path))
			continue
		}
		errs = append(errs, os.WriteFile(c.Path, c.Old, c.Mode))
	}
	return errors.Join(errs...)
}
