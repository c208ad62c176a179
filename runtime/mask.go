package runtime

import (
	"context"
	"encoding/json"
)

// A Masker takes secrets out of what is shown. A run masks with those of all its
// toolsets, before results and messages are bounded: half a secret would not be
// found any more. It is safe for concurrent use.
type Masker interface {
	// Mask returns a text without secrets.
	Mask(text string) string

	// MaskJSON returns a JSON text without secrets in its strings, keys and
	// numbers. An error withholds the whole.
	MaskJSON(raw json.RawMessage) (json.RawMessage, error)
}

// Secrets is a toolset that has secrets. Its masker is asked at each use: secrets
// may appear with the first call.
type Secrets interface {
	Masker() Masker
}

// maskers are those of all toolsets of a run.
type maskers []Secrets

// Mask implements [Masker].
func (m maskers) Mask(text string) string {
	for _, s := range m {
		if masker := s.Masker(); masker != nil {
			text = masker.Mask(text)
		}
	}
	return text
}

// MaskJSON implements [Masker].
func (m maskers) MaskJSON(raw json.RawMessage) (json.RawMessage, error) {
	for _, s := range m {
		masker := s.Masker()
		if masker == nil || raw == nil {
			continue
		}
		masked, err := masker.MaskJSON(raw)
		if err != nil {
			return nil, err
		}
		raw = masked
	}
	return raw, nil
}

// MaskerFrom returns the masker of the run that ctx belongs to, for toolsets that
// bound or log by themselves. Outside of a run it masks nothing.
func MaskerFrom(ctx context.Context) Masker {
	if c, ok := ctx.Value(callKey{}).(*callContext); ok {
		return c.maskers
	}
	return maskers(nil)
}

// result masks a result; media is left as it is.
func (m maskers) result(r *Result) (*Result, error) {
	if len(m) == 0 {
		return r, nil
	}
	c := *r
	c.Blocks = make([]Block, len(r.Blocks))
	for i, b := range r.Blocks {
		b.Text, b.URI, b.Name = m.Mask(b.Text), m.Mask(b.URI), m.Mask(b.Name)
		c.Blocks[i] = b
	}
	if len(r.Blocks) == 0 {
		c.Blocks = nil
	}
	masked, err := m.MaskJSON(r.Structured)
	if err != nil {
		return nil, err
	}
	c.Structured = masked
	return &c, nil
}
