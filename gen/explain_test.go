package gen_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/gen"
)

var codeForm = regexp.MustCompile(`TG[0-9]{3}`)

// TestCodes compares the table of codes with the pages that explain them and
// with the scenarios that show them.
func TestCodes(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("internal/diag/codes.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := codeForm.FindAllString(string(src), -1)
	if !slices.IsSorted(codes) || len(slices.Compact(slices.Clone(codes))) != len(codes) || len(codes) < 60 {
		t.Errorf("the table is not sorted, or has a code twice: %v", codes)
	}
	var pages []string
	for _, p := range gen.Pages() {
		if codeForm.MatchString(p.Name) {
			pages = append(pages, p.Name)
			if p.Meaning == "" || p.Cause == "" || p.Fix == "" || p.Example == "" {
				t.Errorf("the page of %s lacks a part", p.Name)
			}
		} else if p.Meaning == "" || p.Usage == "" || p.Example == "" {
			t.Errorf("the page of the directive %s lacks a part", p.Name)
		}
	}
	if !slices.Equal(codes, pages) {
		t.Errorf("codes are\n%v\npages are\n%v", codes, pages)
	}
	files, err := filepath.Glob("testdata/scenarios/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	shown := make(map[string]bool)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, wanted, _ := strings.Cut(string(text), "-- want/diagnostics --")
		for _, m := range regexp.MustCompile(`\[(TG[0-9]{3})\]\n`).FindAllStringSubmatch(wanted, -1) {
			shown[m[1]] = true
		}
	}
	for _, code := range codes {
		if !shown[code] {
			t.Errorf("no scenario shows %s", code)
		}
		delete(shown, code)
	}
	for code := range shown {
		t.Errorf("a scenario shows %s, which is not in the table", code)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"TG301": "TG301", "[tg301]": "TG301", "expose": "expose", "//toolgen:expose": "expose", "toolgen:Hide": "hide"} {
		if p, ok := gen.Explain(word); !ok || p.Name != want {
			t.Errorf("Explain(%q) = %v, %v", word, p, ok)
		}
	}
	if _, ok := gen.Explain("TG999"); ok {
		t.Error("TG999 has a page")
	}
	if near := gen.NearestPage("expos"); !strings.Contains(near, "expose") {
		t.Errorf("near expos is %q", near)
	}
}
