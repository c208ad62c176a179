package wrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolgen/toolgen/runtime"
)

// The tools that [Spill] adds.
const (
	ReadResultTool   = "read_result"
	SearchResultTool = "search_result"
)

// The bounds of what is spilled and read again.
const (
	spillBytes  = 64 << 20 // of a run
	readDefault = 16 << 10
	readMost    = 64 << 10
	matchesMost = 20
	aroundMatch = 200 // bytes before and after
)

// Spill keeps results that are too large for a model, masked, until the run ends, and
// gives it the first 4 KiB, the size and a handle, with tools that read on and search
// in them. They are kept in memory, or, where dir is not empty, in files below it
// that only their owner can read; 64 MiB a run. Where there is no room left the call
// fails.
func Spill(ts runtime.Toolset, dir string) runtime.Toolset {
	s := &spilling{inner: ts, dir: dir}
	s.list = Each(ts, func(t runtime.Tool) (runtime.Tool, error) { return &spilled{t, s}, nil })
	s.tools = []runtime.Tool{readResult{s}, searchResult{s}}
	return s
}

type spilling struct {
	inner runtime.Toolset
	dir   string
	list  runtime.Toolset
	tools []runtime.Tool

	mu  sync.Mutex
	was []runtime.Tool
	out []runtime.Tool
}

// Unwrap implements [runtime.ToolsetWrapper].
func (s *spilling) Unwrap() []runtime.Toolset { return []runtime.Toolset{s.inner} }

// Tools implements [runtime.Toolset].
func (s *spilling) Tools(ctx context.Context) ([]runtime.Tool, error) {
	tools, err := s.list.Tools(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out == nil || !same(tools, s.was) {
		s.was, s.out = tools, append(append(make([]runtime.Tool, 0, len(tools)+2), tools...), s.tools...)
	}
	return s.out, nil
}

// spilled is a tool whose large results are kept.
type spilled struct {
	runtime.Tool

	spilling *spilling
}

// Unwrap implements [runtime.ToolWrapper].
func (t *spilled) Unwrap() runtime.Tool { return t.Tool }

// Spill implements [runtime.Spiller].
func (t *spilled) Spill(ctx context.Context, text string) (handle, howTo string, err error) {
	k, err := t.spilling.kept(ctx)
	if err != nil {
		return "", "", err
	}
	handle, err = k.put(text)
	return handle, ReadResultTool + " reads on, " + SearchResultTool + " finds in it", err
}

func (s *spilling) kept(ctx context.Context) (*spillStore, error) {
	return runtime.PerRun(ctx, s, func(context.Context) (*spillStore, error) {
		k := &spillStore{texts: make(map[string]string)}
		if s.dir == "" {
			return k, nil
		}
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return nil, err
		}
		var err error
		k.dir, err = os.MkdirTemp(s.dir, "run-*")
		return k, err
	})
}

// spillStore is what a run has spilled.
type spillStore struct {
	mu    sync.Mutex
	dir   string            // "": in memory
	texts map[string]string // by handle; with a folder the sizes alone count
	bytes int
}

// Close forgets all of it.
func (k *spillStore) Close() error {
	if k.dir == "" {
		return nil
	}
	return os.RemoveAll(k.dir)
}

func (k *spillStore) put(text string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bytes+len(text) > spillBytes {
		return "", runtime.Failedf("the result has %d bytes, and there is room for %d more in this run; ask for less", len(text), spillBytes-k.bytes)
	}
	handle := "r" + strconv.Itoa(len(k.texts)+1)
	if k.dir != "" {
		if err := os.WriteFile(filepath.Join(k.dir, handle), []byte(text), 0o600); err != nil {
			return "", err
		}
		k.bytes, text = k.bytes+len(text), ""
	}
	k.texts[handle] = text
	k.bytes += len(text)
	return handle, nil
}

func (k *spillStore) get(handle string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	text, ok := k.texts[handle]
	if !ok {
		return "", runtime.Retryf("there is no result with the handle %q in this run", clip(handle, 40))
	}
	if k.dir == "" {
		return text, nil
	}
	data, err := os.ReadFile(filepath.Join(k.dir, handle))
	return string(data), err
}

// readResult reads on in a result.
type readResult struct{ spilling *spilling }

