package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen"
)

func run(update, quick bool) error {
	all, err := candidates()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(outputFolder); err != nil {
		return err
	}
	if err := os.MkdirAll(outputFolder, 0o755); err != nil {
		return err
	}
	if err := generate(all); err != nil {
		return err
	}
	if quick {
		fmt.Print(omitted(all), table(all))
		return nil
	}
	if err := compile(); err != nil {
		return err
	}
	if err := check(all); err != nil {
		return err
	}
	if update {
		if err := os.WriteFile(omittedFile, []byte(omitted(all)), 0o644); err != nil {
			return err
		}
	}
	fmt.Print(table(all))
	return errors.Join(compare(all), shares(all), quoted(table(all)))
}

// generate generates the tools. A candidate that is refused gets the reason;
// the others are generated without it.
func generate(all []*candidate) error {
	for range 20 {
		result, err := gen.Generate(context.Background(), gen.Options{Config: filepath.Join(outputFolder, "toolgen.yaml")})
		if errors.Is(err, os.ErrNotExist) { // the first time
			if err := writeConfig(all, outputFolder, nil); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		refused, err := refusals(all, result)
		if err != nil {
			return err
		}
		if refused == 0 {
			if _, err := gen.Apply(context.Background(), result); err != nil {
				return err
			}
			return writeConfig(all, filepath.Join(outputFolder, libraries[0].name), &libraries[0]) // for a benchmark
		}
		if err := writeConfig(all, outputFolder, nil); err != nil {
			return err
		}
	}
	return errors.New("there are new errors each time")
}

// writeConfig writes a toolgen.yaml that names what isn't refused, of one library
// or of all.
func writeConfig(all []*candidate, dir string, only *library) error {
	var b strings.Builder
	line := 0
	put := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		line += strings.Count(text, "\n")
		b.WriteString(text)
	}
	put("version: 1\npackages:\n")
	var library *library
	receiver := ""
	for _, c := range all {
		if c.reason != "" || only != nil && c.library != only {
			continue
		}
		if c.library != library {
			library, receiver = c.library, ""
			put("  - path: %s\n    output: ./%stools\n    unsupported_fields: omit\n%s    types:\n", library.path, library.name, library.settings)
		}
		if c.receiver != receiver {
			receiver = c.receiver
			put("      - type: %s\n        methods:\n", receiver)
		}
		more := ""
		if choice := choices[c.String()]; choice != "" {
			more = ", " + choice
		}
		put("          - {method: %s, name: %s%s}\n", c.method, c.tool, more)
		c.line = line
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "toolgen.yaml"), []byte(b.String()), 0o644)
}

// refusals notes which candidates a run refused, and counts them.
func refusals(all []*candidate, result *gen.Result) (int, error) {
	byLine := make(map[int]*candidate)
	for _, c := range all {
		if c.reason == "" {
			byLine[c.line] = c
		}
	}
	n := 0
	for _, d := range result.Diagnostics {
		if d.Severity != "error" {
			continue
		}
		c := byLine[d.Pos.Line]
		if c == nil || filepath.Base(d.Pos.File) != "toolgen.yaml" {
			return 0, fmt.Errorf("an error that belongs to no candidate: %s", d)
		}
		if c.reason == "" {
			n++
			c.reason = fmt.Sprintf("%s [%s]", strings.TrimPrefix(d.Message, "tool "+c.tool+": "), d.Code)
		}
	}
	return n, nil
}

func compile() error {
	for _, args := range [][]string{{"build", "./" + outputFolder + "/..."}, {"vet", "./" + outputFolder + "/..."}} {
		if err := command(args...); err != nil {
			return err
		}
	}
	return nil
}

func command(args ...string) error {
	var out bytes.Buffer
	cmd := exec.Command("go", args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out.Bytes())
	}
	return nil
}

// check builds and runs a program that checks every tool of every package.
func check(all []*candidate) error {
	byTool := make(map[string]*candidate)
	for _, c := range all {
		byTool[c.tool] = c
	}
	for i := range libraries {
		l := &libraries[i]
		dir := filepath.Join(outputFolder, l.name+"check")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(checkProgram(l, all)), 0o644); err != nil {
			return err
		}
		var stdout bytes.Buffer
		cmd := exec.Command("go", "run", "./"+dir)
		cmd.Stdout, cmd.Stderr = &stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("checking %s: %w", l.name, err)
		}
		var found struct {
			Checked  int
			Problems map[string]string
		}
		if err := json.Unmarshal(stdout.Bytes(), &found); err != nil {
			return fmt.Errorf("checking %s: %w", l.name, err)
		}
		for tool, problem := range found.Problems {
			byTool[tool].reason = "WRONG: " + problem
		}
		if n := passed(l, all) + len(found.Problems); found.Checked != n {
			return fmt.Errorf("%s: %d tools were checked, %d were generated", l.name, found.Checked, n)
		}
	}
	return nil
}

