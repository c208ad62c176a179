// Package build makes the model: it puts together what discovery found, what
// the prose says and what the types are, under names that don't clash.
package build

import (
	"cmp"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/discover"
	"github.com/toolgen/toolgen/gen/internal/load"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
	"github.com/toolgen/toolgen/gen/internal/schema"
)

// Model returns the generated packages and registries of a run. A tool with an
// error is left out, so that the others are checked all the same.
func Model(p *load.Program, file *config.File, hooks []*discover.Hook) ([]*model.Package, []*model.Registry, diag.List) {
	b := &builder{program: p, file: file, linked: linkTargets(p, hooks)}
	for len(hooks) > 0 {
		n := slices.IndexFunc(hooks, func(h *discover.Hook) bool { return h.Receiver.Package != hooks[0].Receiver.Package })
		if n < 0 {
			n = len(hooks)
		}
		if pkg := b.pkg(hooks[:n]); pkg != nil && len(pkg.Toolsets) > 0 {
			b.packages = append(b.packages, pkg)
		}
		hooks = hooks[n:]
	}
	b.checkToolNames()
	for i := range file.Registries {
		if !p.Whole { // a registry is over packages that this run doesn't see
			break
		}
		if r := b.registry(&file.Registries[i]); r != nil {
			b.registries = append(b.registries, r)
		}
	}
	b.checkFolders()
	return b.packages, b.registries, b.diags
}

type builder struct {
	program    *load.Program
	file       *config.File
	packages   []*model.Package
	registries []*model.Registry
	diags      diag.List
	linked     map[string]string // tool names by package.Type.Method
}

// pkg builds the package for the hooks of one hook package.
func (b *builder) pkg(hooks []*discover.Hook) *model.Package {
	source := hooks[0].Receiver.Package
	out := &model.Package{Source: source.Path, SourceName: source.Name}
	if !b.place(out, hooks[0].Receiver) {
		return nil
	}
	names := naming.NewScope(append(reserved, out.Name, source.Name)...)
	b.nameTools(out, hooks, names)
	walker := schema.New(b.program, out.Path, names, &b.diags)
	var roots []model.Type
	next := 0
	for i := range out.Toolsets {
		ts := &out.Toolsets[i]
		var tools []model.Tool
		for j := range ts.Tools {
			t := toolBuilder{builder: b, hook: hooks[next], tool: &ts.Tools[j], toolset: ts, walker: walker}
			next++
			if t.build() {
				tools = append(tools, ts.Tools[j])
				roots = append(roots, t.roots...)
			}
		}
		slices.SortFunc(tools, func(x, y model.Tool) int { return cmp.Compare(x.Name, y.Name) })
		ts.Tools = tools
	}
	if c := hooks[0].Receiver.Config; c != nil && !b.diags.HasErrors() {
		b.unreached(c, walker)
	}
	out.Toolsets = slices.DeleteFunc(out.Toolsets, func(t model.Toolset) bool { return len(t.Tools) == 0 })
	out.Codecs, out.Patterns = walker.Codecs(roots), walker.Patterns()
	out.Imports = b.imports(out)
	out.Aliases = aliases(out.Imports, names)
	return out
}

// unreached reports what toolgen.yaml says of types that no tool has.
func (b *builder) unreached(c *config.Package, walker *schema.Walker) {
	for _, v := range slices.Concat(c.Enums, c.Schemas, c.Implementations) {
		if !walker.Reached(v.Name.Value) {
			b.diags.Errorf(v.Name.Pos, diag.UnknownName, "write package.Type, or drop it", "no tool of %s has an argument or result of type %s", c.Path.Value, v.Name.Value)
		}
	}
}

// imports returns the names of the packages whose types and functions appear.
func (b *builder) imports(p *model.Package) map[string]string {
	out := map[string]string{p.Source: p.SourceName}
	p.EachGoType(func(t *model.GoType) {
		if name := b.program.NameOf(t.Package); name != "" {
			out[t.Package] = name
		}
	})
	return out
}

// aliases gives packages another name where generated code uses theirs for
// something else.
func aliases(imports map[string]string, names *naming.Scope) map[string]string {
	out := make(map[string]string)
	for path, name := range imports {
		if slices.Contains(fixedImports, path) {
			continue
		}
		if slices.Contains(reserved, name) || slices.Contains(locals, name) || numbered.MatchString(name) || names.Has(name) && !names.IsPackage(name) {
			out[path] = name + "pkg"
		}
	}
	return out
}

