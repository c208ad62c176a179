package main

import (
	"bytes"
	"io"
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
// scanning reads: a rule for each code, paths relative to where the run was.
func (r *report) sarif(w io.Writer, dir string) error {
	run := sarif.NewRunWithInformationURI("toolgen", project)
	columns := columns{dir: dir, lines: make(map[string][][]byte)}
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

// columns turns columns in bytes into those of SARIF, which count UTF-16 units.
type columns struct {
	dir   string
	lines map[string][][]byte // of files
}

func (c *columns) location(pos gen.Position) *sarif.Location {
	physical := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(filepath.ToSlash(pos.File)))
	if pos.Line > 0 {
		physical.WithRegion(sarif.NewSimpleRegion(pos.Line, pos.Line).WithStartColumn(c.column(pos)))
	}
	return sarif.NewLocationWithPhysicalLocation(physical)
}

func (c *columns) column(pos gen.Position) int {
	lines, known := c.lines[pos.File]
	if !known {
		path := pos.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.dir, path)
		}
		if src, err := os.ReadFile(path); err == nil {
			lines = bytes.Split(src, []byte("\n"))
		}
		c.lines[pos.File] = lines
	}
	if pos.Line > len(lines) || pos.Column-1 > len(lines[pos.Line-1]) {
		return pos.Column
	}
	return len(utf16.Encode([]rune(string(lines[pos.Line-1][:pos.Column-1])))) + 1
}
