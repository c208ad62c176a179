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

	// Imports are the names of packages whose types appear, by import path.
	Imports map[string]string `json:"-"`
	Aliases map[string]string `json:"-"` // other names for some of them
}

// A Toolset is the tools of one receiver type.
type Toolset struct {
	Name     string        `json:"name"`     // Desk: DeskToolset, NewDesk
	Receiver GoType        `json:"receiver"` // what NewDesk takes
	Var      string        `json:"var"`      // what generated code calls a receiver
	Nilable  bool          `json:"nilable"`  // a nil receiver can be recognised
	Pos      diag.Position `json:"-"`
	Tools    []Tool        `json:"tools"` // sorted by name
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
	Retry       []GoType      `json:"retry,omitempty"`  // error variables that a model can correct
	Failed      []GoType      `json:"failed,omitempty"` // error variables that a model may see
	Params      []Param       `json:"params,omitempty"` // in order
	Results     []Result      `json:"results,omitempty"`
	Input       string        `json:"input"`            // JSON Schema, indented
	Output      string        `json:"output,omitempty"` // JSON Schema, indented
	SchemaHash  string        `json:"schema_hash"`
	Signature   GoType        `json:"signature,omitzero"` // of the method expression; zero: it has a type that can't be named
	Pos         diag.Position `json:"-"`
}