// fixedImports have the names that generated code writes.
var fixedImports = []string{"context", "encoding/json", "errors", "slices", "time"}

// reserved are the names that every generated file uses: its imports and local
// variables.
var reserved = []string{
	"context", "json", "errors", "time", "runtime", "toolimpl", "Definitions",
	"a", "append", "args", "ctx", "e", "err", "i", "k", "key", "m", "o", "ok", "r", "raw", "result", "s", "t", "v", "w",
}

// locals are variables of functions that name packages, but no tools.
var locals = []string{"cancel", "captured", "collected", "data", "name", "options", "tools"}

// numbered are locals with a number or name behind them.
var numbered = regexp.MustCompile(`^(result|data|options)[0-9]+$|^pinned`)

// place decides where a generated package goes and what it is called.
func (b *builder) place(out *model.Package, r *discover.Receiver) bool {
	dir := filepath.Join(r.Package.Dir, r.Package.Name+"tools")
	pos := r.Pos
	if c := r.Config; c != nil {
		switch {
		case filepath.IsAbs(c.Output.Value):
			b.diags.Errorf(c.Output.Pos, diag.OutsideModule, "write it relative to toolgen.yaml", "output %s is an absolute path", c.Output.Value)
			return false
		case c.Output.Value != "":
			dir, pos = filepath.Join(filepath.Dir(b.file.Path), filepath.FromSlash(c.Output.Value)), c.Output.Pos
		case !r.Own:
			return false // reported by discover
		}
		out.Name = c.Package.Value
	}
	if out.Name == "" {
		out.Name = filepath.Base(dir)
	}
	importPath, ok := b.importPath(dir)
	switch {
	case !ok:
		b.diags.Errorf(pos, diag.OutsideModule, "choose a folder of the module", "the output of package %s is outside of module %s", r.Package.Path, b.program.ModulePath)
		return false
	case !token.IsIdentifier(out.Name) || out.Name == "_":
		b.diags.Errorf(pos, diag.YAMLValue, "set package: to a Go name", "%q can't be the name of a package", out.Name)
		return false
	case r.Package.Name == "main":
		b.diags.Errorf(r.Pos, diag.NotLoaded, "move the type to a package of its own", "package %s is a program: generated code can't import it", r.Package.Path)
		return false
	case importPath == r.Package.Path:
		b.diags.Errorf(pos, diag.Conflict, "choose another output", "output is the folder of package %s itself", r.Package.Path)
		return false
	case r.Package.Reaches(importPath):
		b.diags.Errorf(r.Pos, diag.ImportsOutput, "link the tools from another package", "package %s imports its own output %s, itself or through others", r.Package.Path, importPath)
		return false
	}
	out.Dir, out.Path = dir, importPath
	return true
}

