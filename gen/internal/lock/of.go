package lock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/model"
)

// Of returns the surface of packages, and of the registries that gather them.
func Of(packages []*model.Package, registries []*model.Registry) (*File, error) {
	f := &File{Version: version, Tools: make(map[string]Tool)}
	for _, p := range packages {
		codecs := codecs(p.CodecsByName())
		for i := range p.Toolsets {
			for j := range p.Toolsets[i].Tools {
				t := &p.Toolsets[i].Tools[j]
				entry := surface(p, &p.Toolsets[i], t, codecs)
				for _, r := range registries {
					if slices.ContainsFunc(r.Fields, func(hub model.RegistryHub) bool { return hub.Package == p.Path && hub.Toolset == p.Toolsets[i].Name }) {
						entry.Registries = append(entry.Registries, r.Path)
					}
				}
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
	out.Retry, out.Failed = errorNames(p, t.Retry), errorNames(p, t.Failed)
	for i := range t.Results {
		if m := t.Results[i].Media; m != "" {
			out.Media = m
		}
	}
	out.Hidden, out.Omitted = leftOut(t, all)
	out.Forms = forms(t, all)
	return out
}

// errorNames spells the errors that a model may see.
func errorNames(p *model.Package, matches []model.ErrorMatch) []string {
	var out []string
	for _, m := range matches {
		name := m.Go.Name
		if m.Go.Package != p.Source {
			name = m.Go.Package + "." + name
		}
		if m.Go.Kind == model.GoPointer {
			name = "*" + m.Go.Elem.Package + "." + m.Go.Elem.Name
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// forms names what stands behind strings and values of which a schema doesn't
// say how they are read or written: another form makes other calls right.
func forms(t *model.Tool, all codecs) map[string]string {
	var out map[string]string
	leaf := func(typ *model.Type, at string) {
		form := ""
		switch typ.Kind {
		case model.Duration:
			form = "duration"
		case model.Text, model.JSON:
			form = string(typ.Kind) + " " + typ.Go.Package + "." + typ.Go.Name
		}
		if form != "" {
			if out == nil {
				out = make(map[string]string)
			}
			out[at] = form
		}
	}
	all.eachOf(t, nil, leaf)
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
		if p := &t.Params[i]; p.Form == model.Hidden {
			hidden = append(hidden, "/"+escape(p.Name))
		}
	}
	for i := range t.Results {
		if t.Results[i].Drop {
			omitted = append(omitted, "result "+strconv.Itoa(i+1))
		}
	}
	all.eachOf(t, func(c *model.Codec, at string) {
		side := model.Reading
		if strings.HasPrefix(at, model.ResultPointer) {
			side = model.Writing
		} else {
			for _, name := range c.Hosts {
				hidden = append(hidden, at+"/"+escape(name))
			}
		}
		for _, name := range c.Omitted[side] {
			omitted = append(omitted, at+"/"+escape(name))
		}
	}, nil)
	hidden = slices.DeleteFunc(hidden, func(pointer string) bool { _, pinned := t.Pinned[pointer]; return pinned })
	slices.Sort(hidden)
	slices.Sort(omitted)
	return slices.Compact(hidden), slices.Compact(omitted)
}

// escape writes a name as a part of a JSON Pointer.
func escape(name string) string { return pointerEscape.Replace(name) }

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// eachOf walks all types of a tool, those of arguments and those of its result.
// Visit is called for codecs, leaf for types without one; either may be nil.
func (all codecs) eachOf(t *model.Tool, visit func(c *model.Codec, pointer string), leaf func(t *model.Type, pointer string)) {
	w := typeWalk{all: all, visit: visit, leaf: leaf}
	for i := range t.Params {
		if p := &t.Params[i]; p.Offered() {
			w.walk(&p.Type, "/"+escape(p.Name), model.Reading)
		}
	}
	for i := range t.Results {
		r := &t.Results[i]
		at := model.ResultPointer
		if r.Name != "" {
			at += "/" + escape(r.Name)
		}
		w.walk(&r.Type, at, model.Writing)
	}
}

// typeWalk walks types by pointers, each as often as it is used, but not within
// itself.
type typeWalk struct {
	all    codecs
	visit  func(c *model.Codec, pointer string)
	leaf   func(t *model.Type, pointer string)
	within []string
	steps  int
}

// maxSteps bounds a walk: types that use each other many times over have very
// many pointers, of which the first tell enough.
const maxSteps = 10_000

func (w *typeWalk) walk(t *model.Type, at string, side int) {
	if w.steps++; t == nil || w.steps > maxSteps {
		return
	}
	if t.Elem != nil {
		w.walk(t.Elem, at, side)
		return
	}
	c := w.all[t.Codec]
	if c == nil {
		if w.leaf != nil {
			w.leaf(t, at)
		}
		return
	}
	if slices.Contains(w.within, t.Codec) {
		return
	}
	w.within = append(w.within, t.Codec)
	defer func() { w.within = w.within[:len(w.within)-1] }()
	if w.visit != nil {
		w.visit(c, at)
	}
	w.walk(c.Elems[side], at, side)
	for _, f := range c.Fields(side) {
		w.walk(&f.Type, at+"/"+escape(f.Name), side)
	}
	for _, v := range c.Variants[side] {
		w.walk(&v.Type, at+"/"+escape(v.Name)+"/value", side)
	}
}
