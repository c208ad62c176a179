package lock

import (
	"encoding/json"
	"math/big"
	"reflect"
)

// maxDigits is how long the text of a number may be to be worth computing with:
// a longer one is compared as it is written.
const maxDigits = 400

// number returns a number of JSON; nil for what is none.
func number(v any) *big.Float {
	n, ok := v.(json.Number)
	if !ok || len(n) > maxDigits {
		return nil
	}
	f, _, err := big.ParseFloat(string(n), 10, 1024, big.ToNearestEven)
	if err != nil {
		return nil
	}
	return f
}

func less(a, b any) bool {
	x, y := number(a), number(b)
	return x != nil && y != nil && x.Cmp(y) < 0
}

// equal compares values of JSON; 1 and 1.0 are one number.
func equal(a, b any) bool {
	if x, y := number(a), number(b); x != nil && y != nil {
		return x.Cmp(y) == 0
	}
	x, isList := a.([]any)
	y, both := b.([]any)
	if !isList || !both || len(x) != len(y) {
		return reflect.DeepEqual(a, b)
	}
	for i := range x {
		if !equal(x[i], y[i]) {
			return false
		}
	}
	return true
}

// divides reports whether a is a whole number of times in b.
func divides(a, b any) bool {
	x, y := number(a), number(b)
	if x == nil || y == nil || x.Sign() == 0 {
		return false
	}
	return new(big.Float).Quo(y, x).IsInt()
}

// A bound is the least or most that a number may be.
type bound struct {
	value     *big.Float // nil: there is none
	exclusive bool
	above     int // 1: it bounds from below, so more is tighter; -1: from above
}

func lowest(s map[string]any, whole bool) bound {
	return tightest(s, "minimum", "exclusiveMinimum", 1, whole)
}
func highest(s map[string]any, whole bool) bound {
	return tightest(s, "maximum", "exclusiveMaximum", -1, whole)
}

func tightest(s map[string]any, keyword, exclusive string, above int, whole bool) bound {
	b := bound{value: number(s[keyword]), above: above}
	if x := number(s[exclusive]); x != nil && (b.value == nil || x.Cmp(b.value)*above >= 0) {
		b.value, b.exclusive = x, true
		if whole && x.IsInt() {
			b.value, b.exclusive = new(big.Float).Add(x, big.NewFloat(float64(above))), false
		}
	}
	return b
}

// compare orders bounds on the line of numbers; none is the loosest.
func (b bound) compare(other bound) int {
	switch {
	case b.value == nil && other.value == nil:
		return 0
	case b.value == nil:
		return -b.above
	case other.value == nil:
		return b.above
	}
	if c := b.value.Cmp(other.value); c != 0 {
		return c
	}
	switch {
	case b.exclusive == other.exclusive:
		return 0
	case b.exclusive:
		return b.above
	default:
		return -b.above
	}
}

// shown is the bound as a value to print; nil for none.
func (b bound) shown() any {
	if b.value == nil {
		return nil
	}
	text := b.value.Text('g', -1)
	if b.exclusive {
		return map[int]string{1: "more than ", -1: "less than "}[b.above] + text
	}
	return json.Number(text)
}
