package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"toolgen": main})
}

// TestScripts runs the command as its users do, in modules of their own, with
// the real go command.
func TestScripts(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			lines := strings.Fields(string(cache))
			env.Setenv("GOCACHE", lines[0])
			env.Setenv("GOMODCACHE", lines[1])
			env.Setenv("GOFLAGS", os.Getenv("GOFLAGS"))
			env.Setenv("TOOLGEN", root)
			mod := "module example.com/shop\n\ngo 1.26.0\n\nrequire github.com/toolgen/toolgen v0.0.0\n\nreplace github.com/toolgen/toolgen => " + root + "\n"
			return os.WriteFile(filepath.Join(env.WorkDir, "go.mod"), []byte(mod), 0o600)
		},
	})
}
