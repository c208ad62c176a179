package lock

import (
	"cmp"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/toolgen/toolgen/gen/internal/model"
)

// hints compares what a host is told of the tool. Who relied on it being
// read-only can't any more: that breaks; what is only less sure narrows.
func (c *comparison) hints() {
	for _, h := range []struct {
		name      string
		good      bool // the value that promises something
		lost, got Class
	}{
		{"readonly", true, Breaking, Widening},
		{"destructive", false, Breaking, Widening},
		{"idempotent", true, Narrowing, Widening},
		{"openworld", false, Narrowing, Widening},
	} {
		before, said := c.old.Hints[h.name]
		now, says := c.fresh.Hints[h.name]
		if said == says && before == now {
			continue
		}
		class := h.got
		switch {
		case h.name == "destructive" && says && now:
			class = h.lost
		case h.name == "destructive" && said && !before: // a promise less
			class = Narrowing
		case h.name != "destructive" && said && before == h.good:
			class = h.lost
		}
		c.add(class, "", "its hint "+h.name, hint(before, said), hint(now, says))
	}
}

func hint(value, said bool) string {
	if !said {
		return "unknown"
	}
	return strconv.FormatBool(value)
}

// The bounds that hold where a tool sets none: those of toolgen.yaml, and of a run.
const (
	defaultRetries = 3
	defaultArgs    = 1 << 20
	defaultResult  = 64 << 10
	defaultItems   = 1000
)

func (c *comparison) limits() {
	o, n := c.old.Limits, c.fresh.Limits
	c.bound("max_args_bytes", cmp.Or(o.MaxArgs, defaultArgs), cmp.Or(n.MaxArgs, defaultArgs))
	c.bound("max_result_bytes", cmp.Or(o.MaxResult, defaultResult), cmp.Or(n.MaxResult, defaultResult))
	c.bound("max_items", cmp.Or(o.MaxItems, defaultItems), cmp.Or(n.MaxItems, defaultItems))
	c.bound("retries", corrections(o.Retries), corrections(n.Retries))
	if o.Timeout != n.Timeout {
		before, _ := time.ParseDuration(o.Timeout) // "" is none
		now, _ := time.ParseDuration(n.Timeout)
		c.add(tighter(now != 0 && (before == 0 || now < before)), "", "its timeout", cmp.Or(o.Timeout, "the run's"), cmp.Or(n.Timeout, "the run's"))
	}
}

// corrections is how many a model has: -1 stands for none, 0 for the run's.
func corrections(retries int) int { return max(cmp.Or(retries, defaultRetries), 0) }

func (c *comparison) bound(name string, old, fresh int) {
	if old != fresh {
		c.add(tighter(fresh < old), "", "its "+name, strconv.Itoa(old), strconv.Itoa(fresh))
	}
}

func tighter(is bool) Class {
	if is {
		return Narrowing
	}
	return Widening
}

// policies compares what the host says of calls and arguments.
func (c *comparison) policies() {
	flag := func(what string, old, fresh, narrows bool) {
		if old != fresh {
			c.add(tighter(fresh == narrows), "", what, strconv.FormatBool(old), strconv.FormatBool(fresh))
		}
	}
	flag("it runs alone", c.old.Sequential, c.fresh.Sequential, true)
	flag("it is offered by search only", c.old.Defer, c.fresh.Defer, true)
	flag("it takes literals in strings", c.old.Coerce, c.fresh.Coerce, false)
	flag("it takes no JSON in strings", c.old.NoRepair, c.fresh.NoRepair, true)
	if c.old.Approve != c.fresh.Approve {
		narrows := c.fresh.Approve == "always" || c.fresh.Approve != "" && c.old.Approve != "always"
		c.add(tighter(narrows), "", "a person approves", cmp.Or(c.old.Approve, "never"), cmp.Or(c.fresh.Approve, "never"))
	}
	if c.old.Media != c.fresh.Media {
		c.add(Breaking, model.ResultPointer, "its media type", cmp.Or(c.old.Media, "none"), cmp.Or(c.fresh.Media, "none"))
	}
	for _, g := range without(c.fresh.Guards, c.old.Guards) {
		c.add(Narrowing, "", "it has a guard", "", g)
	}
	for _, g := range without(c.old.Guards, c.fresh.Guards) {
		c.add(Widening, "", "it has no guard any more", g, "")
	}
	c.lists("it can be corrected after", c.old.Retry, c.fresh.Retry)
	c.lists("a model sees", c.old.Failed, c.fresh.Failed)
	for _, r := range without(c.old.Registries, c.fresh.Registries) {
		c.add(Breaking, "", "it is removed from the registry", r, "")
	}
	for _, r := range without(c.fresh.Registries, c.old.Registries) {
		c.add(Widening, "", "it joins the registry", "", r)
	}
	for _, pointer := range keys(c.old.Confined, c.fresh.Confined) {
		if before, now := c.old.Confined[pointer], c.fresh.Confined[pointer]; before != now {
			c.add(tighter(!looser(before, now)), pointer, "its confinement", cmp.Or(before, "none"), cmp.Or(now, "none"))
		}
	}
	for _, pointer := range keys(c.old.Forms, c.fresh.Forms) {
		if before, now := c.old.Forms[pointer], c.fresh.Forms[pointer]; before != now {
			c.form(pointer, before, now)
		}
	}
	old, fresh := c.old.host(), c.fresh.host()
	for _, pointer := range keys(old, fresh) {
		if before, now := old[pointer], fresh[pointer]; before != now && before != "" && now != "" {
			c.add(Narrowing, pointer, "the host sets it to something else", "", "")
		}
	}
}

// host is how the host sets arguments: a hash, or that it leaves them at zero.
func (t *Tool) host() map[string]string {
	out := maps.Clone(t.Pins)
	if out == nil {
		out = make(map[string]string)
	}
	for _, pointer := range t.Hidden {
		out[pointer] = "hidden"
	}
	return out
}

// form reports another form of a string or value. Only an argument that is free
// text now takes all that it took.
func (c *comparison) form(pointer, before, now string) {
	class := Breaking
	if now == "" && !strings.HasPrefix(pointer, model.ResultPointer) && before == "duration" {
		class = Narrowing // text, but no duration any more
	}
	c.add(class, pointer, "its form", cmp.Or(before, "plain"), cmp.Or(now, "plain"))
}

// lists reports errors that a model may see, or may not any more.
func (c *comparison) lists(what string, old, fresh []string) {
	for _, e := range without(old, fresh) {
		c.add(Narrowing, "", what+" an error less", e, "")
	}
	for _, e := range without(fresh, old) {
		c.add(Widening, "", what+" an error more", "", e)
	}
}

// looser reports whether a policy lets everything by that another did: there is
// none, or only its list of values grew.
func looser(before, now string) bool {
	if now == "" {
		return true
	}
	old, fresh := policyWords(before), policyWords(now)
	for _, key := range keys(old, fresh) {
		o, n := old[key], fresh[key]
		switch {
		case o == n || n == "" && o != "":
		case key == "enum" && o != "" && len(without(strings.Split(o, ","), strings.Split(n, ","))) == 0:
		default:
			return false
		}
	}
	return before != ""
}

func policyWords(policy string) map[string]string {
	out := make(map[string]string)
	for word := range strings.FieldsSeq(policy) {
		key, value, _ := strings.Cut(word, "=")
		out[key] = value
	}
	return out
}