// checkProgram is a program that has the tools of a library checked: each
// toolset with a receiver that is never called.
func checkProgram(l *library, all []*candidate) string {
	var b strings.Builder
	var aliases strings.Builder // an embedded interface must not be called like its method
	fmt.Fprintf(&b, "package main\n\nimport (\n\t\"github.com/toolgen/toolgen/gen/testdata/corpus/checker\"\n\ttools \"github.com/toolgen/toolgen/gen/testdata/corpus/%s/%stools\"\n\n\thooks %q\n)\n\nfunc main() {\n\tchecker.Main(\n", outputFolder, l.name, l.path)
	receiver := ""
	for _, c := range all {
		if c.library != l || c.reason != "" || c.receiver == receiver {
			continue
		}
		receiver = c.receiver
		if c.isIface {
			fmt.Fprintf(&aliases, "\ntype embedded%s = hooks.%s\n", receiver, receiver)
			fmt.Fprintf(&b, "\t\ttools.New%s(struct{ embedded%s }{}),\n", receiver, receiver)
		} else {
			fmt.Fprintf(&b, "\t\ttools.New%s(new(hooks.%s)),\n", receiver, receiver)
		}
	}
	b.WriteString("\t)\n}\n")
	return b.String() + aliases.String()
}

func passed(l *library, all []*candidate) int {
	return count(l, all, func(c *candidate) bool { return c.reason == "" })
}

func total(l *library, all []*candidate) int {
	return count(l, all, func(*candidate) bool { return true })
}

// count counts candidates of a library, or of all.
func count(l *library, all []*candidate, is func(*candidate) bool) int {
	n := 0
	for _, c := range all {
		if (l == nil || c.library == l) && is(c) {
			n++
		}
	}
	return n
}

// table is what is printed, and what README.md quotes.
func table(all []*candidate) string {
	var b strings.Builder
	row := func(name string, l *library) {
		p, t := passed(l, all), total(l, all)
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f %% |\n", name, t, p, 100*float64(p)/float64(t))
	}
	b.WriteString("| package | methods | tools | share |\n|---|---:|---:|---:|\n")
	for i := range libraries {
		row("`"+libraries[i].path+"`", &libraries[i])
	}
	row("all", nil)
	return b.String()
}

func omitted(all []*candidate) string {
	var lines []string
	for _, c := range all {
		if c.reason != "" {
			lines = append(lines, c.String()+": "+c.reason+"\n")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// compare fails if what is left out isn't what the committed list says.
func compare(all []*candidate) error {
	want, err := os.ReadFile(omittedFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if got := omitted(all); got != string(want) {
		if err := os.WriteFile(filepath.Join(outputFolder, omittedFile), []byte(got), 0o644); err != nil {
			return err
		}
		return fmt.Errorf("what is left out is not what %s says: compare with %s/%s, or run with -update", omittedFile, outputFolder, omittedFile)
	}
	return nil
}

// shares fails if too few candidates pass, or one is generated wrong.
func shares(all []*candidate) error {
	var errs []error
	least := func(name string, l *library, share float64) {
		if p, t := passed(l, all), total(l, all); float64(p) < share*float64(t) {
			errs = append(errs, fmt.Errorf("%s: %d of %d pass, want at least %.0f %%", name, p, t, 100*share))
		}
	}
	for i := range libraries {
		least(libraries[i].path, &libraries[i], leastOfOne)
	}
	least("all", nil, leastInAll)
	for _, c := range all {
		if strings.HasPrefix(c.reason, "WRONG") {
			errs = append(errs, fmt.Errorf("%s: %s", c, c.reason))
		}
	}
	return errors.Join(errs...)
}

// quoted fails if README.md doesn't have the table.
func quoted(table string) error {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		return err
	}
	if !strings.Contains(string(readme), table) {
		return errors.New("README.md has another table than this")
	}
	return nil
}
