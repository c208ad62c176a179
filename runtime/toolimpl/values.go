package toolimpl

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/toolgen/toolgen/runtime"
)

// begin moves to a value and returns its first byte.
func (r *Reader) begin() byte {
	if r.stopped {
		return 0
	}
	c := r.space()
	r.start, r.bad = r.pos, false
	return c
}

// text reads a string and returns its bytes, valid until the next read.
func (r *Reader) text(want string) ([]byte, bool) {
	c := r.begin()
	if c != '"' {
		if !r.stopped {
			r.refuse(want)
		}
		return nil, false
	}
	first := r.pos + 1
	escaped, ok := r.scanString()
	if !ok {
		return nil, false
	}
	raw := r.data[first : r.pos-1]
	if !escaped {
		return raw, true
	}
	if r.scratch, ok = unescape(r.scratch[:0], raw); !ok {
		r.stop(runtime.IssueUTF8, r.pointer(), "a string with an unpaired surrogate")
		return nil, false
	}
	return r.scratch, true
}

// String reads a string.
func (r *Reader) String() string {
	b, _ := r.text("a string")
	return string(b)
}

// Bool reads true or false.
func (r *Reader) Bool() bool {
	switch r.begin() {
	case 't':
		r.literal("true")
		return !r.stopped
	case 'f':
		r.literal("false")
	default:
		if !r.stopped {
			r.refuse("true or false")
		}
	}
	return false
}

// Enum reads one of the given strings. It returns the string of values, so
// that nothing is copied.
func (r *Reader) Enum(values []string) string {
	if r.begin() != '"' {
		if !r.stopped {
			r.refuse(allowed(values))
		}
		return ""
	}
	b, ok := r.text("")
	if !ok {
		return ""
	}
	for _, v := range values {
		if v == string(b) {
			return v
		}
	}
	r.problem(runtime.IssueEnum, allowed(values), r.got())
	return ""
}

// IntEnum reads one of the given integers.
func (r *Reader) IntEnum(values []int64) int64 {
	v, ok := r.integer(math.MinInt64, math.MaxInt64)
	if ok && !slices.Contains(values, v) {
		names := make([]string, 0, maxAllowed)
		for _, v := range values[:min(len(values), maxAllowed)] {
			names = append(names, strconv.FormatInt(v, 10))
		}
		r.problem(runtime.IssueEnum, "one of "+strings.Join(names, ", "), r.got())
		return 0
	}
	return v
}

// Int reads an integer. 3.0 and 3e2 are integers; a number beyond the type's
// range is refused with the range.
func (r *Reader) Int() int { v, _ := r.integer(math.MinInt, math.MaxInt); return int(v) }

// Int8 reads an integer of 8 bits.
func (r *Reader) Int8() int8 {
	v, _ := r.integer(math.MinInt8, math.MaxInt8)
	return int8(v) //nolint:gosec // integer checked the range
}

// Int16 reads an integer of 16 bits.
func (r *Reader) Int16() int16 {
	v, _ := r.integer(math.MinInt16, math.MaxInt16)
	return int16(v) //nolint:gosec // integer checked the range
}

// Int32 reads an integer of 32 bits.
func (r *Reader) Int32() int32 {
	v, _ := r.integer(math.MinInt32, math.MaxInt32)
	return int32(v) //nolint:gosec // integer checked the range
}

// Int64 reads an integer of 64 bits.
func (r *Reader) Int64() int64 { v, _ := r.integer(math.MinInt64, math.MaxInt64); return v }

// Uint reads an unsigned integer.
func (r *Reader) Uint() uint { return uint(r.unsigned(math.MaxUint)) }

// Uint8 reads an unsigned integer of 8 bits.
func (r *Reader) Uint8() uint8 { return uint8(r.unsigned(math.MaxUint8)) } //nolint:gosec // unsigned checked the range

// Uint16 reads an unsigned integer of 16 bits.
func (r *Reader) Uint16() uint16 { return uint16(r.unsigned(math.MaxUint16)) } //nolint:gosec // unsigned checked the range

// Uint32 reads an unsigned integer of 32 bits.
func (r *Reader) Uint32() uint32 { return uint32(r.unsigned(math.MaxUint32)) } //nolint:gosec // unsigned checked the range

// Uint64 reads an unsigned integer of 64 bits.
func (r *Reader) Uint64() uint64 { return r.unsigned(math.MaxUint64) }

// number reads a number of any form.
func (r *Reader) number(want string) (number, bool) {
	c := r.begin()
	if c != '-' && c-'0' > 9 {
		if !r.stopped {
			r.refuse(want)
		}
		return number{}, false
	}
	return r.scanNumber()
}

func (r *Reader) integer(least, most int64) (int64, bool) {
	n, ok := r.number("an integer")
	if !ok {
		return 0, false
	}
	text, ok := r.integerText(n)
	if !ok {
		return 0, false
	}
	if len(text) <= 18 { // fits int64 whatever its digits
		v := small(text)
		if v >= least && v <= most {
			return v, true
		}
	} else if v, err := strconv.ParseInt(string(text), 10, 64); err == nil && v >= least && v <= most {
		return v, true
	}
	r.problem(runtime.IssueRange, fmt.Sprintf("an integer from %d to %d", least, most), r.got())
	return 0, false
}

