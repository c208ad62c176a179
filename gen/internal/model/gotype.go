package model

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
