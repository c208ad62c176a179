package toolimpl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/internal/fixture"
	"github.com/toolgen/toolgen/runtime/toolimpl"
)

// echo sends an order through the generated decoder and writer.
func echo(tb testing.TB, args []byte) (fixture.Order, error) {
	tb.Helper()
	result, err := tool(tb, "fixture_echo").Call(context.Background(), args)
	if err != nil {
		return fixture.Order{}, err
	}
	var order fixture.Order
	if err := json.Unmarshal(result.Structured, &order); err != nil {
		tb.Fatalf("the result is not what encoding/json reads: %v: %s", err, result.Structured)
	}
	return order, nil
}

// validate returns the problems of arguments, nil if there are none.
func validate(tb testing.TB, name, args string) *runtime.RetryError {
	tb.Helper()
	v, ok := tool(tb, name).(runtime.Validator)
	if !ok {
		tb.Fatalf("%s is no Validator", name)
	}
	err := v.Validate(context.Background(), json.RawMessage(args))
	if err == nil {
		return nil
	}
	var retry *runtime.RetryError
	if !errors.As(err, &retry) {
		tb.Fatalf("%s: error is %T: %v", name, err, err)
	}
	return retry
}

func TestR15Messages(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"city":"a","days":1,"unit":"c"}`:                                 "",
		`  {  "city" : "a" , "days" : 1 , "unit" : "c"  }  `:               "",
		`{"city":"\u0041\ud83d\ude00\n","days":3e0,"unit":""}`:             "",
		`"{\"city\":\"a\",\"days\":1,\"unit\":\"c\"}"`:                     "",
		`{"city":"a","days":1,"unit":"c","city":"b"}`:                      "/city: property is there twice",
		`{"city":"a","days":1,"unit":"c","c\u0069ty":"b"}`:                 "/city: property is there twice",
		`{"city":"a","days":1,"unit":"c","x\ny":1}`:                        `/x\u000ay: unknown property`,
		`{"city":"a","days":1,"unit":"c","a/b~c":1}`:                       "/a~1b~0c: unknown property",
		`{"city":"a","days":1,"unit":"c","units":1}`:                       `/units: unknown property; did you mean "unit"?`,
		`{"city":"a","days":99999999999999999999,"unit":"c"}`:              "/days: want an integer from -9223372036854775808 to 9223372036854775807, got the number 99999999999999999999",
		`{"city":"a","days":1e99999999999,"unit":"c"}`:                     "/days: want an integer from -9223372036854775808 to 9223372036854775807, got the number 1e99999999999",
		`{"city":"a","days":1e-1,"unit":"c"}`:                              "/days: want an integer, got the number 1e-1",
		`{"city":"a","days":"` + strings.Repeat("x", 50) + `","unit":"c"}`: `/days: want an integer, got the string "` + strings.Repeat("x", 39) + "…",
		`{"city":"a","days":01,"unit":"c"}`:                                "at byte 20: want no digit after a leading zero, got '1'",
		`{"city":"a","days":1.,"unit":"c"}`:                                "at byte 21: want a digit, got ','",
		`{"city":"a","days":+1,"unit":"c"}`:                                "at byte 19: want a value, got '+'",
		`{"city":'a'}`:                                                     "at byte 8: want a value, got '\\''",
		`{"city":"\q"}`:                                                    "at byte 10: want an escape of JSON, got 'q'",
		`{"city":"a` + "\x01" + `"}`:                                       `at byte 10: want no control character in a string, got '\x01'`,
		`{"city":"` + "\xff" + `"}`:                                        "at byte 8: a string that isn't valid UTF-8",
		`{"city":"\ud800"}`:                                                "/city: a string with an unpaired surrogate",
		`{"city":"\udc00\ud800"}`:                                          "/city: a string with an unpaired surrogate",
		`{"\ud800":1}`:                                                     "at byte 1: a property name with an unpaired surrogate",
		`{"x":{"\ud800":1}}`:                                               "at byte 6: a property name with an unpaired surrogate",
		`{"days":` + strings.Repeat("1", 401) + `}`:                        "at byte 8: a number of more than 400 bytes",
		"\ufeff{}": "at byte 0: want an object, got a byte order mark",
		`{} x`:     "at byte 3: want nothing after the arguments, got 'x'",
		"{}\x00":   `at byte 2: want nothing after the arguments, got '\x00'`,
		`nul`:      "at byte 3: want null, got the end",
		`"x"`:      "want an object, got a string",
		`"{}x"`:    "want an object, got a string",
		`"\"{}\""`: "want an object, got a string",
	} {
		got := ""
		if err := validate(t, "fixture_small", args); err != nil {
			got, _, _ = strings.Cut(err.Message, "\n/city: required")
			_, got, _ = strings.Cut(got, "\n")
			got, _, _ = strings.Cut(got, "\n")
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", args, got, want)
		}
	}
}

func TestR14NothingIsAnEmptyObject(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"", " \n", "null", " null ", "{}"} {
		if err := validate(t, "fixture_small", args); err == nil || len(err.Issues) != 3 || err.Issues[0].Code != runtime.IssueMissing {
			t.Errorf("%q: %v; want three missing properties", args, err)
		}
	}
}

