// Package model is what a run emits, as plain data: no go/types, no syntax.
// It stands in the middle of the pipeline, so that whatever comes before can
// be tested by dumping it as JSON, and whatever comes after by writing one.
package model

import (
	"time"

	"github.com/toolgen/toolgen/gen/internal/diag"
)

// A Package is one generated package.
type Package struct {
	Path       string    `json:"path"` // import path
	Name       string    `json:"name"`
	Dir        string    `json:"dir"` // absolute
	Source     string    `json:"source"`
	SourceName string    `json:"source_name"`
	Toolsets   []Toolset `json:"toolsets"`
	Codecs     []Codec   `json:"codecs,omitempty"` // sorted by name
	Patterns   []Pattern `json:"patterns,omitempty"`

	// Imports are the names of packages whose types appear, by import path.
	Imports map[string]string `json:"-"`
	Aliases map[string]string `json:"-"` // other names for some of them
}

// A Pattern is a regular expression that arguments are matched with.
type Pattern struct {
	Var  string `json:"var"`
	Text string `json:"text"`
}

// A Toolset is the tools of one receiver type.
type Toolset struct {
	Name     string        `json:"name"`     // Desk: DeskToolset, NewDesk
	Receiver GoType        `json:"receiver"` // what NewDesk takes
	Var      string        `json:"var"`      // what generated code calls a receiver
	Nilable  bool          `json:"nilable"`  // a nil receiver can be recognised
	Pos      diag.Position `json:"-"`
	Tools    []Tool        `json:"tools"`             // sorted by name
	Options  []GoField     `json:"options,omitempty"` // what its constructor takes besides
}

// A Tool is one hook.
type Tool struct {
	Name        string        `json:"name"`
	Title       string        `json:"title,omitempty"`
	Description string        `json:"description,omitempty"`
	Method      string        `json:"method"` // of the receiver
	Ident       string        `json:"ident"`  // RefundOrder: RefundOrderName, RefundOrderArgs
	Entry       string        `json:"entry"`  // typed method of the toolset
	Type        string        `json:"type"`   // refundOrder: the unexported tool type
	Hints       Hints         `json:"hints"`
	Sequential  bool          `json:"sequential,omitempty"`
	Context     bool          `json:"context"` // the hook takes one
	Timeout     time.Duration `json:"timeout,omitempty"`
	MaxArgs     int           `json:"max_args,omitempty"`
	MaxResult   int           `json:"max_result,omitempty"`
	MaxItems    int           `json:"max_items,omitempty"`
	Retry       []ErrorMatch  `json:"retry,omitempty"`  // errors that a model can correct
	Failed      []ErrorMatch  `json:"failed,omitempty"` // errors that a model may see
	Guards      []Guard       `json:"guards,omitempty"`
	Approve     bool          `json:"approve,omitempty"` // a person decides
	Defer       bool          `json:"defer,omitempty"`   // found by search
	Retries     int           `json:"retries,omitempty"`
	Coerce      bool          `json:"coerce,omitempty"`
	NoRepair    bool          `json:"no_repair,omitempty"`
	When        *Guard        `json:"when,omitempty"` // only when this says so

	Confined map[string]string `json:"confined,omitempty"` // policies of arguments, by pointer
	Pinned   map[string]string `json:"pinned,omitempty"`   // how the host sets arguments, by pointer

	Params     []Param       `json:"params,omitempty"` // in order
	Results    []Result      `json:"results,omitempty"`
	Input      string        `json:"input"`            // JSON Schema, indented
	Output     string        `json:"output,omitempty"` // JSON Schema, indented
	SchemaHash string        `json:"schema_hash"`
	Signature  GoType        `json:"signature,omitzero"` // of the method expression; zero: it has a type that can't be named
	Allowed    []string      `json:"-"`                  // codes of warnings that are accepted
	Pos        diag.Position `json:"-"`
}

// An ErrorMatch is a variable or type of the hook package that an error is
// compared with.
type ErrorMatch struct {
	Go   GoType `json:"go"`
	Type bool   `json:"type,omitempty"` // a type, found by errors.As
}

// A Guard is a function of the hook package that looks at arguments before the
// hook runs.
type Guard struct {
	Func   GoType   `json:"func,omitzero"`
	Method string   `json:"method,omitempty"` // of the receiver
	Args   []string `json:"args,omitempty"`   // fields of the argument struct
	Params []int    `json:"params,omitempty"` // indexes of the parameters
}

