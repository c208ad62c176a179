package main

import (
	"fmt"
	"go/types"
	"strings"
	"unicode"

	"golang.org/x/tools/go/packages"
)

// A candidate is a method that could be a tool.
type candidate struct {
	library  *library
	receiver string // type
	method   string
	tool     string // name
	isIface  bool   // the receiver is an interface
	line     int    // in toolgen.yaml
	reason   string // why it is left out; "": it passes
}

func (c *candidate) String() string { return c.library.name + "." + c.receiver + "." + c.method }

// candidates lists the candidates of all libraries. A method that several types
// promote counts once.
func candidates() ([]*candidate, error) {
	paths := make([]string, len(libraries))
	byPath := make(map[string]*library)
	for i := range libraries {
		paths[i] = libraries[i].path
		byPath[paths[i]] = &libraries[i]
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedExportFile | packages.NeedImports | packages.NeedDeps}, paths...)
	if err != nil {
		return nil, err
	}
	byLibrary := make(map[string][]*candidate)
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
		}
		byLibrary[p.PkgPath] = ofPackage(byPath[p.PkgPath], p.Types)
	}
	var out []*candidate
	for _, path := range paths {
		out = append(out, byLibrary[path]...)
	}
	return out, nil
}

func ofPackage(l *library, pkg *types.Package) []*candidate {
	var out []*candidate
	seen := make(map[*types.Func]bool)
	names := make(map[string]bool)
	for _, name := range pkg.Scope().Names() {
		tn, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || !tn.Exported() || tn.IsAlias() {
			continue
		}
		named, ok := tn.Type().(*types.Named)
		if !ok || named.TypeParams().Len() > 0 {
			continue
		}
		t := types.Type(named)
		if !types.IsInterface(t) {
			t = types.NewPointer(t)
		}
		for sel := range types.NewMethodSet(t).Methods() {
			fn, ok := sel.Obj().(*types.Func)
			if !ok || !fn.Exported() || seen[fn] || !isCandidate(fn.Signature()) {
				continue
			}
			seen[fn] = true
			c := &candidate{library: l, receiver: name, method: fn.Name(), isIface: types.IsInterface(named)}
			c.tool = toolName(c, names)
			out = append(out, c)
		}
	}
	return out
}

// isCandidate reports whether a method takes a context or returns an error, and
// has data besides.
func isCandidate(sig *types.Signature) bool {
	calls, data := false, false
	for v := range sig.Params().Variables() {
		if types.TypeString(v.Type(), nil) == "context.Context" {
			calls = true
		} else {
			data = true
		}
	}
	for v := range sig.Results().Variables() {
		if s := types.TypeString(v.Type(), nil); s == "error" {
			calls = true
		} else {
			data = true
			calls = calls || strings.HasPrefix(s, "iter.Seq2[") && strings.HasSuffix(s, ", error]")
		}
	}
	return calls && data
}

// toolName makes a valid name, no two alike: a person would choose better ones.
func toolName(c *candidate, taken map[string]bool) string {
	full := snake(c.library.name + "_" + c.receiver + "_" + c.method)
	for n := 1; ; n++ {
		name := full[:min(len(full), 60)]
		if n > 1 {
			name += fmt.Sprint("_", n)
		}
		if !taken[name] {
			taken[name] = true
			return name
		}
	}
}

func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) && name[i-1] != '_' {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
