package toolimpl

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"github.com/toolgen/toolgen/runtime"
)

type signed interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64
}

// IntString reads an integer that is sent as a string of digits, for
// `json:",string"`.
func IntString[T signed](r *Reader) T {
	b, ok := r.text("a string of digits")
	if !ok {
		return 0
	}
	v, ok := parseInt[T](b)
	if !ok {
		bits := unsafe.Sizeof(T(0)) * 8
		least := int64(math.MinInt64) >> (64 - bits)
		r.problem(runtime.IssueFormat, fmt.Sprintf("a string of digits, from %d to %d", least, -(least+1)), r.got())
	}
	return v
}

// UintString is IntString for unsigned integers.
func UintString[T unsigned](r *Reader) T {
	b, ok := r.text("a string of digits")
	if !ok {
		return 0
	}
	v, ok := parseUint[T](b)
	if !ok {
		most := uint64(math.MaxUint64) >> (64 - unsafe.Sizeof(T(0))*8)
		r.problem(runtime.IssueFormat, fmt.Sprintf("a string of digits, from 0 to %d", most), r.got())
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

type unsigned interface {
	~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}
