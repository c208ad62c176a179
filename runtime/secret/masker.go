package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolgen/toolgen/runtime"
)

// A Masker knows secrets and finds them. It is safe for concurrent use; the zero value
// knows none.
//
// A secret of four bytes or more is found anywhere in a text: as it is, behind the escapes
// of JSON and Go, URLs, forms and HTML, also two of them, in base64, alone or inside of
// more that was encoded with it, on one line or several, in hexadecimal, and as the numbers
// of its bytes; of one of several
// lines, such as a private key, each line of 16 bytes or more is a secret too. A shorter
// one is found only where it is the whole text, since a run would otherwise show next
// to nothing.
type Masker struct {
	mu    sync.Mutex
	known *known                   // a pointer, so that package fmt prints no secret of one that is inside of something
	found atomic.Pointer[patterns] // nil: there are none
}

// known are the secrets.
type known struct{ all map[string]bool }

// leastInside is how long a secret must be to be looked for inside of text, and
// leastLine a line of it.
const (
	leastInside = 4
	leastLine   = 16
)

// Add makes more secrets known. They stay known: what they were may still be on its way.
func (m *Masker) Add(values ...Value) {
	m.mu.Lock()
	defer m.mu.Unlock()
	changed := false
	for _, v := range values {
		if m.known == nil {
			m.known = &known{make(map[string]bool)}
		}
		if s := v.Reveal(); s != "" && !m.known.all[s] {
			m.known.all[s], changed = true, true
		}
	}
	if !changed {
		return
	}
	p := &patterns{whole: make(map[string]bool)}
	for s := range m.known.all {
		p.add(s)
	}
	p.compile()
	m.found.Store(p)
}

// FindSecrets implements [runtime.Secrets].
func (m *Masker) FindSecrets(text string) []runtime.Span {
	p := m.found.Load()
	if p == nil || text == "" {
		return nil
	}
	if p.whole[text] || p.whole[strings.TrimSpace(text)] {
		return []runtime.Span{{Start: 0, End: len(text)}}
	}
	spans := p.find(text, nil)
	if !strings.ContainsAny(text, escapes) {
		return spans
	}
	// Undoing escapes takes memory by the byte, so it is done piece by piece, each with
	// room for a whole secret behind it. None begins within an escape.
	for at := 0; at < len(text); {
		end := min(len(text), at+piece)
		for end < len(text) && strings.IndexByte(escapes, text[end-1]) >= 0 {
			end++
		}
		for _, view := range views(text[at:min(len(text), end+p.longest*longestEscape)]) {
			for _, s := range p.find(view.text, nil) {
				spans = append(spans, runtime.Span{Start: at + int(view.from[s.Start]), End: at + int(view.from[s.End])})
			}
		}
		at = end
	}
	return spans
}

// piece is how much of a text has its escapes undone at once; longestEscape is how many
// bytes one byte of a secret can take: \\\\u0061, escaped twice.
const (
	piece         = 64 << 10
	longestEscape = 12
)

// Mask returns a text without the masker's secrets.
func (m *Masker) Mask(text string) string { return runtime.NewMasker(m).Mask(text) }

// Error returns an error without the masker's secrets in its text.
func (m *Masker) Error(err error) error { return runtime.NewMasker(m).Error(err) }

// patterns are strings to be found, all in one pass.
type patterns struct {
	whole  map[string]bool // short ones
	all    map[string]bool
	byHead map[[leastInside]byte][]string // the longest first
	heads  [1 << 16]bool                  // the first two bytes of one: most places of a text are dismissed by it

	longest int // of them, in bytes
}

// add adds a secret in all the forms that are written out; escapes are undone instead.
func (p *patterns) add(s string) {
	if len(s) < leastInside {
		p.whole[s] = true
		return
	}
	if p.all == nil {
		p.all = make(map[string]bool)
	}
	if readable := string([]rune(s)); len(strings.ReplaceAll(readable, "\uFFFD", "")) >= leastInside {
		p.all[readable] = true // as JSON has it
	}
	for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), hex.EncodeToString([]byte(s)), fmt.Sprintf("%X", s), fmt.Sprintf("% x", s), fmt.Sprintf("% X", s), bytesOf(s)} {
		p.all[form] = true
	}
	for _, form := range base64Forms(s) {
		p.all[form] = true
	}
	if trimmed := strings.TrimSpace(s); trimmed != s && trimmed != "" {
		p.add(trimmed)
	}
	if lines := strings.Split(s, "\n"); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= leastLine && !strings.HasPrefix(line, "-----") {
				p.add(line)
			}
		}
	}
}

// bytesOf is how package fmt prints bytes, without the brackets.
func bytesOf(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, " %d", s[i])
	}
	return b.String()[1:]
}

// base64Forms are what base64 makes of a secret, in both alphabets, alone and behind one
// or two bytes of something else: of those, what no byte before or after it changes.
func base64Forms(s string) (forms []string) {
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			encoded := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + s))
			start := (before*8 + 5) / 6      // characters that have bits of what is before
			end := (before + len(s)) * 8 / 6 // the rest has bits of what comes after
			if before == 0 {
				forms = append(forms, encoded)
			}
			if end-start >= leastInside {
				forms = append(forms, encoded[start:end])
			}
		}
	}
	return forms
}

func (p *patterns) compile() {
	p.byHead = make(map[[leastInside]byte][]string)
	for s := range p.all {
		head := [leastInside]byte([]byte(s))
		p.byHead[head] = append(p.byHead[head], s)
		p.heads[int(s[0])<<8|int(s[1])] = true
		p.longest = max(p.longest, len(s))
	}
	for _, same := range p.byHead {
		slices.SortFunc(same, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
}

// find adds where patterns are in a text.
func (p *patterns) find(text string, spans []runtime.Span) []runtime.Span {
	for i := 0; i+leastInside <= len(text); i++ {
		if !p.heads[int(text[i])<<8|int(text[i+1])] {
			continue
		}
		for _, s := range p.byHead[[leastInside]byte{text[i], text[i+1], text[i+2], text[i+3]}] {
			if strings.HasPrefix(text[i:], s) {
				spans = append(spans, runtime.Span{Start: i, End: i + len(s)})
				break // the others are shorter
			}
		}
	}
	return spans
}
