package gen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"

	"github.com/toolgen/toolgen/gen"
)

var update = flag.Bool("update", false, "write what came out into the scenarios")

// TestScenarios runs every file of testdata/scenarios: prose on top, then the
// files of a module, then what must come of it.
//
//	args               patterns, one a line; -lint and -strict are options
//	want/diagnostics   all of them, with true columns
//	want/input/TOOL    the input schema of a tool; want/output/TOOL the output schema
//	want/PATH.go       a whole generated file
//	calls              a line each: a tool, a space, arguments; the output is
//	want/calls         built, run and called
//
// What generates without an error is compiled too. Sections that begin with
// want/ are written by -update; one that is empty asks for it.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/scenarios/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 80 {
		t.Errorf("%d scenarios, want at least 80", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			runScenario(t, file)
		})
	}
}

func runScenario(t *testing.T, file string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(bytes.TrimSpace(archive.Comment)) == 0 {
		t.Error("a scenario says on top what it shows")
	}
	s := scenario{T: t, dir: tempModule(t, archive), archive: archive, got: make(map[string]string)}
	result := s.generate()
	if !hasError(result) {
		for _, f := range archive.Files {
			s.collect(result, f.Name)
		}
		s.build(result)
	}
	s.compare(file)
}

// scenario is one run of one file.
type scenario struct {
	*testing.T

	dir     string
	archive *txtar.Archive
	got     map[string]string // by section
}

// tempModule lays out the input files.
func tempModule(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.mod"), goMod(t))
	for _, f := range archive.Files {
		if !strings.HasPrefix(f.Name, "want/") && f.Name != "args" && f.Name != "calls" {
			write(t, filepath.Join(dir, f.Name), string(f.Data))
		}
	}
	return dir
}

// goMod is the go.mod of a user's module, with this repository in the place of
// a released one.
func goMod(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return "module example.com/shop\n\ngo 1.26.0\n\nrequire github.com/toolgen/toolgen v0.0.0\n\nreplace github.com/toolgen/toolgen => " + root + "\n"
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *scenario) section(name string) (string, bool) {
	for _, f := range s.archive.Files {
		if f.Name == name {
			return string(f.Data), true
		}
	}
	return "", false
}

func (s *scenario) generate() *gen.Result {
	s.Helper()
	result, err := gen.Generate(s.Context(), s.options())
	if err != nil {
		s.Fatal(err)
	}
	var b strings.Builder
	found := result.Diagnostics
	var inTheWay *gen.InTheWayError
	if _, err := gen.Check(result); errors.As(err, &inTheWay) {
		found = slices.Concat(found, inTheWay.Diagnostics)
		result.Diagnostics = found
	}
	for _, d := range found {
		fmt.Fprintln(&b, strings.ReplaceAll(d.String(), s.dir, "$DIR"))
	}
	s.got["want/diagnostics"] = b.String()
	return result
}

func (s *scenario) options() gen.Options {
	args, _ := s.section("args")
	o := gen.Options{Dir: s.dir}
	for word := range strings.FieldsSeq(args) {
		switch word {
		case "-lint":
			o.Lint = true
		case "-strict":
			o.Strict = true
		default:
			o.Patterns = append(o.Patterns, word)
		}
	}
	return o
}

func hasError(r *gen.Result) bool {
	return slices.ContainsFunc(r.Diagnostics, func(d gen.Diagnostic) bool { return d.Severity == "error" })
}

// collect fills in a section that is wanted.
func (s *scenario) collect(result *gen.Result, name string) {
	s.Helper()
	path, wanted := strings.CutPrefix(name, "want/")
	kind, tool, _ := strings.Cut(path, "/")
	switch {
	case !wanted || path == "diagnostics" || path == "calls":
	case kind == "input" || kind == "output":
		s.got[name] = s.schema(result, tool, kind)
	default:
		for _, f := range result.Files {
			if f.Path == filepath.Join(s.dir, path) {
				s.got[name] = string(f.Data)
			}
		}
	}
}

// generatedModel is the part of the model that the tests read.
type generatedModel struct {
	Packages []struct {
		Path, Source string
		Toolsets     []struct {
			Name     string
			Receiver struct {
				Name string
				Elem struct{ Name string }
			}
			Options []struct{ Name string }
			Tools   []struct{ Name, Input, Output string }
		}
	}
}

func (s *scenario) model(result *gen.Result) generatedModel {
	s.Helper()
	text, err := result.Model()
	if err != nil {
		s.Fatal(err)
	}
	var m generatedModel
	if err := json.Unmarshal(text, &m); err != nil {
		s.Fatalf("model: %v", err)
	}
	return m
}

func (s *scenario) schema(result *gen.Result, tool, kind string) string {
	s.Helper()
	for _, p := range s.model(result).Packages {
		for _, ts := range p.Toolsets {
			for _, t := range ts.Tools {
				if t.Name != tool {
					continue
				}
				if kind == "output" {
					return t.Output + "\n"
				}
				return t.Input + "\n"
			}
		}
	}
	s.Fatalf("there is no tool %s", tool)
	return ""
}

