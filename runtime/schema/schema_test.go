package schema_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgen/toolgen/runtime/schema"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		` { "b" : 1 , "a" : [ 1.0 , -0, 1E+2, 9007199254740993 ] } `:                  `{"a":[1.0,-0,1E+2,9007199254740993],"b":1}`,
		`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`: "{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}",
		`"\u003c\/\u0041\u000f"`:  `"</A\u000f"`,
		`[true,false,null,{},[]]`: `[true,false,null,{},[]]`,
	} {
		got, err := schema.Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s is %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"", "{", `{"a":1}x`, `{"a":1} 2`, `{"a":1,"a":2}`, `{"a":{"b":1,"\u0062":2}}`, "nul"} {
		if got, err := schema.Canonical([]byte(in)); err == nil {
			t.Errorf("%s is %s; want an error", in, got)
		}
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	one, err := schema.Hash([]byte(`{"type":"object"}`), nil)
	if err != nil || len(one) != 64 {
		t.Fatal(one, err)
	}
	spaced, _ := schema.Hash([]byte("{\n  \"type\": \"object\"\n}"), nil)
	other, _ := schema.Hash([]byte(`{"type":"object"}`), []byte(`{}`))
	if one != spaced || one == other {
		t.Errorf("%s, with white space %s, with an output %s", one, spaced, other)
	}
	for _, in := range []string{"", "[]", "true", "{"} {
		if _, err := schema.Hash([]byte(in), nil); err == nil {
			t.Errorf("%q has a hash", in)
		}
	}
	if _, err := schema.Hash([]byte("{}"), []byte("{")); err == nil {
		t.Error("an output that isn't JSON has a hash")
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"order_id", "order", "orders", "amount", "id"}
	for name, want := range map[string][]string{
		"orderId":  {"order_id"},
		"ORDER-ID": {"order_id"},
		"ordr_id":  {"order_id"},
		"oredr":    {"order"},
		"ordr":     {"order"},
		"amuont":   {"amount"},
		"xd":       nil,
		"di":       nil,
		"":         nil,
		"quantity": nil,
	} {
		if diff := cmp.Diff(want, schema.Nearest(name, names, 1)); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
	if got := schema.DidYouMean("amoun", names); got != `; did you mean "amount"?` {
		t.Errorf("got %s", got)
	}
}

func TestValidName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "_": true, "A-b_9": true, strings.Repeat("a", 64): true,
		"": false, "9a": false, "-a": false, "a.b": false, "é": false, "a b": false, strings.Repeat("a", 65): false,
	} {
		if schema.ValidName(name) != want {
			t.Errorf("%q is valid: want %t", name, want)
		}
	}
}

// FuzzAppendString writes any bytes as a string that encoding/json reads back.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a\"\\/", "\x00\x1f\x7f", "é😀\u2028", "\xff\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal(schema.AppendString(nil, s), &back); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); utf8.ValidString(s) && back != want {
			t.Errorf("%q is read as %q", s, back)
		}
	})
}