// Hints are a tool's hints: nil is unknown.
type Hints struct {
	ReadOnly    *bool `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  *bool `json:"idempotent,omitempty"`
	OpenWorld   *bool `json:"open_world,omitempty"`
}

// A Param is a parameter of a hook, and how it comes by its argument.
type Param struct {
	Field    `json:"field"`
	Doc      string    `json:"doc,omitempty"`
	Form     Form      `json:"form,omitempty"`
	Variadic bool      `json:"variadic,omitempty"` // its type is the slice
	Param    GoType    `json:"param,omitzero"`     // type of the parameter, where the argument's is another
	Pin      *Pin      `json:"pin,omitempty"`      // Pinned
	Default  *Literal  `json:"default,omitempty"`  // in the place of an argument that isn't sent
	Options  []Option  `json:"options,omitempty"`  // Optional
	Builder  *Builder  `json:"builder,omitempty"`  // Optional: what the options are set on
	Callback *Callback `json:"callback,omitempty"` // Collect
}

// A Form is how a parameter comes by its argument.
type Form string

// The forms.
const (
	Value    Form = ""
	Context  Form = "context"   // the context of the call
	Hidden   Form = "hidden"    // its zero value
	Pinned   Form = "pinned"    // what the host sets
	Pointed  Form = "pointed"   // an optional argument, or its default or zero value
	Captured Form = "captured"  // an io.Writer, whose text is the result
	Optional Form = "functions" // functional options, made of an object
	Collect  Form = "collect"   // a callback, whose arguments are the result
)

// Offered reports whether a model may send the parameter.
func (p *Param) Offered() bool {
	switch p.Form {
	case Value, Pointed, Optional:
		return true
	default:
		return false
	}
}

// A Pin is how the host sets a parameter or field: exactly one field is set.
type Pin struct {
	Value  *Literal `json:"value,omitempty"`
	Symbol GoType   `json:"symbol,omitzero"`  // a constant or variable
	Func   GoType   `json:"func,omitzero"`    // a function of the context
	Method string   `json:"method,omitempty"` // the same, of the receiver
	Option string   `json:"option,omitempty"` // a field of the toolset's options
}

// A Literal is a Go value written down.
type Literal struct {
	Go     GoType    `json:"go"`
	Text   string    `json:"text,omitempty"` // of a basic value: its Go source
	Quoted bool      `json:"quoted,omitempty"`
	Addr   bool      `json:"addr,omitempty"` // a pointer to Elems[0]
	Keys   []string  `json:"keys,omitempty"` // of a map, or names of fields
	Struct bool      `json:"struct,omitempty"`
	Elems  []Literal `json:"elems,omitempty"`
	Nil    bool      `json:"nil,omitempty"`
}

// A Builder is a function that makes what options are set on by its methods.
type Builder struct {
	Func   GoType  `json:"func"`
	Params []Field `json:"params,omitempty"`
	Spread bool    `json:"spread,omitempty"` // its last parameter is variadic
}

// An Option is a constructor of a functional option that is offered, or a
// method of a builder.
type Option struct {
	Method  string  `json:"method,omitempty"`  // of the builder
	Chained bool    `json:"chained,omitempty"` // it returns the builder
	Func    GoType  `json:"func"`
	Field   Field   `json:"field"`
	Params  []Field `json:"params,omitempty"`  // none: the property is a boolean; one: its value; more: fields of an object
	Type    string  `json:"type,omitempty"`    // of the object
	Spread  bool    `json:"spread,omitempty"`  // its last parameter is variadic
	Wrapped bool    `json:"wrapped,omitempty"` // the field is a pointer to the argument, nil where it isn't sent
}

// A Callback is a func that is called with each value.
type Callback struct {
	Elem    Type   `json:"elem"`
	Returns string `json:"returns,omitempty"` // "", error, bool
	Max     int    `json:"max"`
}

// A Result is a result of a hook, in order. The last error is one too.
type Result struct {
	Name   string  `json:"name,omitempty"` // of a property, where there are several
	Go     GoType  `json:"go"`
	Type   Type    `json:"type,omitzero"`
	Error  bool    `json:"error,omitempty"`  // the error
	Drop   bool    `json:"drop,omitempty"`   // not shown
	Extra  bool    `json:"extra,omitempty"`  // none of the method: what was captured or collected
	Stream *Stream `json:"stream,omitempty"` // its items are shown
	Unwrap *Unwrap `json:"unwrap,omitempty"` // what a method of it returns is shown
	Keep   []Keep  `json:"keep,omitempty"`   // only these fields are shown
	Media  string  `json:"media,omitempty"`  // bytes of this type
}

// A Stream is a result that yields items.
type Stream struct {
	Kind StreamKind `json:"kind"`
	Key  *Type      `json:"key,omitempty"` // Pairs
	Max  int        `json:"max"`
}

// A StreamKind is the form of a stream.
type StreamKind string

// The kinds of streams.
const (
	Seq      StreamKind = "seq"     // iter.Seq[T]
	SeqError StreamKind = "seq_err" // iter.Seq2[T, error]
	Pairs    StreamKind = "pairs"   // iter.Seq2[K, V]
	Channel  StreamKind = "channel" // <-chan T
)

// An Unwrap is a method by which a result gives its data.
type Unwrap struct {
	Method  string `json:"method"`
	Context bool   `json:"context,omitempty"` // it takes the context
	Into    GoType `json:"into,omitzero"`     // it fills one of these; zero: it returns the data
	Nilable bool   `json:"nilable,omitempty"` // the result may be nil
}

// A Keep is a field of a result that is shown though the rest is not.
type Keep struct {
	Name  string   `json:"name"`
	Path  []string `json:"path"`
	Guard []int    `json:"guard,omitempty"` // lengths of heads of the path that may be nil
	Type  Type     `json:"type"`
}

// A Kind says how a value is read and written.
type Kind string

// The kinds. Struct, Slice, Array and Map have a codec.
const (
	Bool     Kind = "bool"
	String   Kind = "string"
	Int      Kind = "int"
	Uint     Kind = "uint"
	Float    Kind = "float"
	Enum     Kind = "enum"     // of strings
	IntEnum  Kind = "int_enum" // of integers
	Time     Kind = "time"
	Duration Kind = "duration"
	Bytes    Kind = "bytes"
	Raw      Kind = "raw"
	Number   Kind = "number" // json.Number
	Any      Kind = "any"
	Error    Kind = "error"
	Content  Kind = "content" // an io.Reader, read and closed
	URL      Kind = "url"
	BigInt   Kind = "big_int"
	Union    Kind = "union"     // an interface with known implementations
	Feed     Kind = "feed"      // a sequence or channel, made of a slice
	NameEnum Kind = "name_enum" // of integers, by their names
	Text     Kind = "text"      // its own MarshalText and UnmarshalText
	JSON     Kind = "json"      // its own MarshalJSON and UnmarshalJSON
	Pointer  Kind = "pointer"
	Struct   Kind = "struct"
	Slice    Kind = "slice"
	Array    Kind = "array"
	Map      Kind = "map"
)

// Nilable reports whether the kind has a nil that JSON's null stands for.
func (k Kind) Nilable() bool {
	return k == Pointer || k == Slice || k == Map || k == Bytes
}

// LeftOut reports whether a result property of the kind is not there when it
// is nil.
func (k Kind) LeftOut() bool {
	return k == Pointer || k == Error || k == Content || k == Union
}

// A Type is how one Go type is read or written.
type Type struct {
	Kind  Kind   `json:"kind"`
	Go    GoType `json:"go"`
	Bits  int    `json:"bits,omitempty"`  // Int, Uint, Float; 0: the machine's
	Elem  *Type  `json:"elem,omitempty"`  // Pointer
	Codec string `json:"codec,omitempty"` // Struct, Slice, Array, Map, Enum, IntEnum: name of its codec
	Table string `json:"table,omitempty"` // Enum, IntEnum: where a reader looks values up
	Base  Kind   `json:"base,omitempty"`  // Text, JSON: the kind of the underlying type, by which it is empty or not; Feed: seq or channel; Content: bytes

	NotNull bool `json:"not_null,omitempty"` // null is refused: of JSON, and of elements of which the host says something
}

// A Codec is a pair of generated functions for one Go type.
type Codec struct {
	Name    string   `json:"name"`  // Line: readLine, writeLine
	Table   string   `json:"table"` // where a reader looks names or values up: lineFields, priorityValues
	Kind    Kind     `json:"kind"`
	Go      GoType   `json:"go"`
	Local   bool     `json:"local,omitempty"` // a struct that generated code declares
	Len     int      `json:"len,omitempty"`
	Keys    [2]*Type `json:"keys,omitzero"`     // of a map, as it is read and as it is written
	Elems   [2]*Type `json:"elems,omitzero"`    // of a slice, array or map, likewise
	Read    []Field  `json:"read,omitempty"`    // fields of a struct that are read
	Write   []Field  `json:"write,omitempty"`   // those that are written
	Hosts   []string `json:"hosts,omitempty"`   // names of fields that the host sets, which are not to be sent
	Presets bool     `json:"presets,omitempty"` // there is a preset function
	Fixed   []Field  `json:"fixed,omitempty"`   // those of them that are not zero: Preset is what they are
	Reads   bool     `json:"reads,omitempty"`   // there is a read function
	Writes  bool     `json:"writes,omitempty"`

	Omitted [2][]string `json:"omitted,omitzero"` // fields and implementations that can't be sent, likewise
	Values  []string    `json:"values,omitempty"` // Enum; NameEnum: the names of Ints

	Variants [2][]Variant `json:"variants,omitzero"` // Union, as it is read and as it is written
	Ints     []int64      `json:"ints,omitempty"`    // IntEnum
}

// A Variant is one implementation of an interface.
type Variant struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
}

// Fields are those of a struct as it is read or as it is written.
func (c *Codec) Fields(side int) []Field {
	if side == Reading {
		return c.Read
	}
	return c.Write
}

// ReadFunc is the function of a codec that reads.
func ReadFunc(codec string) string { return "read" + codec }

// PresetFunc is the function that sets what isn't sent.
func PresetFunc(codec string) string { return "preset" + codec }

// WriteFunc is the function that writes.
func WriteFunc(codec string) string { return "write" + codec }

// The sides of a codec: indexes of Keys and Elems.
const (
	Reading = 0
	Writing = 1
)

// A Field is a property and the Go variable behind it.
type Field struct {
	Name      string   `json:"name"`               // in JSON
	Go        string   `json:"go"`                 // field of the args struct or struct
	Embedded  []Step   `json:"embedded,omitempty"` // embedded fields on the way to it
	Promoted  bool     `json:"promoted,omitempty"` // it can be selected without naming them
	Type      Type     `json:"type"`
	Required  bool     `json:"required,omitempty"`
	Nullable  bool     `json:"nullable,omitempty"` // null is the zero value
	OmitEmpty bool     `json:"omit_empty,omitempty"`
	OmitZero  string   `json:"omit_zero,omitempty"` // how zero is recognised: method, compare
	Quoted    bool     `json:"quoted,omitempty"`    // ,string
	Rules     []Rule   `json:"rules,omitempty"`
	Secret    bool     `json:"secret,omitempty"` // never repeated in a message
	Preset    *Literal `json:"preset,omitempty"` // what it is when it isn't sent
	Inner     string   `json:"inner,omitempty"`  // codec of a struct within that has presets

	Pos diag.Position `json:"-"` // of the parameter or field
}

// A Rule is a constraint that is checked after a value was read: a function of
// package toolimpl and what it compares with.
type Rule struct {
	Func string    `json:"func"`
	Args []Literal `json:"args,omitempty"`
	Var  string    `json:"var,omitempty"`  // package variable that holds the argument: a pattern
	Of   string    `json:"of,omitempty"`   // what of the value is given: "", string, len
	Read bool      `json:"read,omitempty"` // a method of the reader, not a function
}

// A Step is an embedded field on the way to a promoted one.
type Step struct {
	Go      string `json:"go"`
	Pointer GoType `json:"pointer,omitzero"` // what to make where it is nil; zero: embedded by value
}

// A Registry is a generated package that gathers toolsets.
type Registry struct {
	Path   string        `json:"path"`
	Name   string        `json:"name"`
	Dir    string        `json:"dir"`
	Fields []RegistryHub `json:"fields"`

	Imports map[string]string `json:"-"` // names of the hook packages, by import path

	Pos diag.Position `json:"-"`
}

// A RegistryHub is one receiver of a registry.
type RegistryHub struct {
	Field   string   `json:"field"`   // of Hooks
	Package string   `json:"package"` // import path of the generated package
	Name    string   `json:"name"`    // its name
	Toolset string   `json:"toolset"` // Desk
	Type    GoType   `json:"type"`
	Nilable bool     `json:"nilable"`
	Options bool     `json:"options,omitempty"` // its constructor takes options
	Tools   []string `json:"tools"`             // identifiers of its definitions
}
