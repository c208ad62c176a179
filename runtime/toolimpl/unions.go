package toolimpl

import (
	"encoding"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgen/toolgen/runtime"
)

// VariantFields are the properties of a value of an interface: the name of its
// type, and the value.
var VariantFields = []Field{{Name: "type", Required: true}, {Name: "value", Required: true}}

// Variant looks ahead for the property type of an object that was begun; "" if
// there is none, or it is no string. Reading it as well reports that.
func (r *Reader) Variant(o *Object) string {
	if r.stopped || o.closed {
		return ""
	}
	probe := Reader{data: r.data, pos: r.pos, depth: r.depth}
	inner := Object{}
	for probe.Next(&inner) {
		if string(probe.key) == "type" {
			return probe.String()
		}
		probe.Skip()
	}
	return ""
}

// Skip skips a value.
func (r *Reader) Skip() { r.skipValue() }

// A Name is the name of an integer.
type Name struct {
	Name  string
	Value int64
}

// Name reads one of the given names, and returns its integer.
func (r *Reader) Name(names []Name) int64 {
	b, ok := r.text("a string")
	if !ok {
		return 0
	}
	words := make([]string, 0, len(names))
	for _, n := range names {
		if n.Name == string(b) {
			return n.Value
		}
		words = append(words, n.Name)
	}
	r.problem(runtime.IssueEnum, allowed(words), r.got())
	return 0
}

// OneName refuses an integer that is none of those allowed, in the words of its
// names.
func (r *Reader) OneName(v int64, names []Name, allow ...int64) {
	if r.skipRule() || slices.Contains(allow, v) {
		return
	}
	var words []string
	for _, n := range names {
		if slices.Contains(allow, n.Value) {
			words = append(words, n.Name)
		}
	}
	r.problem(runtime.IssueEnum, allowed(words), r.got())
}

// Name writes an integer by its name, or its digits where it has none.
func (w *Writer) Name(v int64, names []Name) {
	for _, n := range names {
		if n.Value == v {
			w.String(n.Name)
			return
		}
	}
	w.String(strconv.FormatInt(v, 10))
}

// URL reads an absolute URL.
func (r *Reader) URL() url.URL {
	const want = `a URL like "https://example.com/x"`
	b, ok := r.text(want)
	if !ok {
		return url.URL{}
	}
	u, err := url.Parse(string(b))
	if err != nil || !isURI(string(b)) {
		r.problem(runtime.IssueFormat, want, r.got())
		return url.URL{}
	}
	return *u
}

// URL writes a URL.
func (w *Writer) URL(u *url.URL) { w.String(u.String()) }

// BigInt reads an integer of any size. 3.0 and 3e2 are integers.
func (r *Reader) BigInt(v *big.Int) {
	n, ok := r.number("an integer")
	if !ok {
		return
	}
	text, ok := r.integerText(n)
	switch {
	case !ok:
	case !n.integral && len(text) > 20: // an exponent may stand for more digits than there is memory
		r.problem(runtime.IssueRange, "an integer with all of its digits", r.got())
	default:
		v.SetString(string(text), 10)
	}
}

// BigInt writes an integer of any size.
func (w *Writer) BigInt(v *big.Int) { w.buf = v.Append(w.buf, 10) }

// Sent returns a channel that yields the elements of a list and is closed.
func Sent[T any](list []T) <-chan T {
	ch := make(chan T, len(list))
	for _, e := range list {
		ch <- e
	}
	close(ch)
	return ch
}

// TextKey reads the current key of a map whose keys parse themselves. One that
// isn't valid is reported and skipped.
func TextKey[K comparable, P interface {
	*K
	encoding.TextUnmarshaler
}](r *Reader) (key K, ok bool) {
	name := slices.Clone(r.key)
	if err := P(&key).UnmarshalText(name); err != nil {
		r.skipValue()
		if !r.stopped {
			r.own(err)
		}
		return key, false
	}
	return key, true
}

// A KeyText is a key of a map and what it is called.
type KeyText[K comparable] struct {
	Key  K
	Text string
}

// TextKeys returns the keys of a map that format themselves, ordered by their
// texts.
func TextKeys[M ~map[K]V, K interface {
	comparable
	encoding.TextMarshaler
}, V any](w *Writer, m M) []KeyText[K] {
	out := make([]KeyText[K], 0, len(m))
	for k := range m {
		text, err := k.MarshalText()
		if err != nil {
			w.fail("a key can't be written", err)
			return nil
		}
		out = append(out, KeyText[K]{k, string(text)})
	}
	slices.SortFunc(out, func(a, b KeyText[K]) int { return strings.Compare(a.Text, b.Text) })
	return out
}
