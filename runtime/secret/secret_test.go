package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/secret"
)

// TestR35Value prints a secret in every way that package fmt, JSON and logs have, alone
// and inside of other values.
func TestR35Value(t *testing.T) {
	t.Parallel()
	v := secret.New("hunter2")
	type outer struct {
		Exported secret.Value
		hidden   secret.Value
	}
	values := []any{v, &v, []secret.Value{v}, map[string]secret.Value{"k": v}, outer{v, v}, &outer{v, v}, []any{v}, [1]outer{{v, v}}}
	var all strings.Builder
	for _, value := range values {
		for _, verb := range "vTtbcdoOxXUeEfFgGsqp" {
			for _, flags := range []string{"", "+", "#", "10.3", "-", " ", "0"} {
				fmt.Fprintf(&all, "%"+flags+string(verb)+"\n", value)
			}
		}
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(raw)
		var text, structured bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("x", "v", value)
		slog.New(slog.NewJSONHandler(&structured, nil)).Info("x", "v", value)
		all.WriteString(text.String() + structured.String())
	}
	for _, form := range []string{"hunter2", hex.EncodeToString([]byte("hunter2")), strings.ToUpper(hex.EncodeToString([]byte("hunter2"))), "104 117 110"} {
		if strings.Contains(all.String(), form) {
			t.Errorf("printed as %s", form)
		}
	}
	if got := fmt.Sprintf("%v %s %d %#v", v, v, v, v); got != "[redacted] [redacted] [redacted] [redacted]" {
		t.Errorf("%s", got)
	}
	if v.Reveal() != "hunter2" || v.IsZero() || !v.Equal(secret.New("hunter2")) || v.Equal(secret.New("hunter3")) {
		t.Error("the secret is another one")
	}
	var none secret.Value
	if none.Reveal() != "" || !none.IsZero() || !secret.New("").IsZero() || none.String() != "" {
		t.Error("no secret is one")
	}
	var read struct{ Password secret.Value }
	if err := json.Unmarshal([]byte(`{"Password":"hunter2"}`), &read); err != nil || read.Password.Reveal() != "hunter2" {
		t.Errorf("%q, %v", read.Password.Reveal(), err)
	}
}

const odd = "p@ss/\"w\\örd é+&<b> %41"

// forms are the ways in which a secret is written in what programs print.
func forms(s string) map[string]string {
	quoted, _ := json.Marshal(s)
	twice, _ := json.Marshal(string(quoted))
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	var units strings.Builder
	for _, r := range s {
		fmt.Fprintf(&units, `\u%04x`, r)
	}
	basic := base64.StdEncoding.EncodeToString([]byte("user:" + s))
	return map[string]string{
		"itself":            s,
		"JSON":              string(quoted),
		"JSON, plain":       plain.String(),
		"JSON in JSON":      string(twice),
		"JSON units":        units.String(),
		"Go":                strconv.Quote(s),
		"Go, ASCII":         strconv.QuoteToASCII(s),
		"query":             url.QueryEscape(s),
		"path":              url.PathEscape(s),
		"lower-case hex":    strings.ToLower(url.PathEscape(s)),
		"every byte":        percentAll(s),
		"twice in a URL":    url.QueryEscape(url.PathEscape(s)),
		"user info":         url.UserPassword("u", s).String(),
		"HTML":              html.EscapeString(s),
		"HTML, templates":   strings.NewReplacer("+", "&#43;", `"`, "&quot;", "'", "&#x27;", "<", "&lt;", ">", "&gt;", "&", "&amp;").Replace(s),
		"form, lower case":  lowerHex(url.QueryEscape(s)),
		"form, as Java has": strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(s), "%2A", "*"), "~", "%7E"),
		"JSON in a query":   url.QueryEscape(string(quoted)),
		"JSON in HTML":      html.EscapeString(string(quoted)),
		"base64, broken":    broken(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 50)+s+strings.Repeat("y", 50))), "\r\n"),
		"the same in JSON":  broken(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 50)+s+strings.Repeat("y", 50))), `\n`),
		"hex, spaced":       fmt.Sprintf("% x", s),
		"bytes":             fmt.Sprintf("%d", []byte(s)),
		"base64":            base64.StdEncoding.EncodeToString([]byte(s)),
		"base64, URL":       base64.RawURLEncoding.EncodeToString([]byte(s)),
		"basic":             basic,
		"basic, in JSON":    strings.ReplaceAll(basic, "/", `\/`),
		"hex":               hex.EncodeToString([]byte(s)),
		"inside":            "https://u:" + url.PathEscape(s) + "@h/",
		"JSON in a text":    `{"error":` + string(quoted) + `}`,
		"a dump of a value": fmt.Sprintf("%+v %#v", struct{ P string }{s}, []string{s}),
	}
}

