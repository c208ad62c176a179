package toolimpl

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolgen/toolgen/runtime"
)

// space skips white space and returns the byte that follows, 0 at the end. A
// zero byte in the input is no JSON anywhere, so the two need no telling apart.
func (r *Reader) space() byte {
	for r.pos < len(r.data) {
		c := r.data[r.pos]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		r.pos++
	}
	return 0
}

// literal reads one of JSON's three words.
func (r *Reader) literal(word string) {
	for i := range len(word) {
		if r.pos >= len(r.data) || r.data[r.pos] != word[i] {
			r.syntax(word)
			return
		}
		r.pos++
	}
}

// special marks the bytes at which the scan of a string stops: quote,
// backslash and control characters.
var special = [256]bool{
	'"': true, '\\': true,
	0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true,
	11: true, 12: true, 13: true, 14: true, 15: true, 16: true, 17: true, 18: true, 19: true, 20: true,
	21: true, 22: true, 23: true, 24: true, 25: true, 26: true, 27: true, 28: true, 29: true, 30: true, 31: true,
}

// scanString goes over the string at r.pos, quotes included, and checks its
// form. It reports whether there are escapes, and whether it is well formed.
func (r *Reader) scanString() (escaped, ok bool) {
	data := r.data
	first := r.pos + 1
	i := first
	var or byte
	for i < len(data) {
		c := data[i]
		or |= c
		if !special[c] {
			i++
			continue
		}
		switch c {
		case '"':
			r.pos = i + 1
			if or >= utf8.RuneSelf && !utf8.Valid(data[first:i]) {
				r.stop(runtime.IssueUTF8, "", "at byte "+strconv.Itoa(first-1)+": a string that isn't valid UTF-8")
				return false, false
			}
			return escaped, true
		case '\\':
			escaped = true
			n := escapeLen(data[i:])
			if n == 0 {
				r.pos = min(i+1, len(data))
				r.syntax("an escape of JSON")
				return false, false
			}
			i += n
		default:
			r.pos = i
			r.syntax("no control character in a string")
			return false, false
		}
	}
	r.pos = i
	r.syntax("the end of a string")
	return false, false
}

// escapeLen returns the length of the escape at the start of b, 0 if it isn't
// one of JSON's.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b); ok {
			return 6
		}
	}
	return 0
}

// hex4 decodes a \uXXXX at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var v rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			v = v<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			v = v<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends the text of a string that scanString accepted. It reports
// false for a surrogate without its other half: no text has one.
func unescape(out, raw []byte) ([]byte, bool) {
	for i := 0; i < len(raw); {
		c := raw[i]
		if c != '\\' {
			out = append(out, c)
			i++
			continue
		}
		if raw[i+1] != 'u' {
			out = append(out, unescaped[raw[i+1]])
			i += 2
			continue
		}
		v, _ := hex4(raw[i:])
		i += 6
		if utf16.IsSurrogate(v) {
			low, ok := hex4(raw[i:])
			if v = utf16.DecodeRune(v, low); !ok || v == utf8.RuneError {
				return out, false
			}
			i += 6
		}
		out = utf8.AppendRune(out, v)
	}
	return out, true
}

// number is the parts of a JSON number.
type number struct {
	text     []byte
	integral bool // only digits, after a sign
}

