package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// A missingError says that there is no such table or function.
type missingError struct {
	class sqltool.Class
	name  string
}

func (e *missingError) Error() string {
	if e.class == sqltool.UnknownFunction {
		return "there is no function " + e.name
	}
	return "there is no table " + e.name
}

// judgement decides about the names of a statement, by what the catalogue says of them.
type judgement struct {
	*engine

	found     *found
	functions map[int][]functionAnswer // by their place in the question
	types     map[int]*typeAnswer
	reasons   []string
	missing   *missingError
	verdict   sqltool.Verdict
}

func (j *judgement) refusef(format string, args ...any) {
	j.reasons = append(j.reasons, fmt.Sprintf(format, args...))
}

// functionsOf are the functions that there are of a name, and typeOf the type; nil: none.
func (j *judgement) functionsOf(q qualified) []functionAnswer {
	return j.functions[j.found.question.functions.at[q]]
}

func (j *judgement) typeOf(q qualified) *typeAnswer { return j.types[j.found.question.types.at[q]] }

// judge returns the verdict on a statement. Its error is a refusal, or says which name is
// unknown.
func (e *engine) judge(f *found, a *answers) (*sqltool.Verdict, error) {
	j := &judgement{engine: e, found: f, functions: make(map[int][]functionAnswer), types: make(map[int]*typeAnswer)}
	j.verdict.Kind = f.kind
	for _, c := range a.Functions {
		j.functions[c.I] = append(j.functions[c.I], c)
	}
	for i := range a.Types {
		j.types[a.Types[i].I] = &a.Types[i]
	}
	for _, r := range f.relations {
		j.relation(r)
	}
	for _, c := range f.functions {
		j.function(c)
	}
	for t := range f.types {
		j.typeName(t)
	}
	for at := range f.attrs {
		j.attr(at)
	}
	for i := range a.Hidden {
		if h := &a.Hidden[i]; !e.passesHidden(h) {
			j.refusef("%s calls a function of the database's own, which is not allowed", h.What)
		}
	}
	switch {
	case len(j.reasons) > 0:
		return nil, sqltool.Refuse(j.reasons...)
	case j.missing != nil:
		return nil, j.missing
	}
	return &j.verdict, nil
}

// allows reports whether a relation is on the list. One that is called as another but for
// the case is meant by an entry in quotes only.
func (e *engine) allows(schema, name string, twins int) bool {
	if e.options.AllTables {
		return true
	}
	return slices.ContainsFunc(e.tables, func(t entry) bool { return t.matches(schema, name) && (t.name.Quoted || twins <= 1) })
}

// shown is how a relation is shown: the default schema's without a schema.
func (e *engine) shown(schema, name string) string {
	if schema == e.options.Schema {
		return e.ident(name)
	}
	return e.ident(schema) + "." + e.ident(name)
}

// readable are the kinds of relations that have rows: tables, with partitions or foreign
// ones too, views, and sequences.
const readable = "rpfvmS"

func (j *judgement) relation(r *relation) {
	switch a := r.answer; {
	case r.catalog != "" && r.catalog != j.database:
		j.refusef("the database %s can't be reached from this one", r.catalog)
	case a == nil && r.schema != "" && !j.usesSchema(r.schema):
		j.refusef("%s", j.notAllowed(r.String())) // whether it is there is not to be told
	case a == nil:
		if j.missing == nil {
			j.missing = &missingError{sqltool.UnknownTable, r.String()}
		}
	case !j.allows(a.Schema, a.Name, a.Twins):
		j.refusef("%s", j.notAllowed(j.shown(a.Schema, a.Name)))
	case !strings.Contains(readable, a.Kind):
		j.refusef("%s is no table", j.shown(a.Schema, a.Name))
	case a.Reserved && !j.options.AllTables && a.Schema != systemSchema && a.Schema != "information_schema":
		j.refusef("table %s is not allowed: a column's type shows the names of other tables, such as regclass; make a view without it", j.shown(a.Schema, a.Name))
	default:
		j.verdict.Relations = append(j.verdict.Relations, j.shown(a.Schema, a.Name))
	}
}

