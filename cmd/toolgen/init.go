package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"text/template"

	"golang.org/x/mod/modfile"

	"github.com/toolgen/toolgen/gen"
	"github.com/toolgen/toolgen/templates"
)

// modulePath is this command's own, as a tool of a user's module.
const modulePath = "github.com/toolgen/toolgen/cmd/toolgen"

// initialize writes the first files of a module, over nothing that is there; or
// prints the candidates of a package.
func (c *command) initialize(ctx context.Context) (int, error) {
	if len(c.options.Patterns) > 0 {
		return exitUsage, usagef("init takes no patterns; -package names a package whose candidates to print")
	}
	if c.pkg != "" {
		return c.candidates(ctx)
	}
	root, mod, err := moduleRoot(c.options.Dir)
	if err != nil {
		return exitError, err
	}
	files := []struct{ name, text string }{{"toolgen.yaml", templates.Config}}
	if !hasGo(root) {
		files = append(files, struct{ name, text string }{"orders/orders.go", templates.Hooks})
	}
	for _, f := range files {
		switch err := create(filepath.Join(root, f.name), f.text); {
		case errors.Is(err, fs.ErrExist):
			fmt.Fprintf(c.stdout, "%s is there already: left alone\n", f.name)
		case err != nil:
			return exitError, err
		default:
			fmt.Fprintf(c.stdout, "create %s\n", f.name)
		}
	}
	fmt.Fprint(c.stdout, next(mod, len(files) > 1))
	return exitDone, nil
}

// moduleRoot finds the module that a folder is in.
func moduleRoot(dir string) (root string, mod *modfile.File, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", nil, err
	}
	for root = dir; ; root = filepath.Dir(root) {
		src, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err == nil {
			mod, err := modfile.Parse("go.mod", src, nil)
			return root, mod, err
		}
		if filepath.Dir(root) == root {
			return "", nil, fmt.Errorf("%s is not in a Go module: run go mod init", dir)
		}
	}
}

// hasGo reports whether a module has any Go of its own: then it needs no
// example.
func hasGo(root string) bool {
	found := errors.New("found")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "vendor"):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, ".go"):
			return found
		}
		return nil
	})
	return err != nil
}

// create writes a file that isn't there yet.
func create(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // source code is for all to read
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// next says what to do after the first files.
func next(mod *modfile.File, example bool) string {
	var b strings.Builder
	b.WriteString("\nNext:\n")
	isTool := false
	for _, t := range mod.Tool {
		isTool = isTool || t.Path == modulePath
	}
	if !isTool {
		fmt.Fprintf(&b, "  go get -tool %s@%s\n", modulePath, toolVersion())
	}
	if !example {
		b.WriteString("  put //toolgen:expose into the doc comment of a method, and //go:generate go tool toolgen into one file\n")
	}
	b.WriteString("  go generate ./... && go build ./...\n")
	return b.String()
}

// toolVersion is the version of this command, latest for one built from a tree.
func toolVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path == "" || info.Main.Version == "" || info.Main.Version == "(devel)" || strings.Contains(info.Main.Version, "-0.") || strings.Contains(info.Main.Version, "+") {
		return "latest"
	}
	return info.Main.Version
}

// candidateType is a type with its methods that could be tools.
type candidateType struct {
	Name      string
	Interface bool
	Methods   []gen.Candidate
}

// maxSummary is how many characters of a method's prose stand behind it.
const maxSummary = 90

// candidates prints the methods of a package that could be tools, commented out.
func (c *command) candidates(ctx context.Context) (int, error) {
	found, err := gen.Candidates(ctx, c.options, c.pkg)
	if err != nil {
		return exitError, err
	}
	list := found[c.pkg]
	if len(list) == 0 {
		return exitError, fmt.Errorf("package %s has no method that could be a tool: one takes a context or returns an error, and has data", c.pkg)
	}
	page := struct {
		Path, Output string
		Types        []candidateType
	}{Path: c.pkg}
	if !strings.HasPrefix(c.pkg, ".") {
		page.Output = "./internal/" + list[0].Package + "tools"
	}
	for _, m := range list {
		if n := len(page.Types); n == 0 || page.Types[n-1].Name != m.Type {
			page.Types = append(page.Types, candidateType{Name: m.Type, Interface: m.Interface})
		}
		m.Summary = oneLine(m.Summary)
		last := &page.Types[len(page.Types)-1]
		last.Methods = append(last.Methods, m)
	}
	t, err := template.New("candidates").Parse(templates.Candidates)
	if err != nil {
		return exitError, err
	}
	return exitDone, t.Execute(c.stdout, page)
}

// oneLine is the beginning of a text, without what a comment in YAML can't have.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > maxSummary {
		return string(r[:maxSummary]) + "…"
	}
	return text
}
