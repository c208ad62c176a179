package toolimpl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/schema"
)

const (
	maxProblems = 20  // listed in one message; the rest is counted
	maxEcho     = 40  // code points of a value that a message repeats
	maxPointer  = 200 // code points of a pointer in a message
	maxAllowed  = 20  // allowed values that a message lists
)

// problem is an issue with the words that the model reads.
type problem struct {
	issue runtime.Issue
	text  string
}

// problems collects what is wrong with the arguments of one call.
type problems struct {
	found   []problem // in input order
	missing []problem // in schema order; listed last
	count   int
}

// full counts a problem, and reports whether there are so many that it won't
// be listed: then nothing more is to be made of it.
func (p *problems) full(list []problem) bool {
	p.count++
	return len(list) >= maxProblems
}

// message is the one place where issues are put into words.
func message(i runtime.Issue) string {
	switch i.Code {
	case runtime.IssueMissing:
		return "required property is missing"
	case runtime.IssueUnknown:
		return "unknown property" + i.Want
	case runtime.IssueDuplicate:
		return "property is there twice"
	case runtime.IssueSyntax, runtime.IssueRange, runtime.IssueLength, runtime.IssueConstraint, runtime.IssuePattern:
		if i.Got == "" || i.Want == "" {
			return i.Got + i.Want
		}
		fallthrough
	default:
		return "want " + i.Want + ", got " + i.Got
	}
}

// err returns one error with all problems, or nil.
func (p *problems) err(tool string) error {
	if p.count == 0 {
		return nil
	}
	var b strings.Builder
	noun := "problems"
	if p.count == 1 {
		noun = "problem"
	}
	fmt.Fprintf(&b, "%s: %d %s in the arguments", tool, p.count, noun)
	listed := slices.Concat(p.found, p.missing)
	listed = listed[:min(len(listed), maxProblems)]
	issues := make([]runtime.Issue, 0, len(listed))
	for _, pr := range listed {
		b.WriteByte('\n')
		if pr.issue.Pointer != "" {
			b.WriteString(cut(pr.issue.Pointer, maxPointer) + ": ")
		}
		b.WriteString(pr.text)
		issues = append(issues, pr.issue)
	}
	if n := p.count - len(issues); n > 0 {
		fmt.Fprintf(&b, "\nand %d more", n)
	}
	return &runtime.RetryError{Message: b.String(), Issues: issues}
}

// problem reports the value that begins at r.start, or the whole document.
func (r *Reader) problem(code runtime.IssueCode, want, got string) {
	r.bad = true
	if r.problems.full(r.problems.found) {
		return
	}
	i := runtime.Issue{Pointer: r.pointer(), Code: code, Want: want, Got: got}
	r.problems.found = append(r.problems.found, problem{i, message(i)})
}

// refuse reports that the value at r.start isn't what is wanted, and skips it.
func (r *Reader) refuse(want string) {
	start := r.start
	r.pos = start
	r.skip()
	if r.stopped {
		return
	}
	r.start = start
	if len(r.problems.found) >= maxProblems { // it won't be listed, so needs no words
		r.problem(runtime.IssueType, "", "")
		return
	}
	if r.data[r.start] == 'n' {
		r.problem(runtime.IssueNull, want, "null")
		return
	}
	got := r.got()
	if r.data[r.start] == '"' && (want == "an object" || want == "an array") {
		got = "a string" // it may hold what a property within keeps secret
	}
	r.problem(runtime.IssueType, want, got)
}

// got describes the value between r.start and r.pos.
func (r *Reader) got() string {
	if r.secret {
		return "something else"
	}
	if r.checking {
		return cut(fmt.Sprint(r.value), maxEcho)
	}
	text := r.data[r.start:r.pos]
	switch text[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "the string " + echo(text)
	case 't', 'f', 'n':
		return string(text)
	default:
		return "the number " + echo(text)
	}
}

// echo repeats what was sent, cut to 40 code points.
func echo(text []byte) string {
	const most = utf8.UTFMax * (maxEcho + 1)
	return cut(string(text[:min(len(text), most)]), maxEcho)
}

// cut returns the first n code points of s, and a mark if there are more.
func cut(s string, n int) string {
	end := 0
	for range n {
		if end == len(s) {
			return s
		}
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	if end == len(s) {
		return s
	}
	return s[:end] + "…"
}

// stop reports what makes the rest unreadable.
func (r *Reader) stop(code runtime.IssueCode, pointer, text string) {
	if r.stopped {
		return
	}
	r.stopped, r.bad = true, true
	r.problems.count++
	issue := runtime.Issue{Pointer: pointer, Code: code, Got: text}
	r.problems.found = append(r.problems.found, problem{issue, text})
}

// syntax reports that the input isn't JSON at r.pos.
func (r *Reader) syntax(want string) {
	got := "the end"
	if r.pos < len(r.data) {
		c, size := utf8.DecodeRune(r.data[r.pos:])
		if c == utf8.RuneError && size <= 1 {
			got = fmt.Sprintf("the byte 0x%02x", r.data[r.pos])
		} else {
			got = strconv.QuoteRune(c)
		}
	}
	where := "at byte " + strconv.Itoa(r.pos) + ": want " + want + ", got " + got
	if r.repaired() {
		r.stop(runtime.IssueSyntax, "", "in a string that holds JSON, "+where)
		return
	}
	r.stop(runtime.IssueSyntax, "", where)
}

// pointer returns the JSON Pointer of the value being read.
func (r *Reader) pointer() string {
	var b strings.Builder
	for depth, s := range r.path[:r.depth] {
		b.WriteByte('/')
		if s.start < 0 {
			b.WriteString(strconv.Itoa(int(s.end)))
			continue
		}
		data := r.data
		if r.repaired() && depth < r.outer.depth {
			data = r.outer.data
		}
		b.WriteString(escapePointer(keyText(data[s.start:s.end])))
	}
	return b.String()
}

// escapePointer escapes a key for a pointer, cut like any echo. Control
// characters are shown as escapes: a key must not forge lines of a message.
func escapePointer(key string) string {
	var b strings.Builder
	for _, c := range cut(key, maxEcho) {
		switch {
		case c == '~':
			b.WriteString("~0")
		case c == '/':
			b.WriteString("~1")
		case unicode.IsControl(c), unicode.Is(unicode.Cf, c), c == '\u2028', c == '\u2029':
			fmt.Fprintf(&b, "\\u%04x", c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// keyText unescapes the head of a key that has been read before, so is well
// formed: as much as a pointer shows.
func keyText(raw []byte) string {
	end := 0
	for end < len(raw) && end < 6*(maxEcho+1) {
		switch {
		case raw[end] != '\\':
			end++
		case raw[end+1] == 'u':
			end += 6
		default:
			end += 2
		}
	}
	out, _ := unescape(nil, raw[:end])
	return string(out)
}

// allowed lists values for "want one of …".
func allowed(values []string) string {
	var b strings.Builder
	b.WriteString("one of ")
	for i, v := range values[:min(len(values), maxAllowed)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.Write(schema.AppendString(nil, v))
	}
	if n := len(values) - maxAllowed; n > 0 {
		fmt.Fprintf(&b, " and %d more", n)
	}
	return b.String()
}

func sizeText(n, limit int) string {
	return fmt.Sprintf("the arguments have %d bytes, the limit is %d", n, limit)
}

func itemsText(n int) string {
	if n == 1 {
		return "1 item"
	}
	return strconv.Itoa(n) + " items"
}