// small converts at most 18 digits with an optional sign.
func small(text []byte) int64 {
	neg := text[0] == '-'
	if neg {
		text = text[1:]
	}
	var v int64
	for _, c := range text {
		v = v*10 + int64(c-'0')
	}
	if neg {
		return -v
	}
	return v
}

func (r *Reader) unsigned(most uint64) uint64 {
	n, ok := r.number("an integer")
	if !ok {
		return 0
	}
	text, ok := r.integerText(n)
	if !ok {
		return 0
	}
	if string(text) == "-0" {
		return 0
	}
	v, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil || v > most {
		r.problem(runtime.IssueRange, fmt.Sprintf("an integer from 0 to %d", most), r.got())
		return 0
	}
	return v
}

// integerText returns the number as digits with an optional sign. A fraction
// or exponent is expanded if the value is integral, and reported otherwise.
func (r *Reader) integerText(n number) ([]byte, bool) {
	if n.integral {
		return n.text, true
	}
	if text, ok := expand(n.text); ok {
		return text, true
	}
	r.problem(runtime.IssueType, "an integer", r.got())
	return nil, false
}

// expand writes 12.50e2 as 1250. It reports false if digits would remain
// behind the point, and gives up on numbers beyond 64 bits: a string of more
// than 20 digits, which no range contains.
func expand(text []byte) ([]byte, bool) {
	neg := text[0] == '-'
	if neg {
		text = text[1:]
	}
	mantissa, exponent := text, 0
	if i := slices.IndexFunc(text, func(c byte) bool { return c|0x20 == 'e' }); i >= 0 {
		e, err := strconv.Atoi(string(text[i+1:]))
		if err != nil {
			e = math.MaxInt32
			if text[i+1] == '-' {
				e = -e
			}
		}
		mantissa, exponent = text[:i], e
	}
	whole, fraction, _ := strings.Cut(string(mantissa), ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return []byte("0"), true
	}
	trimmed := strings.TrimRight(digits, "0")
	zeros := exponent - len(fraction) + len(digits) - len(trimmed)
	if zeros < 0 {
		return nil, false
	}
	out := trimmed + strings.Repeat("0", min(zeros, 21))
	if neg {
		out = "-" + out
	}
	return []byte(out), true
}

// Float64 reads a number. One beyond the range of float64 is refused, one
// between two floats is rounded to the nearer.
func (r *Reader) Float64() float64 { return r.float(64, "a number") }

// Float32 reads a number of 32 bits, as Float64 does.
func (r *Reader) Float32() float32 { return float32(r.float(32, "a number")) }

func (r *Reader) float(bits int, want string) float64 {
	n, ok := r.number(want)
	if !ok {
		return 0
	}
	v, err := strconv.ParseFloat(transient(n.text), bits)
	if err != nil {
		limit := math.MaxFloat64
		if bits == 32 {
			limit = math.MaxFloat32
		}
		r.problem(runtime.IssueRange, fmt.Sprintf("a number from %g to %g", -limit, limit), r.got())
		return 0
	}
	return v
}

// transient is b as a string, for a callee that doesn't keep it.
func transient(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // the callee parses it and returns

// Number reads a number and keeps its text.
func (r *Reader) Number() json.Number {
	n, _ := r.number("a number")
	return json.Number(n.text)
}

// Time reads a date and time as RFC 3339 writes it.
func (r *Reader) Time() time.Time {
	const want = `a date and time like "2006-01-02T15:04:05Z"`
	var t time.Time
	if b, ok := r.text(want); ok && (t.UnmarshalText(b) != nil || !strictTime(b)) {
		r.problem(runtime.IssueFormat, want, r.got())
	}
	return t
}

// strictTime refuses the two liberties that package time takes with RFC 3339:
// an hour of one digit, and a comma before the fraction.
func strictTime(b []byte) bool {
	return len(b) > 13 && b[13] == ':' && !slices.Contains(b, ',')
}

// Duration reads a duration as Go writes it, such as 1h30m.
func (r *Reader) Duration() time.Duration {
	const want = `a duration like "1h30m" or "250ms"`
	b, ok := r.text(want)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(transient(b))
	if err != nil {
		r.problem(runtime.IssueFormat, want, r.got())
	}
	return d
}

// Bytes reads a string of padded standard base64.
func (r *Reader) Bytes() []byte {
	const want = "a string of base64"
	b, ok := r.text(want)
	if !ok {
		return nil
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(b)))
	n, err := base64.StdEncoding.Strict().Decode(out, b)
	if err != nil || bytes.ContainsAny(b, "\r\n") { // which the decoder skips
		r.problem(runtime.IssueFormat, want, r.got())
		return nil
	}
	return out[:n]
}

// Raw reads any value and returns a copy of its text.
func (r *Reader) Raw() json.RawMessage {
	if r.begin(); r.stopped {
		return nil
	}
	start := r.start
	r.skip()
	if r.stopped {
		return nil
	}
	r.start = start
	return slices.Clone(json.RawMessage(r.data[start:r.pos]))
}

