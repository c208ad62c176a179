package runtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// DefaultMaxResult is the bound of a result in bytes, of its text and structured
// parts, unless the run or the tool's definition sets another.
const DefaultMaxResult = 64 << 10

// The other bounds of one result, for every toolset.
const (
	maxMedia    = 5 << 20 // bytes of one media block
	maxBlocks   = 8
	maxMessage  = 8 << 10 // bytes of an error's message
	leastResult = 1024    // of a limit: a mark of truncation must fit
)

// bound returns r, or what of it fits limit bytes. What can't be cut without
// lying about it is a FailedError.
func bound(tool string, r *Result, limit int) (*Result, error) {
	if len(r.Blocks) > maxBlocks {
		return nil, tooLarge(tool, len(r.Blocks), maxBlocks, "blocks")
	}
	for i := range r.Blocks {
		if n := len(r.Blocks[i].Data); n > maxMedia {
			return nil, tooLarge(tool, n, maxMedia, "bytes of media")
		}
	}
	size := r.size()
	if size <= limit {
		return r, nil
	}
	if text, ok := r.mirrored(); ok {
		if max(len(text), len(r.Structured)) <= limit {
			return r, nil
		}
		return cutMirrored(r, text, limit), nil
	}
	return cut(tool, r, size, limit)
}

func tooLarge(tool string, n, limit int, what string) error {
	return Failedf("tool %s: the result is %d %s, the limit is %d; ask for less", tool, n, what, limit)
}

// cut shortens the structured part of a result that has no text, or the text
// of one that has no structured part.
func cut(tool string, r *Result, size, limit int) (*Result, error) {
	c := *r
	c.Truncated, c.TruncatedBy, c.TotalBytes = true, LimitResultBytes, size
	switch {
	case len(r.Blocks) == 0:
		prefix, ok := cutArray(r.Structured, limit)
		if !ok {
			return nil, tooLarge(tool, size, limit, "bytes")
		}
		c.Structured = prefix
	case r.Structured == nil:
		c.Blocks = cutBlocks(r.Blocks, size, limit)
		if c.Blocks == nil {
			return nil, tooLarge(tool, size, limit, "bytes")
		}
	default:
		return nil, tooLarge(tool, size, limit, "bytes")
	}
	c.Hint = hint(&c)
	return &c, nil
}

// hint says what was cut, for adapters to show where no text has a mark.
func hint(r *Result) string {
	return fmt.Sprintf("truncated: %d of %d bytes; ask for less to see the rest", len(r.Structured), r.TotalBytes)
}

// cutBlocks keeps the head of the blocks' text, which is longer than the limit
// in all, and ends it with a mark. Media blocks have a bound of their own and
// stay. It returns nil if it isn't the text that is too long.
func cutBlocks(blocks []Block, size, limit int) []Block {
	mark := truncationMark(limit, size)
	out := make([]Block, 0, len(blocks))
	left := limit - len(mark)
	for _, b := range blocks {
		left -= len(b.URI) + len(b.Name)
	}
	if left < 0 {
		return nil
	}
	marked := false
	for _, b := range blocks {
		switch {
		case b.Text == "":
		case marked:
			continue
		case len(b.Text) > left:
			b.Text, marked = clip(b.Text, left)+mark, true
		default:
			left -= len(b.Text)
		}
		out = append(out, b)
	}
	if !marked {
		return nil
	}
	return out
}

// truncationMark is the last line of a text that was cut.
func truncationMark(limit, size int) string {
	return fmt.Sprintf("\n[truncated: %d of %d bytes; %s]", limit, size, LimitResultBytes)
}

// cutText returns at most limit bytes of text, whole runes, the mark included.
func cutText(text string, limit, size int) string {
	mark := truncationMark(limit, size)
	return clip(text, limit-len(mark)) + mark
}

// clip returns the longest prefix of s that has at most n bytes and ends
// between runes.
func clip(s string, n int) string {
	if n >= len(s) {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cutMirrored cuts a string result so that both of its parts fit: escapes make
// the structured one the longer.
func cutMirrored(r *Result, text string, limit int) *Result {
	c := *r
	c.Truncated, c.TruncatedBy, c.TotalBytes = true, LimitResultBytes, len(text)
	for n := limit; ; n = n * 3 / 4 {
		short := cutText(text, n, len(text))
		b := mirror(short)
		if len(b) <= limit || n == 0 {
			c.Blocks, c.Structured = []Block{{Kind: Text, Text: short}}, b
			c.Hint = hint(&c)
			return &c
		}
	}
}

// cutArray keeps the elements at the front of an array, or of the array that
// is the only member of an object, as many as fit limit bytes.
func cutArray(raw json.RawMessage, limit int) (json.RawMessage, bool) {
	open, rest := splitEnvelope(raw)
	if rest == nil || !json.Valid(raw) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(rest))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil, false
	}
	closing := "]"
	if len(open) > 0 {
		closing = "]}"
	}
	end := 1 // of the prefix within rest
	full := true
	for full && dec.More() {
		var element json.RawMessage
		if dec.Decode(&element) != nil {
			return nil, false
		}
		if len(open)+int(dec.InputOffset())+len(closing) > limit {
			full = false
			continue
		}
		end = int(dec.InputOffset())
	}
	if full || end == 1 { // something else is too long, or the first element alone: an empty list would lie
		return nil, false
	}
	out := make(json.RawMessage, 0, len(open)+end+len(closing))
	out = append(append(append(out, open...), rest[:end]...), closing...)
	return out, json.Valid(out)
}

// splitEnvelope splits `{"key":[…` into `{"key":` and `[…`, and an array into
// nothing and itself.
func splitEnvelope(raw json.RawMessage) (open, array []byte) {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] == '[' {
		return nil, trimmed
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(trimmed, &members) != nil || len(members) != 1 {
		return nil, nil
	}
	at := bytes.IndexByte(trimmed, '[')
	for _, v := range members {
		if len(v) == 0 || v[0] != '[' || at < 0 {
			return nil, nil
		}
		at = bytes.Index(trimmed, v)
	}
	return trimmed[:at], trimmed[at:]
}
