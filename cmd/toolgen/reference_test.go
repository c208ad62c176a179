package main

import (
	"flag"
	"os"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgen/toolgen/gen"
	"github.com/toolgen/toolgen/templates"
)

var update = flag.Bool("update", false, "write the reference page")

// TestReference compares REFERENCE.md with the tables that it is made of.
func TestReference(t *testing.T) {
	t.Parallel()
	var lists struct{ Directives, Codes []gen.Page }
	for _, p := range gen.Pages() {
		if strings.HasPrefix(p.Name, "TG") {
			lists.Codes = append(lists.Codes, p)
		} else {
			lists.Directives = append(lists.Directives, p)
		}
	}
	page, err := template.New("reference").Parse(templates.Reference)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := page.Execute(&b, lists); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("REFERENCE.md", []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("REFERENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), b.String()); diff != "" {
		t.Errorf("run go test ./cmd/toolgen -run TestReference -update (-have +want):\n%s", diff)
	}
}
