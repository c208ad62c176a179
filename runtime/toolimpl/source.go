package toolimpl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/schema"
)

// A Source is what a hook reads that takes an [io.Reader] and the like: bytes
// that a model sent.
type Source struct{ bytes.Reader }

// Close does nothing.
func (*Source) Close() error { return nil }

// TextSource returns a source of a string.
func TextSource(s string) *Source { return BytesSource([]byte(s)) }

// BytesSource returns a source of bytes.
func BytesSource(b []byte) *Source {
	s := new(Source)
	s.Reset(b)
	return s
}

// Capture keeps what a hook writes to it, up to 8 MiB. It is safe for concurrent use.
type Capture struct {
	mu  sync.Mutex
	buf []byte
}

// Write keeps p. Beyond 8 MiB it is an error, so that a hook which writes
// without end comes to one.
func (c *Capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.buf)+len(p) > maxWritten {
		return 0, errors.New("more than 8 MiB were written")
	}
	c.buf = append(c.buf, p...)
	return len(p), nil
}

// Bytes returns what was written.
func (c *Capture) Bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf
}

// Collected is what a hook called a callback with. It is safe for concurrent
// use until the hook returns.
type Collected[T any] struct {
	Items []T
	More  bool // there were more than it keeps

	mu   *sync.Mutex
	max  int
	done bool
}

// Collect returns an empty collection of at most n items.
func Collect[T any](n int) *Collected[T] { return &Collected[T]{max: n, mu: new(sync.Mutex)} }

// errEnough stops a hook whose callback has enough.
var errEnough = errors.New("enough")

// Add keeps an item, and reports whether there is room for one more after it.
func (c *Collected[T]) Add(v T) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return false
	}
	if len(c.Items) >= c.max {
		c.More = true
		return false
	}
	c.Items = append(c.Items, v)
	return true
}

// AddOrStop is Add for a callback that returns an error, which stops the hook.
func (c *Collected[T]) AddOrStop(v T) error {
	if c.Add(v) {
		return nil
	}
	return errEnough
}

// Done returns what was collected. What a callback is called with later is
// dropped: only a hook that calls it before it returns can be collected.
func (c *Collected[T]) Done() Collected[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
	return Collected[T]{Items: c.Items, More: c.More}
}

// Err returns the error of a hook, unless it is that of AddOrStop.
func (c *Collected[T]) Err(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// Receive yields what comes out of a channel until it is closed, or the context
// ends, which is an error.
func Receive[T any](ctx context.Context, ch <-chan T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			select {
			case v, ok := <-ch:
				if !ok || !yield(v, nil) {
					return
				}
			case <-ctx.Done():
				var none T
				yield(none, context.Cause(ctx))
				return
			}
		}
	}
}

// Or returns what p points to, or otherwise.
func Or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// OrZero returns what p points to, or the zero value.
func OrZero[T any](p *T) T {
	var zero T
	return Or(p, zero)
}

// readAtMost reads up to limit bytes, and one more to see whether there are,
// and closes what can be closed.
func readAtMost(from io.Reader, limit int) (b []byte, more bool, err error) {
	b, err = io.ReadAll(io.LimitReader(from, int64(limit)+1))
	if c, ok := from.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if len(b) > limit {
		return b[:limit], true, err
	}
	return b, false, err
}

// Content writes what a reader yields, up to 64 KiB, and closes it: a string if
// it is text, else an object with its base64.
func (w *Writer) Content(from io.Reader) {
	b, more, err := readAtMost(from, runtime.DefaultMaxResult)
	if err != nil {
		w.fail("reading it failed", err)
		return
	}
	if more {
		w.more(runtime.LimitResultBytes)
	}
	if text, ok := asText(b, more); ok {
		w.String(text)
		return
	}
	w.binary(b)
}

// asText returns bytes as text, if they are. Where they were cut, so may be the
// last rune.
func asText(b []byte, wasCut bool) (string, bool) {
	for n := 0; wasCut && n < utf8.UTFMax && len(b) > 0 && !utf8.Valid(b); n++ {
		b = b[:len(b)-1]
	}
	return string(b), utf8.Valid(b) && !bytes.ContainsRune(b, 0)
}

func (w *Writer) binary(b []byte) {
	w.Object()
	w.Key("encoding")
	w.String("base64")
	w.Key("bytes")
	w.Int(int64(len(b)))
	w.Key("data")
	w.Bytes(b)
	w.EndObject()
}

