package postgres_test

import (
	"strings"
	"testing"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// values are the edges of every type: the type, and texts of its values.
var values = []struct {
	of    string
	texts []string
}{
	{"boolean", []string{"t", "f"}},
	{"smallint", []string{"-32768", "32767"}},
	{"integer", []string{"-2147483648", "2147483647"}},
	{"bigint", []string{"-9223372036854775808", "9223372036854775807", "9007199254740991", "9007199254740992"}},
	{"oid", []string{"4294967295"}},
	{"numeric", []string{"1.10", "0", "-0.000", "1e-20", "12345678901234567890123456789.5", "NaN", "Infinity", "-Infinity"}},
	{"numeric(12,2)", []string{"1.1"}},
	{"real", []string{"0.1", "3.4028235e38", "1e-45", "-0", "NaN", "Infinity", "-Infinity"}},
	{"double precision", []string{"0.1", "0.30000000000000004", "1.7976931348623157e308", "5e-324", "-0", "1e21", "NaN", "Infinity", "-Infinity"}},
	{"money", []string{"-92233720368547758.08", "1.5"}},
	{"text", []string{"", "é<&>\"\\", "a\nb\t", "  x  "}},
	{"varchar(2)", []string{"ab"}},
	{"char(4)", []string{"ab"}},
	{`"char"`, []string{"a"}},
	{"name", []string{"x"}},
	{"bytea", []string{`\x`, `\x00ff`, `\xdeadbeef`}},
	{"date", []string{"2026-01-02", "0044-03-15 BC", "4713-01-01 BC", "5874897-12-31", "infinity", "-infinity"}},
	{"time", []string{"00:00:00", "24:00:00", "04:05:06.789"}},
	{"timetz", []string{"04:05:06.789-08"}},
	{"timestamp", []string{"2026-01-02 03:04:05", "2026-01-02 03:04:05.123456", "0044-03-15 12:00:00 BC", "10000-01-01 00:00:00", "infinity"}},
	{"timestamptz", []string{"2026-01-02 03:04:05+00", "2026-01-02 03:04:05.123456+02", "2026-01-02 03:04:05.1Z", "0044-03-15 12:00:00+00 BC", "10000-01-01 00:00:00+00", "0001-01-01 00:00:00+00", "infinity", "-infinity"}},
	{"interval", []string{"1 year 2 mons 3 days 04:05:06.7", "-1 day", "0"}},
	{"uuid", []string{"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}},
	{"json", []string{`{"b": 1, "a" : [1, 12345678901234567890, 1.10]}`, "null", ` "x" `, "{\"a\":1,\"a\":2}"}},
	{"jsonb", []string{`{"b": 1, "a" : [1, 12345678901234567890, 1.10]}`, "null", `"é"`}},
	{"xml", []string{"<a>é</a>"}},
	{"inet", []string{"192.168.0.1/24", "::1"}},
	{"cidr", []string{"10.0.0.0/8"}},
	{"macaddr", []string{"08:00:2b:01:02:03"}},
	{"macaddr8", []string{"08:00:2b:01:02:03:04:05"}},
	{"bit(4)", []string{"1010"}},
	{"varbit", []string{"10"}},
	{"point", []string{"(1,2.5)"}},
	{"line", []string{"{1,2,3}"}},
	{"lseg", []string{"[(0,0),(1,1)]"}},
	{"box", []string{"(1,1),(0,0)"}},
	{"path", []string{"((0,0),(1,1))"}},
	{"polygon", []string{"((0,0),(1,1),(1,0))"}},
	{"circle", []string{"<(0,0),1>"}},
	{"tsvector", []string{"'a':1 'b':2"}},
	{"tsquery", []string{"'a' & 'b'"}},
	{"int4range", []string{"[1,5)", "empty", "(,)"}},
	{"tstzrange", []string{"[2026-01-01 00:00:00+00,)"}},
	{"int4multirange", []string{"{[1,3),[5,7)}"}},
	{"jsonpath", []string{"$.a"}},
	{"pg_lsn", []string{"16/B374D848"}},
	{"xid8", []string{"18446744073709551615"}},
	{"mood", []string{"happy"}},
	{"pair", []string{`(1,"a b")`}},
	{"positive", []string{"5"}},
	{"int[]", []string{"{}", "{1,NULL,3}", "{{1,2},{3,4}}", "[0:1]={5,6}", "{{{1}},{{2}}}"}},
	{"bigint[]", []string{"{9223372036854775807}"}},
	{"text[]", []string{`{a,"b c","NULL",NULL,"",e\"f,"g\\h","{}"}`, `{"x=[1]={y"}`}},
	{"boolean[]", []string{"{t,f}"}},
	{"float8[]", []string{"{NaN,1.5}"}},
	{"numeric[]", []string{"{1.10,2}"}},
	{"bytea[]", []string{`{"\\x00ff"}`}},
	{"jsonb[]", []string{`{"{\"a\": 1}"}`}},
	{"timestamptz[]", []string{`{"2026-01-02 03:04:05+00"}`}},
	{"box[]", []string{"{(1,1),(0,0);(2,2),(1,1)}"}},
	{"mood[]", []string{"{sad,happy}"}},
	{"uuid[]", []string{"{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"}},
}

// TestS48Types pins how a value of each type is shown, given in the statement and as a
// param.
func TestS48Types(t *testing.T) {
	t.Parallel()
	db := database(t, "template1", "CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TYPE pair AS (a int, b text); CREATE DOMAIN positive AS int CHECK (VALUE > 0)")
	s := open(t, db, sqltool.Options{AllTables: true})
	var b strings.Builder
	cell := func(got string) string {
		_, row, ok := strings.Cut(got, `"rows":[[`)
		row, _, ok2 := strings.Cut(row, `]],"row_count"`)
		if !ok || !ok2 {
			return got
		}
		return row
	}
	for _, v := range values {
		for _, text := range append(v.texts, "NULL") {
			literal := "'" + strings.ReplaceAll(text, "'", "''") + "'"
			var param any = text
			if text == "NULL" && v.of != "text[]" {
				literal, param = "NULL", nil
			}
			got := cell(s.Query("SELECT " + literal + "::" + v.of))
			if other := cell(s.Query("SELECT $1::"+v.of, param)); other != got {
				t.Errorf("%s of %s: %s, as a param %s", text, v.of, got, other)
			}
			if text != "NULL" {
				b.WriteString(v.of + "\t" + strings.ReplaceAll(strings.ReplaceAll(text, "\n", `\n`), "\t", `\t`) + "\t" + got + "\n")
			} else if got != "null" && v.of != "text[]" {
				t.Errorf("NULL of %s: %s", v.of, got)
			}
		}
	}
	golden(t, "testdata/types.golden", b.String())
}
