package directive_test

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/gen/internal/directive"
)

func TestTable(t *testing.T) {
	t.Parallel()
	names := make([]string, 0, len(directive.Table))
	for _, s := range directive.Table {
		names = append(names, s.Name)
		if s.Help == "" || strings.HasSuffix(s.Help, ".") || s.Targets == 0 || s.Max < s.Min || s.Usage == "" && s.Max > 0 {
			t.Errorf("row %s is not whole: %+v", s.Name, s)
		}
		if directive.Find(s.Name).Name != s.Name {
			t.Errorf("%s isn't found", s.Name)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %v", names)
	}
	for _, h := range directive.Hints {
		if directive.Find(h) == nil {
			t.Errorf("hint %s is not in the table", h)
		}
	}
}

// FuzzParse reads a comment line as a directive: never a panic, and each
// diagnostic and argument is at a place within the line.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"//toolgen:expose", `//toolgen:expose name=x "title=a b" "prose"`, "//toolgen:param x `raw`", "// toolgen:expose", "//toolgen: expose",
		`//toolgen:expose title="a b"`, `//toolgen:expose "open`, "//toolgen:errors retry=A,B failed=C", "//toolgen:expose //x", "//TOOLGEN:é", "//toolgen:",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\n\r") || !strings.HasPrefix(line, "//") {
			return
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "x.go", "package x\n\n"+line+"\nfunc f() {}\n", parser.ParseComments)
		if err != nil || len(file.Comments) == 0 {
			return
		}
		for _, target := range []directive.Target{directive.Method, directive.Type, directive.Field, directive.Parameters} {
			found, diags := directive.Parse(fset, target, file.Comments...)
			for _, d := range diags {
				if d.Pos.Line != 3 || d.Pos.Column < 1 || d.Pos.Column > len(line)+1 {
					t.Errorf("%q: %s is not within the line", line, d)
				}
			}
			for _, d := range found {
				for _, a := range d.Args {
					if a.Pos.Line != 3 || a.Pos.Column > len(line)+1 {
						t.Errorf("%q: argument %q is at %s", line, a.Value, a.Pos)
					}
				}
			}
		}
	})
}
