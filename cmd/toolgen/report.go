package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/toolgen/toolgen/gen"
)

// A report is what a verb has to tell.
type report struct {
	diagnostics []gen.Diagnostic
	files       []changedFile
	tools       []gen.Tool
	surface     []gen.SurfaceChange
	advice      string // about the next version
	failure     string // why the run came to nothing
}

// A changedFile is one that was written, or would be.
type changedFile struct {
	Path   string `json:"path"`
	Change string `json:"change"` // create, update or delete
}

func changedFiles(r *gen.Result, changes []gen.Change) []changedFile {
	out := make([]changedFile, len(changes))
	for i, change := range changes {
		out[i] = changedFile{r.Rel(change.Path), string(change.Kind)}
	}
	return out
}

// report prints in the form that is asked for: as text, diagnostics go to
// standard error and all else to standard output, where the others go whole.
func (c *command) report(r report) {
	c.clear()
	r.diagnostics = c.shown(r.diagnostics)
	var err error
	switch c.format {
	case "json":
		err = r.json(c.stdout)
	case "sarif":
		err = r.sarif(c.stdout, c.options.Dir)
	default:
		for _, d := range r.diagnostics {
			fmt.Fprintln(c.stderr, d)
		}
		for _, f := range r.files {
			fmt.Fprintf(c.stdout, "%s %s\n", f.Change, f.Path)
		}
		for _, s := range r.surface {
			fmt.Fprintln(c.stdout, s)
		}
	}
	if err != nil {
		fmt.Fprintln(c.stderr, "toolgen:", err)
	}
}

// shown leaves out what the flags don't ask for.
func (c *command) shown(diagnostics []gen.Diagnostic) []gen.Diagnostic {
	out := []gen.Diagnostic{}
	for _, d := range diagnostics {
		if d.Severity == "error" || d.Severity == "warning" && !c.quiet || d.Severity == "note" && c.verbose {
			out = append(out, d)
		}
	}
	return out
}

// jsonReport is the form of -format json.
type jsonReport struct {
	Version     int                 `json:"version"`
	Diagnostics []jsonDiagnostic    `json:"diagnostics"`
	Files       []changedFile       `json:"files"`
	Tools       []gen.Tool          `json:"tools,omitempty"`
	Changes     []gen.SurfaceChange `json:"changes,omitempty"`
	Advice      string              `json:"advice,omitempty"` // of breaking, about the next version
	Error       string              `json:"error,omitempty"`  // why the run came to nothing
}

type jsonDiagnostic struct {
	Code      string        `json:"code"`
	Severity  string        `json:"severity"`
	File      string        `json:"file,omitempty"`
	Line      int           `json:"line,omitempty"`
	Column    int           `json:"column,omitempty"`
	EndLine   int           `json:"endLine,omitempty"`
	EndColumn int           `json:"endColumn,omitempty"`
	Message   string        `json:"message"`
	Hint      string        `json:"hint,omitempty"`
	Related   []jsonRelated `json:"related,omitempty"`
}

type jsonRelated struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

func (r *report) json(w io.Writer) error {
	out := jsonReport{Version: 1, Diagnostics: make([]jsonDiagnostic, len(r.diagnostics)), Files: append([]changedFile{}, r.files...), Tools: r.tools, Changes: r.surface, Advice: r.advice, Error: r.failure}
	for i, d := range r.diagnostics {
		out.Diagnostics[i] = jsonDiagnostic{
			Code: string(d.Code), Severity: string(d.Severity), File: d.Pos.File, Line: d.Pos.Line, Column: d.Pos.Column,
			EndLine: d.End.Line, EndColumn: d.End.Column, Message: d.Message, Hint: d.Hint,
		}
		for _, related := range d.Related {
			out.Diagnostics[i].Related = append(out.Diagnostics[i].Related, jsonRelated{related.Pos.File, related.Pos.Line, related.Pos.Column, related.Message})
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
