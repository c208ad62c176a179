package mcpserver_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// scenarios are those of the official conformance suite that a server of tools
// without sessions can pass: no prompts, resources of its own, sampling,
// elicitation or logging.
var scenarios = []string{
	"server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-audio",
	"tools-call-embedded-resource", "tools-call-mixed-content", "tools-call-error", "json-schema-2020-12",
	"dns-rebinding-protection",
}

// statelessScenarios are those of them that exist in the era without sessions,
// and those that only exist there.
var statelessScenarios = []string{
	"tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource",
	"tools-call-mixed-content", "tools-call-error", "json-schema-2020-12", "server-sse-multiple-streams",
	"dns-rebinding-protection", "http-header-validation", "input-required-result-unsupported-methods", "input-required-result-validate-input",
}

// TestConformance runs the suite as npm has it, in two versions and both eras.
func TestConformance(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	npm := filepath.Join(root, ".cache", "npm")
	node := filepath.Join(npm, "node", "node_modules", "node", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the conformance suite is missing: run make mcp-deps")
		}
		t.Skip("the conformance suite is missing: run make mcp-deps")
	}
	url := serveHTTP(t, options)
	suite := func(name string) string {
		return filepath.Join(npm, name, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	}
	for _, run := range []struct {
		name, suite string
		scenarios   []string
		flags       []string
	}{
		{"0.1.16", "conf1", scenarios, nil},
		{"0.2 2025-11-25", "conf2", scenarios, []string{"--spec-version", "2025-11-25"}},
		{"0.2 2026-07-28", "conf2", statelessScenarios, []string{"--spec-version", "2026-07-28"}},
	} {
		t.Run(run.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range run.scenarios {
				args := append([]string{suite(run.suite), "server", "--url", url, "--scenario", s}, run.flags...)
				cmd := exec.CommandContext(t.Context(), node, args...)
				cmd.Dir = t.TempDir()
				out, err := cmd.CombinedOutput()
				if err != nil || !passed.Match(out) {
					t.Errorf("%s: %v\n%s", s, err, tail(out))
				}
			}
		})
	}
}

// passed matches the summary of a scenario of which something was checked and
// nothing failed.
var passed = regexp.MustCompile(`(?m)Passed: [1-9][0-9]*/[0-9]+, 0 failed`)

func tail(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
