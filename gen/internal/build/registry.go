package build

import (
	"go/token"
	"path/filepath"
	"slices"

	"github.com/toolgen/toolgen/gen/internal/config"
	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
	"github.com/toolgen/toolgen/gen/internal/naming"
)

// registry builds a package that gathers the toolsets of all packages, or of
// those that toolgen.yaml lists.
func (b *builder) registry(c *config.Registry) *model.Registry {
	if c.Output.Value == "" {
		return nil // reported by config
	}
	dir := filepath.Join(filepath.Dir(b.file.Path), filepath.FromSlash(c.Output.Value))
	r := &model.Registry{Dir: dir, Name: c.Package.Value, Pos: c.Pos, Imports: make(map[string]string)}
	if r.Name == "" {
		r.Name = filepath.Base(dir)
	}
	var ok bool
	if r.Path, ok = b.importPath(dir); !ok {
		b.diags.Errorf(c.Output.Pos, diag.OutsideModule, "choose a folder of the module", "output %s is outside of module %s", c.Output.Value, b.program.ModulePath)
		return nil
	}
	if !token.IsIdentifier(r.Name) {
		b.diags.Errorf(c.Output.Pos, diag.YAMLValue, "set package: to a Go name", "%q can't be the name of a package", r.Name)
		return nil
	}
	if hook := b.program.Hook(r.Path); hook != nil {
		b.diags.Errorf(c.Output.Pos, diag.Conflict, "choose another output", "output is the folder of hook package %s", hook.Path)
		return nil
	}
	packages := b.listed(c)
	scope := naming.NewScope()
	names := make(map[string]int)
	for _, p := range packages {
		r.Imports[p.Source] = p.SourceName
		for _, ts := range p.Toolsets {
			names[ts.Name]++
		}
	}
	for _, p := range packages {
		for _, ts := range p.Toolsets {
			field := ts.Name
			if names[field] > 1 { // two alike get the package's name in front
				field = naming.Exported(p.SourceName) + field
			}
			field = scope.Family(field, func(name string) []string {
				if len(ts.Options) == 0 {
					return []string{name}
				}
				return []string{name, name + "Options"}
			})
			hub := model.RegistryHub{Field: field, Package: p.Path, Name: p.Name, Toolset: ts.Name, Type: ts.Receiver, Nilable: ts.Nilable, Options: len(ts.Options) > 0}
			r.Fields = append(r.Fields, hub)
		}
	}
	return r
}

// listed returns the packages of a registry.
func (b *builder) listed(c *config.Registry) []*model.Package {
	if len(c.Packages) == 0 {
		return b.packages
	}
	var out []*model.Package
	for _, path := range c.Packages {
		want := b.program.ImportPath(path.Value)
		i := slices.IndexFunc(b.packages, func(p *model.Package) bool { return p.Source == want })
		if i < 0 {
			if !b.diags.HasErrors() { // a package whose tools all failed was reported
				b.diags.Errorf(path.Pos, diag.UnknownName, "name a package with hooks", "package %s has no hooks in this run", want)
			}
			continue
		}
		out = append(out, b.packages[i])
	}
	return out
}
