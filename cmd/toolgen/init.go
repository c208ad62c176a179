package main

import (
	"bytes"
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
	has, err := look(root)
	if err != nil {
		return exitError, err
	}
	files := []struct{ name, text string }{{"toolgen.yaml", templates.Config}}
	if !has.code {
		files = append(files, struct{ name, text string }{"orders/orders.go", templates.Hooks})
	}
	for _, f := range files {
		path := filepath.Join(root, f.name)
		shown, err := filepath.Rel(c.dir(), path)
		if err != nil {
			shown = path
		}
		switch err := create(path, f.text); {
		case errors.Is(err, fs.ErrExist):
			fmt.Fprintf(c.stdout, "%s is there already: left alone\n", shown)
		case err != nil:
			return exitError, err
		default:
			fmt.Fprintf(c.stdout, "create %s\n", shown)
		}
	}
	fmt.Fprint(c.stdout, next(mod, has, root != c.dir()))
	return exitDone, nil
}

// dir is the folder of the run, absolute.
func (c *command) dir() string {
	dir, err := filepath.Abs(c.options.Dir)
	if err != nil {
		return c.options.Dir
	}
	return dir
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

// A module's contents, as far as init cares.
type contents struct {
	code, hooks, line bool // Go of its own, directives, the go:generate line
}

// look reads a module.
func look(root string) (has contents, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "vendor" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		src, err := os.ReadFile(path) //nolint:gosec // it is only looked at
		has.code = true
		has.hooks = has.hooks || bytes.Contains(src, []byte("//toolgen:expose"))
		has.line = has.line || bytes.Contains(src, []byte("//go:generate go tool toolgen"))
		return err
	})
	return has, err
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
func next(mod *modfile.File, has contents, below bool) string {
	var b strings.Builder
	b.WriteString("\nNext:\n")
	isTool := false
	for _, t := range mod.Tool {
		isTool = isTool || t.Path == modulePath
	}
	if !isTool {
		fmt.Fprintf(&b, "  go get -tool %s@%s\n", modulePath, toolVersion())
	}
	if has.code && !has.hooks {
		b.WriteString("  put //toolgen:expose into the doc comment of a method\n")
	}
	if has.code && !has.line {
		b.WriteString("  put //go:generate go tool toolgen into one file of the module\n")
	}
	where := ""
	if below {
		where = ", at the module's root"
	}
	fmt.Fprintf(&b, "  go generate ./... && go mod tidy && go build ./...%s\n", where)
	if has.code || mod.Module == nil {
		return b.String()
	}
	path := mod.Module.Mod.Path
	fmt.Fprintf(&b, `
Then a program that serves the tools to any MCP client is:
  import (
  	"%s/internal/agenttools"
  	"%s/orders"

  	"github.com/toolgen/toolgen/runtime/mcpserver"
  )

  func main() {
  	registry, err := agenttools.New(agenttools.Hooks{Desk: orders.NewDesk()})
  	if err != nil {
  		panic(err)
  	}
  	mcpserver.Main(registry, mcpserver.Options{Name: "orders", Version: "0.1.0"})
  }
`, path, path)
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
	shown := c.pkg
	if strings.HasPrefix(shown, ".") { // in toolgen.yaml it is from the module's root
		root, _, err := moduleRoot(c.options.Dir)
		if err != nil {
			return exitError, err
		}
		rel, err := filepath.Rel(root, filepath.Join(c.dir(), filepath.FromSlash(shown)))
		if err != nil {
			return exitError, err
		}
		shown = "./" + filepath.ToSlash(rel)
	}
	if len(list) == 0 {
		return exitError, fmt.Errorf("package %s has no method that could be a tool: one takes a context or returns an error, and has data", c.pkg)
	}
	page := struct {
		Path, Output string
		Types        []candidateType
	}{Path: shown}
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