// notAllowed says that a table isn't on the list, and what is.
func (e *engine) notAllowed(name string) string {
	const most = 10
	var names []string
	for i, t := range e.tables {
		if i == most {
			names = append(names, "…")
			break
		}
		names = append(names, t.text)
	}
	return fmt.Sprintf("table %s is not allowed; allowed: %s (list_tables shows all)", name, strings.Join(names, ", "))
}

// jsonIsSyntax is the first version that has all of these names of functions as syntax.
const jsonIsSyntax = 170000

func (j *judgement) function(f *function) {
	all := callable(j.functionsOf(f.qualified), f)
	if f.isSyntax && (j.version >= jsonIsSyntax || len(all) == 0) {
		return
	}
	if len(all) == 0 {
		if f.args == 1 && j.typeOf(f.qualified) != nil {
			return // a cast, which is decided about with the types
		}
		if j.missing == nil {
			j.missing = &missingError{sqltool.UnknownFunction, f.String()}
		}
		return
	}
	if !j.pass(f.name, all) {
		return
	}
	if !literalConfigs(all, f) {
		j.refusef("the configuration of %s is to be a literal, such as 'english'", f.name)
	}
	j.verdict.Functions = append(j.verdict.Functions, f.String())
}

// pass reports whether all functions that a call can mean may be called, and refuses it if
// they may not.
func (j *judgement) pass(name string, all []functionAnswer) bool {
	bad := slices.IndexFunc(all, func(c functionAnswer) bool { return !j.passes(name, &c) })
	if bad < 0 {
		return true
	}
	others := slices.ContainsFunc(all, func(c functionAnswer) bool { return c.Schema == systemSchema && j.passes(name, &c) })
	if others && all[bad].Schema != systemSchema {
		j.refusef("function %s is not allowed, since the database has one of its own that this may be: write pg_catalog.%s for the built-in one", name, j.ident(name))
	} else {
		j.refusef("function %s is not allowed", name)
	}
	return false
}

func (j *judgement) typeName(t typeName) {
	if a := j.typeOf(t.qualified); a != nil {
		if why := j.refusesType(a, t.literal); why != "" {
			j.refusef("%s", why)
		}
	} else if t.schema != "" && !j.usesSchema(t.schema) && t.schema != systemSchema {
		j.refusef("types of the schema %s are not allowed", t.schema)
	}
}

// refusesType says why a type may not be named; "": it may.
func (j *judgement) refusesType(t *typeAnswer, literal bool) string {
	switch {
	case t.Schema != systemSchema && t.Extension == "" && !j.usesSchema(t.Schema):
		return "types of the schema " + t.Schema + " are not allowed"
	case t.Reserved || !t.Known:
		return "type " + t.Name + " is not allowed"
	case t.Config && !literal:
		return "type " + t.Name + " is allowed for literals only"
	case t.OfName != "" && t.OfKind != "c" && !j.allows(t.OfSchema, t.OfName, 1):
		return j.notAllowed(j.shown(t.OfSchema, t.OfName))
	}
	return ""
}

// usesSchema reports whether a schema is the default one, or one of the list.
func (e *engine) usesSchema(schema string) bool {
	return e.options.AllTables || schema == e.options.Schema || slices.ContainsFunc(e.tables, func(t entry) bool { return t.schema.Matches(schema) })
}

// attr decides about a name behind a dot: what it may call, unless it is a column.
func (j *judgement) attr(a attr) {
	if j.found.isColumn(a) {
		return
	}
	name := qualified{"", a.name}
	unary := slices.DeleteFunc(callable(j.functionsOf(name), &function{args: 1}), func(c functionAnswer) bool { return !c.Unary })
	t := j.typeOf(name)
	bad := slices.ContainsFunc(unary, func(c functionAnswer) bool { return !j.passes(a.name, &c) })
	if bad || t != nil && j.refusesType(t, false) != "" {
		j.refusef("%q may call a function, or name a type, that is not allowed: if it is a column, name it in the query that it comes from, with AS", a.alias+"."+a.name)
	}
}
