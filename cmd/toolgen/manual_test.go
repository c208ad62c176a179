package main

import (
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestManual finds every directive and every key of toolgen.yaml in the
// package comment, which is the manual.
func TestManual(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	manual := file.Doc.Text()
	mentions := func(source, pattern, form string) {
		src, err := os.ReadFile("../../gen/internal/" + source)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindAllStringSubmatch(string(src), -1)
		if len(found) < 8 {
			t.Fatalf("%s: %d names", source, len(found))
		}
		for _, m := range found {
			if !regexp.MustCompile(strings.ReplaceAll(form, "NAME", m[1])).MatchString(manual) {
				t.Errorf("the manual says nothing of %s", m[1])
			}
		}
	}
	mentions("directive/table.go", `Name: "([a-z]+)"`, `(?m)^\t.*\bNAME\b`)
	mentions("config/load.go", `(?:fields\[)?"([a-z_]+)"\]?(?::| =) +(?:func|d\.|word|size)`, `\bNAME:`)
}
