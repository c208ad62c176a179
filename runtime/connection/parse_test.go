package connection_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/secret"
)

// A case is what Airflow's Task SDK 1.3.2 (Airflow 3.3.2) makes of a text:
// Connection.from_uri, or from_json where it begins with a brace, called with the texts
// of testdata/airflow.json; what is empty or None is left out.
type airflowCase struct {
	In          string         `json:"in"`
	Error       bool           `json:"error"`
	Type        string         `json:"type"`
	Description string         `json:"description"`
	Host        string         `json:"host"`
	Login       string         `json:"login"`
	Password    string         `json:"password"`
	Schema      string         `json:"schema"`
	Port        int            `json:"port"`
	Extra       map[string]any `json:"extra"`
}

// differs says where this reads something else than Airflow, and why: Airflow reads
// nonsense, or loses something.
func differs(in string) string {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(in), "://")
	before, _, _ := strings.Cut(rest, "://")
	switch {
	case strings.HasPrefix(strings.TrimSpace(in), "{"):
		for part, why := range map[string]string{
			`"port": 1.`: "a port with a fraction", `"port": true`: "a port that is true", `"port": -1`: "a negative port", `"port": " 7 "`: "spaces around a port",
			`"login": 5`: "a login that is a number", `"conn_type":"y"`: "a name that is there twice", `"extra": [`: "an extra that is no object", `"extra": 5`: "an extra that is no object",
			`"extra": "[`: "an extra that is no object", `"uri":`: "a URI inside of JSON",
		} {
			if strings.Contains(in, part) {
				return why
			}
		}
		return ""
	case !ok || scheme == "":
		return "no type"
	case strings.Contains(scheme, "_"):
		return "Airflow takes no _ in a type: it reads a_b://h as the schema _b//h"
	case strings.Contains(in, "__extra__=%5B") || strings.HasSuffix(in, "__extra__=5"):
		return "an extra that is no object"
	case strings.Contains(rest, "://") && strings.ContainsAny(before, "/?#"):
		return "Airflow loses the host where there is :// in a path or a query"
	case strings.Contains(before, "_") && strings.Contains(rest, "://"), strings.HasPrefix(before, "1a"):
		return "Airflow takes no such scheme of a host"
	case strings.Contains(in, "a["), strings.Contains(in, "a%3A//b"):
		return "a host that isn't one"
	}
	return ""
}

// TestR38Airflow reads texts as Airflow does, the documented ones, hand-picked ones and
// random ones; where it doesn't, there is a reason, and no text is read as nonsense.
func TestR38Airflow(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/airflow.json")
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var raws []json.RawMessage
	if err := dec.Decode(&raws); err != nil {
		t.Fatal(err)
	}
	same, other := 0, 0
	for _, raw := range raws {
		var input struct {
			In string `json:"in"`
		}
		if err := json.Unmarshal(raw, &input); err != nil {
			t.Fatal(err)
		}
		if differs(input.In) != "" {
			other++
			continue
		}
		same++
		var c airflowCase
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&c); err != nil {
			t.Fatal(err)
		}
		got, err := connection.Parse("x", c.In)
		if (err != nil) != c.Error {
			t.Errorf("%q: error %v, Airflow has one: %v", c.In, err, c.Error)
		}
		if err != nil || c.Error {
			continue
		}
		if len(got.Extra) == 0 {
			got.Extra = nil
		}
		if len(c.Extra) == 0 {
			c.Extra = nil
		}
		read := airflowCase{c.In, false, got.Type, got.Description, got.Host, got.Login, got.Password.Reveal(), got.Schema, got.Port, got.Extra}
		if diff := cmp.Diff(c, read); diff != "" {
			t.Errorf("%q (-Airflow +ours):\n%s", c.In, diff)
		}
	}
	t.Logf("%d texts as Airflow, %d otherwise", same, other)
}

// TestR38Otherwise pins what is read where Airflow reads something else.
func TestR38Otherwise(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"my_conn://h/s":                      "my_conn://h/s",
		"X-Y_Z://h":                          "x_y_z://h",
		"x://h?u=https://a":                  "x://h",
		"x://h/s?u=a://b":                    "x://h/s",
		"x://h/a://b":                        "x://h/a://b",
		"x://u:p@h/s?u=://":                  "x://u:[redacted]@h/s",
		"x://a_b://c":                        "x://a_b://c",
		"http://https://u@h/s":               "http://u@https://h/s",
		"mongo://h1%3A27017%2CH2%3A27018/db": "mongo://h1:27017,H2:27018/db", // this as Airflow
		"mysql://My%2DHost.Example":          "mysql://my-Host.Example",
		"x://[FE80::1%25ETH0]":               "x://fe80::1%ETH0",
		"x://h?__extra__=null":               "x://h",
	} {
		c, err := connection.Parse("x", in)
		if err != nil || c.String() != want {
			t.Errorf("%s: %v, %v; want %s", in, c, err, want)
		}
	}
}

// TestR38Refuses has texts that can't be read: the error says what is wrong, and nothing
// of what was given.
func TestR38Refuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                        "begins with its type",
		"hunter2":                                 "begins with its type",
		"hunter2:x":                               "begins with its type",
		"://hunter2":                              "begins with its type",
		"x://u:hunter2@h:99999":                   "port: want a number from 0 to 65535",
		"x://u:hunter2/q@h":                       "port: want a number",
		"x://u:hunter2@[::1":                      "brackets",
		"x://a://b://hunter2":                     "more than twice",
		"x://u:hunter2@https://h":                 "login before the scheme",
		"x://h?__extra__=hunter2":                 "__extra__: want a JSON object",
		"x://h?__extra__=%7Bhunter2":              "__extra__: what begins with a brace is not JSON",
		`{"password":"hunter2"`:                   "not JSON from byte",
		`{"password":"hunter2"}x`:                 "nothing behind the object",
		`{"password":"hunter2","password":""}`:    "password is there twice",
		`{"passwort":"hunter2"}`:                  "passwort: no such field; there are conn_type",
		`{"password":["hunter2"]}`:                "password: want a string",
		`{"port":"hunter2"}`:                      "port: want a number from 0 to 65535",
		`{"port":{}}`:                             "port: want a number, or digits",
		`{"extra":"hunter2"}`:                     "extra: want a JSON object",
		`{"extra":["hunter2"]}`:                   "extra: want a JSON object, or one in a string",
		`{"extra":"{\"a\":\"hunter2\",\"a\":1}"}`: "extra: JSON: a is there twice",
	} {
		_, err := connection.Parse("orders", in)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "connection orders: ") {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error repeats it: %v", in, err)
		}
	}
}

// FuzzParse looks for a text that panics, or whose error repeats a password.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"postgresql://u:p%40ss%2F@H:5432/db?sslmode=require", "http://https://u:p@[::1]:8080/p?a=b&c", `{"conn_type":"x","extra":"{\"a\":[1,{}]}","port":"1"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := connection.Parse("x", text)
		if (c == nil) == (err == nil) {
			t.Fatalf("%v, %v", c, err)
		}
		if err != nil {
			return
		}
		if c.Port < 0 || c.Port > 65535 || c.ID != "x" {
			t.Errorf("%+v", c)
		}
		if p := c.Password.Reveal(); len(p) > 12 && !strings.Contains(c.Host+c.Schema+c.Login+c.Type, p) && strings.Contains(c.String(), p) {
			t.Errorf("%q prints its password", text)
		}
		var m secret.Masker
		m.Add(c.Secrets()...)
	})
}
