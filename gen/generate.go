// Package gen turns Go methods into typed tools: the generator as a library.
//
// It is a pipeline. Every stage takes the value of the one before and returns
// its own with a list of diagnostics, so that one run shows every problem:
//
//	config.Load ─► *config.File
//	load.Packages ─► *load.Program       names, syntax, types
//	discover.Find ─► []*discover.Hook    what is exposed, and by what
//	build.Model ─► []*model.Package      plain data: what is emitted
//	emit ─► []File                       Go
//	lock.Of ─► *lock.File                what a model sees, for comparing
//
// [Generate] is pure: it writes nothing. [Apply], [Check] and [Diff]
// act on its result.
package gen

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/toolgen/toolgen/gen/internal/build"
	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/discover"
	"github.com/toolgen/toolgen/gen/internal/emit"
	"github.com/toolgen/toolgen/gen/internal/lint"
	"github.com/toolgen/toolgen/gen/internal/load"
	"github.com/toolgen/toolgen/gen/internal/lock"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/output"
)

// Options says what to generate. The zero value is the whole module around the
// working folder.
type Options struct {
	Dir      string            // "": the working folder
	Config   string            // path of toolgen.yaml; "": found from Dir up to the module's root
	Patterns []string          // folders, ./... included; none: the whole module
	Tags     []string          // build tags
	Env      []string          // nil: the process's
	Overlay  map[string][]byte // contents of files by absolute path, in the place of those on disk
	Lint     bool              // look at what a model reads, too
	Strict   bool              // warnings are errors
	Progress func(Event)       // called as the run goes on; nil: nobody looks
}

// An Event says what a run does now.
type Event struct {
	Stage string // such as "loading packages"
}

func (o *Options) tellf(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(Event{fmt.Sprintf(format, args...)})
	}
}

// A Position is a place in a file. Line and column count from 1, the column in
// bytes.
type Position = diag.Position

// A Diagnostic is one thing to tell, with its place. Files are named relative
// to Options.Dir where they are below it.
type Diagnostic = diag.Diagnostic

// A File is one generated file.
type File struct {
	Path string // absolute
	Data []byte // nil: the file is to be deleted, since its hooks are gone
}

// A Tool is what a run knows of one tool, for listings.
type Tool struct {
	Name    string   `json:"name"`
	Hook    string   `json:"hook"` // package.Type.Method
	Hints   []string `json:"hints,omitempty"`
	Input   int      `json:"inputBytes"`        // of the input schema
	Output  int      `json:"outputBytes"`       // of the output schema
	Context bool     `json:"context"`           // the hook takes a context
	Hidden  []string `json:"hidden,omitempty"`  // pointers of arguments that the host leaves at zero
	Pinned  []string `json:"pinned,omitempty"`  // those that it sets
	Omitted []string `json:"omitted,omitempty"` // what can't be sent or is not shown
}

// A Result is what a run generated. With an error among the diagnostics there
// are no files.
type Result struct {
	Files       []File
	Tools       []Tool
	Diagnostics []Diagnostic
	Lock        []byte // the tool surface; nil with an error, without tools, and of a part of the module

	dir        string
	root       string // of the module
	lockPath   string
	surface    *lock.File
	excluded   map[string]bool   // hooks that this build doesn't see
	names      map[string]string // by file: the package that its folder must hold
	packages   []*model.Package
	registries []*model.Registry
}

// Model returns the packages and registries as JSON, for tests and tools.
func (r *Result) Model() ([]byte, error) {
	return json.MarshalIndent(map[string]any{"packages": r.packages, "registries": r.registries}, "", "  ")
}

// Generate runs the pipeline. What is wrong with the input is in the result's
// diagnostics; the error is I/O or cancellation.
func Generate(ctx context.Context, o Options) (*Result, error) {
	dir, err := realDir(o.Dir)
	if err != nil {
		return nil, err
	}
	file, diags, err := loadConfig(dir, o.Config)
	if err != nil {
		return nil, err
	}
	o.tellf("loading packages")
	program, found, err := load.Packages(ctx, load.Options{
		Dir: dir, Patterns: o.Patterns, Extra: extra(file), Tags: o.Tags, Env: o.Env, Overlay: o.Overlay,
		Base: filepath.Dir(file.Path), Header: emit.Header,
	})
	if err != nil {
		return nil, err
	}
	diags = append(diags, found...)
	hooks, found := discover.Find(program, file)
	diags = append(diags, found...)
	o.tellf("reading %d hooks", len(hooks))
	packages, registries, found := build.Model(program, file, hooks)
	diags = append(diags, found...)
	if o.Lint {
		diags = append(diags, lint.Check(packages, &file.Lint)...)
	}
	lockPath := placeLock(program, file, &diags)
	if o.Strict {
		diags.Strict()
	}
	surface, err := lock.Of(packages, registries)
	if err != nil {
		return nil, err
	}
	result := &Result{Diagnostics: diags.Sorted(dir), Tools: tools(packages, surface), dir: dir, root: program.ModuleDir, surface: surface, lockPath: lockPath, excluded: program.ExcludedHooks()}
	if diags.HasErrors() {
		return result, nil
	}
	o.tellf("making %d tools", len(result.Tools))
	if err := result.emit(program, packages, registries); err != nil {
		return nil, err
	}
	if err := result.lock(program); err != nil {
		return nil, err
	}
	return result, nil
}

