package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgen/toolgen/runtime/schema"
)

// Redacted stands where a secret was.
const Redacted = "[redacted]"

// Secrets is a toolset that has secrets, and finds them in text. A run takes those of
// all its toolsets out of results, messages, errors, instructions, logs, spans, journals
// and what reviewers are shown, before anything is bounded: half a secret would not be
// found any more. Media is left as it is.
//
// It is asked at each use, since secrets may appear with the first call, and by many
// goroutines at once.
type Secrets interface {
	// FindSecrets returns where secrets are in a text, however they are written there,
	// in any order; spans may overlap. A text that is a JSON string is given decoded.
	FindSecrets(text string) []Span
}

// A Span is the bytes of a text from Start up to End.
type Span struct{ Start, End int }

// A Masker takes secrets out of what is shown. The zero value knows none.
type Masker struct{ secrets []Secrets }

// NewMasker returns a masker of what some toolsets, or others that have secrets, find.
func NewMasker(secrets ...Secrets) Masker { return Masker{secrets} }

// MaskerFrom returns the masker of the run that ctx belongs to, for toolsets that
// bound or log by themselves. Outside of a run it masks nothing.
func MaskerFrom(ctx context.Context) Masker {
	if c, ok := ctx.Value(callKey{}).(*callContext); ok {
		return c.masker
	}
	return Masker{}
}

// find returns what is to be taken out: spans in order, none touching another.
func (m Masker) find(text string) []Span {
	var all []Span
	for _, s := range m.secrets {
		for _, span := range s.FindSecrets(text) {
			if span.Start < span.End {
				all = append(all, span)
			}
		}
	}
	if len(all) < 2 {
		return all
	}
	slices.SortFunc(all, func(a, b Span) int { return a.Start - b.Start })
	merged := all[:1]
	for _, next := range all[1:] {
		if last := &merged[len(merged)-1]; next.Start <= last.End {
			last.End = max(last.End, next.End)
		} else {
			merged = append(merged, next)
		}
	}
	return merged
}

// Mask returns a text without secrets.
func (m Masker) Mask(text string) string {
	spans := m.find(text)
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.Start])
		b.WriteString(Redacted)
		at = s.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// MaskJSON returns a JSON text without secrets in its strings and keys, as they are when
// decoded, and without numbers that are one. All else stays as it is. Where two keys of
// an object become one, the second gets #2 at its end. What is no JSON is an error, and
// is to be withheld.
func (m Masker) MaskJSON(raw json.RawMessage) (json.RawMessage, error) {
	if len(m.secrets) == 0 || raw == nil {
		return raw, nil
	}
	if !json.Valid(raw) {
		return nil, errors.New("what is to be masked is not JSON")
	}
	w := jsonMask{masker: m, raw: raw, out: make([]byte, 0, len(raw))}
	for w.at < len(raw) {
		w.token()
	}
	return w.out, nil
}

// jsonMask is a walk over valid JSON.
type jsonMask struct {
	masker Masker
	raw    []byte
	at     int
	out    []byte
	names  []map[string]int // of the objects that are open: keys with something redacted in them, and what to try next
}

// token copies one token, or what stands in its place.
func (w *jsonMask) token() {
	c := w.raw[w.at]
	switch {
	case c == '"':
		w.text()
		return
	case c == '-' || c >= '0' && c <= '9':
		w.number()
		return
	case c == '{' || c == '[':
		w.names = append(w.names, nil)
	case c == '}' || c == ']':
		w.names = w.names[:len(w.names)-1]
	}
	w.out = append(w.out, c)
	w.at++
}

func (w *jsonMask) text() {
	end := w.at + 1
	for ; w.raw[end] != '"'; end++ {
		if w.raw[end] == '\\' {
			end++
		}
	}
	token := w.raw[w.at : end+1]
	w.at = end + 1
	var text string
	if err := json.Unmarshal(token, &text); err != nil {
		text = string(token) // it can't fail: the whole is valid
	}
	masked := w.masker.Mask(text)
	if w.beforeColon() { // it is a key
		masked = w.unique(masked)
	}
	if masked == text {
		w.out = append(w.out, token...)
	} else {
		w.out = schema.AppendString(w.out, masked)
	}
}

