// Package config reads toolgen.yaml: which packages that aren't yours have
// hooks, where output goes, and what holds for all tools.
//
// It is strict: an unknown key, a key twice, a value of another type, a second
// document and an anchor are errors, and every value knows its line and column
// for the errors of the stages that use it.
package config

import (
	"slices"
	"strings"
	"time"

	"github.com/toolgen/toolgen/gen/internal/diag"
)

// FileName is what the file is called.
const FileName = "toolgen.yaml"

// A File is what toolgen.yaml says. The zero value is that of no file.
type File struct {
	Path       string // absolute; "": there is none
	Lock       Text   // path of the lock, relative to the file; unset: toolgen.lock; set and empty: none
	Lint       Lint
	Registries []Registry
	Defaults   Settings
	Packages   []Package
}

// Lint says how prose is looked at.
type Lint struct {
	ParamDocs      string // of parameters without a description: off, warn (also "") or error
	DescriptionMax int    // characters of a description; 0: 1024
	Disable        []Text // codes that are not reported
}

// Text is a string with its place.
type Text struct {
	Value string
	Pos   diag.Position
}

// IsSet reports whether the file has it.
func (t Text) IsSet() bool { return t.Pos.IsValid() }

// A Registry is a generated package that gathers toolsets.
type Registry struct {
	Output   Text   // folder, relative to the file
	Package  Text   // unset: base of Output
	Packages []Text // paths of the hook packages; none: all
	Pos      diag.Position
}

// Settings hold for a file, package, type or method: the innermost wins. A
// zero field says nothing.
type Settings struct {
	Description       string // full or summary
	FieldNames        string // json or snake
	UnsupportedFields string // error or omit
	Timeout           time.Duration
	Duration          string // string or ns
	MaxArgs           int    // bytes
	MaxResult         int    // bytes
	MaxItems          int    // of a stream
	Repair            *bool  // a string that holds JSON stands for the object or array that is wanted
	Coerce            *bool  // a string that holds a number or boolean stands for it
	Allow             []Text // codes of warnings that are accepted; those of all levels add up
}

// Over returns the settings of s, and those of outer where s says nothing.
func (s Settings) Over(outer Settings) Settings {
	return Settings{
		Description:       or(s.Description, outer.Description),
		FieldNames:        or(s.FieldNames, outer.FieldNames),
		UnsupportedFields: or(s.UnsupportedFields, outer.UnsupportedFields),
		Timeout:           or(s.Timeout, outer.Timeout),
		MaxArgs:           or(s.MaxArgs, outer.MaxArgs),
		MaxResult:         or(s.MaxResult, outer.MaxResult),
		Duration:          or(s.Duration, outer.Duration),
		MaxItems:          or(s.MaxItems, outer.MaxItems),
		Repair:            or(s.Repair, outer.Repair),
		Coerce:            or(s.Coerce, outer.Coerce),
		Allow:             slices.Concat(s.Allow, outer.Allow),
	}
}

func or[T comparable](a, b T) T {
	var zero T
	if a != zero {
		return a
	}
	return b
}

// A Package is one hook package.
type Package struct {
	Path     Text // import path, or ./folder for one of this module
	Output   Text // folder, relative to the file; unset: beside the hooks
	Package  Text // name of the generated package; unset: base of Output
	Prefix   Text // of tool names; unset: the package's name; set and empty: none
	Settings Settings
	Types    []Type

	RequiredDoc []string // words of a field's prose that mean it is required
	DropResults []Text   // types of results that are not shown
	Enums       []Value  // by type: closed, open or off
	Schemas     []Value  // by type: JSON Schema in the place of the derived one

	Implementations []Value // by interface: types that a model may choose from
}

// A Value is an entry of a mapping: a word or JSON.
type Value struct {
	Name  Text
	Value Text
	List  []string // the elements of a list of words
}

// A Type is a receiver with hooks.
type Type struct {
	Name     Text
	Prefix   Text // of tool names; unset: the package's
	Settings Settings
	Methods  []Method
}

// A Method is one hook.
type Method struct {
	Method      Text // Go name
	Name        Text // of the tool, whole
	Title       Text
	Description Text
	Hints       []Text // names of hint directives
	Sequential  bool
	Defer       bool
	Approve     Text // "true", or a function that says when
	Retries     Text // of corrections in a row
	Guards      []Value
	Examples    []Text
	ParamNames  []Text // of parameters without a name
	Results     []Result
	Drop        []Result // those that are not shown
	Media       Text
	Redact      []Text
	Unwrap      Text   // method
	Into        Text   // type that it fills
	Retry       []Text // names of error variables
	Failed      []Text
	Params      []Param
	Settings    Settings
}

// A Param is what the file says of a parameter or a field of one.
type Param struct {
	Name        Text // dots reach into a struct
	Description Text
	Hide        bool
	Keys        []Value // keywords and flags
	Confine     []Value
	Pin         Text // value
	PinConst    Text
	PinFrom     Text
	PinOption   Text
	Options     []Text // constructors
	Collect     bool
}

// A Result says which fields of a result are shown.
type Result struct {
	Index  int // from 0
	Fields []Text
	As     Text
	Pos    diag.Position
}

// Symbols lists the functions, constants and variables that the file names with
// the path of their package.
func (f *File) Symbols() []Text {
	var out []Text
	add := func(t Text) {
		if strings.Contains(t.Value, ".") {
			out = append(out, t)
		}
	}
	for i := range f.Packages {
		for _, t := range f.Packages[i].Types {
			for _, m := range t.Methods {
				for _, word := range slices.Concat([]Text{m.Approve}, m.Retry, m.Failed) {
					add(word)
				}
				for _, g := range m.Guards {
					add(g.Name)
				}
				for _, p := range m.Params {
					add(p.PinConst)
					add(p.PinFrom)
				}
			}
		}
	}
	return out
}
