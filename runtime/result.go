package runtime

import (
	"encoding/json"
	"strings"

	"github.com/toolgen/toolgen/runtime/schema"
)

// A Result is what a tool returns. It owns its bytes for ever: caches and
// outcomes keep it, and nobody changes it.
type Result struct {
	// Blocks are shown to the model in order. With none, adapters show
	// Structured as compact text.
	Blocks []Block `json:"blocks,omitempty"`

	// Structured is the result as JSON, for clients that read it; nil: none.
	Structured json.RawMessage `json:"structured,omitempty"`

	Truncated   bool              `json:"truncated,omitempty"`
	TruncatedBy Limit             `json:"truncated_by,omitempty"` // which limit cut the result
	TotalBytes  int               `json:"total_bytes,omitempty"`  // text and structured size before it was cut; 0 when it wasn't
	Hint        string            `json:"hint,omitempty"`         // what to do to see more
	Handle      string            `json:"handle,omitempty"`       // by which the whole can be read, until the run ends
	Meta        map[string]string `json:"meta,omitempty"`         // for the host; never sent to a model
}

// A Limit names what cut a result.
type Limit string

// The limits.
const (
	LimitResultBytes Limit = "max_result_bytes" // of text and structured part
	LimitItems       Limit = "max_items"        // of a stream
)

// A Block is one piece of a result: the kind says which fields it has.
type Block struct {
	Kind BlockKind `json:"kind"`
	Text string    `json:"text,omitempty"` // Text, Resource
	Data []byte    `json:"data,omitempty"` // Image, Audio, Resource: the bytes themselves, not base64
	MIME string    `json:"mime,omitempty"` // Image, Audio, Resource, Link
	URI  string    `json:"uri,omitempty"`  // Resource, Link
	Name string    `json:"name,omitempty"` // Link
	Size int64     `json:"size,omitempty"` // Link, in bytes; 0: unknown
}

// A BlockKind is the kind of a [Block].
type BlockKind string

// The kinds of blocks.
const (
	Text     BlockKind = "text"
	Image    BlockKind = "image"
	Audio    BlockKind = "audio"
	Resource BlockKind = "resource" // contents, as Text or Data
	Link     BlockKind = "link"     // where to find contents
)

// TextResult returns a result of one text block and no structured part.
func TextResult(text string) *Result {
	return &Result{Blocks: []Block{{Kind: Text, Text: text}}}
}

// mirrored returns the text of a string result: one text block that says the
// same as a structured {"result":"…"} and nothing else. A model is shown one of
// the two, so each of them is bounded, and not their sum.
func (r *Result) mirrored() (text string, ok bool) {
	if len(r.Blocks) != 1 || r.Blocks[0].Kind != Text || r.Structured == nil {
		return "", false
	}
	text = r.Blocks[0].Text
	return text, string(r.Structured) == string(mirror(text))
}

// text is all that a model would read of a result.
func (r *Result) text() string {
	var all []string
	for i := range r.Blocks {
		if t := r.Blocks[i].Text; t != "" {
			all = append(all, t)
		}
	}
	if len(all) == 0 && r.Structured != nil {
		return string(compact(r.Structured))
	}
	return strings.Join(all, "\n")
}

// size is how many bytes a result has of text and structured part.
func (r *Result) size() int {
	n := len(r.Structured)
	for i := range r.Blocks {
		n += len(r.Blocks[i].Text) + len(r.Blocks[i].URI) + len(r.Blocks[i].Name)
	}
	return n
}

// mirror is the structured part of a string result.
func mirror(text string) json.RawMessage {
	return append(schema.AppendString([]byte(`{"result":`), text), '}')
}