func TestR15Order(t *testing.T) {
	t.Parallel()
	args := `{"order":{"lines":[{"sku":1},{"sku":"a","quantity":3000000000,"price":"x","tags":[1]}],"priority":"urgent","nope":{"x":[1,2]}}}`
	err := validate(t, "fixture_medium", args)
	if err == nil {
		t.Fatal("no error")
	}
	want := `fixture_medium: 12 problems in the arguments
/order/lines/0/sku: want a string, got the number 1
/order/lines/1/quantity: want an integer from -2147483648 to 2147483647, got the number 3000000000
/order/lines/1/price: want a number, got the string "x"
/order/lines/1/tags/0: want a string, got the number 1
/order/priority: want one of "low", "normal", "high", got the string "urgent"
/order/nope: unknown property; did you mean "note"?
/order/lines/0/quantity: required property is missing
/order/lines/0/price: required property is missing
/order/id: required property is missing
/order/customer: required property is missing
/order/placed: required property is missing
/order/ship: required property is missing`
	if diff := cmp.Diff(want, err.Message); diff != "" {
		t.Error(diff)
	}
}

func TestR14TwentyProblems(t *testing.T) {
	t.Parallel()
	args := `{"points":[` + strings.Repeat(`{},`, 40) + `{"x":"a"}]}`
	err := validate(t, "fixture_large", args)
	if err == nil || len(err.Issues) != 20 || !strings.HasSuffix(err.Message, "\nand 103 more") {
		t.Fatalf("got %v", err)
	}
	if err.Issues[0].Code != runtime.IssueType {
		t.Errorf("the first is %v; want the wrong type, before what is missing", err.Issues[0])
	}
}

func TestR14Repair(t *testing.T) {
	t.Parallel()
	good := mediumArgs
	var v struct {
		Order map[string]json.RawMessage `json:"order"`
	}
	if err := json.Unmarshal([]byte(good), &v); err != nil {
		t.Fatal(err)
	}
	for name, value := range v.Order {
		if value[0] != '{' && value[0] != '[' {
			continue
		}
		quoted, err := json.Marshal(string(value))
		if err != nil {
			t.Fatal(err)
		}
		args := strings.Replace(good, string(value), string(quoted), 1)
		if args == good {
			t.Fatalf("%s was not replaced", name)
		}
		if err := validate(t, "fixture_medium", args); err != nil {
			t.Errorf("%s as a string: %v", name, err)
		}
	}
	bad := `{"order":{"ship":"{\"street\":\"s\",\"city\":7,\"zap\":\"\"}"}}`
	err := validate(t, "fixture_medium", bad)
	if err == nil || err.Issues[0].Pointer != "/order/ship/city" || err.Issues[1].Pointer != "/order/ship/zap" {
		t.Errorf("problems inside of a string: %v", err)
	}
	twice := `{"order":{"ship":"{\"street\":\"s\",\"city\":\"c\",\"zip\":\"[]\",\"zip\":\"\"}"}}`
	if err := validate(t, "fixture_medium", twice); err == nil || err.Issues[0].Code != runtime.IssueDuplicate {
		t.Errorf("a duplicate inside of a string: %v", err)
	}
}

