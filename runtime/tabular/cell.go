package tabular

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolgen/toolgen/runtime/schema"
)

// maxExact is the largest integer that every reader of JSON reads exactly.
const maxExact = 1<<53 - 1

// AppendInt appends an integer: as a number where every reader of JSON reads it exactly,
// else as a string.
func AppendInt(dst []byte, n int64) []byte {
	if n >= -maxExact && n <= maxExact {
		return strconv.AppendInt(dst, n, 10)
	}
	return append(strconv.AppendInt(append(dst, '"'), n, 10), '"')
}

// AppendInteger appends an integer that is given by its digits, of any length, like
// [AppendInt].
func AppendInteger(dst []byte, digits string) []byte {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return AppendInt(dst, n)
	}
	return AppendText(dst, digits)
}

// AppendFloat appends a float in the shortest form that is read back as the same of a
// size of 32 or 64 bits; what JSON has no number for is a string: NaN, Infinity,
// -Infinity.
func AppendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	form := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, f, form, -1, bits)
}

// AppendDecimal appends an exact decimal, which is given by its digits, as a string with
// its scale.
func AppendDecimal(dst []byte, digits string) []byte { return AppendText(dst, digits) }

// AppendText appends a text. Bytes that aren't UTF-8 become the replacement character:
// ask [Clean] whether there are any.
func AppendText(dst []byte, s string) []byte { return schema.AppendString(dst, s) }

// AppendTextBytes is [AppendText] of bytes that are not kept, and reports whether they
// were clean: shown as they are.
func AppendTextBytes(dst, s []byte) ([]byte, bool) {
	for _, c := range s {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return schema.AppendString(dst, string(s)), utf8.Valid(s)
		}
	}
	return append(append(append(dst, '"'), s...), '"'), true
}

// Clean reports whether a text is UTF-8, and is shown as it is.
func Clean(s string) bool { return utf8.ValidString(s) }

// NotClean is what a result says of texts that weren't: see [Writer.Note].
const NotClean = "bytes that are not UTF-8 are shown as U+FFFD"

func clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}

// AppendBytes appends bytes as {"base64":"…"}.
func AppendBytes(dst, b []byte) []byte {
	dst = append(dst, `{"base64":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, `"}`...)
}

// AppendNull appends null.
func AppendNull(dst []byte) []byte { return append(dst, "null"...) }

// AppendBool appends true or false.
func AppendBool(dst []byte, b bool) []byte { return strconv.AppendBool(dst, b) }
