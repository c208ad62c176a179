//go:build !pgquery_cgo

package postgres_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool/postgres"
)

// TestS24InProcess has the parser in a program that doesn't name its kind of child: what
// breaks it there breaks it for good, and says what to do.
func TestS24InProcess(t *testing.T) {
	if os.Getenv("TOOLGEN_IN_PROCESS") == "" {
		t.Parallel()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestS24InProcess$", "-test.v")
		cmd.Env = append(os.Environ(), "TOOLGEN_IN_PROCESS=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	for _, sql := range []string{"SELECT 1", "SELECT 1" + strings.Repeat("+1", 999), "SELECT 1"} {
		if broken, err := postgres.ParseHere(sql); broken || err != nil {
			t.Errorf("%v, %v", broken, err)
		}
	}
	if broken, err := postgres.ParseHere("SELECT 1" + strings.Repeat("+1", 4000)); !broken || !strings.Contains(err.Error(), "too complex") {
		t.Errorf("%v, %v", broken, err)
	}
}