var readDefinition = &runtime.Definition{
	Name:        ReadResultTool,
	Description: "Reads a part of a result that was too large to be shown whole.",
	Input: json.RawMessage(`{"type":"object","properties":{"handle":{"type":"string","description":"of the result"},` +
		`"offset":{"type":"integer","description":"byte to begin with","minimum":0,"default":0},` +
		`"limit":{"type":"integer","description":"how many bytes at most","minimum":1,"maximum":65536,"default":16384}},"required":["handle"],"additionalProperties":false}`),
	Hints:     runtime.Hints{ReadOnly: runtime.Yes, OpenWorld: runtime.No, Idempotent: runtime.Yes},
	MaxResult: readMost + 1024,
}

// Definition implements [runtime.Tool].
func (readResult) Definition() *runtime.Definition { return readDefinition }

// Call implements [runtime.Tool].
func (t readResult) Call(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
	in := struct {
		Handle string `json:"handle"`
		Offset int    `json:"offset"`
		Limit  *int   `json:"limit"`
	}{}
	if err := strictly(ReadResultTool, args, &in); err != nil {
		return nil, err
	}
	limit := readDefault
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit < 1 || limit > readMost || in.Offset < 0 {
		return nil, runtime.Retryf("%s: want an offset from 0 and a limit from 1 to %d", ReadResultTool, readMost)
	}
	text, err := t.spilling.text(ctx, in.Handle)
	if err != nil {
		return nil, err
	}
	if in.Offset >= len(text) {
		return nil, runtime.Retryf("%s: /offset: the result has %d bytes", ReadResultTool, len(text))
	}
	begin, end := rune0(text, in.Offset), rune0(text, min(in.Offset+limit, len(text)))
	part := text[begin:end]
	if end < len(text) {
		part += fmt.Sprintf("\n[bytes %d to %d of %d]", begin, end, len(text))
	}
	return runtime.TextResult(part), nil
}

// rune0 moves an offset back to where a rune begins.
func rune0(text string, n int) int {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

func (s *spilling) text(ctx context.Context, handle string) (string, error) {
	k, err := s.kept(ctx)
	if err != nil {
		return "", err
	}
	return k.get(handle)
}

// searchResult finds a text in a result.
type searchResult struct{ spilling *spilling }

var searchResultDefinition = &runtime.Definition{
	Name:        SearchResultTool,
	Description: "Finds a text in a result that was too large to be shown whole: where it stands, and what is around it.",
	Input: json.RawMessage(`{"type":"object","properties":{"handle":{"type":"string","description":"of the result"},` +
		`"text":{"type":"string","description":"what to find, exactly","minLength":1}},"required":["handle","text"],"additionalProperties":false}`),
	Output: json.RawMessage(`{"type":"object","properties":{"matches":{"type":"array","items":{"type":"object","properties":{"offset":{"type":"integer"},` +
		`"around":{"type":"string"}},"required":["offset","around"]}},"total":{"type":"integer","description":"how many there are"}},"required":["matches","total"]}`),
	Hints: runtime.Hints{ReadOnly: runtime.Yes, OpenWorld: runtime.No, Idempotent: runtime.Yes},
}

// Definition implements [runtime.Tool].
func (searchResult) Definition() *runtime.Definition { return searchResultDefinition }

type match struct {
	Offset int    `json:"offset"`
	Around string `json:"around"`
}

// Call implements [runtime.Tool].
func (t searchResult) Call(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
	in := struct {
		Handle string `json:"handle"`
		Text   string `json:"text"`
	}{}
	if err := strictly(SearchResultTool, args, &in); err != nil {
		return nil, err
	}
	if in.Text == "" {
		return nil, runtime.Retryf("%s: /text: want what to find", SearchResultTool)
	}
	text, err := t.spilling.text(ctx, in.Handle)
	if err != nil {
		return nil, err
	}
	matches, total := []match{}, 0
	for at := 0; ; {
		i := strings.Index(text[at:], in.Text)
		if i < 0 {
			break
		}
		at += i
		if total++; total <= matchesMost {
			matches = append(matches, match{at, text[rune0(text, max(at-aroundMatch, 0)):rune0(text, min(at+len(in.Text)+aroundMatch, len(text)))]})
		}
		at += len(in.Text)
	}
	out, err := json.Marshal(map[string]any{"matches": matches, "total": total})
	if err != nil {
		return nil, err
	}
	return &runtime.Result{Structured: out}, nil
}

// strictly decodes the arguments of a tool of this package.
func strictly(tool string, args json.RawMessage, into any) error {
	dec := json.NewDecoder(strings.NewReader(string(args)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return runtime.Retryf("%s: /%s: want a %s, got a %s", tool, typed.Field, typed.Type, typed.Value)
		}
		return runtime.Retryf("%s: %s", tool, err)
	}
	return nil
}
