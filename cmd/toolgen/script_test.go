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
	// The go command's settings, since a script has a home folder of its own.
	settings := []string{"GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOSUMDB", "GOPRIVATE", "GOTOOLCHAIN"}
	values, err := exec.CommandContext(t.Context(), "go", append([]string{"env"}, settings...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			for i, value := range strings.Split(string(values), "\n")[:len(settings)] {
				env.Setenv(settings[i], value)
			}
			env.Setenv("TOOLGEN", root)
			mod := "module example.com/shop\n\ngo 1.26.0\n\nrequire github.com/toolgen/toolgen v0.0.0\n\nreplace github.com/toolgen/toolgen => " + root + "\n"
			return os.WriteFile(filepath.Join(env.WorkDir, "go.mod"), []byte(mod), 0o600)
		},
	})
}
