// Package bench has what compares this project with others, whose modules are heavy, or
// need a compiler of C: it is a module of its own.
package bench

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	pgquery "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// entry is what the guard's table says of a field.
type entry struct {
	name   string
	kind   string
	values map[int]bool // of an enum
}

// table reads the table of the PostgreSQL guard: the fields of each message that may be in
// a statement, and the messages that may not.
func table(t *testing.T) (messages map[string]map[int]entry, refused []string) {
	t.Helper()
	text, err := os.ReadFile("../../runtime/toolset/sqltool/postgres/tree.txt")
	if err != nil {
		t.Fatal(err)
	}
	known, rest, ok := strings.Cut(string(text), "\nrefused\n")
	if !ok {
		t.Fatal("the table has no list of what is refused")
	}
	messages = make(map[string]map[int]entry)
	message := ""
	for line := range strings.Lines(known) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case line[0] != ' ':
			message = words[0]
			messages[message] = make(map[int]entry)
		default:
			number, err := strconv.Atoi(words[0])
			if err != nil {
				t.Fatal(line)
			}
			e := entry{name: words[1], kind: words[2]}
			if e.kind == "enum" {
				e.kind, e.values = words[3], spans(t, words[4])
			}
			messages[message][number] = e
		}
	}
	return messages, strings.Fields(rest)
}

func spans(t *testing.T, text string) map[int]bool {
	t.Helper()
	all := make(map[int]bool)
	for span := range strings.SplitSeq(text, ",") {
		first, last, ok := strings.Cut(span, "-")
		if !ok {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil {
			t.Fatal(span)
		}
		for v := from; v <= to; v++ {
			all[v] = true
		}
	}
	return all
}

func kindOf(f protoreflect.FieldDescriptor) string {
	kind := f.Kind().String()
	switch f.Kind() {
	case protoreflect.MessageKind:
		kind = string(f.Message().Name())
	case protoreflect.EnumKind:
		kind = string(f.Enum().Name())
	}
	if f.IsList() {
		kind = "[]" + kind
	}
	return kind
}

// outside are messages that are no part of a tree.
var outside = []string{"ScanResult", "ScanToken", "SummaryResult"}

// TestTree compares the table with the parser's own description: whatever there is in a
// tree is allowed by the table, as what it is, or refused by it.
func TestTree(t *testing.T) {
	messages, refused := table(t)
	file := pgquery.File_pg_query_proto
	var all []string
	for i := range file.Messages().Len() {
		m := file.Messages().Get(i)
		name := string(m.Name())
		all = append(all, name)
		fields, known := messages[name]
		switch isRefused := slices.Contains(refused, name); {
		case slices.Contains(outside, name):
		case known == isRefused:
			t.Errorf("%s: in the table: %t, refused: %t; it is to be one of both", name, known, isRefused)
		case known:
			compare(t, m, fields)
		}
	}
	for name := range messages {
		if !slices.Contains(all, name) {
			t.Errorf("%s: the parser has no such message", name)
		}
	}
}

func compare(t *testing.T, m protoreflect.MessageDescriptor, fields map[int]entry) {
	t.Helper()
	if m.Fields().Len() != len(fields) {
		t.Errorf("%s: the parser has %d fields, the table %d", m.Name(), m.Fields().Len(), len(fields))
	}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		e, ok := fields[int(f.Number())]
		switch {
		case !ok || e.name != string(f.Name()):
			t.Errorf("%s: field %d is %s, in the table %q", m.Name(), f.Number(), f.Name(), e.name)
		case e.kind != "-" && e.kind != kindOf(f):
			t.Errorf("%s: %s is %s, in the table %s", m.Name(), f.Name(), kindOf(f), e.kind)
		case f.Kind() == protoreflect.EnumKind && e.kind != "-":
			compareEnum(t, f, e)
		}
	}
}

// compareEnum holds the values that pass to those that there are. One that comes later is
// to be looked at: its number is beyond the ones here.
func compareEnum(t *testing.T, f protoreflect.FieldDescriptor, e entry) {
	t.Helper()
	values := f.Enum().Values()
	if last := int(values.Get(values.Len() - 1).Number()); last != lastOf[e.kind] {
		t.Errorf("%s: the last value of %s is %d: look at what is new, and note it here", f.FullName(), e.kind, last)
	}
	for v := range e.values {
		if values.ByNumber(protoreflect.EnumNumber(v)) == nil || v == 0 {
			t.Errorf("%s: %s has no value %d", f.FullName(), e.kind, v)
		}
	}
}

// lastOf are the last values of the enums that were looked at.
var lastOf = map[string]int{
	"A_Expr_Kind": 14, "BoolExprType": 3, "BoolTestType": 6, "CTEMaterialize": 3, "CmdType": 8, "CoercionForm": 4, "DefElemAction": 4, "DropBehavior": 2,
	"GroupingSetKind": 5, "JoinType": 9, "JsonBehaviorType": 9, "JsonEncoding": 4, "JsonExprOp": 4, "JsonFormatType": 3, "JsonQuotes": 3,
	"JsonTableColumnType": 5, "JsonValueType": 4, "JsonWrapper": 4, "LimitOption": 3, "LockClauseStrength": 5, "LockWaitPolicy": 3, "MergeMatchKind": 3,
	"MinMaxOp": 2, "NullTestType": 2, "OnConflictAction": 3, "OverridingKind": 3, "SQLValueFunctionOp": 15, "SetOperation": 4, "SortByDir": 4, "SortByNulls": 3,
	"SubLinkType": 8, "XmlExprOp": 8, "XmlOptionType": 2,
}
