package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	formats "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/toolgen/toolgen/gen"
)

// TestSARIF checks what -format sarif writes against the schema that the
// standard publishes, and its columns, which count UTF-16 units.
func TestSARIF(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "orders.go"), []byte("// first\n/* größer 𝄞 */ func x()\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(line, column int) gen.Position {
		return gen.Position{File: "orders.go", Line: line, Column: column}
	}
	warning := gen.Diagnostic{Pos: at(2, 22), Severity: "warning", Code: "TG310", Message: "it accepts <anything>", Hint: "name a type"}
	for name, r := range map[string]report{
		"nothing": {},
		"failure": {failure: "no such file"},
		"drift":   {files: []changedFile{{"a b#%.go", "update"}}},
		"several": {diagnostics: []gen.Diagnostic{
			{Pos: at(1, 1), Severity: "error", Code: "TG101", Message: "one"}, warning, {Severity: "note", Code: "TG801", Message: "nowhere"}, warning,
		}},
		"surface": {surface: []gen.SurfaceChange{
			{Class: gen.Breaking, Tool: "a", What: "it is gone", Pos: gen.Position{File: "toolgen.lock"}},
			{Class: gen.Wording, Tool: "b", Pointer: "/x", What: "its title changed", Old: "A", New: "B", Pos: at(1, 4)},
		}},
	} {
		var b bytes.Buffer
		if err := r.sarif(&b, dir); err != nil {
			t.Fatal(err)
		}
		parsed, err := formats.FromBytes(b.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := parsed.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, want := len(parsed.Runs[0].Results), len(r.diagnostics)+len(r.surface)+len(r.files)+min(len(r.failure), 1); got != want {
			t.Errorf("%s: %d results, want %d", name, got, want)
		}
	}
	c := newColumns(dir)
	sub := newColumns(filepath.Join(dir, "svc"))
	sub.root = c.dir // as with a .git there
	for file, want := range map[string]string{"orders.go": "svc/orders.go", "../a b#%.go": "a%20b%23%25.go", "/elsewhere/x.yaml": "file:///elsewhere/x.yaml"} {
		if got := sub.uri(file); got != want {
			t.Errorf("%s has the URI %s, want %s", file, got, want)
		}
	}
	for column, want := range map[int]int{1: 1, 4: 4, 8: 7, 21: 17, 22: 18, 99: 99} { // ö and ß are two bytes, the clef four bytes and two units
		if got := c.column(at(2, column)); got != want {
			t.Errorf("column %d is %d, want %d", column, got, want)
		}
	}
}

// TestReportJSON has an empty list where there are no diagnostics.
func TestReportJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	r := report{}
	if err := r.json(&b); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if list, ok := got["diagnostics"].([]any); !ok || len(list) != 0 || got["version"] != 1.0 {
		t.Errorf("got %v", got)
	}
}