// lowerHex writes percent signs' digits in lower case.
func lowerHex(s string) string {
	return regexp.MustCompile("%[0-9A-F]{2}").ReplaceAllStringFunc(s, strings.ToLower)
}

// broken ends a line after each 76 characters.
func broken(s, end string) string {
	var b strings.Builder
	for len(s) > 76 {
		b.WriteString(s[:76] + end)
		s = s[76:]
	}
	return b.String() + s
}

func percentAll(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

// TestR35Encodings finds a secret in all the ways in which it is written, with other text
// before and behind it, and nothing but it.
func TestR35Encodings(t *testing.T) {
	t.Parallel()
	for _, s := range []string{odd, "hunter2", "12345678", "日本語パスワード", "a b+c"} {
		var m secret.Masker
		m.Add(secret.New(s))
		for name, form := range forms(s) {
			for _, around := range []string{"%s", "before %s after", strings.Repeat("x", 100_000) + "%s" + strings.Repeat("y", 100_000)} {
				before, after, _ := strings.Cut(around, "%s")
				got := m.Mask(before + form + after)
				if !strings.Contains(got, runtime.Redacted) {
					t.Errorf("%s of %q is shown: %.200s", name, s, form)
				}
				if !strings.HasPrefix(name, "base64, br") && !strings.HasPrefix(name, "the same") && (!strings.HasPrefix(got, before) || !strings.HasSuffix(got, after)) {
					t.Errorf("%s of %q: more is taken out: %.200s", name, s, got)
				}
				if strings.Contains(got, s) {
					t.Errorf("%s of %q: %.200s", name, s, got)
				}
			}
		}
	}
}

// TestR35Text has secrets that overlap, hold one another, are short, or of several lines.
func TestR35Text(t *testing.T) {
	t.Parallel()
	key := "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\nshort\n-----END KEY-----\n"
	var m secret.Masker
	if got := m.Mask("abc"); got != "abc" {
		t.Errorf("no secrets: %q", got)
	}
	m.Add(secret.New("secret"), secret.New("secrets"), secret.New("cretsauce"), secret.New("abc"), secret.New(""), secret.New(key))
	for text, want := range map[string]string{
		"a secret":                              "a [redacted]",
		"two secrets":                           "two [redacted]",
		"secretsauce!":                          "[redacted]!",
		"secretsecret":                          "[redacted]",
		"abc":                                   "[redacted]",
		" abc\n":                                "[redacted]",
		"abcd":                                  "abcd",
		"Secret":                                "Secret",
		"":                                      "",
		"the line MIIEvQIBADANBgkqhkiG9w0B.":    "the line [redacted].",
		"a short line":                          "a short line",
		`key: "` + strconv.Quote(key)[1:] + `.`: `key: "[redacted]".`,
	} {
		if got := m.Mask(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestR35JSON masks decoded strings, keys and numbers, and leaves all else as it is.
func TestR35JSON(t *testing.T) {
	t.Parallel()
	var m secret.Masker
	m.Add(secret.New(`a"b\é`), secret.New("hunter2"), secret.New("4711"), secret.New("no"), secret.New("1e999"))
	mask := runtime.NewMasker(&m)
	for raw, want := range map[string]string{
		`"a\"b\\\u00e9"`: `"[redacted]"`,
		` { "a" : [ "hunter2" , 4711 , 47110, -4711 ] } `:   ` { "a" : [ "[redacted]" , "[redacted]" , 47110, "[redacted]" ] } `,
		`{"a":4711.00,"b":47.11}`:                           `{"a":"[redacted]","b":47.11}`,
		`"471147114711"`:                                    `"[redacted]"`,
		`{"hunter2":1,"x":"a","my hunter2":2}`:              `{"[redacted]":1,"x":"a","my [redacted]":2}`,
		`{"hunter2":1,"hunter\u0032":2,"[redacted]":3}`:     `{"[redacted]":1,"[redacted]#2":2,"[redacted]#3":3}`,
		`{"a":{"hunter2":1},"b":{"hunter2":2}}`:             `{"a":{"[redacted]":1},"b":{"[redacted]":2}}`,
		`{"a":"no","b":"nothing","no":null}`:                `{"a":"[redacted]","b":"nothing","[redacted]":null}`,
		`[9007199254740993,1.50,1e999,true,"\u003c","\/é"]`: `[9007199254740993,1.50,"[redacted]",true,"\u003c","\/é"]`,
		`{"hunter2"` + " \n\t" + `:"{\"p\":\"hunter2\"}"}`:  `{"[redacted]"` + " \n\t" + `:"{\"p\":\"[redacted]\"}"}`,
		`4711`: `"[redacted]"`,
		`""`:   `""`,
	} {
		got, err := mask.MaskJSON(json.RawMessage(raw))
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s, %v\nwant %s", raw, got, err, want)
		}
		if !json.Valid(got) {
			t.Errorf("%s: not JSON: %s", raw, got)
		}
	}
	for _, raw := range []string{`{`, `"hunter2`, ``, `{"a":1}x`} {
		if got, err := mask.MaskJSON(json.RawMessage(raw)); err == nil {
			t.Errorf("%q is shown as %s", raw, got)
		}
	}
	if got, err := mask.MaskJSON(nil); got != nil || err != nil {
		t.Errorf("nothing is %s, %v", got, err)
	}
}

// TestR35Error masks what an error prints, however it is printed, and leaves what it is.
func TestR35Error(t *testing.T) {
	t.Parallel()
	var m secret.Masker
	m.Add(secret.New("hunter2"))
	cause := &runtime.FailedError{Message: "login as u:hunter2 failed"}
	err := m.Error(fmt.Errorf("open: %w", cause))
	for _, format := range []string{"%v", "%s", "%q", "%+v", "%#v", "%x"} {
		got := fmt.Sprintf(format, err)
		if strings.Contains(got, "hunter2") || strings.Contains(got, hex.EncodeToString([]byte("hunter2"))) {
			t.Errorf("%s: %s", format, got)
		}
	}
	if found, ok := errors.AsType[*runtime.FailedError](err); !ok || found != cause || !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if plain := errors.New("plain"); !errors.Is(m.Error(plain), plain) || m.Error(plain).Error() != "plain" || m.Error(nil) != nil {
		t.Error("an error without a secret is another one")
	}
}

// TestR35Hostile has documents that are made to cost much, or to hide a secret at the
// border of a piece.
func TestR35Hostile(t *testing.T) {
	t.Parallel()
	var m secret.Masker
	m.Add(secret.New("hunter2"), secret.New(`\ab"cd-secret`))
	keys := "{" + strings.TrimSuffix(strings.Repeat(`"[redacted]":1,`, 20_000), ",") + "}"
	got, err := runtime.NewMasker(&m).MaskJSON(json.RawMessage(keys))
	if err != nil || !strings.Contains(string(got), `"[redacted]#20000":1`) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	quoted, _ := json.Marshal(`\ab"cd-secret`)
	for pad := 65_000; pad < 65_040; pad++ {
		text := strings.Repeat("x", pad) + strings.Repeat(`\\`, 300) + strings.Trim(string(quoted), `"`)
		if masked := m.Mask(text); !strings.HasSuffix(masked, runtime.Redacted) {
			t.Errorf("behind %d bytes and escapes it is shown: %s", pad, masked[len(masked)-40:])
		}
	}
	for _, text := range []string{strings.Repeat(`\`, 1<<20), strings.Repeat("%25", 300_000), strings.Repeat("&amp;", 200_000), strings.Repeat("+\n", 300_000)} {
		if masked := m.Mask(text); masked != text {
			t.Errorf("%.20q… is masked", text)
		}
	}
	if printed := fmt.Sprintf("%+v %#v", &m, struct{ m *secret.Masker }{&m}); strings.Contains(printed, "hunter2") {
		t.Errorf("a masker prints what it hides: %s", printed)
	}
}

// FuzzMask looks for a text in which a secret is left, or something else is lost.
func FuzzMask(f *testing.F) {
	f.Add("a hunter2 b", "hunter2")
	f.Add(`{"a":"p\u0040ss\"w"}`, `p@ss"w`)
	f.Add(`\\u00e9%C3%A9`, "ééé")
	f.Fuzz(func(t *testing.T, text, value string) {
		var m secret.Masker
		m.Add(secret.New(value))
		spans := m.FindSecrets(text)
		for _, s := range spans {
			if s.Start < 0 || s.End > len(text) || s.Start >= s.End {
				t.Fatalf("span %v of a text of %d bytes", s, len(text))
			}
		}
		got := m.Mask(text)
		if len(value) >= 4 && strings.Contains(strings.ReplaceAll(got, runtime.Redacted, "\x00"), value) {
			t.Errorf("%q is left in %q", value, got)
		}
		if len(spans) == 0 && got != text {
			t.Errorf("%q became %q", text, got)
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		masked, err := runtime.NewMasker(&m).MaskJSON(quoted)
		if err != nil || !json.Valid(masked) {
			t.Errorf("%s: %s, %v", quoted, masked, err)
		}
	})
}

// BenchmarkMask masks 64 KiB with 20 secrets: of plain text, and of text full of escapes.
func BenchmarkMask(b *testing.B) {
	var m secret.Masker
	for i := range 20 {
		m.Add(secret.New(fmt.Sprintf("%d-s3cret-%d", i, i*7919)))
	}
	for name, unit := range map[string]string{"plain": "the quick brown fox jumps over the lazy dog. ", "escaped": `{\"a\":\"b%20c\\n\"} `} {
		text := strings.Repeat(unit, 64<<10/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				m.Mask(text)
			}
		})
	}
}
