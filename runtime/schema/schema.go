// Package schema is the leaf that runtime and the generator share: what both
// must agree on, byte for byte, about JSON and names.
//
// It holds the compact and the canonical form of JSON, the hash of a tool's
// schemas, and the nearest of a list of names. It works on bytes and never
// decodes a number, so that no digit is lost. It uses the standard library
// only.
package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// Compact returns raw without white space. Keys keep their order, numbers and
// strings their text. The error says where raw isn't JSON.
func Compact(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(raw))
	if err := json.Compact(&b, raw); err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	return b.Bytes(), nil
}

// Hash returns the hex SHA-256 of the compact input schema, a newline and the
// compact output schema (which may be nil). White space doesn't matter, the
// order of keys does: models are shown it. An input that isn't a JSON object
// is an error.
func Hash(input, output []byte) (string, error) {
	in, err := Compact(input)
	if err != nil {
		return "", fmt.Errorf("input schema: %w", err)
	}
	if len(in) == 0 || in[0] != '{' {
		return "", errors.New("input schema: not a JSON object")
	}
	h := sha256.New()
	h.Write(in)
	h.Write([]byte{'\n'})
	if output != nil {
		out, err := Compact(output)
		if err != nil {
			return "", fmt.Errorf("output schema: %w", err)
		}
		h.Write(out)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Canonical returns raw in canonical form: no white space, keys sorted by their
// UTF-16 code units as RFC 8785 orders them, strings with the fewest escapes.
// Unlike RFC 8785 it keeps the text of numbers, since 2^53+1 and 1e2 are not
// ours to round. A key twice in one object is an error.
func Canonical(raw []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	out, err := appendCanonical(make([]byte, 0, len(raw)), dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not valid JSON: text after the value")
	}
	return out, nil
}

func appendCanonical(b []byte, dec *json.Decoder) ([]byte, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return appendCanonicalObject(b, dec)
		}
		return appendCanonicalArray(b, dec)
	case string:
		return AppendString(b, t), nil
	case json.Number:
		return append(b, t...), nil
	case bool:
		return fmt.Append(b, t), nil
	default:
		return append(b, "null"...), nil
	}
}

func appendCanonicalArray(b []byte, dec *json.Decoder) ([]byte, error) {
	b = append(b, '[')
	var err error
	for n := 0; dec.More(); n++ {
		if n > 0 {
			b = append(b, ',')
		}
		if b, err = appendCanonical(b, dec); err != nil {
			return nil, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	return append(b, ']'), nil
}

func appendCanonicalObject(b []byte, dec *json.Decoder) ([]byte, error) {
	type member struct {
		key   string
		value []byte
	}
	var members []member
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("not valid JSON: %w", err)
		}
		value, err := appendCanonical(nil, dec)
		if err != nil {
			return nil, err
		}
		members = append(members, member{t.(string), value}) //nolint:forcetypeassert // a key is a string
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	slices.SortFunc(members, func(x, y member) int { return compareUTF16(x.key, y.key) })
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			if m.key == members[i-1].key {
				return nil, fmt.Errorf("key %q is there twice", m.key)
			}
			b = append(b, ',')
		}
		b = append(append(AppendString(b, m.key), ':'), m.value...)
	}
	return append(b, '}'), nil
}

// compareUTF16 orders strings by UTF-16 code units. It differs from the order
// of bytes only where a character beyond U+FFFF, which begins with a surrogate
// (D800 to DFFF), meets one from U+E000 up.
func compareUTF16(x, y string) int {
	for x != "" && y != "" {
		a, n := utf8.DecodeRuneInString(x)
		b, m := utf8.DecodeRuneInString(y)
		if a != b {
			return int(firstUnit(a)) - int(firstUnit(b)) + sign(a, b)
		}
		x, y = x[n:], y[m:]
	}
	return len(x) - len(y)
}

func firstUnit(r rune) rune {
	if r > 0xFFFF {
		return 0xD800 + (r-0x10000)>>10
	}
	return r
}

// sign breaks the tie of two characters with the same first unit.
func sign(a, b rune) int {
	switch {
	case firstUnit(a) != firstUnit(b):
		return 0
	case a < b:
		return -1
	default:
		return 1
	}
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string with the fewest escapes: <, > and &
// stay. Bytes that are not UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n != 1 {
				i += n
				continue
			}
			b = append(append(b, s[start:i]...), "\uFFFD"...)
		} else {
			b = appendEscape(append(b, s[start:i]...), c)
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	default:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
}