// Any reads any value: an integer becomes int64, or json.Number where that is
// too small; a number with a fraction or exponent float64.
func (r *Reader) Any() any {
	switch c := r.begin(); c {
	case '{':
		return r.anyObject()
	case '[':
		a := r.Array()
		out := []any{}
		for r.Element(&a) {
			out = append(out, r.Any())
		}
		return out
	case '"':
		return r.String()
	case 't', 'f':
		return r.Bool()
	case 'n':
		r.literal("null")
		return nil
	default:
		if r.stopped {
			return nil
		}
		return r.anyNumber()
	}
}

func (r *Reader) anyObject() any {
	o := r.Object(nil)
	out := map[string]any{}
	for r.Next(&o) {
		if key := string(r.key); New(r, out, key) {
			out[key] = r.Any()
		}
	}
	return out
}

func (r *Reader) anyNumber() any {
	n, ok := r.scanNumber()
	if !ok {
		return nil
	}
	if !n.integral {
		r.pos = r.start
		return r.Float64()
	}
	if v, err := strconv.ParseInt(string(n.text), 10, 64); err == nil {
		return v
	}
	return json.Number(n.text)
}

// Text reads a string into a value that parses itself.
func (r *Reader) Text(v encoding.TextUnmarshaler) {
	b, ok := r.text("a string")
	if !ok {
		return
	}
	if err := v.UnmarshalText(slices.Clone(b)); err != nil {
		r.own(err)
	}
}

// JSON reads a value into a variable that parses itself.
func (r *Reader) JSON(v json.Unmarshaler) {
	raw := r.Raw()
	if raw == nil {
		return
	}
	if err := v.UnmarshalJSON(raw); err != nil {
		r.own(err)
	}
}

// own reports the error of a type's own parser.
func (r *Reader) own(err error) {
	r.problem(runtime.IssueConstraint, cut(strings.ToValidUTF8(err.Error(), "\uFFFD"), 200), "")
}

// Ptr returns a pointer to a value that was read.
func Ptr[T any](v T) *T { return &v } //nolint:modernize // new(expr) is newer than the modules that generated code lives in

type signed interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64
}

type unsigned interface {
	~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// IntString reads an integer that is sent as a string of digits, for
// `json:",string"`.
func IntString[T signed](r *Reader) T {
	const want = "a string of digits"
	b, ok := r.text(want)
	if !ok {
		return 0
	}
	v, ok := parseInt[T](b)
	if !ok {
		r.problem(runtime.IssueFormat, want, r.got())
	}
	return v
}

// UintString is IntString for unsigned integers.
func UintString[T unsigned](r *Reader) T {
	const want = "a string of digits"
	b, ok := r.text(want)
	if !ok {
		return 0
	}
	v, ok := parseUint[T](b)
	if !ok {
		r.problem(runtime.IssueFormat, want, r.got())
	}
	return v
}

// FloatString reads a number that is sent as a string.
func FloatString[T ~float32 | ~float64](r *Reader) T {
	const want = "a string that holds a number"
	b, ok := r.text(want)
	if !ok {
		return 0
	}
	probe := Reader{data: b}
	v, err := strconv.ParseFloat(string(b), int(unsafe.Sizeof(T(0)))*8)
	if _, number := probe.scanNumber(); err != nil || !number || probe.pos != len(b) {
		r.problem(runtime.IssueFormat, want, r.got())
		return 0
	}
	return T(v)
}

// BoolString reads "true" or "false".
func BoolString(r *Reader) bool { return r.Enum([]string{"true", "false"}) == "true" }

// IntKey reads the current key of a map with integer keys. One that isn't an
// integer in range is reported and skipped.
func IntKey[T signed](r *Reader) (T, bool) {
	v, ok := parseInt[T](r.key)
	if !ok {
		r.badKey()
	}
	return v, ok
}

// UintKey is IntKey for unsigned integers.
func UintKey[T unsigned](r *Reader) (T, bool) {
	v, ok := parseUint[T](r.key)
	if !ok {
		r.badKey()
	}
	return v, ok
}

func (r *Reader) badKey() {
	key := strconv.Quote(cut(string(r.key), maxEcho))
	r.skipValue()
	if !r.stopped {
		r.problem(runtime.IssueFormat, "an integer as the property's name", key)
	}
}

func parseInt[T signed](b []byte) (T, bool) {
	v, err := strconv.ParseInt(string(b), 10, int(unsafe.Sizeof(T(0)))*8)
	return T(v), err == nil && canonical(b)
}

// canonical refuses what JSON doesn't have: a plus and leading zeros.
func canonical(b []byte) bool {
	digits := bytes.TrimPrefix(b, []byte("-"))
	return b[0] != '+' && (len(digits) == 1 || digits[0] != '0')
}

func parseUint[T unsigned](b []byte) (T, bool) {
	v, err := strconv.ParseUint(string(b), 10, int(unsafe.Sizeof(T(0)))*8)
	return T(v), err == nil && canonical(b)
}
