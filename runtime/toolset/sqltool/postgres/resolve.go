package postgres

import (
	"context"
	_ "embed"
	"errors"
	"strconv"
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
	Hidden    []hiddenAnswer
}

type relationAnswer struct {
	I        int
	OID      string
	Schema   string
	Name     string
	Kind     string // pg_class.relkind
	Columns  []string
	Twins    int  // how many are called so in any case
	Policies bool // it has row security
	Reserved bool // a column is of a type that names what there is
}

type functionAnswer struct {
	I         int
	Schema    string
	Args      string // the types, which tell it from others of that name
	Name      string
	Steady    bool // not volatile
	Plain     bool // no defaults, not variadic
	Native    bool // in C
	Extension string
	Unary     bool  // can be called with one argument
	Clean     bool  // takes and returns no reserved type
	Configs   []int // which arguments are names of text search configurations
	Count     int   // of arguments
	Least     int   // how many there must be
	Variadic  bool
}

type typeAnswer struct {
	I         int
	Schema    string
	Name      string
	Config    bool // the name of a text search configuration
	Reserved  bool // it, or what it is made of, names what there is
	Known     bool // the system's, an extension's, or made of such
	Extension string
	OfSchema  string `json:"of_schema"` // the relation whose rows are of it
	OfName    string `json:"of_name"`
	OfKind    string `json:"of_kind"`
}

// hiddenAnswer is a function that no name in the statement shows.
type hiddenAnswer struct {
	What      string // that calls it: an operator, a cast, the order of a type
	Schema    string
	Name      string
	Steady    bool
	Native    bool
	Clean     bool
	Extension string
}

// names are those that the catalogue is asked about, each once.
type names struct {
	list []qualified
	at   map[qualified]int // from 1
}

func (n *names) add(q qualified) {
	if n.at[q] > 0 {
		return
	}
	if n.at == nil {
		n.at = make(map[qualified]int)
	}
	n.list = append(n.list, q)
	n.at[q] = len(n.list)
}

// question are the names of a statement.
type question struct{ relations, functions, types, operators names }

// resolve asks the catalogue about the names of a statement.
func (s *session) resolve(ctx context.Context, f *found) (*answers, error) {
	e := s.engine
	q := &f.question
	params := [][]byte{[]byte(e.options.Schema)}
	for _, n := range []names{q.relations, q.functions, q.types, q.operators} {
		schemas, words := make([]string, len(n.list)), make([]string, len(n.list))
		for i, name := range n.list {
			schemas[i], words[i] = name.schema, name.name
		}
		params = append(params, arrayLiteral(schemas), arrayLiteral(words))
	}
	raw, err := s.own(ctx, resolveSQL, append(params, []byte(e.reserved), strconv.AppendBool(nil, f.makesJSON), []byte(e.jit))...)
	if err != nil {
		return nil, err
	}
	a := new(answers)
	if err := decode(raw, a); err != nil {
		return nil, err
	}
	of := make(map[int]*relationAnswer)
	for i := range a.Relations {
		of[a.Relations[i].I] = &a.Relations[i]
	}
	for _, r := range f.relations {
		r.answer = of[q.relations.at[r.qualified]]
	}
	return a, s.check(a)
}

// check refuses to go on in a session that isn't as it was made: behind a pooler that
// changes the server's connection between transactions.
func (s *session) check(a *answers) error {
	if a.Path != s.engine.path || a.Strings != "on" || !s.writes && a.ReadOnly != "on" {
		return errors.New("the session isn't as it was made: a pooler that changes connections between transactions is in between; connect to the server itself, or to a pool of sessions")
	}
	return nil
}

// arrayEscapes are what stands for itself within quotes in an array.
var arrayEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// arrayLiteral writes texts as PostgreSQL reads an array of them.
func arrayLiteral(list []string) []byte {
	var b strings.Builder
	b.WriteByte('{')
	for i, s := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(arrayEscapes.Replace(s))
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return []byte(b.String())
}
