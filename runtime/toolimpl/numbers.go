package toolimpl

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/toolgen/toolgen/runtime"
)

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
	if c == '"' {
		if n, ok := r.coercedNumber(); ok {
			return n, true
		}
	}
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
