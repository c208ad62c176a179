package main

import (
	"bytes"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"unicode/utf16"

	formats "github.com/owenrumney/go-sarif/v3/pkg/report"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/toolgen/toolgen/gen"
)

// project is where the tool is at home.
const project = "https://github.com/toolgen/toolgen"

// sarif writes the diagnostics and changes as SARIF 2.1.0, the form that code
// scanning reads: a rule for each code, paths relative to the repository.
func (r *report) sarif(w io.Writer, dir string) error {
	run := sarif.NewRunWithInformationURI("toolgen", project)
	columns := newColumns(dir)
	plain := func(rule, level, text string) *sarif.Result {
		run.AddRule(rule)
		return run.CreateResultForRule(rule).WithLevel(level).WithMessage(sarif.NewTextMessage(text))
	}
	if r.failure != "" {
		plain("failure", "error", r.failure)
	}
	for _, f := range r.files {
		plain("drift", "error", "generated files are out of date ("+f.Change+"); run: go generate ./...").AddLocation(columns.location(gen.Position{File: f.Path}))
	}
	for _, d := range r.diagnostics {
		rule := run.AddRule(string(d.Code))
		if page, ok := gen.Explain(string(d.Code)); ok {
			rule.WithDescription(page.Meaning).WithHelp(sarif.NewMultiformatMessageString().WithText(page.Cause + "\n" + page.Fix))
		}
		text := d.Message
		if d.Hint != "" {
			text += "; " + d.Hint
		}
		result := run.CreateResultForRule(string(d.Code)).WithLevel(string(d.Severity)).WithMessage(sarif.NewTextMessage(text))
		if d.Pos.IsValid() {
			result.AddLocation(columns.location(d.Pos))
		}
		for _, related := range d.Related {
			result.AddRelatedLocation(columns.location(related.Pos).WithMessage(sarif.NewTextMessage(related.Message)))
		}
	}
	for _, change := range r.surface {
		run.AddRule(string(change.Class)).WithDescription("a change of what a model sees: " + string(change.Class))
		unplaced := change
		unplaced.Pos = gen.Position{}
		result := run.CreateResultForRule(string(change.Class)).WithLevel(levelOf(change.Class)).WithMessage(sarif.NewTextMessage(unplaced.String()))
		if change.Pos.IsValid() {
			result.AddLocation(columns.location(change.Pos))
		}
	}
	out := formats.NewV210Report()
	out.AddRun(run)
	return out.PrettyWrite(w)
}

func levelOf(c gen.Class) string {
	switch c {
	case gen.Breaking:
		return "error"
	case gen.Narrowing:
		return "warning"
	default:
		return "note"
	}
}

// columns turns columns in bytes into those of SARIF, which count UTF-16 units,
// and files into URIs.
type columns struct {
	dir   string              // absolute
	root  string              // of the repository, else dir
	lines map[string][][]byte // of files
}

func newColumns(dir string) *columns {
	c := &columns{lines: make(map[string][][]byte)}
	c.dir, _ = filepath.Abs(dir) // it fails only where there is no working folder
	if resolved, err := filepath.EvalSymlinks(c.dir); err == nil {
		c.dir = resolved
	}
	c.root = c.dir
	for at := c.dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			c.root = at
			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return c
}

func (c *columns) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(c.dir, file)
}

// uri is relative to the repository, or absolute outside of it.
func (c *columns) uri(file string) string {
	rel, err := filepath.Rel(c.root, c.path(file))
	if err != nil || !filepath.IsLocal(rel) {
		return (&url.URL{Scheme: "file", Path: filepath.ToSlash(c.path(file))}).String()
	}
	return (&url.URL{Path: filepath.ToSlash(rel)}).String()
}

func (c *columns) location(pos gen.Position) *sarif.Location {
	physical := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(c.uri(pos.File)))
	if pos.Line > 0 {
		physical.WithRegion(sarif.NewSimpleRegion(pos.Line, pos.Line).WithStartColumn(c.column(pos)))
	}
	return sarif.NewLocationWithPhysicalLocation(physical)
}

func (c *columns) column(pos gen.Position) int {
	lines, known := c.lines[pos.File]
	if !known {
		if src, err := os.ReadFile(c.path(pos.File)); err == nil {
			lines = bytes.Split(src, []byte("\n"))
		}
		c.lines[pos.File] = lines
	}
	if pos.Line > len(lines) || pos.Column-1 > len(lines[pos.Line-1]) {
		return pos.Column
	}
	return len(utf16.Encode([]rune(string(lines[pos.Line-1][:pos.Column-1])))) + 1
}
