package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	name, folder := lock.FileName, filepath.Dir(file.Path)
	if file.Lock.IsSet() {
		name = file.Lock.Value
	} else if !within(program.ModuleDir, folder) { // a config from elsewhere
		folder = program.ModuleDir
	}
	path := filepath.Join(folder, filepath.FromSlash(name))
	switch {
	case name == "":
		return ""
	case filepath.IsAbs(name) || !within(program.ModuleDir, filepath.Dir(path)):
		diags.Errorf(file.Lock.Pos, diag.OutsideModule, "write a path below it, relative to toolgen.yaml", "lock %s is outside of module %s", name, program.ModulePath)
	case strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "/"):
		diags.Errorf(file.Lock.Pos, diag.YAMLValue, "call it toolgen.lock", "lock %s can't be called that", name)
	}
	return path
}

// within reports whether a folder, whose end need not be there yet, is in a
// module, symbolic links followed.
func within(root, folder string) bool {
	rest := ""
	for {
		if resolved, err := filepath.EvalSymlinks(folder); err == nil {
			rel, err := filepath.Rel(root, filepath.Join(resolved, rest))
			return err == nil && filepath.IsLocal(rel)
		}
		parent, last := filepath.Split(filepath.Clean(folder))
		if parent == folder || last == "" {
			return false
		}
		folder, rest = filepath.Clean(parent), filepath.Join(last, rest)
	}
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
	if err := r.keepExcluded(); err != nil {
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

// keepExcluded keeps tools of the lock on disk whose methods this build doesn't
// see.
func (r *Result) keepExcluded() error {
	if len(r.excluded) == 0 {
		return nil
	}
	data, err := os.ReadFile(r.lockPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if old, err := lock.Parse(data); err == nil { // else it is written anew
		r.surface = r.withExcluded(old)
	}
	return nil
}

// withExcluded returns the surface with tools of another one whose methods this
// build doesn't see.
func (r *Result) withExcluded(other *lock.File) *lock.File {
	out := &lock.File{Tools: maps.Clone(r.surface.Tools), Version: r.surface.Version}
	for name, t := range other.Tools {
		if _, seen := out.Tools[name]; !seen && r.excluded[t.Hook] {
			out.Tools[name] = t
		}
	}
	return out
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

// NoLock is a lock without tools, to compare with where there was none: all tools
// are new.
var NoLock = []byte(`{"tools":{},"version":1}`)

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
	changes, err := lock.Compare(old, r.withExcluded(old), r.place)
	for i := range changes {
		if pos := &changes[i].Pos; pos.IsValid() {
			pos.File = r.Rel(pos.File)
		}
	}
	return changes, err
}

// place finds what a change is about. A tool that isn't there any more is at the
// lock.
func (r *Result) place(tool, pointer string) diag.Position {
	for _, p := range r.packages {
		for i := range p.Toolsets {
			for j := range p.Toolsets[i].Tools {
				if t := &p.Toolsets[i].Tools[j]; t.Name == tool {
					return p.Place(t, pointer)
				}
			}
		}
	}
	return diag.Position{File: r.lockPath}
}