// ContentResult returns what a reader yields as a result, and closes it. At
// most limit bytes are read, 0 being 64 KiB. A nil reader is an error.
func ContentResult(tool string, from io.Reader, media string, limit int) (*runtime.Result, error) {
	if from == nil {
		return nil, Nothing(tool)
	}
	b, more, err := readAtMost(from, contentLimit(media, limit))
	if err != nil {
		return nil, err
	}
	return bytesResult(tool, b, more, media, limit)
}

// BytesResult returns bytes as a result: text, an image of the media type, or
// base64.
func BytesResult(tool string, b []byte, media string, limit int) (*runtime.Result, error) {
	return bytesResult(tool, b, false, media, limit)
}

// contentLimit is how many bytes of contents are read: an image may be larger
// than text.
func contentLimit(media string, limit int) int {
	switch {
	case media != "":
		return maxMedia
	case limit == 0:
		return runtime.DefaultMaxResult
	default:
		return limit
	}
}

const maxMedia = 5 << 20 // bytes of a media block, as package runtime has it

func bytesResult(tool string, b []byte, more bool, media string, limit int) (*runtime.Result, error) {
	if kind := mediaKind(media); kind != "" {
		if more {
			return nil, runtime.Failedf("tool %s: the result is larger than 5 MiB", tool)
		}
		return &runtime.Result{Blocks: []runtime.Block{{Kind: kind, MIME: media, Data: b}}}, nil
	}
	if text, ok := asText(b, more); ok {
		r := &runtime.Result{
			Blocks:     []runtime.Block{{Kind: runtime.Text, Text: text}},
			Structured: append(schema.AppendString([]byte(`{"result":`), text), '}'),
		}
		if more {
			r.Truncated, r.TruncatedBy, r.Hint = true, runtime.LimitResultBytes, "truncated: there is more than "+sizeWords(len(b))
			r.Blocks[0].Text += "\n[" + r.Hint + "]"
			r.Structured = append(schema.AppendString([]byte(`{"result":`), r.Blocks[0].Text), '}')
		}
		return r, nil
	}
	// Base64 takes four bytes for three, and the object around it about 50.
	if most := (contentLimit("", limit) - 64) / 4 * 3; len(b) > most {
		b, more = b[:most], true
	}
	w := Write(tool)
	w.binary(b)
	if more {
		w.more(runtime.LimitResultBytes)
	}
	return w.Result()
}

func sizeWords(n int) string { return counted(n, "byte") }

func mediaKind(media string) runtime.BlockKind {
	switch {
	case strings.HasPrefix(media, "image/"):
		return runtime.Image
	case strings.HasPrefix(media, "audio/"):
		return runtime.Audio
	default:
		return ""
	}
}

// streamBytes is how large the items of a stream may become together.
const streamBytes = 4 << 20

// Item begins the next item of a stream, and reports whether to write it: not
// beyond n items, or 4 MiB of them.
func (w *Writer) Item(n int) bool {
	if w.items >= n {
		w.more(runtime.LimitItems)
		return false
	}
	if len(w.buf) > streamBytes {
		w.more(runtime.LimitResultBytes)
		return false
	}
	w.items++
	return w.Element()
}

// More notes that there were more items than were written.
func (w *Writer) More(more bool) {
	if more {
		w.more(runtime.LimitItems)
	}
}

func (w *Writer) more(limit runtime.Limit) { w.truncated = limit }

// Drop ends writing without a result.
func (w *Writer) Drop() {
	w.err = errors.New("dropped")
	_, _ = w.Result()
}

// mark notes on a result that it was cut.
func (w *Writer) mark(r *runtime.Result) {
	switch r.TruncatedBy = w.truncated; w.truncated {
	case "":
	case runtime.LimitItems:
		r.Truncated, r.Hint = true, "truncated: there are more than "+counted(w.items, "item")
	default:
		r.Truncated, r.Hint = true, "truncated: there is more"
	}
}

// Refuse is the error of a guard, as something that the model can correct.
func Refuse(err error) error {
	var retry *runtime.RetryError
	var failed *runtime.FailedError
	if errors.As(err, &retry) || errors.As(err, &failed) {
		return err
	}
	return &runtime.RetryError{Message: cut(strings.ToValidUTF8(err.Error(), "\uFFFD"), maxPointer), Cause: err}
}