// beforeColon reports whether only white space is left before a colon.
func (w *jsonMask) beforeColon() bool {
	for _, c := range w.raw[w.at:] {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == ':'
		}
	}
	return false
}

// unique returns a key that the object doesn't have yet, where secrets were taken out of
// several.
func (w *jsonMask) unique(key string) string {
	if !strings.Contains(key, Redacted) {
		return key
	}
	top := &w.names[len(w.names)-1]
	if *top == nil {
		*top = make(map[string]int)
	}
	next := (*top)[key]
	if next == 0 {
		(*top)[key] = 2
		return key
	}
	for {
		found := key + "#" + strconv.Itoa(next)
		next++
		if (*top)[found] == 0 {
			(*top)[key], (*top)[found] = next, 2
			return found
		}
	}
}

func (w *jsonMask) number() {
	end := w.at
	for end < len(w.raw) && strings.IndexByte("+-.0123456789Ee", w.raw[end]) >= 0 {
		end++
	}
	text := string(w.raw[w.at:end])
	w.at = end
	digits := strings.TrimPrefix(text, "-")
	if whole, fraction, ok := strings.Cut(digits, "."); ok && strings.Trim(fraction, "0") == "" {
		digits = whole
	}
	if w.masker.isSecret(text) || w.masker.isSecret(digits) {
		w.out = schema.AppendString(w.out, Redacted)
		return
	}
	w.out = append(w.out, text...)
}

func (m Masker) isSecret(text string) bool {
	spans := m.find(text)
	return len(spans) == 1 && spans[0] == Span{0, len(text)}
}

// Error returns an error that says the same without secrets; what is in it is found by
// errors.As and errors.Is as before. An error that can't be masked says so only.
func (m Masker) Error(err error) (masked error) {
	if err == nil || len(m.secrets) == 0 {
		return err
	}
	defer func() {
		if recover() != nil { // a masker's own, or the error's
			masked = errWithheld
		}
	}()
	text := err.Error()
	if clean := m.Mask(text); clean != text || m.Mask(printed(err)) != printed(err) {
		return &maskedError{clean, err}
	}
	return err
}

var errWithheld = errors.New("the error can't be masked, and is withheld")

type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.err }

// Format implements [fmt.Formatter]: some verbs would print what is inside.
func (e *maskedError) Format(f fmt.State, verb rune) {
	switch verb {
	case 'q':
		_, _ = io.WriteString(f, strconv.Quote(e.text))
	case 'x', 'X':
		_, _ = fmt.Fprintf(f, "%x", e.text)
	default:
		_, _ = io.WriteString(f, e.text)
	}
}

// Result returns a result without secrets in anything but its media.
func (m Masker) Result(r *Result) (*Result, error) {
	if len(m.secrets) == 0 {
		return r, nil
	}
	c := *r
	c.Blocks = make([]Block, len(r.Blocks))
	for i, b := range r.Blocks {
		b.Text, b.URI, b.Name, b.MIME = m.Mask(b.Text), m.Mask(b.URI), m.Mask(b.Name), m.Mask(b.MIME)
		c.Blocks[i] = b
	}
	if len(r.Blocks) == 0 {
		c.Blocks = nil
	}
	c.Hint, c.Handle, c.TruncatedBy = m.Mask(r.Hint), m.Mask(r.Handle), Limit(m.Mask(string(r.TruncatedBy)))
	if r.Meta != nil {
		c.Meta = make(map[string]string, len(r.Meta))
		for key, value := range r.Meta {
			c.Meta[m.Mask(key)] = m.Mask(value)
		}
	}
	masked, err := m.MaskJSON(r.Structured)
	if err != nil {
		return nil, err
	}
	c.Structured = masked
	return &c, nil
}
