// Package lock keeps the tool surface: what a model sees of every tool, and
// what the host says of it, as a file under version control. A change of it is
// reviewed like a change of an API, which it is: to models.
//
// The file is JSON, tools by name, keys sorted, one property a line, so that a
// diff shows what changed and two branches merge. It holds nothing that moves
// without the tools: no position, no version of the generator, no time.
//
// [Of] makes it of the model, [Parse] reads one that was kept, and [Compare]
// says what lies between two, by class: breaking, narrowing, widening, wording.
package lock

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/toolgen/toolgen/runtime/schema"
)

// FileName is what the file is called where toolgen.yaml doesn't say.
const FileName = "toolgen.lock"

// Is reports whether a file is a lock, come what formatting, line ends or marks of
// a merge: only such a file is ever replaced or deleted. An empty one is.
func Is(data []byte) bool {
	if len(bytes.TrimSpace(data)) == 0 {
		return true
	}
	if _, err := Parse(data); err == nil {
		return true
	}
	return bytes.Contains(data, []byte(`"tools": {`)) && bytes.Contains(data, []byte(`"sha256": "`)) && bytes.Contains(data, []byte(`"hook": "`))
}

// version of the format.
const version = 1

// A File is the surface of all tools of a run.
type File struct {
	Tools   map[string]Tool `json:"tools"` // by name
	Version int             `json:"version"`
}

// A Tool is the surface of one tool. Pointers lead from property to property of
// the arguments; what is in a list or map has the pointer of the list or map, what is
// in an interface has the name of the implementation on its way.
type Tool struct {
	Approve     string            `json:"approve,omitempty"` // always, or the function that says when
	Coerce      bool              `json:"coerce,omitempty"`
	Confined    map[string]string `json:"confined,omitempty"` // policies by pointer
	Defer       bool              `json:"defer,omitempty"`
	Description string            `json:"description,omitempty"`
	Failed      []string          `json:"failed,omitempty"` // errors that a model sees
	Forms       map[string]string `json:"forms,omitempty"`  // by pointer: strings and values with a form that no schema says
	Guards      []string          `json:"guards,omitempty"`
	Hidden      []string          `json:"hidden,omitempty"` // pointers of what the host leaves at zero
	Hints       map[string]bool   `json:"hints,omitempty"`
	Hook        string            `json:"hook"` // package.Type.Method
	Input       json.RawMessage   `json:"input"`
	Limits      Limits            `json:"limits,omitzero"`
	Media       string            `json:"media,omitempty"` // of bytes in the result
	NoRepair    bool              `json:"no_repair,omitempty"`
	Omitted     []string          `json:"omitted,omitempty"` // what can't be sent and was left out
	Output      json.RawMessage   `json:"output,omitempty"`
	Pins        map[string]string `json:"pins,omitempty"`       // by pointer: a hash of how it is pinned
	Registries  []string          `json:"registries,omitempty"` // import paths of those that have it
	Retry       []string          `json:"retry,omitempty"`      // errors that a model can correct
	Sequential  bool              `json:"sequential,omitempty"`
	SHA256      string            `json:"sha256"` // of all the rest
	Title       string            `json:"title,omitempty"`
}

// Limits are the bounds of a call; zero: the run's.
type Limits struct {
	MaxArgs   int    `json:"max_args_bytes,omitempty"`
	MaxItems  int    `json:"max_items,omitempty"`
	MaxResult int    `json:"max_result_bytes,omitempty"`
	Retries   int    `json:"retries,omitempty"` // -1: none
	Timeout   string `json:"timeout,omitempty"`
}

// Encode writes the file.
func (f *File) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(f); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Parse reads a file. It is strict: what it doesn't know is an error, since
// comparing around it would hide a change.
func Parse(data []byte) (*File, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var f File
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one value")
	}
	if f.Version != version {
		return nil, fmt.Errorf("version %d of the format is not known: use the toolgen that wrote it", f.Version)
	}
	if f.Tools == nil {
		return nil, errors.New("it has no tools")
	}
	for name := range f.Tools {
		if !schema.ValidName(name) {
			return nil, fmt.Errorf("%q is no name of a tool", name)
		}
	}
	return &f, nil
}

// seal sets the hash of a tool.
func (t *Tool) seal() error {
	t.SHA256 = ""
	data, err := json.Marshal(t)
	t.SHA256 = hash(data)
	return err
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
