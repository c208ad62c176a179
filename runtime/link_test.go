package runtime_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestLink lists what a program links that has only generated tools and the
// runtime: the standard library and this module.
func TestLink(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./internal/fixture/fixturetools")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if len(linked) == 0 {
		t.Fatal("nothing is listed")
	}
	for _, path := range linked {
		if !strings.HasPrefix(path, "github.com/toolgen/toolgen/runtime") {
			t.Errorf("a program with generated tools links %s: it must link the standard library and the runtime only", path)
		}
	}
}
