package postgres

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/toolgen/toolgen/runtime/tabular"
)

// types is what the driver knows of the system's types: of arrays, what they have in them.
var types = sync.OnceValue(pgtype.NewMap)

// encoding returns what makes JSON of a value of a type, which is given as the server
// prints it. It reports whether the text was shown as it is. What isn't known is a text.
func encoding(oid uint32) func(dst, text []byte) ([]byte, bool) {
	switch oid {
	case pgtype.BoolOID:
		return func(dst, text []byte) ([]byte, bool) { return tabular.AppendBool(dst, string(text) == "t"), true }
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID, pgtype.XIDOID, pgtype.CIDOID, pgtype.XID8OID:
		return func(dst, text []byte) ([]byte, bool) { return tabular.AppendInteger(dst, string(text)), true }
	case pgtype.Float4OID, pgtype.Float8OID:
		return appendFloat
	case pgtype.ByteaOID:
		return appendBytea
	case pgtype.JSONOID, pgtype.JSONBOID:
		return appendJSON
	case pgtype.TimestamptzOID:
		return appendInstant
	case pgtype.BoxArrayOID: // its elements are separated by semicolons
		return tabular.AppendTextBytes
	}
	if t, ok := types().TypeForOID(oid); ok {
		if array, ok := t.Codec.(*pgtype.ArrayCodec); ok {
			return arrayOf(encoding(array.ElementType.OID))
		}
	}
	return tabular.AppendTextBytes
}

// appendFloat appends a number as it is printed; NaN and the infinities have no number in
// JSON.
func appendFloat(dst, text []byte) ([]byte, bool) {
	if c := text[len(text)-1]; c < '0' || c > '9' {
		return tabular.AppendTextBytes(dst, text)
	}
	return append(dst, text...), true
}

func appendBytea(dst, text []byte) ([]byte, bool) {
	raw, err := hex.AppendDecode(nil, bytes.TrimPrefix(text, []byte(`\x`)))
	if err != nil {
		return tabular.AppendTextBytes(dst, text)
	}
	return tabular.AppendBytes(dst, raw), true
}

// appendJSON appends JSON without its white space. Numbers stay as they are.
func appendJSON(dst, text []byte) ([]byte, bool) {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil { // nested deeper than a reader takes
		return tabular.AppendTextBytes(dst, text)
	}
	return append(dst, b.Bytes()...), true
}

// appendInstant appends a time with a zone, which is UTC, as RFC 3339 has it, where that
// has such a year.
func appendInstant(dst, text []byte) ([]byte, bool) {
	const date = len("2026-01-02")
	local, utc := bytes.CutSuffix(text, []byte("+00"))
	if !utc || len(local) < date+1 || local[date] != ' ' || local[4] != '-' {
		return tabular.AppendTextBytes(dst, text)
	}
	dst = append(append(dst, '"'), local[:date]...)
	dst = append(append(dst, 'T'), local[date+1:]...)
	return append(dst, `Z"`...), true
}

// arrayOf makes nested arrays of the text of one. Bounds that don't begin at 1 are left
// out.
func arrayOf(element func(dst, text []byte) ([]byte, bool)) func(dst, text []byte) ([]byte, bool) {
	return func(dst, text []byte) ([]byte, bool) {
		_, body, bounded := bytes.Cut(text, []byte("={"))
		if bounded && text[0] == '[' {
			text = text[len(text)-len(body)-1:]
		}
		r := arrayReader{text: text, element: element, clean: true}
		out := r.array(dst)
		if r.failed || r.at != len(text) {
			return tabular.AppendTextBytes(dst, text)
		}
		return out, r.clean
	}
}

type arrayReader struct {
	text    []byte
	at      int
	element func(dst, text []byte) ([]byte, bool)
	clean   bool
	failed  bool
}

// next takes a character, if it is there.
func (r *arrayReader) next(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *arrayReader) array(dst []byte) []byte {
	if !r.next('{') {
		r.failed = true
		return dst
	}
	dst = append(dst, '[')
	if r.next('}') {
		return append(dst, ']')
	}
	for !r.failed {
		switch {
		case r.at == len(r.text):
			r.failed = true
		case r.text[r.at] == '{':
			dst = r.array(dst)
		default:
			dst = r.value(dst)
		}
		if r.next('}') {
			return append(dst, ']')
		}
		if !r.next(',') {
			r.failed = true
		}
		dst = append(dst, ',')
	}
	return dst
}

// value appends an element: one in quotes, in which a backslash stands before what is
// meant, or one without, of which NULL is none.
func (r *arrayReader) value(dst []byte) []byte {
	var text []byte
	quoted := r.next('"')
	for ; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		if quoted && c == '"' || !quoted && (c == ',' || c == '}') {
			break
		}
		if quoted && c == '\\' {
			r.at++
			if r.at == len(r.text) {
				break
			}
			c = r.text[r.at]
		}
		text = append(text, c)
	}
	if quoted && !r.next('"') {
		r.failed = true
		return dst
	}
	if !quoted && string(text) == "NULL" {
		return tabular.AppendNull(dst)
	}
	if len(text) == 0 && !quoted {
		r.failed = true
		return dst
	}
	dst, clean := r.element(dst, text)
	r.clean = r.clean && clean
	return dst
}
