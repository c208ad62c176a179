package toolimpl

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/schema"
)

// MaxArgs is the limit of arguments in bytes, unless a tool has one of its own.
const MaxArgs = 1 << 20

// The other limits of arguments. Going over one ends reading before memory is
// taken.
const (
	maxDepth     = 100
	maxElements  = 100_000 // of one array
	maxKeys      = 10_000  // of one object
	maxNumber    = 400     // bytes of a number
	maxFieldBits = 4 * 64
)

// A Reader reads the arguments of one call. It comes from [Read] and is gone
// after [Reader.Close].
type Reader struct {
	data    []byte
	pos     int
	start   int // of the value read last
	depth   int // of open objects and arrays
	path    [maxDepth + 1]segment
	tool    string
	stopped bool // what follows can't be read
	bad     bool // the value read last was refused
	scratch []byte
	key     []byte // read last: in data, or in scratch when it has escapes
	outer   outer

	coerce   bool // a string that holds a number or boolean stands for it
	noRepair bool // a string that holds an object or array doesn't
	secret   bool // the value read next, or last, is kept out of messages
	checking bool // values come from Go code: see At
	value    any  // at hand, when checking

	problems problems
}

// A segment is one step of the path to a value: the key at data[start:end],
// or, with start < 0, the element number end.
type segment struct{ start, end int32 }

// outer is where reading goes on after a string that holds JSON.
type outer struct {
	data  []byte
	pos   int
	depth int // of the string
}

var readers = sync.Pool{New: func() any { return new(Reader) }}

// Read returns a reader of the arguments of a tool. Arguments of more than
// limit bytes are refused; 0 means [MaxArgs].
func Read(tool string, args json.RawMessage, limit int) *Reader {
	r, _ := readers.Get().(*Reader)
	r.data, r.pos, r.depth, r.tool = args, 0, 0, tool
	r.stopped, r.bad, r.outer = false, false, outer{}
	r.coerce, r.noRepair, r.secret, r.checking = false, false, false, false
	r.problems = problems{}
	if limit == 0 {
		limit = MaxArgs
	}
	if len(args) > limit {
		r.stop(runtime.IssueSize, "", sizeText(len(args), limit))
	} else if bytes.HasPrefix(args, []byte("\uFEFF")) {
		r.stop(runtime.IssueSyntax, "", "at byte 0: want an object, got a byte order mark")
	}
	return r
}

// Close ends reading. It returns nil, or one [runtime.RetryError] with
// everything that is wrong.
func (r *Reader) Close() error {
	if !r.stopped && !r.checking {
		r.space()
		if r.pos < len(r.data) {
			r.syntax("nothing after the arguments")
		}
	}
	err := r.problems.err(r.tool)
	r.data, r.key, r.outer, r.value = nil, nil, outer{}, nil
	readers.Put(r)
	return err
}

// Coerce lets a string that is exactly the literal of a number or boolean stand
// for it.
func (r *Reader) Coerce() { r.coerce = true }

// NoRepair refuses a string that holds an object or array where one of those is
// wanted.
func (r *Reader) NoRepair() { r.noRepair = true }

// A Field is one property of an object that a decoder reads.
type Field struct {
	Name     string
	Required bool
	Host     bool // set by the host: sending it is a problem of its own
}

// An Object is a JSON object being read.
type Object struct {
	fields []Field
	seen   [maxFieldBits / 64]uint64
	more   []uint64 // for fields beyond maxFieldBits
	keys   int
	closed bool
}

// Object begins an object with the given fields. Anything else is reported and
// skipped, and the object is empty then. At the root, nothing, white space and
// null mean an empty object.
func (r *Reader) Object(fields []Field) Object {
	o := Object{fields: fields}
	if n := len(fields); n > maxFieldBits {
		o.more = make([]uint64, (n-maxFieldBits+63)/64)
	}
	if r.depth == 0 && r.emptyRoot() {
		o.closed = true
		return o
	}
	if !r.open('{', "an object") {
		o.closed, o.fields = true, nil
	}
	return o
}

// emptyRoot reports whether the whole input stands for no arguments.
func (r *Reader) emptyRoot() bool {
	if r.stopped {
		return false
	}
	text := bytes.Trim(r.data, " \t\r\n")
	if len(text) == 0 || string(text) == "null" {
		r.pos = len(r.data)
		return true
	}
	return false
}

// open enters an object or array.
func (r *Reader) open(bracket byte, want string) bool {
	if r.stopped {
		return false
	}
	c := r.space()
	r.start, r.bad = r.pos, false
	if c == '"' && r.repair(bracket) {
		c = bracket
	}
	if c != bracket {
		r.refuse(want)
		return false
	}
	if r.depth == maxDepth {
		r.stop(runtime.IssueDepth, r.pointer(), "nested deeper than 100 levels")
		return false
	}
	r.pos++
	r.depth++
	r.path[r.depth-1] = segment{-1, -1}
	return true
}

// leave is called after the closing bracket of an object or array.
func (r *Reader) leave() {
	r.depth--
	if r.repaired() && r.depth == r.outer.depth {
		r.data, r.pos = r.outer.data, r.outer.pos
		r.outer = outer{}
	}
	r.bad = false
}

