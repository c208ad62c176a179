package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolgen/toolgen/runtime/schema"
)

// A Definition is what a model sees of a tool, and what the run needs to know
// to call it. It is immutable: who wants a changed one copies it.
type Definition struct {
	Name        string // ^[A-Za-z_][A-Za-z0-9_-]{0,63}$, unique in a registry
	Title       string // for people; empty: none
	Description string // for the model

	// Input is the JSON Schema (2020-12) of the arguments: an object. Output
	// is that of the structured result; nil: the result is text or media.
	// Keys are in declaration order. Generated schemas are indented, as they
	// stand in the generated file: an adapter compacts them when it starts.
	Input, Output json.RawMessage

	Hints      Hints
	Sequential bool          // runs alone in its batch: a barrier
	Defer      bool          // need not be in the first list that a model gets: it can be found by search
	Approval   Approval      // whether a person decides about a call; a [Run] holds such calls
	Retries    int           // corrections in a row that a model has, before the run ends; 0: as the run says, -1: none
	NoContext  bool          // the hook takes no context, so a deadline can only abandon it
	Timeout    time.Duration // of one call; 0: the run's
	MaxResult  int           // bytes of text and structured result; 0: the run's

	// SchemaHash is [schema.Hash] of Input and Output: a literal in generated
	// code, filled in on a copy by [NewRegistry] where it is empty.
	SchemaHash string

	Meta map[string]string // never sent to a model; nil in generated code
}

// Approval says whether a person approves the calls of a tool.
type Approval uint8

// The values of Approval. The zero value needs nobody.
const (
	Never  Approval = iota
	Always          // every call is pending
	Ask             // those for which the tool's [Policy] says so; all, where it has none
)

// Hints tell what a tool does to the world. They steer a client; they never
// guard anything.
type Hints struct {
	ReadOnly    Hint // changes nothing
	Destructive Hint // may delete or overwrite
	Idempotent  Hint // the same call twice does no more than once
	OpenWorld   Hint // reaches beyond the host's own systems
}

// A Hint is a three-valued fact. The zero value says that nobody knows, which
// is read as the worst case: destructive, not read-only, not idempotent, open.
type Hint uint8

// The values of a Hint.
const (
	Unknown Hint = iota
	Yes
	No
)

// Or returns the hint as a boolean, and unknown for Unknown.
func (h Hint) Or(unknown bool) bool {
	switch h {
	case Yes:
		return true
	case No:
		return false
	default:
		return unknown
	}
}

// safeToRepeat reports whether a call whose end nobody saw may be made again.
func (h Hints) safeToRepeat() bool {
	return h.ReadOnly == Yes || h.Idempotent == Yes
}

// check returns what is wrong with a definition that a registry was given.
func (d *Definition) check() error {
	switch {
	case d == nil:
		return errors.New("a tool has no definition")
	case !schema.ValidName(d.Name):
		return fmt.Errorf("tool name %q is not valid: it must match ^[A-Za-z_][A-Za-z0-9_-]{0,63}$", d.Name)
	case d.Hints.ReadOnly == Yes && d.Hints.Destructive == Yes:
		return fmt.Errorf("tool %s: hinted both read-only and destructive: drop one", d.Name)
	case d.Timeout < 0:
		return fmt.Errorf("tool %s: Timeout can't be negative", d.Name)
	case d.Retries < -1:
		return fmt.Errorf("tool %s: Retries must be -1, 0 or more", d.Name)
	case d.Approval > Ask:
		return fmt.Errorf("tool %s: Approval %d is not known", d.Name, d.Approval)
	case d.MaxResult != 0 && d.MaxResult < leastResult:
		return fmt.Errorf("tool %s: MaxResult must be 0 or at least %d", d.Name, leastResult)
	}
	return nil
}

// withHash returns d, or a copy of it with its schema hash filled in. Schemas
// that are not JSON, or no object, are refused here: a hash in generated code
// vouches for those that the generator wrote.
func (d *Definition) withHash() (*Definition, error) {
	if d.SchemaHash != "" {
		return d, nil
	}
	hash, err := schema.Hash(d.Input, d.Output)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", d.Name, err)
	}
	c := *d
	c.SchemaHash = hash
	return &c, nil
}
