package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/load"
	"github.com/toolgen/toolgen/gen/internal/lock"
)

// placeLock decides where the lock goes: nowhere, if toolgen.yaml says so.
func placeLock(program *load.Program, file *config.File, diags *diag.List) string {
	name := lock.FileName
	if file.Lock.IsSet() {
		name = file.Lock.Value
	}
	path := filepath.Join(filepath.Dir(file.Path), filepath.FromSlash(name))
	switch rel, err := filepath.Rel(program.ModuleDir, path); {
	case name == "":
		return ""
	case err != nil || !filepath.IsLocal(rel) || filepath.IsAbs(name):
		diags.Errorf(file.Lock.Pos, diag.OutsideModule, "write a path below it, relative to toolgen.yaml", "lock %s is outside of module %s", name, program.ModulePath)
	case strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "/"):
		diags.Errorf(file.Lock.Pos, diag.YAMLValue, "call it toolgen.lock", "lock %s can't be called that", name)
	}
	return path
}

// lock adds the tool surface to the files. A run over a part of the module
// leaves it alone. Tools of packages of which this build leaves out files with
// directives stay in it.
func (r *Result) lock(program *load.Program) error {
	if r.lockPath == "" {
		return nil
	}
	if !program.Whole {
		if len(r.Tools) > 0 {
			r.notef(diag.LockPart, "run toolgen without patterns to update them", "a run over a part of the module leaves %s, registries and files whose hooks are gone alone", filepath.Base(r.lockPath))
		}
		return nil
	}
	if err := r.keepExcluded(program); err != nil {
		return err
	}
	if len(r.surface.Tools) == 0 {
		if _, err := os.Stat(r.lockPath); err == nil {
			r.Files = append(r.Files, File{Path: r.lockPath})
		}
		return nil
	}
	data, err := r.surface.Encode()
	if err != nil {
		return err
	}
	r.Lock = data
	r.Files = append(r.Files, File{Path: r.lockPath, Data: r.Lock})
	return nil
}

func (r *Result) notef(code diag.Code, hint, format string, args ...any) {
	r.Diagnostics = slices.Insert(r.Diagnostics, 0, Diagnostic{Severity: diag.Note, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// keepExcluded keeps tools of the lock on disk whose directives this build
// doesn't see.
func (r *Result) keepExcluded(program *load.Program) error {
	paths := program.ExcludedPackages()
	if len(paths) == 0 {
		return nil
	}
	data, err := os.ReadFile(r.lockPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	old, err := lock.Parse(data)
	if err != nil {
		return nil //nolint:nilerr // it is written anew
	}
	for name, t := range old.Tools {
		_, seen := r.surface.Tools[name]
		if !seen && slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(t.Hook, path+".") }) {
			r.surface.Tools[name] = t
		}
	}
	return nil
}

// A SurfaceChange is a difference between the tools of a run and those of a
// lock that was kept.
type SurfaceChange = lock.Change

// A Class says what a change does to those who call the tools.
type Class = lock.Class

// The classes, worst first.
const (
	Breaking  = lock.Breaking  // a call that was right is wrong now, or does more than it said
	Narrowing = lock.Narrowing // some calls that were right are refused now
	Widening  = lock.Widening  // what was right still is, and more is
	Wording   = lock.Wording   // prose: models act on it
)

// Classes lists the classes, worst first.
var Classes = lock.Classes

// LockPath returns where the lock is, absolute; "" where toolgen.yaml says that
// there is none.
func (r *Result) LockPath() string { return r.lockPath }

// Compare returns what changed since a lock, worst first, with positions in the
// sources of this run, which must be whole and without errors. The error says
// that the lock can't be read.
func Compare(r *Result, against []byte) ([]SurfaceChange, error) {
	old, err := lock.Parse(against)
	if err != nil {
		return nil, fmt.Errorf("the lock to compare with: %w", err)
	}
	changes, err := lock.Compare(old, r.surface, lock.Places(r.packages, r.lockPath))
	for i := range changes {
		if pos := &changes[i].Pos; pos.IsValid() {
			pos.File = r.Rel(pos.File)
		}
	}
	return changes, err
}
