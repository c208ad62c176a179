package lint

import (
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/model"
)

// A reading is what tells a tool from others: the words of its name and prose.
type reading struct {
	tool  *model.Tool
	name  string // without plurals and underscores
	words []string
}

// Descriptions are near-equal that share nine words in ten, and have enough of
// them to say something.
const (
	nearlyAll = 0.9
	fewWords  = 5
)

// pairs reports tools that a model will mix up.
func (l *linter) pairs(tools []*model.Tool) {
	readings := make([]reading, len(tools))
	for i, t := range tools {
		readings[i] = read(t)
	}
	for i := range readings {
		for j := range i {
			why := mixedUp(&readings[i], &readings[j])
			if why == "" {
				continue
			}
			l.tool = tools[i]
			before := len(l.diags)
			l.warn(tools[i].Pos, diag.ToolsAlike, "say what each is for that the other is not", why+" "+tools[j].Name)
			if len(l.diags) > before {
				l.diags.Relate(tools[j].Pos, "the other tool")
			}
			break // one is enough to look at it
		}
	}
}

func read(t *model.Tool) reading {
	var name strings.Builder
	for part := range strings.SplitSeq(strings.ToLower(t.Name), "_") {
		if singular := strings.TrimSuffix(part, "s"); len(singular) > 3 && !strings.HasSuffix(singular, "s") && !strings.HasSuffix(singular, "ia") {
			part = singular
		}
		name.WriteString(part)
	}
	words := strings.FieldsFunc(strings.ToLower(t.Description), func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_", r) })
	slices.Sort(words)
	return reading{t, name.String(), slices.Compact(words)}
}

// mixedUp says in which way two tools are alike; "": they aren't.
func mixedUp(a, b *reading) string {
	switch {
	case a.tool.Name == b.tool.Name: // an error by itself
		return ""
	case a.name == b.name:
		return "but for a plural it is called like"
	case len(a.words) == 0 || len(b.words) == 0:
		return ""
	case a.tool.Description == b.tool.Description:
		return "it has the same description as"
	case len(a.words) < fewWords || len(b.words) < fewWords:
		return ""
	}
	longer := max(len(a.words), len(b.words))
	if float64(min(len(a.words), len(b.words))) < nearlyAll*float64(longer) {
		return ""
	}
	shared := common(a.words, b.words)
	if union := len(a.words) + len(b.words) - shared; float64(shared) < nearlyAll*float64(union) {
		return ""
	}
	return "it has nearly the same description as"
}

// common counts the words in two sorted lists.
func common(a, b []string) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch c := strings.Compare(a[0], b[0]); {
		case c == 0:
			n++
			a, b = a[1:], b[1:]
		case c < 0:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return n
}