func TestR14Limits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args, want string
	}{
		"size":     {`{"city":"` + strings.Repeat("x", 1<<20) + `"}`, "the arguments have 1048587 bytes, the limit is 1048576"},
		"depth":    {strings.Repeat(`{"order":`, 101), "nested deeper than 100 levels"},
		"brackets": {strings.Repeat("[", 1_000_000), "want an object, got an array"},
		"nested":   {`{"x":` + strings.Repeat("[", 1_000_000), "nested deeper than 100 levels"},
		"elements": {`{"x":[` + strings.Repeat("1,", 100_000) + `1]}`, "more than 100000 elements"},
		"keys":     {`{"x":{` + manyKeys(10_001) + `}}`, "more than 10000 properties"},
	} {
		err := validate(t, "fixture_medium", c.args)
		if err == nil || !strings.Contains(err.Message, c.want) && name != "brackets" {
			t.Errorf("%s: %.300v; want %s", name, err, c.want)
		}
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// TestR14HostileWork counts allocations of arguments that are made to cost much:
// problems beyond the twentieth must be counted only.
func TestR14HostileWork(t *testing.T) {
	for name, args := range map[string]string{
		"long key":     `{"` + strings.Repeat("k", 500_000) + `":[{` + strings.TrimSuffix(strings.Repeat(`"":1,`, 9_000), ",") + `}]}`,
		"unknown keys": `{` + manyKeys(10_000) + `}`,
		"strings":      `{"order":{"lines":[` + strings.TrimSuffix(strings.Repeat(`"{",`, 90_000), ",") + `]}}`,
	} {
		v, _ := tool(t, "fixture_medium").(runtime.Validator)
		n := testing.AllocsPerRun(1, func() {
			if err := v.Validate(context.Background(), []byte(args)); err == nil {
				t.Fatalf("%s: no error", name)
			}
		})
		if n > 60_000 {
			t.Errorf("%s: %.0f allocations", name, n)
		}
	}
}

// TestR14Truncated cuts good arguments at each byte: never a panic, always a
// problem.
func TestR14Truncated(t *testing.T) {
	t.Parallel()
	for i := 1; i < len(mediumArgs); i++ {
		if err := validate(t, "fixture_medium", mediumArgs[:i]); err == nil {
			t.Errorf("%s is accepted", mediumArgs[:i])
		}
	}
}

// TestR14InputIsCopied overwrites the arguments after the call: what the hook got
// must be its own.
func TestR14InputIsCopied(t *testing.T) {
	t.Parallel()
	args := []byte(`{"city":"Lisbon","days":3,"unit":"x"}`)
	r := toolimpl.Read("x", args, 0)
	raw := r.Raw()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	before := string(raw)
	for i := range args {
		args[i] = '!'
	}
	if string(raw) != before {
		t.Error("a raw message changed with the arguments")
	}
}

// FuzzMedium compares generated decoding with encoding/json: what the former
// accepts, the latter accepts with the same value; nothing panics.
func FuzzMedium(f *testing.F) {
	f.Add([]byte(mediumArgs))
	f.Add([]byte(`{"order":"{}"}`))
	f.Add([]byte(`{"order":{"id":"\ud83d\ude00","customer":1e3,"priority":"low","placed":"2026-03-01T10:00:00Z","ship":{"street":"","city":"","zip":""},"lines":null}}`))
	f.Fuzz(func(t *testing.T, args []byte) { sameAsStandard(t, args) })
}

// bytesOfJSON are those that matter to a parser, and some that never may.
const bytesOfJSON = "{}[]\",:0123456789.-+eEtrufalsn \\\x00\xff"

// TestR14AgainstStandard is FuzzMedium on good arguments with random bytes changed,
// dropped, doubled and moved.
func TestR14AgainstStandard(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 11))
	accepted := 0
	for range 20_000 {
		args := []byte(mediumArgs)
		for range 1 + random.IntN(3) {
			i := random.IntN(len(args))
			j := min(len(args), i+1+random.IntN(6))
			switch random.IntN(4) {
			case 0:
				args[i] = bytesOfJSON[random.IntN(len(bytesOfJSON))]
			case 1:
				args = slices.Delete(args, i, j)
			case 2:
				args = slices.Insert(args, i, slices.Clone(args[i:j])...)
			default:
				k := random.IntN(len(args))
				args[i], args[k] = args[k], args[i]
			}
		}
		if sameAsStandard(t, args) {
			accepted++
		}
	}
	if accepted < 200 || accepted > 15_000 {
		t.Errorf("%d of 20000 are accepted: the test compares too little", accepted)
	}
}

// sameAsStandard decodes and encodes arguments by generated code and compares
// with encoding/json. It reports whether they were accepted.
func sameAsStandard(t *testing.T, args []byte) bool {
	t.Helper()
	order, err := echo(t, args)
	if err != nil {
		return false
	}
	var want struct{ Order fixture.Order }
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	err = dec.Decode(&want)
	switch {
	case repairable(args):
	case err != nil:
		t.Fatalf("accepted %q, which encoding/json refuses: %v", args, err)
	default:
		if diff := cmp.Diff(want.Order, order, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q: %s", args, diff)
		}
	}
	return true
}

// repairable reports whether arguments have what encoding/json takes for a
// mistake: objects and arrays as strings, and 3.0 or 3e2 for an integer.
func repairable(args []byte) bool {
	return bytes.Contains(args, []byte(`"[`)) || bytes.Contains(args, []byte(`"{`)) || integral.Match(args)
}

var integral = regexp.MustCompile(`"(customer|quantity)":\s*-?[0-9]+[.eE]`)

// FuzzAny compares values of type any with encoding/json's.
func FuzzAny(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,"x",null,true,{"b":-0}]}`, `"\u00e9\/"`, `1e400`, `[[[]]]`, `123456789012345678901234567890`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := toolimpl.Read("x", raw, 0)
		got := r.Any()
		if err := r.Close(); err != nil {
			return
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("accepted %q, which encoding/json refuses: %v", raw, err)
		}
		if diff := cmp.Diff(withFloats(want), asNumbers(got)); diff != "" {
			t.Errorf("%q: %s", raw, diff)
		}
	})
}

// withFloats turns numbers with a fraction or exponent into floats.
func withFloats(v any) any {
	switch v := v.(type) {
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			f, _ := v.Float64()
			return f
		}
		if v == "-0" {
			return json.Number("0")
		}
	case []any:
		for i := range v {
			v[i] = withFloats(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = withFloats(v[k])
		}
	}
	return v
}

// asNumbers turns integers into what encoding/json's decoder makes of them.
func asNumbers(v any) any {
	switch v := v.(type) {
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case []any:
		for i := range v {
			v[i] = asNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = asNumbers(v[k])
		}
	}
	return v
}
