// Package diag is how the generator tells what is wrong: a position as deep as
// anybody knows it, what was wrong with what, and what to do. Every stage of
// the pipeline returns a [List] beside its value, so that one run shows every
// problem.
package diag

import (
	"cmp"
	"fmt"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// A Severity says what a diagnostic does to the run.
type Severity string

// The severities. A run with an error writes nothing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// A Position is a place in a file. Line and column count from 1, the column in
// bytes; the zero value is "nowhere".
type Position struct {
	File   string `json:"file,omitempty"` // absolute until it is shown
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// At returns the position of a token.
func At(p token.Position) Position { return Position{p.Filename, p.Line, p.Column} }

// IsValid reports whether the position is somewhere.
func (p Position) IsValid() bool { return p.File != "" }

func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// A Diagnostic is one thing to tell.
type Diagnostic struct {
	Pos      Position  `json:"pos"`
	End      Position  `json:"end,omitzero"`
	Severity Severity  `json:"severity"`
	Code     Code      `json:"code"`
	Message  string    `json:"message"`
	Hint     string    `json:"hint,omitempty"` // what to do
	Related  []Related `json:"related,omitempty"`
}

// Related is another place that a diagnostic is about.
type Related struct {
	Pos     Position `json:"pos"`
	Message string   `json:"message"`
}

func (d Diagnostic) String() string {
	var b strings.Builder
	if d.Pos.IsValid() {
		fmt.Fprintf(&b, "%s: ", d.Pos)
	}
	if d.Severity != Error {
		fmt.Fprintf(&b, "%s: ", d.Severity)
	}
	b.WriteString(d.Message)
	if d.Hint != "" {
		b.WriteString("; " + d.Hint)
	}
	fmt.Fprintf(&b, " [%s]", d.Code)
	for _, r := range d.Related {
		fmt.Fprintf(&b, "\n\t%s: %s", r.Pos, r.Message)
	}
	return b.String()
}

// A List collects diagnostics. The zero value is ready to use.
type List []Diagnostic

// Errorf adds an error. The hint, what to do, may be empty.
func (l *List) Errorf(pos Position, code Code, hint, format string, args ...any) {
	*l = append(*l, Diagnostic{Pos: pos, Severity: Error, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// Warnf adds a warning.
func (l *List) Warnf(pos Position, code Code, hint, format string, args ...any) {
	*l = append(*l, Diagnostic{Pos: pos, Severity: Warning, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// Notef adds a note.
func (l *List) Notef(pos Position, code Code, format string, args ...any) {
	*l = append(*l, Diagnostic{Pos: pos, Severity: Note, Code: code, Message: fmt.Sprintf(format, args...)})
}

// Relate adds a place to the diagnostic that was added last.
func (l *List) Relate(pos Position, message string) {
	last := &(*l)[len(*l)-1]
	last.Related = append(last.Related, Related{pos, message})
}

// HasErrors reports whether nothing may be written.
func (l *List) HasErrors() bool {
	return slices.ContainsFunc(*l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Strict makes warnings errors.
func (l *List) Strict() {
	for i := range *l {
		if (*l)[i].Severity == Warning {
			(*l)[i].Severity = Error
		}
	}
}

// Sorted returns the list ordered by position, code and text, each once, with
// files named relative to dir where they are below it.
func (l *List) Sorted(dir string) List {
	out := slices.Clone(*l)
	for i := range out {
		out[i].Pos.File = relative(dir, out[i].Pos.File)
		out[i].End.File = relative(dir, out[i].End.File)
		out[i].Related = slices.Clone(out[i].Related)
		for j := range out[i].Related {
			out[i].Related[j].Pos.File = relative(dir, out[i].Related[j].Pos.File)
		}
	}
	slices.SortStableFunc(out, compare)
	return slices.CompactFunc(out, func(a, b Diagnostic) bool { return compare(a, b) == 0 })
}

func compare(a, b Diagnostic) int {
	return cmp.Or(
		cmp.Compare(a.Pos.File, b.Pos.File),
		cmp.Compare(a.Pos.Line, b.Pos.Line),
		cmp.Compare(a.Pos.Column, b.Pos.Column),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message),
	)
}

func relative(dir, file string) string {
	if dir == "" || !filepath.IsAbs(file) {
		return file
	}
	rel, err := filepath.Rel(dir, file)
	if err != nil || strings.HasPrefix(rel, "..") {
		return file
	}
	return filepath.ToSlash(rel)
}

// Print writes a diagnostic a line.
func (l *List) Print(w io.Writer) error {
	for _, d := range *l {
		if _, err := fmt.Fprintln(w, d); err != nil {
			return err
		}
	}
	return nil
}
