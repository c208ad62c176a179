package toolimpl

import (
	"fmt"
	"math/big"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolgen/toolgen/runtime"
)

// Check returns a reader for arguments that Go code made: what follows
// [Reader.At] is checked like something that was read.
func Check(tool string) *Reader {
	r := Read(tool, nil, 0)
	r.checking = true
	return r
}

// At moves to an argument of a [Check].
func (r *Reader) At(name string, value any) {
	r.data, r.pos = []byte(name), len(name)
	r.path[0] = segment{0, int32(len(name))} //nolint:gosec // a name has at most 64 bytes
	r.depth, r.bad, r.value = 1, false, value
}

// skipRule reports whether there is no value to check: it was refused already.
func (r *Reader) skipRule() bool { return r.bad || r.stopped }

// Secret keeps the next value out of messages.
func (r *Reader) Secret() { r.secret = true }

type number64 interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

// Minimum refuses a number below least.
func Minimum[T number64](r *Reader, v, least T) { compare(r, v, least, v < least, "at least ") }

// Maximum refuses a number above most.
func Maximum[T number64](r *Reader, v, most T) { compare(r, v, most, v > most, "at most ") }

// Above refuses a number that isn't above least.
func Above[T number64](r *Reader, v, least T) { compare(r, v, least, v <= least, "more than ") }

// Below refuses a number that isn't below most.
func Below[T number64](r *Reader, v, most T) { compare(r, v, most, v >= most, "less than ") }

func compare[T number64](r *Reader, _, limit T, wrong bool, words string) {
	if wrong && !r.skipRule() {
		r.problem(runtime.IssueRange, words+fmt.Sprint(limit), r.got())
	}
}

// MultipleOf refuses a number that isn't a multiple of step.
func MultipleOf[T number64](r *Reader, v, step T) {
	if r.skipRule() {
		return
	}
	var wrong bool
	if whole := T(1); whole/2 == 0 {
		wrong = v/step*step != v
	} else { // as decimal fractions, since 0.3 is a multiple of 0.1
		wrong = !new(big.Rat).Quo(decimal(float64(v)), decimal(float64(step))).IsInt()
	}
	if wrong {
		r.problem(runtime.IssueRange, "a multiple of "+fmt.Sprint(step), r.got())
	}
}

// decimal is a number as its shortest decimal fraction says it.
func decimal(v float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	if !ok {
		return new(big.Rat)
	}
	return r
}

// OneOf refuses a number that is none of those allowed.
func OneOf[T number64](r *Reader, v T, allow ...T) {
	if r.skipRule() || slices.Contains(allow, v) {
		return
	}
	words := make([]string, len(allow))
	for i, a := range allow {
		words[i] = fmt.Sprint(a)
	}
	r.problem(runtime.IssueEnum, "one of "+strings.Join(words, ", "), r.got())
}

// OneText refuses a string that is none of those allowed.
func (r *Reader) OneText(s string, allow ...string) {
	if !r.skipRule() && !slices.Contains(allow, s) {
		r.problem(runtime.IssueEnum, allowed(allow), r.got())
	}
}

// Unique refuses a list that has an element twice.
func Unique[T comparable](r *Reader, list []T) {
	if r.skipRule() {
		return
	}
	seen := make(map[T]bool, len(list))
	for _, e := range list {
		if seen[e] {
			r.problem(runtime.IssueConstraint, "an element is there twice", "")
			return
		}
		seen[e] = true
	}
}

// MinLength refuses a string of fewer than n code points.
func (r *Reader) MinLength(s string, n int) {
	if !r.skipRule() && utf8.RuneCountInString(s) < n {
		r.length("at least "+counted(n, "character"), counted(utf8.RuneCountInString(s), "character"))
	}
}

// MaxLength refuses a string of more than n code points.
func (r *Reader) MaxLength(s string, n int) {
	if !r.skipRule() && utf8.RuneCountInString(s) > n {
		r.length("at most "+counted(n, "character"), counted(utf8.RuneCountInString(s), "character"))
	}
}

// MinItems refuses a list of length size with fewer than n elements.
func (r *Reader) MinItems(size, n int) {
	if !r.skipRule() && size < n {
		r.length("at least "+counted(n, "item"), counted(size, "item"))
	}
}

// MaxItems refuses a list with more than n elements.
func (r *Reader) MaxItems(size, n int) {
	if !r.skipRule() && size > n {
		r.length("at most "+counted(n, "item"), counted(size, "item"))
	}
}

// MinProperties refuses a map with fewer than n keys.
func (r *Reader) MinProperties(size, n int) {
	if !r.skipRule() && size < n {
		r.length("at least "+counted(n, "property"), counted(size, "property"))
	}
}

// MaxProperties refuses a map with more than n keys.
func (r *Reader) MaxProperties(size, n int) {
	if !r.skipRule() && size > n {
		r.length("at most "+counted(n, "property"), counted(size, "property"))
	}
}

func (r *Reader) length(want, got string) {
	r.problem(runtime.IssueLength, want, got)
}

func counted(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return strconv.Itoa(n) + " " + noun[:len(noun)-1] + "ies"
	default:
		return strconv.Itoa(n) + " " + noun + "s"
	}
}

// A Pattern is a regular expression of RE2, compiled when it is first used.
type Pattern struct {
	Text string

	once     sync.Once
	compiled *regexp.Regexp
}

func (p *Pattern) match(s string) bool {
	p.once.Do(func() { p.compiled, _ = regexp.Compile(p.Text) }) // the generator has compiled it too
	return p.compiled != nil && p.compiled.MatchString(s)
}

// Match refuses a string in which the pattern isn't found.
func (r *Reader) Match(s string, p *Pattern) {
	if !r.skipRule() && !p.match(s) {
		r.problem(runtime.IssuePattern, "a string that matches "+p.Text, r.got())
	}
}

// Prefix refuses a string that doesn't begin with prefix.
func (r *Reader) Prefix(s, prefix string) {
	if !r.skipRule() && !strings.HasPrefix(s, prefix) {
		r.problem(runtime.IssuePattern, "a string that begins with "+prefix, r.got())
	}
}

// Under refuses what isn't a relative path at or below dir, with slashes. It
// looks at the text alone: symbolic links are the hook's business, see [os.Root].
func (r *Reader) Under(s, dir string) {
	if r.skipRule() {
		return
	}
	clean := path.Clean(s)
	bad := s == "" || s[0] == '/' || strings.ContainsAny(s, "\\\x00") || strings.Contains(s, "://")
	for part := range strings.SplitSeq(s, "/") {
		bad = bad || part == ".."
	}
	if bad || clean != dir && !strings.HasPrefix(clean, dir+"/") {
		r.problem(runtime.IssuePattern, "a relative path at or below "+dir, r.got())
	}
}
