package toolimpl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolgen/toolgen/runtime/internal/fixture"
	"github.com/toolgen/toolgen/runtime/internal/fixture/fixturetools"
)

const rulesArgs = `{"n":2,"mode":"fast","rules":{"code":"abc","state":"open","count":-5,"step":10,"ratio":0.5,"tags":["a","b"],"notes":{"x":true},` +
	`"limit":3,"shape":{"type":"Square","value":{"side":2}},"level":"high","ports":{"80":"http"},"secret":"hunter"}}`

func compiled(tb testing.TB, schema json.RawMessage) *jsonschema.Schema {
	tb.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		tb.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s.json", doc); err != nil {
		tb.Fatal(err)
	}
	s, err := c.Compile("s.json")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// agreement compares the generated decoder with the schema that a model is
// shown, and the written result with the output schema.
type agreement struct {
	testing.TB

	in, out *jsonschema.Schema
}

func newAgreement(tb testing.TB) agreement {
	tb.Helper()
	d := tool(tb, "fixture_checked").Definition()
	return agreement{tb, compiled(tb, d.Input), compiled(tb, d.Output)}
}

// check reports whether the decoder accepts args. What it accepts, the schema
// must accept, but for two liberties: null for what is optional, and JSON in a
// string. With both set, the reverse is checked too.
func (a agreement) check(args []byte, both bool) bool {
	a.Helper()
	result, err := tool(a, "fixture_checked").Call(context.Background(), args)
	doc, syntax := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if syntax == nil && takesLiberties(doc) {
		return err == nil
	}
	valid := syntax == nil && a.in.Validate(doc) == nil
	switch {
	case err == nil && !valid && len(bytes.TrimSpace(args)) > 0:
		a.Errorf("%s: the decoder accepts it, the schema doesn't", args)
	case err != nil && valid && both:
		a.Errorf("%s: the schema accepts it, the decoder doesn't: %v", args, err)
	}
	if err != nil {
		return false
	}
	written, err := jsonschema.UnmarshalJSON(bytes.NewReader(result.Structured))
	if err != nil {
		a.Fatalf("%s: the result is not JSON: %s", args, result.Structured)
	}
	if err := a.out.Validate(written); err != nil {
		a.Errorf("%s: the result is not what the output schema says: %v", args, err)
	}
	return true
}

func takesLiberties(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		text := strings.TrimLeft(v, " \t\r\n")
		return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
	case []any:
		return slices.ContainsFunc(v, takesLiberties)
	case map[string]any:
		for _, e := range v {
			if takesLiberties(e) {
				return true
			}
		}
	}
	return false
}

// FuzzRules looks for arguments that the decoder accepts against the schema.
func FuzzRules(f *testing.F) {
	f.Add([]byte(rulesArgs))
	f.Add([]byte(`{"n":1,"rules":{"code":"ab","state":"shut","count":0,"shape":{"value":{"radius":1},"type":"Circle"}}}`))
	a := newAgreement(f)
	f.Fuzz(func(t *testing.T, args []byte) { agreement{t, a.in, a.out}.check(args, false) })
}

// TestR14AgreesWithTheSchema compares decoder and schema on random arguments, most of them with
// something wrong in them.
func TestR14AgreesWithTheSchema(t *testing.T) {
	t.Parallel()
	a := newAgreement(t)
	if !a.check([]byte(rulesArgs), true) {
		t.Fatal("good arguments are refused")
	}
	random := rand.New(rand.NewPCG(5, 5))
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	accepted := 0
	for range 20_000 {
		var fields []string
		add := func(name string, values ...string) {
			if random.IntN(12) > 0 {
				fields = append(fields, fmt.Sprintf("%q:%s", name, pick(values...)))
			}
		}
		add("code", `"ab"`, `"abcd"`, `"abc"`, `"abc"`, `"a"`, `"abcde"`, `"AB"`, `1`)
		add("state", `"open"`, `"shut"`, `"open"`, `"ajar"`)
		add("count", `-5`, `5`, `0`, `3.0`, `-6`, `0.5`, `1e1`)
		if random.IntN(2) == 0 {
			add("step", `5`, `250`, `0`, `7`, `256`, `-5`)
			add("ratio", `0.5`, `1`, `0`, `1.5`, `1e-3`)
			add("tags", `["a"]`, `["a","b","c"]`, `[]`, `["a","a"]`, `["a","b","c","d"]`)
			add("notes", `{"a":true}`, `{}`, `{"a":true,"b":false,"c":true}`, `{"a":1}`)
			add("limit", `1`, `0`, `20`)
			add("shape", `{"type":"Circle","value":{"radius":1}}`, `{"type":"Circle","value":{"radius":0}}`, `{"type":"Square","value":{"side":9}}`,
				`{"type":"Square","value":{"side":10}}`, `{"type":"Blob","value":{}}`, `{"value":{"radius":1}}`, `{"type":"Circle","value":{"side":1}}`)
			add("level", `"low"`, `"high"`, `"LevelLow"`, `1`)
			add("ports", `{"80":"x"}`, `{"a":"x"}`, `{}`)
			add("secret", `"abc"`, `"ab"`)
		}
		args := fmt.Sprintf(`{"n":%s,"mode":%s,"rules":{%s}}`, pick("1", "3", "2", "0", "4", `"1"`), pick(`"fast"`, `"fast"`, `"slow"`), strings.Join(fields, ","))
		if a.check([]byte(args), true) {
			accepted++
		}
	}
	if accepted < 300 || accepted > 15_000 {
		t.Errorf("%d of 20000 are accepted: the test compares too little", accepted)
	}
}

// TestR15TypedArguments calls with arguments that Go code made: they are checked like
// those of a model, without their values being repeated where they are secret.
func TestR15TypedArguments(t *testing.T) {
	t.Parallel()
	toolset := fixturetools.NewService(new(fixture.Service))
	slow := "slow"
	_, err := toolset.Checked(t.Context(), fixturetools.CheckedArgs{N: 4, Mode: &slow})
	want := "fixture_checked: 2 problems in the arguments\n/n: want at most 3, got 4\n/mode: want one of \"fast\", got slow"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := toolset.Checked(t.Context(), fixturetools.CheckedArgs{N: 1}); err != nil {
		t.Error(err)
	}
}

// TestR15SecretsAreNotRepeated sends secrets that are wrong in every way.
func TestR15SecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{`"hu"`, `4815162342`, `{"hunter":1}`, `["hunter"]`, `true`} {
		args := strings.Replace(rulesArgs, `"hunter"`, secret, 1)
		err := validate(t, "fixture_checked", args)
		if err == nil || strings.Contains(err.Error(), "hu") || strings.Contains(err.Error(), "4815162342") {
			t.Errorf("%s: %v", secret, err)
		}
	}
}