// importPath returns the import path of a folder of the main module.
func (b *builder) importPath(dir string) (string, bool) {
	rel, err := filepath.Rel(b.program.ModuleDir, dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return path.Join(b.program.ModulePath, filepath.ToSlash(rel)), true
}

// nameTools gives every hook its toolset, tool name and Go names before any
// type is walked, so that a tool which fails changes no other's name.
func (b *builder) nameTools(out *model.Package, hooks []*discover.Hook, names *naming.Scope) {
	receivers := make(map[*discover.Receiver]int)
	methods := make(map[string]int)
	for _, h := range hooks {
		methods[h.Method.Name()]++
	}
	entries := make(map[*discover.Receiver]*naming.Scope)
	for _, h := range hooks {
		i, ok := receivers[h.Receiver]
		if !ok {
			i = len(out.Toolsets)
			receivers[h.Receiver] = i
			entries[h.Receiver] = naming.NewScope("Tools")
			out.Toolsets = append(out.Toolsets, b.toolset(h, names))
		}
		ts := &out.Toolsets[i]
		ident := h.Method.Name()
		if methods[ident] > 1 {
			ident = ts.Name + ident
		}
		ident = names.Family(ident, func(name string) []string {
			return []string{name + "Name", name + "Args", naming.Unexported(name), naming.Unexported(name) + "Definition", naming.Unexported(name) + "Input", naming.Unexported(name) + "Output", naming.Unexported(name) + "Fields", "decode" + name + "Args", "check" + name + "Args"}
		})
		ts.Tools = append(ts.Tools, model.Tool{
			Name: b.toolName(h), Method: h.Method.Name(), Ident: ident, Type: naming.Unexported(ident), Entry: entries[h.Receiver].Name(entryName(h.Method.Name())), Pos: h.Pos,
		})
	}
	for i := range out.Toolsets { // a receiver's variable must not hide a tool's type
		ts := &out.Toolsets[i]
		locals := naming.NewScope(append(reserved, out.SourceName, "tools", "options")...)
		for _, t := range ts.Tools {
			for _, name := range []string{t.Type, "call" + t.Entry, "guard" + t.Entry} {
				locals.Take(name)
			}
		}
		ts.Var = locals.Name(naming.Unexported(ts.Name))
	}
}

// entryName is the typed method of a toolset. Tools is taken by the interface,
// and of some names every Go programmer, and go vet, expects another signature.
func entryName(method string) string {
	if method == "Tools" || slices.Contains(standardMethods, method) {
		return "Call" + method
	}
	return method
}

// standardMethods are the names that go vet's stdmethods check knows.
var standardMethods = []string{
	"As", "Format", "GobDecode", "GobEncode", "Is", "MarshalJSON", "MarshalXML", "Peek", "ReadByte", "ReadFrom", "ReadRune",
	"Scan", "Seek", "UnmarshalJSON", "UnmarshalXML", "UnreadByte", "UnreadRune", "Unwrap", "WriteByte", "WriteTo",
}

func (b *builder) toolset(h *discover.Hook, names *naming.Scope) model.Toolset {
	r := h.Receiver
	name := r.Name.Name()
	if d := r.Directive("toolset"); d != nil {
		if arg, ok := d.Value("name"); ok {
			if token.IsIdentifier(arg.Value) && token.IsExported(arg.Value) {
				name = arg.Value
			} else {
				b.diags.Errorf(arg.Pos, diag.DirectiveArgument, "write a name like Desk", "%q is no exported Go name", arg.Value)
			}
		}
	}
	name = names.Family(name, func(n string) []string { return []string{n + "Toolset", "New" + n, n + "Options"} })
	receiver := receiverType(r.Name)
	_, pointer := receiver.(*types.Pointer)
	return model.Toolset{
		Name: name, Receiver: schema.GoType(receiver),
		Nilable: pointer || types.IsInterface(receiver), Pos: r.Pos,
	}
}

// receiverType is what a constructor takes: an interface itself, else a
// pointer, whose method set has everything.
func receiverType(tn *types.TypeName) types.Type {
	if types.IsInterface(tn.Type()) {
		return tn.Type()
	}
	return types.NewPointer(tn.Type())
}

// toolName returns the name of a hook's tool: the one given, else prefix and
// method in snake_case.
func (b *builder) toolName(h *discover.Hook) string {
	if h.Config != nil && h.Config.Name.IsSet() {
		return h.Config.Name.Value
	}
	if d := h.Directive("expose"); d != nil {
		if arg, ok := d.Value("name"); ok {
			return arg.Value
		}
	}
	prefix := h.Receiver.Package.Name
	if c := h.Receiver.Config; c != nil && c.Prefix.IsSet() {
		prefix = c.Prefix.Value
	}
	if h.Prefix.IsSet() {
		prefix = h.Prefix.Value
	}
	if d := h.Receiver.Directive("toolset"); d != nil {
		if arg, ok := d.Value("prefix"); ok {
			prefix = arg.Value
		}
	}
	if prefix == "" {
		return naming.Snake(h.Method.Name())
	}
	return prefix + "_" + naming.Snake(h.Method.Name())
}

// checkToolNames refuses two tools of a run with one name, but for case.
func (b *builder) checkToolNames() {
	seen := make(map[string]model.Tool)
	for _, p := range b.packages {
		for _, ts := range p.Toolsets {
			for _, t := range ts.Tools {
				key := strings.ToLower(t.Name)
				if first, twice := seen[key]; twice {
					b.diags.Errorf(t.Pos, diag.ToolTwice, "give one another name or prefix", "tool %s: another tool is called %s", t.Name, first.Name)
					b.diags.Relate(first.Pos, "the other tool")
					continue
				}
				seen[key] = t
			}
		}
	}
}

// checkFolders refuses two packages with one output folder.
func (b *builder) checkFolders() {
	seen := make(map[string]string)
	check := func(pos diag.Position, dir, what string) {
		if first, twice := seen[dir]; twice {
			b.diags.Errorf(pos, diag.Conflict, "give one another output", "%s and %s have the same output folder", first, what)
		}
		seen[dir] = what
	}
	for _, p := range b.packages {
		check(p.Toolsets[0].Pos, p.Dir, "package "+p.Source)
	}
	for _, r := range b.registries {
		check(r.Pos, r.Dir, "registry "+r.Path)
	}
}
