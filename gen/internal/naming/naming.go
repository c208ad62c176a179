// Package naming turns Go names into the names that a model sees, and back
// into Go names for generated code.
package naming

import (
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Snake returns a Go name in snake_case: ListS3Keys is list_s3_keys, HTTPGet
// http_get, userIDs user_ids.
func Snake(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		if r == '_' {
			continue
		}
		if i > 0 && (startsWord(runes, i) || runes[i-1] == '_') && b.Len() > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// startsWord reports whether a word of a mixedCaps name begins at i: at a
// capital after a small letter or digit, and at the last capital of several
// before a small letter, unless that is the plural s of an initialism.
func startsWord(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i]) {
		return false
	}
	if before := runes[i-1]; !unicode.IsUpper(before) {
		return true
	}
	if i+1 == len(runes) || !unicode.IsLower(runes[i+1]) {
		return false
	}
	plural := runes[i+1] == 's' && (i+2 == len(runes) || unicode.IsUpper(runes[i+2]))
	return !plural
}

// initialisms are the words that Go writes in capitals.
var initialisms = map[string]string{
	"api": "API", "ascii": "ASCII", "cpu": "CPU", "css": "CSS", "dns": "DNS", "html": "HTML", "http": "HTTP",
	"https": "HTTPS", "id": "ID", "ids": "IDs", "ip": "IP", "json": "JSON", "sql": "SQL", "sha": "SHA",
	"tls": "TLS", "ttl": "TTL", "ui": "UI", "uri": "URI", "url": "URL", "utf8": "UTF8", "uuid": "UUID", "xml": "XML",
}

// Exported returns the exported form of a parameter's name: orderID is OrderID,
// url is URL.
func Exported(name string) string {
	if up, ok := initialisms[name]; ok {
		return up
	}
	name = strings.TrimLeft(name, "_")
	runes := []rune(name)
	if len(runes) == 0 {
		return "X"
	}
	runes[0] = unicode.ToUpper(runes[0])
	if !unicode.IsUpper(runes[0]) { // a script without capitals, or a digit
		return "X" + string(runes)
	}
	return string(runes)
}

// Unexported returns a name with a small first word: IssuesService is
// issuesService, URLStore urlStore, DB db.
func Unexported(name string) string {
	runes := []rune(name)
	small := []rune(name)
	for i := range runes {
		if i > 0 && (startsWord(runes, i) || !unicode.IsUpper(runes[i])) {
			break
		}
		small[i] = unicode.ToLower(runes[i])
	}
	return string(small)
}

// A Scope hands out Go identifiers of which no two are equal. The zero value
// is an empty scope.
type Scope struct {
	taken map[string]bool
	given map[string]bool // at the beginning
}

// predeclared are the identifiers of Go's universe that generated code uses or
// that would confuse its reader.
var predeclared = []string{
	"any", "append", "bool", "byte", "cap", "clear", "close", "complex", "copy", "delete", "error", "false", "float32",
	"float64", "imag", "int", "int16", "int32", "int64", "int8", "iota", "len", "make", "max", "min", "new", "nil",
	"panic", "print", "println", "real", "recover", "rune", "string", "true", "uint", "uint16", "uint32", "uint64",
	"uint8", "uintptr",
}

// NewScope returns a scope in which the given names, and Go's predeclared
// ones, are taken.
func NewScope(taken ...string) *Scope {
	s := &Scope{taken: make(map[string]bool, len(taken)+len(predeclared)), given: make(map[string]bool, len(taken))}
	for _, n := range predeclared {
		s.taken[n] = true
	}
	for _, n := range taken {
		s.taken[n], s.given[n] = true, true
	}
	return s
}

// Name returns name if it is free and no keyword, else the first free of
// name2, name3 …, and takes it.
func (s *Scope) Name(name string) string {
	free := name
	for n := 2; s.Has(free); n++ {
		free = name + strconv.Itoa(n)
	}
	s.taken[free] = true
	return free
}

// Family returns name, else the first of name2, name3 …, for which all of the
// identifiers made from it are free, and takes those.
func (s *Scope) Family(name string, made func(string) []string) string {
	free := name
	for n := 2; slices.ContainsFunc(made(free), s.Has); n++ {
		free = name + strconv.Itoa(n)
	}
	for _, ident := range made(free) {
		s.taken[ident] = true
	}
	return free
}

// IsPackage reports whether a name was taken by NewScope.
func (s *Scope) IsPackage(name string) bool { return s.given[name] }

// Take takes a name, free or not.
func (s *Scope) Take(name string) { s.taken[name] = true }

// Has reports whether a name is taken, or can't be declared at all.
func (s *Scope) Has(name string) bool {
	return s.taken[name] || token.IsKeyword(name) || name == "_" || name == "init"
}
