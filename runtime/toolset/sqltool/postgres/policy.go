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

	found   *found
	answers *answers
	reasons []string
	missing *missingError
	verdict sqltool.Verdict
}

func (j *judgement) refusef(format string, args ...any) {
	j.reasons = append(j.reasons, fmt.Sprintf(format, args...))
}

// judge returns the verdict on a statement. Its error is a refusal, or says which name is
// unknown.
func (e *engine) judge(f *found, a *answers) (*sqltool.Verdict, error) {
	j := &judgement{engine: e, found: f, answers: a}
	j.verdict.Kind = f.kind
	for _, r := range f.relations {
		j.relation(r)
	}
	for i, c := range f.functions {
		j.function(c, i+1)
	}
	for i, t := range f.types {
		j.typeName(t, i+1)
	}
	for i, at := range f.attrs {
		j.attr(at, len(f.functions)+i+1, len(f.types)+i+1)
	}
	for _, o := range a.Operators {
		j.operator(o)
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
	case a == nil:
		if j.missing == nil {
			j.missing = &missingError{sqltool.UnknownTable, r.String()}
		}
	case !j.allows(a.Schema, a.Name, a.Twins):
		j.refusef("%s", j.notAllowed(j.shown(a.Schema, a.Name)))
	case !strings.Contains(readable, a.Kind):
		j.refusef("%s is no table", j.shown(a.Schema, a.Name))
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

func (j *judgement) functionsAt(i int) (all []functionAnswer) {
	for _, f := range j.answers.Functions {
		if f.I == i {
			all = append(all, f)
		}
	}
	return all
}

func (j *judgement) typeAt(i int) *typeAnswer {
	for at := range j.answers.Types {
		if j.answers.Types[at].I == i {
			return &j.answers.Types[at]
		}
	}
	return nil
}

// The versions that have names of functions as syntax.
const jsonIsSyntax = 170000

func (j *judgement) function(f *function, at int) {
	all := callable(j.functionsAt(at), f)
	if f.isSyntax && (j.version >= jsonIsSyntax || len(all) == 0) {
		return
	}
	if len(all) == 0 {
		isCast := f.args == 1 && slices.ContainsFunc(j.found.types, func(t *typeName) bool { return t.qualified == f.qualified })
		if isCast && slices.ContainsFunc(j.answers.Types, func(t typeAnswer) bool { return t.Name == f.name }) {
			return // the type decides
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
	if c := all[bad]; others && c.Schema != systemSchema {
		j.refusef("function %s.%s(%s) is not allowed, which this may be: write pg_catalog.%s for the built-in one", j.ident(c.Schema), j.ident(name), c.Shown, j.ident(name))
	} else {
		j.refusef("function %s is not allowed", name)
	}
	return false
}

func (j *judgement) typeName(t *typeName, at int) {
	if a := j.typeAt(at); a != nil {
		if why := j.refusesType(a, t.literal); why != "" {
			j.refusef("%s", why)
		}
	}
}

// refusesType says why a type may not be named; "": it may.
func (j *judgement) refusesType(t *typeAnswer, literal bool) string {
	switch {
	case t.Reserved || !t.Known || t.CastByCode:
		return "type " + t.Name + " is not allowed"
	case t.Config && !literal:
		return "type " + t.Name + " is allowed for literals only"
	case t.OfName != "" && t.OfKind != "c" && !j.allows(t.OfSchema, t.OfName, 1):
		return j.notAllowed(j.shown(t.OfSchema, t.OfName))
	case t.Schema != systemSchema && t.Extension == "" && !j.usesSchema(t.Schema):
		return "types of the schema " + t.Schema + " are not allowed"
	}
	return ""
}

// usesSchema reports whether a schema is the default one, or one of the list.
func (e *engine) usesSchema(schema string) bool {
	return e.options.AllTables || schema == e.options.Schema || slices.ContainsFunc(e.tables, func(t entry) bool { return t.schema.Matches(schema) })
}

// attr decides about a name behind a dot: what it may call, unless it is a column.
func (j *judgement) attr(a attr, functionsAt, typeAt int) {
	if j.found.isColumn(a) {
		return
	}
	unary := slices.DeleteFunc(callable(j.functionsAt(functionsAt), &function{}), func(c functionAnswer) bool { return !c.Unary })
	t := j.typeAt(typeAt)
	bad := slices.ContainsFunc(unary, func(c functionAnswer) bool { return !j.passes(a.name, &c) })
	if bad || t != nil && j.refusesType(t, false) != "" {
		j.refusef("%q may call a function, or name a type, that is not allowed: if it is a column, name it in the query that it comes from, with AS", a.alias+"."+a.name)
	}
}

// operator decides about an operator of a user or an extension.
func (j *judgement) operator(o operatorAnswer) {
	native := o.Native && o.Steady
	if !native && !slices.ContainsFunc(j.allowed, func(a entry) bool { return a.matches(o.FunctionSchema, o.Function) }) {
		j.refusef("operator %s.%s, which calls %s, is not allowed: write OPERATOR(pg_catalog.%s) for the built-in one", o.Schema, o.Name, o.Function, o.Name)
	}
}
