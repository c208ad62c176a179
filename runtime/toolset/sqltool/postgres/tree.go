package postgres

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

//go:embed tree.txt
var treeText string

// message is what may be in a message of the parser's tree.
type message struct {
	name   string
	fields map[protowire.Number]*field
}

// field is one of a message.
type field struct {
	name   string
	kind   kind
	list   bool
	of     *message // of kind messages
	values []uint64 // of an enum; no bound for other numbers
	isEnum bool
}

type kind uint8

const (
	refusedKind kind = iota
	texts
	numbers
	messages
)

// grammar is what tree.txt says.
var grammar = sync.OnceValue(func() map[string]*message {
	all := make(map[string]*message)
	get := func(name string) *message {
		if all[name] == nil {
			all[name] = &message{name: name, fields: make(map[protowire.Number]*field)}
		}
		return all[name]
	}
	known, _, _ := strings.Cut(treeText, "\nrefused\n")
	var m *message
	for line := range strings.Lines(known) {
		line = strings.TrimSuffix(line, "\n")
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case line[0] != ' ':
			m = get(words[0])
		default:
			n, err := strconv.ParseInt(words[0], 10, 32)
			if err != nil {
				panic("postgres: tree.txt: " + line)
			}
			m.fields[protowire.Number(n)] = parseField(words[1], words[2:], get)
		}
	}
	return all
})

func parseField(name string, of []string, get func(string) *message) *field {
	base, list := strings.CutPrefix(of[0], "[]")
	f := &field{name: name, list: list}
	switch base {
	case "-":
	case "string":
		f.kind = texts
	case "int32", "uint32", "bool":
		f.kind = numbers
	case "enum":
		f.kind, f.isEnum = numbers, true
		for span := range strings.SplitSeq(of[2], ",") {
			first, last, ok := strings.Cut(span, "-")
			if !ok {
				last = first
			}
			from, err := strconv.ParseUint(first, 10, 32)
			to, err2 := strconv.ParseUint(last, 10, 32)
			if err != nil || err2 != nil {
				panic("postgres: tree.txt: the values of " + name)
			}
			for v := from; v <= to; v++ {
				f.values = append(f.values, v)
			}
		}
	default:
		f.kind, f.of = messages, get(base)
	}
	return f
}

// node is a message of a statement's tree. A nil one has nothing.
type node struct {
	kind   string
	fields []value
}

// value is a field that is set.
type value struct {
	name   string
	text   string
	number int64
	node   *node // nil in a list: an empty element
}

// errOtherStatement says that a statement is of no kind that there is for a model.
var errOtherStatement = errors.New("another kind of statement")

// maxDepth is how deep a tree may be; the bounds of its text keep it far below.
const maxDepth = 5000

// unknownError says that there is something in a tree that isn't in the table.
func unknownError(format string, args ...any) error {
	return sqltool.Refuse("the guard doesn't know " + fmt.Sprintf(format, args...) + ": write the statement without it")
}

// readTree reads the message that the parser makes of a text.
func readTree(raw []byte) (*node, error) { return grammar()["ParseResult"].read(raw, 0) }

func (m *message) read(raw []byte, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, unknownError("a statement that is nested so deep")
	}
	n := &node{kind: m.name}
	for len(raw) > 0 {
		number, wire, size := protowire.ConsumeTag(raw)
		if size < 0 {
			return nil, unknownError("what the parser answers")
		}
		raw = raw[size:]
		f := m.fields[number]
		if f == nil || f.kind == refusedKind {
			if what := m.describe(number); what != "" {
				return nil, unknownError("%s", what)
			}
			return nil, errOtherStatement
		}
		v, size, err := f.read(raw, wire, depth)
		if err != nil {
			return nil, err
		}
		if raw = raw[size:]; m.name == "Node" { // it has one field: what it is
			if len(raw) > 0 {
				return nil, unknownError("what the parser answers")
			}
			return v.node, nil
		}
		n.fields = append(n.fields, v)
	}
	if m.name == "Node" {
		return nil, nil //nolint:nilnil // an element that has nothing, as in a plain DISTINCT
	}
	return n, nil
}

// describe says in a model's words what it is that isn't known: the kind of a statement or
// a part of one.
func (m *message) describe(number protowire.Number) string {
	f := m.fields[number]
	switch {
	case f == nil:
		return fmt.Sprintf("field %d of %s", number, m.name)
	case m.name == "Node" && strings.HasSuffix(f.name, "_stmt"):
		return "" // a whole statement
	case m.name == "Node":
		return strings.ReplaceAll(f.name, "_", " ")
	default:
		return strings.ReplaceAll(f.name, "_", " ") + " in " + m.name
	}
}

func (f *field) read(raw []byte, wire protowire.Type, depth int) (v value, size int, err error) {
	v.name = f.name
	want := protowire.BytesType
	if f.kind == numbers {
		want = protowire.VarintType
	}
	if wire != want {
		return v, 0, unknownError("how %s is written", f.name)
	}
	if f.kind == numbers {
		n, size := protowire.ConsumeVarint(raw)
		if size < 0 || f.isEnum && !slices.Contains(f.values, n) {
			return v, 0, unknownError("%s %d", strings.ReplaceAll(f.name, "_", " "), n)
		}
		v.number = int64(n) //nolint:gosec // a negative number is written so
		return v, size, nil
	}
	content, size := protowire.ConsumeBytes(raw)
	if size < 0 {
		return v, 0, unknownError("what the parser answers")
	}
	if f.kind == texts {
		if !utf8.Valid(content) {
			return v, 0, unknownError("a name that is cut within a character")
		}
		v.text = string(content)
		return v, size, nil
	}
	v.node, err = f.of.read(content, depth+1)
	return v, size, err
}

// get returns a field that is set, or one that has nothing.
func (n *node) get(name string) value {
	if n != nil {
		for _, v := range n.fields {
			if v.name == name {
				return v
			}
		}
	}
	return value{}
}

// all yields the elements of a list.
func (n *node) all(name string) (list []*node) {
	if n != nil {
		for _, v := range n.fields {
			if v.name == name {
				list = append(list, v.node)
			}
		}
	}
	return list
}

func (n *node) is(kind string) bool { return n != nil && n.kind == kind }

// words are the texts of a list of names.
func (n *node) words(list string) (words []string) {
	for _, e := range n.all(list) {
		words = append(words, e.get("sval").text)
	}
	return words
}