// Next moves to the value of the next property and reports whether there is
// one. Its name is [Reader.Key].
func (r *Reader) Next(o *Object) bool {
	if r.stopped || o.closed {
		return false
	}
	c := r.space()
	if c == '}' {
		r.pos++
		o.closed = true
		r.leave()
		return false
	}
	if o.keys > 0 {
		if c != ',' {
			r.syntax("',' or '}'")
			return false
		}
		r.pos++
		c = r.space()
	}
	if c != '"' {
		r.syntax("a property name in quotes")
		return false
	}
	if o.keys++; o.keys > maxKeys {
		r.stop(runtime.IssueSize, r.pointer(), "more than 10000 properties in one object")
		return false
	}
	return r.readKey()
}

// readKey reads a name and its colon.
func (r *Reader) readKey() bool {
	first := r.pos + 1
	escaped, ok := r.scanString()
	if !ok {
		return false
	}
	last := r.pos - 1
	r.secret = false
	r.path[r.depth-1] = segment{int32(first), int32(last)} //nolint:gosec // arguments have at most a few MiB
	r.key = r.data[first:last]
	if escaped {
		if r.scratch, ok = unescape(r.scratch[:0], r.key); !ok {
			r.stop(runtime.IssueUTF8, "", "at byte "+strconv.Itoa(first-1)+": a property name with an unpaired surrogate")
			return false
		}
		r.key = r.scratch
	}
	if r.space() != ':' {
		r.syntax("':'")
		return false
	}
	r.pos++
	return true
}

// Key returns the name of the current property, unescaped. It is valid until
// the next value is read.
func (r *Reader) Key() []byte { return r.key }

// Field notes that the current property is field number i, and reports whether
// its value is to be read: not if it is there twice.
func (r *Reader) Field(o *Object, i int) bool {
	word, bit := &o.seen[i/64%len(o.seen)], uint64(1)<<(i%64)
	if i >= maxFieldBits {
		word = &o.more[(i-maxFieldBits)/64]
	}
	if *word&bit != 0 {
		r.Duplicate()
		return false
	}
	*word |= bit
	return true
}

// Nullable is Field for a property that may be null, which leaves the variable
// as it is.
func (r *Reader) Nullable(o *Object, i int) bool {
	return r.Field(o, i) && !r.Null()
}

// Duplicate reports that the current property is there twice, and skips it.
func (r *Reader) Duplicate() {
	r.skipValue()
	if !r.stopped {
		r.problem(runtime.IssueDuplicate, "", "")
	}
}

// Unknown reports a property that the object doesn't have, and skips it.
func (r *Reader) Unknown(o *Object) {
	key := string(r.key[:min(len(r.key), 256)])
	r.skipValue()
	if r.stopped {
		return
	}
	if len(r.problems.found) >= maxProblems { // the nearest name is looked for in vain
		r.problem(runtime.IssueUnknown, "", "")
		return
	}
	names := make([]string, 0, len(o.fields))
	for _, f := range o.fields {
		if f.Host && f.Name == key {
			r.problem(runtime.IssueConstraint, "is set by the host and can't be sent", "")
			return
		}
		if !f.Host {
			names = append(names, f.Name)
		}
	}
	r.problem(runtime.IssueUnknown, schema.DidYouMean(key, names), "")
}

// End reports the required properties that were not there.
func (r *Reader) End(o *Object) {
	if r.stopped || o.fields == nil {
		return
	}
	for i := range o.fields {
		word := o.seen[i/64%len(o.seen)]
		if i >= maxFieldBits {
			word = o.more[(i-maxFieldBits)/64]
		}
		if o.fields[i].Required && word>>(i%64)&1 == 0 {
			r.missing(o.fields[i].Name)
		}
	}
}

func (r *Reader) missing(name string) {
	if r.problems.full(r.problems.missing) {
		return
	}
	i := runtime.Issue{Pointer: r.pointer() + "/" + escapePointer(name), Code: runtime.IssueMissing}
	r.problems.missing = append(r.problems.missing, problem{i, message(i)})
}

// Null reads null, and reports whether it was there.
func (r *Reader) Null() bool {
	if r.stopped || r.space() != 'n' {
		return false
	}
	r.start, r.bad = r.pos, false
	r.literal("null")
	return !r.stopped
}

// An Array is a JSON array being read.
type Array struct {
	n      int
	closed bool
}

// Array begins an array. Anything else is reported and skipped, and the array
// is empty then.
func (r *Reader) Array() Array {
	return Array{closed: !r.open('[', "an array")}
}

// Element moves to the next element and reports whether there is one.
func (r *Reader) Element(a *Array) bool {
	if r.stopped || a.closed {
		return false
	}
	c := r.space()
	if c == ']' {
		r.pos++
		a.closed = true
		r.leave()
		return false
	}
	if a.n > 0 {
		if c != ',' {
			r.syntax("',' or ']'")
			return false
		}
		r.pos++
	}
	if a.n >= maxElements {
		r.stop(runtime.IssueSize, r.pointer(), "more than 100000 elements in one array")
		return false
	}
	r.path[r.depth-1] = segment{-1, int32(a.n)} //nolint:gosec // at most maxElements
	a.n++
	return true
}

// Fixed reports that an array which was read has not exactly n elements. It is
// called after the last Element.
func (r *Reader) Fixed(a *Array, n int) {
	if r.stopped || a.n == n || r.bad {
		return
	}
	r.problem(runtime.IssueLength, itemsText(n), itemsText(a.n))
}

// New reports whether the current key isn't in m yet; one that is there twice
// is reported and skipped.
func New[K comparable, V any](r *Reader, m map[K]V, key K) bool {
	if _, twice := m[key]; twice {
		r.Duplicate()
		return false
	}
	return true
}

// Index returns the number of the current element, from 0.
func (a *Array) Index() int { return a.n - 1 }
