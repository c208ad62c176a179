package postgres

import (
	"context"
	_ "embed"
	"errors"
	"strings"
)

//go:embed resolve.sql
var resolveSQL string

//go:embed reserved.sql
var reservedSQL string

// answers are what the catalogue says about the names of a statement, and about the
// transaction. I is the place of the name in the question, from 1.
type answers struct {
	Path      string
	ReadOnly  string `json:"read_only"`
	Strings   string
	Relations []relationAnswer
	Functions []functionAnswer
	Types     []typeAnswer
	Operators []operatorAnswer
}

type relationAnswer struct {
	I       int
	OID     string
	Schema  string
	Name    string
	Kind    string // pg_class.relkind
	Columns []string
	Twins   int // how many are called so in any case
}

type functionAnswer struct {
	I         int
	Schema    string
	Args      string // the types, which tell it from others of that name
	Shown     string // the same in words
	Steady    bool   // not volatile
	Plain     bool   // no defaults, not variadic
	Native    bool   // in C
	Extension string
	Unary     bool  // can be called with one argument
	Clean     bool  // takes and returns no reserved type
	Configs   []int // which arguments are names of text search configurations
	Count     int   // of arguments
}

type typeAnswer struct {
	I          int
	Schema     string
	Name       string
	Kind       string // pg_type.typtype
	Config     bool   // the name of a text search configuration
	Reserved   bool
	Known      bool // the system's, an extension's, or made of such
	Extension  string
	OfSchema   string `json:"of_schema"` // the relation whose rows are of it
	OfName     string `json:"of_name"`
	OfKind     string `json:"of_kind"`
	CastByCode bool   `json:"cast_by_code"` // a function of a user makes it of others
}

type operatorAnswer struct {
	I              int
	Schema         string
	Name           string
	FunctionSchema string `json:"function_schema"`
	Function       string
	Steady         bool
	Native         bool
}

// question are the names that the catalogue is asked about. The attributes of a statement
// come last, as functions and as types.
type question struct {
	relations, functions, types, operators []qualified
}

func (f *found) question() (q question) {
	for _, r := range f.relations {
		q.relations = append(q.relations, r.qualified)
	}
	for _, c := range f.functions {
		q.functions = append(q.functions, c.qualified)
	}
	for _, t := range f.types {
		q.types = append(q.types, t.qualified)
	}
	for _, a := range f.attrs {
		q.functions = append(q.functions, qualified{"", a.name})
		q.types = append(q.types, qualified{"", a.name})
	}
	q.operators = f.operators
	return q
}

// resolve asks the catalogue about the names of a statement.
func (s *session) resolve(ctx context.Context, f *found, schema, reserved string) (*answers, error) {
	q := f.question()
	params := [][]byte{[]byte(schema)}
	for _, list := range [][]qualified{q.relations, q.functions, q.types, q.operators} {
		schemas, names := make([]string, len(list)), make([]string, len(list))
		for i, n := range list {
			schemas[i], names[i] = n.schema, n.name
		}
		params = append(params, arrayLiteral(schemas), arrayLiteral(names))
	}
	raw, err := s.own(ctx, resolveSQL, append(params, []byte(reserved))...)
	if err != nil {
		return nil, err
	}
	a := new(answers)
	if err := decode(raw, a); err != nil {
		return nil, err
	}
	for _, r := range a.Relations {
		f.relations[r.I-1].answer = &r
	}
	return a, s.check(a)
}

// check refuses to go on in a session that isn't as it was made: behind a pooler that
// changes the server's connection between transactions.
func (s *session) check(a *answers) error {
	if a.Path != s.path || a.Strings != "on" || !s.writes && a.ReadOnly != "on" {
		return errors.New("the session isn't as it was made: a pooler that changes connections between transactions is in between; connect to the server itself, or to a pool of sessions")
	}
	return nil
}

// arrayLiteral writes texts as PostgreSQL reads an array of them.
func arrayLiteral(list []string) []byte {
	var b strings.Builder
	b.WriteByte('{')
	for i, s := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s))
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return []byte(b.String())
}
