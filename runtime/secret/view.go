package secret

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A view is a text with escapes undone, and where each of its bytes came from in the
// text that it was made of; from has one more, for the end.
type view struct {
	text string
	from []int32
}

// escapes are the characters that something can be hidden behind: those of JSON and Go,
// of URLs and forms, of HTML, and the ends of lines in base64.
const escapes = "\\%+&\n"

// views returns a text as it is with escapes undone, of one kind and of two, one behind
// the other, in the orders in which programs write them. Where there is nothing to undo,
// there is no view.
func views(text string) []view {
	var all []view
	for _, first := range []struct {
		undo func(string) (view, bool)
		then []func(string) (view, bool)
	}{
		{unescaped, []func(string) (view, bool){unescaped, unpercented, unentitled, unbroken}},
		{unpercented, []func(string) (view, bool){unpercented, unescaped}},
		{unformed, []func(string) (view, bool){unescaped}},
		{unentitled, []func(string) (view, bool){unescaped}},
		{unbroken, nil},
	} {
		once, ok := first.undo(text)
		if !ok {
			continue
		}
		all = append(all, once)
		for _, then := range first.then {
			if twice, ok := then(once.text); ok {
				all = append(all, twice.through(once))
			}
		}
	}
	return all
}

// through makes a view of a view one of the text below it.
func (v view) through(below view) view {
	out := view{v.text, slices.Clone(v.from)}
	for i, at := range out.from {
		out.from[i] = below.from[at]
	}
	return out
}

// undone undoes the escapes that begin with a byte. What is none stays.
func undone(text string, begin byte, read func(text string) (string, int)) (view, bool) {
	at := strings.IndexByte(text, begin)
	if at < 0 {
		return view{}, false
	}
	out, from := make([]byte, 0, len(text)), make([]int32, 0, len(text)+1)
	for i := 0; i < len(text); {
		for ; i < at; i++ {
			out, from = append(out, text[i]), append(from, int32(i))
		}
		if i == len(text) {
			break
		}
		s, n := read(text[i:])
		out = append(out, s...)
		for range len(s) {
			from = append(from, int32(i))
		}
		i += n
		if at = strings.IndexByte(text[i:], begin); at < 0 {
			at = len(text)
		} else {
			at += i
		}
	}
	return view{string(out), append(from, int32(len(text)))}, true //nolint:gosec // a piece is much shorter
}

// unescaped undoes the escapes of JSON and Go strings.
func unescaped(text string) (view, bool) { return undone(text, '\\', escape) }

// unpercented undoes the escapes of URLs.
func unpercented(text string) (view, bool) { return undone(text, '%', percent) }

func percent(text string) (string, int) {
	if n, ok := digits(text, 1, 2, 16); ok {
		return single(n), 3
	}
	return text[:1], 1
}

// unformed undoes those of forms, where a plus is a space.
func unformed(text string) (view, bool) {
	if !strings.Contains(text, "+") {
		return view{}, false // it is what unpercented finds
	}
	plain, ok := undone(text, '+', func(string) (string, int) { return " ", 1 })
	if !ok {
		return view{}, false
	}
	if rest, ok := unpercented(plain.text); ok {
		return rest.through(plain), true
	}
	return plain, true
}

// unentitled undoes the entities of HTML.
func unentitled(text string) (view, bool) {
	return undone(text, '&', func(text string) (string, int) {
		const longest = 12
		if end := strings.IndexByte(text[:min(len(text), longest)], ';'); end > 0 {
			if s := html.UnescapeString(text[:end+1]); s != text[:end+1] {
				return s, end + 1
			}
		}
		return text[:1], 1
	})
}

// unbroken takes the ends of lines out, which base64 is broken into.
func unbroken(text string) (view, bool) {
	nothing := func(string) (string, int) { return "", 1 }
	joined, ok := undone(text, '\n', nothing)
	if !ok {
		return view{}, false
	}
	if again, ok := undone(joined.text, '\r', nothing); ok {
		return again.through(joined), true
	}
	return joined, true
}

// escape reads one escape, and returns what it stands for and how long it is.
func escape(text string) (string, int) {
	if len(text) < 2 {
		return text, len(text)
	}
	switch c := text[1]; c {
	case 'n':
		return "\n", 2
	case 't':
		return "\t", 2
	case 'r':
		return "\r", 2
	case 'b':
		return "\b", 2
	case 'f':
		return "\f", 2
	case 'a':
		return "\a", 2
	case 'v':
		return "\v", 2
	case '"', '\'', '\\', '/', '`':
		return text[1:2], 2
	case 'x':
		if n, ok := digits(text, 2, 2, 16); ok {
			return single(n), 4
		}
	case 'u':
		return unicodeEscape(text)
	case 'U':
		if n, ok := digits(text, 2, 8, 16); ok {
			return string(n), 10
		}
	default:
		if n, ok := digits(text, 1, 3, 8); ok && n < 256 {
			return single(n), 4
		}
	}
	return text[:1], 1
}

// unicodeEscape reads \uXXXX, or two of them that are a pair of surrogates.
func unicodeEscape(text string) (string, int) {
	n, ok := digits(text, 2, 4, 16)
	if !ok {
		return text[:1], 1
	}
	if utf16.IsSurrogate(n) && len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
		if low, ok := digits(text, 8, 4, 16); ok {
			if r := utf16.DecodeRune(n, low); r != utf8.RuneError {
				return string(r), 12
			}
		}
	}
	return string(n), 6
}

// digits reads n digits; a number that is no code point is none.
func digits(text string, at, n, base int) (rune, bool) {
	if len(text) < at+n || text[at] == '+' {
		return 0, false
	}
	v, err := strconv.ParseUint(text[at:at+n], base, 32)
	return rune(v), err == nil && v <= utf8.MaxRune //nolint:gosec // see the check behind it
}

// single is a byte as a string.
func single(n rune) string { return string([]byte{byte(n)}) } //nolint:gosec // of two hexadecimal digits, or checked
