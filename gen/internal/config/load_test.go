package config_test

import (
	"strings"
	"testing"

	"github.com/toolgen/toolgen/gen/internal/config"
)

func TestSettingsInnermostWins(t *testing.T) {
	t.Parallel()
	file, diags := config.Parse("toolgen.yaml", []byte(`version: 1
defaults: {field_names: snake, description: summary, max_result_bytes: 2048}
packages:
  - path: ./a
    field_names: json
    types:
      - type: T
        timeout: 3s
        methods: [{method: M, timeout: 4s}, N]
`))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	p := file.Packages[0]
	m := p.Types[0].Methods
	got := m[0].Settings.Over(p.Types[0].Settings.Over(p.Settings.Over(file.Defaults)))
	if got.FieldNames != "json" || got.Description != "summary" || got.MaxResult != 2048 || got.Timeout.String() != "4s" {
		t.Errorf("got %+v", got)
	}
	if n := m[1]; n.Method.Value != "N" || n.Method.Pos.Line != 9 || n.Method.Pos.Column != 45 {
		t.Errorf("the short form is %+v", n)
	}
}

// FuzzParse reads any bytes: never a panic, and every diagnostic has a place.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"version: 1\n", "version: 1\npackages:\n  - path: ./a\n    types:\n      - {type: T, methods: [M, {method: N, params: {a: {hide: true}}}]}\n",
		"version: 1\nregistry: [{output: ./x}, {output: ./y}]\n", "a: &b c\nd: *b\n", "- 1\n- 2\n", "version: 1\n---\n", "{", "\"", "a: b: c", "<<: {}", "? [a]\n: b",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		_, diags := config.Parse("toolgen.yaml", src)
		for _, d := range diags {
			if d.Pos.Line < 1 || strings.TrimSpace(d.Message) == "" {
				t.Errorf("%q: %v has no place or says nothing", src, d)
			}
		}
	})
}
