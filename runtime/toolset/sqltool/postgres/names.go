package postgres

import "strings"

// name reads the words of a name: at most a schema and a name.
func (w *walk) name(words []string, what string) (q qualified, ok bool) {
	switch len(words) {
	case 1:
		return qualified{"", words[0]}, true
	case 2:
		return qualified{words[0], words[1]}, true
	default:
		w.refusef("a name of %d parts for %s is not allowed", len(words), what)
		return q, false
	}
}

// call reads a call. One of a type's name with one argument is a cast, where there is no
// such function.
func (w *walk) call(n *node, s *scope) {
	w.children(n, s, "funcname")
	q, ok := w.name(n.words("funcname"), "a function")
	if !ok {
		return
	}
	f := &function{qualified: q}
	for _, arg := range n.all("args") {
		f.args++
		f.named = f.named || arg.is("NamedArgExpr")
		f.literal = append(f.literal, isLiteral(arg))
	}
	if f.args == 1 {
		w.addType(q, f.literal[0])
	}
	if n.get("agg_within_group").number != 0 { // what it orders by counts too
		f.args = anyCount
	}
	w.addFunction(f)
}

func (w *walk) addFunction(f *function) {
	w.functions = append(w.functions, f)
	w.question.functions.add(f.qualified)
}

func (w *walk) addType(q qualified, literal bool) {
	w.types[typeName{q, literal}] = true
	w.question.types.add(q)
}

// addAttr notes a name behind a dot, which may be a function's or a type's.
func (w *walk) addAttr(name, alias string) {
	w.attrs[attr{name, alias}] = true
	w.question.functions.add(qualified{"", name})
	w.question.types.add(qualified{"", name})
}

// isLiteral reports whether an expression is a word in quotes, cast or not; one with a dot
// may be a name of another schema.
func isLiteral(n *node) bool {
	if n.is("TypeCast") {
		return isLiteral(n.get("arg").node)
	}
	text := n.get("sval").node
	return n.is("A_Const") && text != nil && !strings.ContainsAny(text.get("sval").text, `."`)
}

// column reads a column. A name behind a dot may be a function's.
func (w *walk) column(n *node, _ *scope) {
	fields := n.all("fields")
	last := len(fields) - 1
	if last < 1 || !fields[last].is("String") {
		return
	}
	w.addAttr(fields[last].get("sval").text, fields[last-1].get("sval").text)
}

// indirection reads what is behind an expression in brackets: a subscript, or a name.
func (w *walk) indirection(n *node, s *scope) {
	w.children(n, s)
	for _, e := range n.all("indirection") {
		if e.is("String") {
			w.addAttr(e.get("sval").text, "")
		}
	}
}

func (w *walk) cast(n *node, s *scope) {
	arg := n.get("arg").node
	w.node(arg, s)
	w.typeName(n.get("type_name").node, s, isLiteral(arg))
}

func (w *walk) typeName(n *node, s *scope, literal bool) {
	w.children(n, s, "names")
	if q, ok := w.name(n.words("names"), "a type"); ok {
		w.addType(q, literal)
	}
}

// operator notes an operator by its words, which may have a schema first.
func (w *walk) operator(words ...string) {
	if q, ok := w.name(words, "an operator"); ok {
		w.question.operators.add(q)
	}
}

// The kinds of an A_Expr that are BETWEEN.
const (
	firstBetween = 11
	lastBetween  = 14
)

func (w *walk) expression(n *node, s *scope) {
	if k := n.get("kind").number; k >= firstBetween && k <= lastBetween {
		for _, sign := range []string{"<", "<=", ">=", ">"} {
			w.operator(sign)
		}
	} else {
		w.operator(n.words("name")...)
	}
	w.children(n, s, "name")
}

func (w *walk) subLink(n *node, s *scope) {
	if words := n.words("oper_name"); len(words) > 0 {
		w.operator(words...)
	} else if n.get("testexpr").node != nil { // IN
		w.operator("=")
	}
	w.children(n, s, "oper_name")
}

func (w *walk) caseExpr(n *node, s *scope) {
	if n.get("arg").node != nil {
		w.operator("=")
	}
	w.children(n, s)
}

func (w *walk) sortBy(n *node, s *scope) {
	if words := n.words("use_op"); len(words) > 0 {
		w.operator(words...)
	}
	w.children(n, s, "use_op")
}

// collate reads the name of a collation, which runs no code; it may not say what there is
// in schemas that are hidden.
func (w *walk) collate(n *node, s *scope) {
	for _, list := range []string{"collname", "collation"} {
		words := n.words(list)
		if len(words) == 0 {
			continue
		}
		if q, ok := w.name(words, "a collation"); ok && q.schema != "" && q.schema != "pg_catalog" && q.schema != w.options.Schema {
			w.refusef("collations of the schema %s are not allowed", q.schema)
		}
	}
	w.children(n, s, "collname", "collation")
}

// firstIdentity is the first of the values of SQL that say who is logged in and where:
// current_role, user, current_catalog, … The ones before are times.
const firstIdentity = 10

func (w *walk) value(n *node, _ *scope) {
	if n.get("op").number >= firstIdentity && !w.options.AllTables {
		w.refusef("names of users, databases and schemas are not allowed")
	}
}

// lock reads FOR UPDATE and the like, which change rows as much as a write does.
func (w *walk) lock(*node, *scope) {
	w.targets, w.locks = true, true
	if !w.options.AllowWrites {
		w.refusef("rows can't be locked: leave FOR UPDATE and FOR SHARE out")
	}
}

const maxParams = 1<<16 - 1

func (w *walk) param(n *node, _ *scope) {
	number := n.get("number").number
	if number < 1 || number > maxParams {
		w.refusef("parameters are written $1, $2, …")
		return
	}
	w.params = max(w.params, int(number))
}

// jsonSyntax is what PostgreSQL 16 and 17 have as syntax, and others as functions, if
// somebody has made some of that name.
var jsonSyntax = map[string]func(n *node) string{
	"JsonObjectConstructor": constant("json_object"), "JsonArrayConstructor": constant("json_array"), "JsonArrayQueryConstructor": constant("json_array"),
	"JsonObjectAgg": constant("json_objectagg"), "JsonArrayAgg": constant("json_arrayagg"), "JsonParseExpr": constant("json"),
	"JsonScalarExpr": constant("json_scalar"), "JsonSerializeExpr": constant("json_serialize"), "MergeSupportFunc": constant("merge_action"),
	"JsonFuncExpr": func(n *node) string {
		names := []string{"", "json_exists", "json_query", "json_value"}
		return names[n.get("op").number]
	},
}

func constant(s string) func(*node) string { return func(*node) string { return s } }
