package lock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/model"
)

// Of returns the surface of packages.
func Of(packages []*model.Package) (*File, error) {
	f := &File{Version: version, Tools: make(map[string]Tool)}
	for _, p := range packages {
		codecs := codecsOf(p)
		for i := range p.Toolsets {
			for j := range p.Toolsets[i].Tools {
				t := &p.Toolsets[i].Tools[j]
				entry := surface(p, &p.Toolsets[i], t, codecs)
				if err := entry.seal(); err != nil {
					return nil, fmt.Errorf("tool %s: %w", t.Name, err)
				}
				f.Tools[t.Name] = entry
			}
		}
	}
	return f, nil
}

type codecs map[string]*model.Codec

func codecsOf(p *model.Package) codecs {
	out := make(codecs, len(p.Codecs))
	for i := range p.Codecs {
		out[p.Codecs[i].Name] = &p.Codecs[i]
	}
	return out
}

func surface(p *model.Package, ts *model.Toolset, t *model.Tool, all codecs) Tool {
	out := Tool{
		Coerce: t.Coerce, Confined: t.Confined, Defer: t.Defer, Description: t.Description, Hints: hints(t.Hints),
		Hook: p.Source + "." + ts.Name + "." + t.Method, Input: []byte(t.Input), NoRepair: t.NoRepair, Sequential: t.Sequential, Title: t.Title,
		Limits: Limits{MaxArgs: t.MaxArgs, MaxItems: t.MaxItems, MaxResult: t.MaxResult, Retries: t.Retries},
	}
	if t.Timeout != 0 {
		out.Limits.Timeout = t.Timeout.String()
	}
	if t.Output != "" {
		out.Output = []byte(t.Output)
	}
	switch {
	case t.When != nil:
		out.Approve = guardName(p, *t.When)
	case t.Approve:
		out.Approve = "always"
	}
	for _, g := range t.Guards {
		var names []string
		for _, i := range g.Params {
			names = append(names, t.Params[i].Name)
		}
		out.Guards = append(out.Guards, guardName(p, g)+"("+strings.Join(names, ", ")+")")
	}
	for pointer, how := range t.Pinned {
		if out.Pins == nil {
			out.Pins = make(map[string]string)
		}
		out.Pins[pointer] = hash([]byte(how))
	}
	out.Hidden, out.Omitted = leftOut(t, all)
	return out
}

func guardName(p *model.Package, g model.Guard) string {
	if g.Method != "" {
		return g.Method
	}
	if g.Func.Package == p.Source {
		return g.Func.Name
	}
	return g.Func.Package + "." + g.Func.Name
}

func hints(h model.Hints) map[string]bool {
	out := make(map[string]bool)
	for name, value := range map[string]*bool{"readonly": h.ReadOnly, "destructive": h.Destructive, "idempotent": h.Idempotent, "openworld": h.OpenWorld} {
		if value != nil {
			out[name] = *value
		}
	}
	return out
}

// leftOut lists what a model doesn't get to send though the hook takes it, and
// what could not be sent or shown.
func leftOut(t *model.Tool, all codecs) (hidden, omitted []string) {
	for i := range t.Params {
		p := &t.Params[i]
		pointer := "/" + p.Name
		if !p.Offered() {
			if p.Form == model.Hidden {
				hidden = append(hidden, pointer)
			}
			continue
		}
		all.each(p.Type, model.Reading, pointer, func(c *model.Codec, at string) {
			for _, name := range c.Hosts {
				hidden = append(hidden, at+"/"+name)
			}
			for _, name := range c.Omitted[model.Reading] {
				omitted = append(omitted, at+"/"+name)
			}
		})
	}
	for i := range t.Results {
		r := &t.Results[i]
		if r.Drop {
			omitted = append(omitted, "result "+strconv.Itoa(i+1))
		}
		all.each(r.Type, model.Writing, "result", func(c *model.Codec, at string) {
			for _, name := range c.Omitted[model.Writing] {
				omitted = append(omitted, at+"/"+name)
			}
		})
	}
	hidden = slices.DeleteFunc(hidden, func(pointer string) bool { _, pinned := t.Pinned[pointer]; return pinned })
	slices.Sort(hidden)
	slices.Sort(omitted)
	return slices.Compact(hidden), slices.Compact(omitted)
}

// each calls visit for every codec that a type reaches, once, with the first
// pointer that leads to it.
func (all codecs) each(t model.Type, side int, pointer string, visit func(c *model.Codec, pointer string)) {
	seen := make(map[string]bool)
	var walk func(t *model.Type, at string)
	walk = func(t *model.Type, at string) {
		if t == nil {
			return
		}
		if t.Elem != nil {
			walk(t.Elem, at)
			return
		}
		c := all[t.Codec]
		if c == nil || seen[t.Codec] {
			return
		}
		seen[t.Codec] = true
		visit(c, at)
		walk(c.Elems[side], at)
		for _, f := range fields(c, side) {
			walk(&f.Type, at+"/"+f.Name)
		}
		for _, v := range c.Variants[side] {
			walk(&v.Type, at+"/value")
		}
	}
	walk(&t, pointer)
}

func fields(c *model.Codec, side int) []model.Field {
	if side == model.Reading {
		return c.Read
	}
	return c.Write
}
