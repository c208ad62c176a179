package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// userModule lays out a module that has toolgen as its tool, its output
// committed, and returns a function that runs a script in it.
func userModule(t *testing.T) (dir string, run func(script string, env ...string) (string, error)) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	run = func(script string, env ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	setUp := `go mod init example.com/shop
go mod edit -require=github.com/toolgen/toolgen@v0.0.0 -replace=github.com/toolgen/toolgen=` + root + ` -tool=` + modulePath + `
cp ` + root + `/go.sum .
go run ` + modulePath + ` init
go mod tidy
go tool toolgen
git init -q .
git add .
git commit -q -m "the first tools"
`
	if out, err := run(setUp); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir, run
}

// edit replaces text in a file of the module.
func edit(t *testing.T, path, old, fresh string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q", path, old)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, fresh)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// TestPreCommit runs the entries of the hooks in a user's module, as pre-commit
// does.
func TestPreCommit(t *testing.T) {
	t.Parallel()
	var hooks []struct {
		ID, Entry string
		AlwaysRun bool `yaml:"always_run"`
	}
	readYAML(t, "../../.pre-commit-hooks.yaml", &hooks)
	if len(hooks) != 2 {
		t.Fatalf("%d hooks, want 2", len(hooks))
	}
	dir, run := userModule(t)
	for _, h := range hooks {
		if out, err := run(h.Entry); err != nil {
			t.Errorf("%s: %v\n%s", h.ID, err, out)
		}
		if !h.AlwaysRun {
			t.Errorf("%s doesn't run when files are deleted", h.ID)
		}
	}
	edit(t, filepath.Join(dir, "orders", "orders.go"), "Get shows an order:", "Get shows one order:")
	out, err := run(hooks[0].Entry)
	if err == nil || !strings.Contains(out, "update toolgen.lock") || !strings.Contains(out, "run: go generate ./...") {
		t.Errorf("after a change: %v\n%s", err, out)
	}
}

// TestAction runs the steps of the GitHub action in a user's module.
func TestAction(t *testing.T) {
	t.Parallel()
	var action struct {
		Inputs map[string]struct{ Description, Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Name, Run, Shell string
				Env              map[string]string
			}
		}
	}
	readYAML(t, "../../.github/actions/toolgen/action.yml", &action)
	if action.Runs.Using != "composite" || len(action.Runs.Steps) != 3 {
		t.Fatalf("%+v", action.Runs)
	}
	dir, run := userModule(t)
	input := regexp.MustCompile(`\$\{\{ inputs\.([a-z-]+) \}\}`)
	steps := func(inputs map[string]string) (string, error) {
		var all strings.Builder
		for _, s := range action.Runs.Steps {
			if strings.Contains(s.Run, "${{") {
				t.Fatalf("step %s has an expression in its script: it could be made to run anything", s.Name)
			}
			var env []string
			for name, value := range s.Env {
				env = append(env, name+"="+input.ReplaceAllStringFunc(value, func(m string) string {
					known := input.FindStringSubmatch(m)[1]
					if _, ok := action.Inputs[known]; !ok {
						t.Errorf("step %s uses an input %s that isn't declared", s.Name, known)
					}
					return cmp.Or(inputs[known], map[string]string{"strict": "false"}[known])
				}))
			}
			out, err := run(s.Run, env...)
			all.WriteString(out)
			if err != nil {
				return all.String(), err
			}
		}
		return all.String(), nil
	}
	if out, err := steps(nil); err != nil || !strings.Contains(out, "nothing to compare with") {
		t.Errorf("without inputs: %v\n%s", err, out)
	}
	if out, err := steps(map[string]string{"against": "HEAD", "sarif": "found.sarif"}); err != nil || !strings.Contains(out, "no change") {
		t.Errorf("with all inputs: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "found.sarif")); err != nil {
		t.Error(err)
	}
	edit(t, filepath.Join(dir, "orders", "orders.go"), "//toolgen:param cents minimum=1", "//toolgen:param cents minimum=2")
	if out, err := run("go generate ./..."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := steps(map[string]string{"against": "HEAD"}); err == nil || !strings.Contains(out, "narrowing: orders_refund /cents: its minimum: 1 -> 2") {
		t.Errorf("after a tighter bound: %v\n%s", err, out)
	}
	if out, err := steps(map[string]string{"against": "HEAD", "allow": "narrowing"}); err != nil {
		t.Errorf("with narrowing allowed: %v\n%s", err, out)
	}
}
