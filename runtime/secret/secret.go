// Package secret keeps what nobody may see: values that print as [redacted], and what
// finds them in text, however they are written there.
//
// A toolset with secrets has a [Masker] and returns what that finds:
//
//	func (t *Toolset) FindSecrets(text string) []runtime.Span { return t.masker.FindSecrets(text) }
//
// A run asks all its toolsets, and takes what they find out of everything that it shows:
// results, messages, errors, instructions, logs, spans, journals. Toolsets that take a
// connection have that from package connection; generated tools, whose hooks know
// nothing of either, get it by [With].
package secret

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/toolgen/toolgen/runtime"
)

// A Value is a secret. It prints as [redacted], with every verb, as JSON and text, in
// logs, and inside of other values, exported or not; only [Value.Reveal] tells it. The
// zero value is no secret: the empty string. Two values of one secret differ by ==: use
// [Value.Equal].
type Value struct {
	p *string // a pointer: package fmt can't call the methods of a field that isn't exported, and prints what is in it
}

// New returns a secret.
func New(s string) Value {
	if s == "" {
		return Value{}
	}
	return Value{&s}
}

// Reveal returns the secret itself.
func (v Value) Reveal() string {
	if v.p == nil {
		return ""
	}
	return *v.p
}

// IsZero reports whether there is no secret.
func (v Value) IsZero() bool { return v.p == nil }

// Equal reports whether two secrets are the same, in a time that depends on their
// lengths only.
func (v Value) Equal(w Value) bool {
	return subtle.ConstantTimeCompare([]byte(v.Reveal()), []byte(w.Reveal())) == 1
}

// String implements [fmt.Stringer]: [redacted], or nothing where there is none.
func (v Value) String() string {
	if v.p == nil {
		return ""
	}
	return runtime.Redacted
}

// GoString implements [fmt.GoStringer].
func (v Value) GoString() string { return v.String() }

// Format implements [fmt.Formatter]: every verb prints the same.
func (v Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, v.String()) } // as fmt itself ignores it

// MarshalText implements [encoding.TextMarshaler].
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalJSON implements [json.Marshaler].
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.String()) }

// LogValue implements [slog.LogValuer].
func (v Value) LogValue() slog.Value { return slog.StringValue(v.String()) }

// UnmarshalText implements [encoding.TextUnmarshaler], so that configurations can be
// decoded into values.
func (v *Value) UnmarshalText(text []byte) error {
	*v = New(string(text))
	return nil
}

// With returns a toolset that has secrets besides its own: those of what its hooks work
// with, such as a connection.Handle.
func With(ts runtime.Toolset, secrets ...runtime.Secrets) runtime.Toolset {
	return &with{ts, secrets}
}

type with struct {
	runtime.Toolset

	secrets []runtime.Secrets
}

// Unwrap implements [runtime.ToolsetWrapper].
func (w *with) Unwrap() []runtime.Toolset { return []runtime.Toolset{w.Toolset} }

// FindSecrets implements [runtime.Secrets].
func (w *with) FindSecrets(text string) (spans []runtime.Span) {
	for _, s := range w.secrets {
		spans = append(spans, s.FindSecrets(text)...)
	}
	return spans
}