// scanNumber goes over the number at r.pos.
func (r *Reader) scanNumber() (number, bool) {
	data, i := r.data, r.pos
	first := i
	if i < len(data) && data[i] == '-' {
		i++
	}
	digits := i
	i = skipDigits(data, i)
	if i == digits || i > digits+1 && data[digits] == '0' {
		if r.pos = i; i == digits {
			r.syntax("a value")
		} else {
			r.pos = digits + 1
			r.syntax("no digit after a leading zero")
		}
		return number{}, false
	}
	n := number{integral: true}
	if i < len(data) && data[i] == '.' {
		n.integral = false
		from := i + 1
		if i = skipDigits(data, from); i == from {
			r.pos = i
			r.syntax("a digit")
			return number{}, false
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		n.integral = false
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		from := i
		if i = skipDigits(data, from); i == from {
			r.pos = i
			r.syntax("a digit")
			return number{}, false
		}
	}
	if i-first > maxNumber {
		r.stop(runtime.IssueSize, "", "at byte "+strconv.Itoa(first)+": a number of more than 400 bytes")
		return number{}, false
	}
	n.text, r.pos = data[first:i], i
	return n, true
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	return i
}

// skipValue moves to the next value and skips it.
func (r *Reader) skipValue() {
	if r.stopped {
		return
	}
	r.space()
	r.start, r.bad = r.pos, false
	r.skip()
}

// skip goes over the value at r.pos and checks its form, and that no key is
// there twice.
func (r *Reader) skip() {
	switch c := r.space(); c {
	case '{':
		r.skipObject()
	case '[':
		a := r.Array()
		for r.Element(&a) {
			r.skip()
		}
	case '"':
		r.skipString()
	case 't':
		r.literal("true")
	case 'f':
		r.literal("false")
	case 'n':
		r.literal("null")
	default:
		r.scanNumber()
	}
}

func (r *Reader) skipString() {
	first := r.pos + 1
	escaped, ok := r.scanString()
	if !ok || !escaped {
		return
	}
	if _, ok := unescape(nil, r.data[first:r.pos-1]); !ok {
		r.stop(runtime.IssueUTF8, r.pointer(), "a string with an unpaired surrogate")
	}
}

func (r *Reader) skipObject() {
	if !r.open('{', "an object") {
		return
	}
	o := Object{}
	seen := make(map[string]struct{})
	for r.Next(&o) {
		key := string(r.key)
		if _, twice := seen[key]; twice {
			r.problem(runtime.IssueDuplicate, "", "")
		}
		seen[key] = struct{}{}
		r.skip()
	}
}

// repaired reports whether reading is inside a string that holds JSON.
func (r *Reader) repaired() bool { return r.outer.data != nil }

// repair enters the string at r.pos if all of its text is a JSON value that
// begins with bracket: models now and then send an object as a string. One
// level only.
func (r *Reader) repair(bracket byte) bool {
	if r.repaired() || r.noRepair {
		return false
	}
	before := r.pos
	escaped, ok := r.scanString()
	after := r.pos
	r.pos = before
	if !ok {
		return false
	}
	text := r.data[before+1 : after-1]
	if escaped {
		if text, ok = unescape(nil, text); !ok {
			return false
		}
	}
	if !holds(text, bracket) {
		return false
	}
	r.outer = outer{data: r.data, pos: after, depth: r.depth}
	r.data, r.pos = text, 0
	r.space()
	r.start = r.pos
	return true
}

// holds reports whether text is one JSON value that begins with bracket.
func holds(text []byte, bracket byte) bool {
	text = bytes.Trim(text, " \t\r\n")
	if len(text) < 2 || text[0] != bracket || text[len(text)-1] != bracket+2 { // ] and } come two after [ and {
		return false
	}
	probe := Reader{data: text}
	if probe.space() != bracket {
		return false
	}
	probe.skip()
	probe.space()
	return !probe.stopped && probe.pos == len(text)
}

// uncoerced returns the text between the quotes of the string at r.pos, if
// strings stand for numbers and booleans here, and moves past it.
func (r *Reader) uncoerced() ([]byte, bool) {
	if !r.coerce || r.stopped {
		return nil, false
	}
	before := r.pos
	escaped, ok := r.scanString()
	if !ok || escaped {
		r.pos = before
		return nil, false
	}
	return r.data[before+1 : r.pos-1], true
}

// coercedNumber reads a number out of the string at r.pos.
func (r *Reader) coercedNumber() (number, bool) {
	before := r.pos
	text, ok := r.uncoerced()
	if ok {
		probe := Reader{data: text}
		if n, ok := probe.scanNumber(); ok && probe.pos == len(text) {
			return n, true
		}
	}
	r.pos = before
	return number{}, false
}