// Hints are a tool's hints: nil is unknown.
type Hints struct {
	ReadOnly    *bool `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  *bool `json:"idempotent,omitempty"`
	OpenWorld   *bool `json:"open_world,omitempty"`
}

// A Param is a parameter of a hook.
type Param struct {
	Field    `json:"field"`
	Doc      string `json:"doc,omitempty"`
	Context  bool   `json:"context,omitempty"`  // the context of the call
	Hidden   bool   `json:"hidden,omitempty"`   // passed as its zero value
	Variadic bool   `json:"variadic,omitempty"` // its type is the slice
}

// A Result is a result of a hook, in order. The last error is one too.
type Result struct {
	Name  string `json:"name,omitempty"` // of a property, where there are several
	Go    GoType `json:"go"`
	Type  Type   `json:"type,omitzero"`
	Error bool   `json:"error,omitempty"` // the error
	Drop  bool   `json:"drop,omitempty"`  // not shown
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
	Text     Kind = "text" // its own MarshalText and UnmarshalText
	JSON     Kind = "json" // its own MarshalJSON and UnmarshalJSON
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

// A Type is how one Go type is read or written.
type Type struct {
	Kind  Kind   `json:"kind"`
	Go    GoType `json:"go"`
	Bits  int    `json:"bits,omitempty"`  // Int, Uint, Float; 0: the machine's
	Elem  *Type  `json:"elem,omitempty"`  // Pointer
	Codec string `json:"codec,omitempty"` // Struct, Slice, Array, Map, Enum, IntEnum: name of its codec
	Table string `json:"table,omitempty"` // Enum, IntEnum: where a reader looks values up
	Base  Kind   `json:"base,omitempty"`  // Text, JSON: the kind of the underlying type, by which it is empty or not
}

// A Codec is a pair of generated functions for one Go type.
type Codec struct {
	Name   string   `json:"name"`  // Line: readLine, writeLine
	Table  string   `json:"table"` // where a reader looks names or values up: lineFields, priorityValues
	Kind   Kind     `json:"kind"`
	Go     GoType   `json:"go"`
	Len    int      `json:"len,omitempty"`
	Keys   [2]*Type `json:"keys,omitzero"`   // of a map, as it is read and as it is written
	Elems  [2]*Type `json:"elems,omitzero"`  // of a slice, array or map, likewise
	Read   []Field  `json:"read,omitempty"`  // fields of a struct that are read
	Write  []Field  `json:"write,omitempty"` // those that are written
	Hosts  []string `json:"hosts,omitempty"` // names of hidden fields, which are not to be sent
	Reads  bool     `json:"reads,omitempty"` // there is a read function
	Writes bool     `json:"writes,omitempty"`
	Values []string `json:"values,omitempty"` // Enum
	Ints   []int64  `json:"ints,omitempty"`   // IntEnum
}

// ReadFunc is the function of a codec that reads.
func ReadFunc(codec string) string { return "read" + codec }

// WriteFunc is the function that writes.
func WriteFunc(codec string) string { return "write" + codec }

// The sides of a codec: indexes of Keys and Elems.
const (
	Reading = 0
	Writing = 1
)

// A Field is a property and the Go variable behind it.
type Field struct {
	Name      string `json:"name"`               // in JSON
	Go        string `json:"go"`                 // field of the args struct or struct
	Embedded  []Step `json:"embedded,omitempty"` // embedded fields on the way to it
	Promoted  bool   `json:"promoted,omitempty"` // it can be selected without naming them
	Type      Type   `json:"type"`
	Required  bool   `json:"required,omitempty"`
	Nullable  bool   `json:"nullable,omitempty"` // null is the zero value
	OmitEmpty bool   `json:"omit_empty,omitempty"`
	OmitZero  string `json:"omit_zero,omitempty"` // how zero is recognised: method, compare
	Quoted    bool   `json:"quoted,omitempty"`    // ,string
}

// A Step is an embedded field on the way to a promoted one.
type Step struct {
	Go      string `json:"go"`
	Pointer GoType `json:"pointer,omitzero"` // what to make where it is nil; zero: embedded by value
}

// A GoType is how a Go type is spelled.
type GoType struct {
	Kind     GoKind    `json:"kind,omitempty"`
	Package  string    `json:"package,omitempty"` // import path of a named type; "": predeclared
	Name     string    `json:"name,omitempty"`
	Args     []GoType  `json:"args,omitempty"` // type arguments; parameters of a func
	Results  []GoType  `json:"results,omitempty"`
	Elem     *GoType   `json:"elem,omitempty"`
	Key      *GoType   `json:"key,omitempty"`
	Len      int64     `json:"len,omitempty"`
	Variadic bool      `json:"variadic,omitempty"`
	Dir      string    `json:"dir,omitempty"`    // chan: "", send, receive
	Fields   []GoField `json:"fields,omitempty"` // struct, or methods of an interface
}

// IsZero reports whether there is no type.
func (t GoType) IsZero() bool { return t.Kind == "" }

// A GoKind is the form of a [GoType].
type GoKind string

// The forms of Go types.
const (
	Named         GoKind = "named"
	GoPointer     GoKind = "pointer"
	GoSlice       GoKind = "slice"
	GoArray       GoKind = "array"
	GoMap         GoKind = "map"
	GoChan        GoKind = "chan"
	GoFunc        GoKind = "func"
	GoStruct      GoKind = "struct"
	GoInterface   GoKind = "interface"
	UnsafePointer GoKind = "unsafe"
)

// A GoField is a field of a struct literal type or a method of an interface.
type GoField struct {
	Name     string `json:"name"`
	Type     GoType `json:"type"`
	Tag      string `json:"tag,omitempty"`
	Embedded bool   `json:"embedded,omitempty"`
}

// A Registry is a generated package that gathers toolsets.
type Registry struct {
	Path   string        `json:"path"`
	Name   string        `json:"name"`
	Dir    string        `json:"dir"`
	Fields []RegistryHub `json:"fields"`
	Pos    diag.Position `json:"-"`
}

// A RegistryHub is one receiver of a registry.
type RegistryHub struct {
	Field   string   `json:"field"`   // of Hooks
	Package string   `json:"package"` // import path of the generated package
	Name    string   `json:"name"`    // its name
	Toolset string   `json:"toolset"` // Desk
	Type    GoType   `json:"type"`
	Nilable bool     `json:"nilable"`
	Tools   []string `json:"tools"` // identifiers of its definitions
}
