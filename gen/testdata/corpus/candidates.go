package main

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/toolgen/toolgen/gen"
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

// candidates lists the candidates of all libraries, as toolgen init -package
// does.
func candidates() ([]*candidate, error) {
	paths := make([]string, len(libraries))
	for i := range libraries {
		paths[i] = libraries[i].path
	}
	found, err := gen.Candidates(context.Background(), gen.Options{}, paths...)
	if err != nil {
		return nil, err
	}
	var out []*candidate
	for i := range libraries {
		names := make(map[string]bool)
		for _, m := range found[paths[i]] {
			c := &candidate{library: &libraries[i], receiver: m.Type, method: m.Method, isIface: m.Interface}
			c.tool = toolName(c, names)
			out = append(out, c)
		}
	}
	return out, nil
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
