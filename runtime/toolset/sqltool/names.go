package sqltool

import (
	"errors"
	"fmt"
	"strings"
)

// A Name is a name with up to three parts, as an option has it.
type Name []Part

// A Part is one of a name. One in quotes matches exactly, any other in any case.
type Part struct {
	Text   string
	Quoted bool
}

// Matches reports whether a part is meant by a name of the database. Case is that of ASCII:
// databases differ in other letters.
func (p Part) Matches(name string) bool {
	if p.Quoted {
		return p.Text == name
	}
	return FoldASCII(p.Text) == FoldASCII(name)
}

// ParseName reads one to three parts with dots between them. Quotes are pairs of the
// characters that a dialect puts around a name, such as `""` and `[]`; the closing one
// stands for itself if it is doubled.
func ParseName(text string, quotes ...string) (Name, error) {
	var name Name
	rest := text
	for {
		part, after, err := parsePart(rest, quotes)
		if err != nil {
			return nil, fmt.Errorf("%q is no name: %w", text, err)
		}
		name = append(name, part)
		if after == "" {
			break
		}
		rest = after[1:]
	}
	const most = 3
	if len(name) > most {
		return nil, fmt.Errorf("%q is no name: it has more than %d parts", text, most)
	}
	return name, nil
}

// parsePart reads one part, and returns what is behind it: nothing, or a dot with more.
func parsePart(text string, quotes []string) (Part, string, error) {
	for _, pair := range quotes {
		if !strings.HasPrefix(text, pair[:1]) {
			continue
		}
		closing := pair[1]
		var b strings.Builder
		for i := 1; i < len(text); i++ {
			switch {
			case text[i] != closing:
				b.WriteByte(text[i])
			case i+1 < len(text) && text[i+1] == closing:
				b.WriteByte(closing)
				i++
			case b.Len() == 0:
				return Part{}, "", errors.New("a part is empty")
			case i+1 < len(text) && text[i+1] != '.' || strings.HasSuffix(text, "."):
				return Part{}, "", errors.New("behind a quoted part there is a dot and another one, or nothing")
			default:
				return Part{b.String(), true}, text[i+1:], nil
			}
		}
		return Part{}, "", errors.New("a quote is open")
	}
	end := strings.IndexByte(text, '.')
	if end < 0 {
		end = len(text)
	}
	part := text[:end]
	if part == "" || strings.HasSuffix(text, ".") {
		return Part{}, "", errors.New("a part is empty")
	}
	for _, r := range part {
		if r != '_' && r != '$' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r < 0x80 {
			return Part{}, "", fmt.Errorf("%q needs quotes", part)
		}
	}
	return Part{part, false}, text[end:], nil
}