// emit writes the files of a run. A run over a part of the module leaves the
// registries, and files whose hooks are gone, alone; so does one that leaves
// out files with directives, since their hooks are not gone.
func (r *Result) emit(program *load.Program, packages []*model.Package, registries []*model.Registry) error {
	r.names, r.packages, r.registries = make(map[string]string), packages, registries
	emitted, err := emitAll(packages)
	if err != nil {
		return err
	}
	for i, p := range packages {
		for _, f := range emitted[i] {
			r.add(f, p.Name)
		}
	}
	for _, reg := range registries {
		f, err := emit.Registry(reg)
		if err != nil {
			return err
		}
		r.add(f, reg.Name)
	}
	if program.Whole {
		for _, path := range program.Generated() {
			if _, still := r.names[path]; !still && !program.Excluded() {
				r.Files = append(r.Files, File{Path: path})
			}
		}
	}
	return nil
}

func (r *Result) add(f emit.File, name string) {
	r.Files = append(r.Files, File(f))
	r.names[f.Path] = name
}

// emitAll writes packages on all cores, in order.
func emitAll(packages []*model.Package) ([][]emit.File, error) {
	out := make([][]emit.File, len(packages))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range packages {
		group.Go(func() (err error) {
			out[i], err = emit.Package(p)
			return err
		})
	}
	return out, group.Wait()
}

// realDir returns a folder without symbolic links, as the go command names
// files.
func realDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func loadConfig(dir, path string) (*config.File, diag.List, error) {
	if path == "" {
		root, err := load.ModuleRoot(dir)
		if err != nil {
			return nil, nil, err
		}
		if path = config.Find(dir, root); path == "" {
			return &config.File{Path: filepath.Join(root, config.FileName)}, nil, nil
		}
	}
	folder, err := realDir(filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}
	return config.Load(filepath.Join(folder, filepath.Base(path)))
}

// extra lists the packages that toolgen.yaml names.
func extra(file *config.File) []load.Extra {
	var out []load.Extra
	for _, p := range file.Packages {
		if p.Path.Value != "" {
			out = append(out, load.Extra{Path: p.Path.Value, Pos: p.Path.Pos})
		}
	}
	for _, word := range file.Symbols() {
		if i := strings.LastIndexByte(word.Value, '.'); i > 0 {
			out = append(out, load.Extra{Path: word.Value[:i], Pos: word.Pos})
		}
	}
	return out
}

func tools(packages []*model.Package, surface *lock.File) []Tool {
	var out []Tool
	for _, p := range packages {
		for i := range p.Toolsets {
			for j := range p.Toolsets[i].Tools {
				t := &p.Toolsets[i].Tools[j]
				seen := surface.Tools[t.Name]
				out = append(out, Tool{
					Name: t.Name, Hook: seen.Hook, Hints: hintNames(t.Hints), Input: len(t.Input), Output: len(t.Output), Context: t.Context,
					Hidden: seen.Hidden, Pinned: slices.Sorted(maps.Keys(seen.Pins)), Omitted: seen.Omitted,
				})
			}
		}
	}
	return out
}

func hintNames(h model.Hints) []string {
	var out []string
	for _, hint := range []struct {
		value *bool
		name  string
	}{{h.ReadOnly, "readonly"}, {h.Destructive, "destructive"}, {h.Idempotent, "idempotent"}} {
		if hint.value != nil && *hint.value {
			out = append(out, hint.name)
		}
	}
	if h.OpenWorld != nil && !*h.OpenWorld {
		out = append(out, "closedworld")
	}
	return out
}

// A Change is a file that differs from what was generated.
type Change = output.Change

// Apply makes the files on disk those of the result: all of them, or, with an
// error, none. Files that are equal are not touched. A file in the way that
// toolgen didn't write is an [InTheWayError].
func Apply(ctx context.Context, r *Result) ([]Change, error) {
	changes, err := Check(r)
	if err != nil {
		return nil, err
	}
	return changes, output.Apply(ctx, changes)
}

// Check returns what Apply would change.
func Check(r *Result) ([]Change, error) {
	files := make([]output.File, len(r.Files))
	for i, f := range r.Files {
		files[i] = output.File{Path: f.Path, Data: f.Data, Package: r.names[f.Path], Ours: hasHeader}
		if f.Path == r.lockPath {
			files[i].Ours, files[i].Last = r.isLock, true
		}
	}
	changes, diags, err := output.Plan(files)
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, &InTheWayError{Diagnostics: diags.Sorted(r.dir)}
	}
	return changes, nil
}

// isLock reports whether a file is a lock. One of its name that is no JSON is
// what became of one.
func (r *Result) isLock(data []byte) bool {
	return lock.Is(data) || filepath.Base(r.lockPath) == lock.FileName && !json.Valid(data)
}

func hasHeader(data []byte) bool { return bytes.HasPrefix(data, []byte(emit.Header)) }

// Diff returns what Apply would change as a unified diff.
func Diff(r *Result) (string, error) {
	changes, err := Check(r)
	if err != nil {
		return "", err
	}
	return output.Diff(changes, r.fromRoot), nil
}

// fromRoot names a file relative to the module, as patches do.
func (r *Result) fromRoot(path string) string {
	if rel, err := filepath.Rel(r.root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// Rel names a file relative to where the run was.
func (r *Result) Rel(path string) string {
	if rel, err := filepath.Rel(r.dir, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// InTheWayError says that files which toolgen didn't write are where output
// goes.
type InTheWayError struct {
	Diagnostics []Diagnostic
}

// Error returns the first diagnostic.
func (e *InTheWayError) Error() string {
	return e.Diagnostics[0].String()
}