// build compiles what was generated, and calls it where there are calls.
func (s *scenario) build(result *gen.Result) {
	s.Helper()
	if _, err := gen.Apply(s.Context(), result); err != nil {
		s.Fatal(err)
	}
	s.checkSchemas(result)
	again, err := gen.Generate(s.Context(), s.options())
	if err != nil {
		s.Fatal(err)
	}
	if changes, err := gen.Check(again); err != nil || len(changes) > 0 {
		s.Errorf("a second run changes %v, %v; want nothing", changes, err)
	}
	calls, ok := s.section("calls")
	if !ok {
		s.command("go", "vet", "./...")
		return
	}
	write(s.T, filepath.Join(s.dir, "call", "main.go"), s.caller(result))
	cmd := exec.CommandContext(s.Context(), "go", "run", "./call")
	cmd.Dir, cmd.Stdin = s.dir, strings.NewReader(calls)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("go run: %v\n%s", err, out)
	}
	s.got["want/calls"] = string(out)
}

// checkSchemas compiles every schema, which checks it against the meta-schema of
// JSON Schema 2020-12 and resolves its references.
func (s *scenario) checkSchemas(result *gen.Result) {
	s.Helper()
	for _, p := range s.model(result).Packages {
		for _, ts := range p.Toolsets {
			for _, t := range ts.Tools {
				for kind, text := range map[string]string{"input": t.Input, "output": t.Output} {
					if text == "" {
						continue
					}
					doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
					if err != nil {
						s.Fatalf("%s of %s: %v", kind, t.Name, err)
					}
					c := jsonschema.NewCompiler()
					if err := c.AddResource("mem:///schema.json", doc); err != nil {
						s.Fatal(err)
					}
					if _, err := c.Compile("mem:///schema.json"); err != nil {
						s.Errorf("%s schema of %s: %v", kind, t.Name, err)
					}
				}
			}
		}
	}
}

func (s *scenario) command(name string, args ...string) {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), name, args...)
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// caller is a program that reads calls from its input and prints how each
// ended.
func (s *scenario) caller(result *gen.Result) string {
	s.Helper()
	var imports, toolsets strings.Builder
	for i, p := range s.model(result).Packages {
		fmt.Fprintf(&imports, "hooks%d %q\ntools%d %q\n", i, p.Source, i, p.Path)
		for _, ts := range p.Toolsets {
			options := ""
			if len(ts.Options) > 0 {
				options = fmt.Sprintf(", tools%d.%sOptions{}", i, ts.Name)
			}
			fmt.Fprintf(&toolsets, "tools%d.New%s(new(hooks%d.%s)%s),\n", i, ts.Name, i, ts.Receiver.Elem.Name, options)
		}
	}
	return fmt.Sprintf(callerSource, imports.String(), toolsets.String())
}

const callerSource = `package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/toolgen/toolgen/runtime"
	%s
)

func main() {
	ctx := context.Background()
	registry, err := runtime.NewRegistry(
		%s
	)
	if err != nil {
		panic(err)
	}
	run, err := registry.Start(ctx, runtime.ErrorsEndCall(), runtime.NoBudgets())
	if err != nil {
		panic(err)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		name, args, _ := strings.Cut(in.Text(), " ")
		out, err := run.Call(ctx, runtime.Call{ID: "1", Name: name, Args: []byte(args)})
		if err != nil {
			panic(err)
		}
		switch o := out[0]; o.Kind {
		case runtime.OK:
			fmt.Printf("ok %%s", o.Result.Structured)
			if o.Result.Truncated {
				fmt.Printf(" (%%s)", o.Result.Hint)
			}
			for _, b := range o.Result.Blocks {
				if b.Kind != runtime.Text {
					fmt.Printf(" %%s %%s %%d bytes", b.Kind, b.MIME, len(b.Data))
				}
			}
			fmt.Println()
		case runtime.Pending:
			fmt.Printf("pending %%v\n", o.Err)
		case runtime.Fatal:
			fmt.Printf("fatal %%v\n", o.Err)
		default:
			fmt.Printf("%%s %%s\n", o.Kind, o.Message)
		}
	}
}
`

// compare checks or updates the wanted sections.
func (s *scenario) compare(file string) {
	s.Helper()
	if *update {
		s.rewrite(file)
		return
	}
	for name, got := range s.got {
		want, wanted := s.section(name)
		if !wanted && got == "" {
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			s.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func (s *scenario) rewrite(file string) {
	s.Helper()
	kept := slices.DeleteFunc(slices.Clone(s.archive.Files), func(f txtar.File) bool {
		return f.Name == "want/diagnostics" || f.Name == "want/calls"
	})
	for i := range kept {
		if got, ok := s.got[kept[i].Name]; ok {
			kept[i].Data = []byte(got)
		}
	}
	for _, name := range []string{"want/calls", "want/diagnostics"} {
		if got := s.got[name]; got != "" {
			kept = append(kept, txtar.File{Name: name, Data: []byte(got)})
		}
	}
	s.archive.Files = kept
	if err := os.WriteFile(file, txtar.Format(s.archive), 0o600); err != nil {
		s.Fatal(err)
	}
}
