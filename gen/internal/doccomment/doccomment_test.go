package doccomment_test

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgen/toolgen/gen/internal/doccomment"
)

func TestCutName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Refund pays back.":        "Pays back.",
		"Refund is a refund.":      "A refund.",
		"Refund are refunds.":      "Refunds.",
		"Refunds are made.":        "Refunds are made.",
		"Refund":                   "Refund",
		"Refund über alles.":       "Refund über alles.",
		"Refund übers Konto.":      "Übers Konto.",
		"Refund an order.":         "Refund an order.",
		"Refund less than all.":    "Refund less than all.",
		"Pays back with [Refund].": "Pays back with [Refund].",
	} {
		if got := doccomment.CutName(text, "Refund"); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	got := doccomment.Parse(`Refund pays
back.

Parameters:
  - id: the number,
    wrapped
  - cents - how much

Returns: the receipt

# Limits

At most all.

# Internal

Secret.

Deprecated: use Pay.
`, "Refund", nil)
	want := &doccomment.Doc{
		Text:       "Pays back.\n\nLimits:\n\nAt most all.",
		Params:     []doccomment.Param{{Name: "id", Text: "the number, wrapped"}, {Name: "cents", Text: "how much"}},
		Returns:    "the receipt",
		Deprecated: "use Pay.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzParse reads any text: never a panic, and text stays text.
func FuzzParse(f *testing.F) {
	f.Add("Parameters:\n  - a: b\n", "A")
	f.Add("# Params\n\n\tcode: x\n", "X")
	f.Add("Returns:\n", "")
	f.Fuzz(func(t *testing.T, text, name string) {
		if !utf8.ValidString(text) || !utf8.ValidString(name) {
			return
		}
		d := doccomment.Parse(text, name, nil)
		if !utf8.ValidString(d.Text) || !utf8.ValidString(d.Returns) {
			t.Errorf("%q: text is cut within a character", text)
		}
	})
}
