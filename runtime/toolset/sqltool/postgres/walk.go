package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// found is what a statement has in it: all names that the catalogue is to be asked about.
type found struct {
	kind      sqltool.Kind
	question  question
	relations []*relation
	functions []*function
	types     map[typeName]bool
	attrs     map[attr]bool
	sources   map[string][]*source // of FROM, by the name that columns are qualified with
	nameless  bool                 // something in FROM has a name of the server's that isn't known
	columns   map[column]bool      // what isColumn has found
	params    int
	targets   bool // it changes rows
	locks     bool // rows of all that it reads
	makesJSON bool // or XML, by syntax
	refused   []string
}

// qualified is a name with a schema; "": the search path's.
type qualified struct{ schema, name string }

func (q qualified) String() string {
	if q.schema == "" {
		return q.name
	}
	return q.schema + "." + q.name
}

// relation is a name that stands where a table does, and is no common table expression.
type relation struct {
	qualified

	catalog string
	target  bool // its rows are changed, or some are added
	changes int  // updates, deletes
	answer  *relationAnswer
}

// function is a call, or what may be one.
type function struct {
	qualified

	args     int
	named    bool   // an argument is named
	literal  []bool // which arguments are literals
	isSyntax bool   // newer servers have this as syntax, older ones may have a function
}

// typeName is a type, with what is known of what is cast to it.
type typeName struct {
	qualified

	literal bool // a literal, whose text can be read here
}

// attr is a name behind the dot of a column: a column, or a function or a type that is
// called with what is before the dot.
type attr struct {
	name  string
	alias string // what is before the dot; "": more than a name
}

// walk goes through a tree, of which all is known, and collects its names.
type walk struct {
	*found

	options *sqltool.Options
}

// read finds what is in a statement. Its error is a refusal.
func read(tree *node, o *sqltool.Options) (*found, error) {
	w := &walk{&found{
		sources: make(map[string][]*source), columns: make(map[column]bool), types: make(map[typeName]bool), attrs: make(map[attr]bool),
	}, o}
	statements := tree.all("stmts")
	if len(statements) != 1 {
		return nil, sqltool.Refuse("one statement per call: send them separately")
	}
	w.statement(statements[0].get("stmt").node)
	if len(w.refused) > 0 {
		return nil, sqltool.Refuse(w.refused...)
	}
	return w.found, nil
}

func (w *walk) refusef(format string, args ...any) {
	w.refused = append(w.refused, fmt.Sprintf(format, args...))
}

// otherStatement refuses what is of no kind that there is for a model.
func otherStatement(o *sqltool.Options) *sqltool.Refusal {
	const reads = "SELECT, WITH, VALUES, TABLE and EXPLAIN of these"
	if o.AllowWrites {
		return sqltool.Refuse("only statements that read, or change rows, are allowed: " + reads + ", INSERT, UPDATE, DELETE, MERGE and TRUNCATE")
	}
	return sqltool.Refuse("only statements that read are allowed: " + reads)
}

// statement reads what the whole statement is.
func (w *walk) statement(n *node) {
	switch {
	case n == nil:
		w.refusef("the statement is empty: write one")
	case n.is("ExplainStmt"):
		w.explain(n)
		return
	case n.is("VariableShowStmt"):
		w.show(n.get("name").text)
		return
	case !n.is("SelectStmt") && changes[n.kind] == nil:
		w.other()
	default:
		w.node(n, nil)
	}
	if w.targets {
		w.kind = sqltool.Write
	}
}

func (w *walk) other() { w.refused = append(w.refused, otherStatement(w.options).Reasons...) }

// show reads SHOW of one setting, which is a read only where nothing is hidden.
func (w *walk) show(setting string) {
	w.kind = sqltool.Show
	switch {
	case !w.options.AllTables:
		w.refusef("SHOW is not allowed")
	case setting == "" || strings.EqualFold(setting, "all"):
		w.refusef("SHOW ALL is not allowed: name one setting")
	}
}

// explainOptions are those that change nothing.
var explainOptions = []string{"analyze", "buffers", "costs", "format"}

func (w *walk) explain(n *node) {
	w.kind = sqltool.Explain
	for _, o := range n.all("options") {
		if name := o.get("defname").text; !slices.Contains(explainOptions, strings.ToLower(name)) {
			w.refusef("the option %s of EXPLAIN is not allowed: there are %s", name, strings.Join(explainOptions, ", "))
		}
	}
	query := n.get("query").node
	if !query.is("SelectStmt") {
		w.refusef("EXPLAIN is allowed of a statement that reads")
		return
	}
	w.node(query, nil)
	if w.targets {
		w.refusef("EXPLAIN is allowed of a statement that reads")
	}
}

// changes are the statements that change rows; a statement that reads may have them in
// its WITH.
var changes map[string]func(w *walk, n *node, s *scope)

// parts are the messages whose names or flags say something; of all others only what is in
// them does.
var parts map[string]func(w *walk, n *node, s *scope)

func init() { //nolint:gochecknoinits // the functions walk on, which is a cycle for the compiler
	changes = map[string]func(w *walk, n *node, s *scope){
		"InsertStmt": (*walk).change, "UpdateStmt": (*walk).change, "DeleteStmt": (*walk).change, "MergeStmt": (*walk).change, "TruncateStmt": (*walk).truncate,
	}
	parts = map[string]func(w *walk, n *node, s *scope){
		"SelectStmt": func(w *walk, n *node, s *scope) { w.query(n, s) },
		"RangeVar":   func(w *walk, n *node, s *scope) { w.from(n, s) }, "RangeSubselect": func(w *walk, n *node, s *scope) { w.from(n, s) },
		"RangeFunction": func(w *walk, n *node, s *scope) { w.from(n, s) }, "RangeTableFunc": func(w *walk, n *node, s *scope) { w.from(n, s) },
		"JsonTable": func(w *walk, n *node, s *scope) { w.from(n, s) }, "JoinExpr": func(w *walk, n *node, s *scope) { w.from(n, s) },
		"RangeTableSample": func(w *walk, n *node, s *scope) { w.from(n, s) },
		"FuncCall":         (*walk).call, "ColumnRef": (*walk).column, "A_Indirection": (*walk).indirection,
		"TypeCast": (*walk).cast, "TypeName": func(w *walk, n *node, s *scope) { w.typeName(n, s, false) },
		"A_Expr": (*walk).expression, "SubLink": (*walk).subLink, "CaseExpr": (*walk).caseExpr, "SortBy": (*walk).sortBy,
		"CollateClause": (*walk).collate, "IndexElem": (*walk).collate, "SQLValueFunction": (*walk).value,
		"LockingClause": (*walk).lock, "ParamRef": (*walk).param, "DefElem": func(w *walk, _ *node, _ *scope) { w.refusef("options are not allowed here") },
	}
	for _, kind := range []string{"ExplainStmt", "VariableShowStmt"} {
		parts[kind] = func(w *walk, _ *node, _ *scope) { w.other() }
	}
	for _, kind := range []string{"XmlExpr", "XmlSerialize"} {
		parts[kind] = func(w *walk, n *node, s *scope) {
			w.makesJSON = true
			w.children(n, s)
		}
	}
	for kind, name := range jsonSyntax {
		parts[kind] = func(w *walk, n *node, s *scope) {
			w.makesJSON = true
			w.addFunction(&function{qualified: qualified{name: name(n)}, isSyntax: true, args: anyCount})
			w.children(n, s)
		}
	}
}

func (w *walk) node(n *node, s *scope) {
	switch {
	case n == nil:
	case changes[n.kind] != nil:
		changes[n.kind](w, n, s)
	case parts[n.kind] != nil:
		parts[n.kind](w, n, s)
	default:
		w.children(n, s)
	}
}

// children walks through what is in a message, but for some fields.
func (w *walk) children(n *node, s *scope, without ...string) {
	for _, v := range n.fields {
		if v.node != nil && !slices.Contains(without, v.name) {
			w.node(v.node, s)
		}
	}
}

// change reads INSERT, UPDATE, DELETE and MERGE. The table that is changed is never a
// common table expression.
func (w *walk) change(n *node, outer *scope) {
	w.writes()
	s := w.with(n, outer)
	src := w.target(n.get("relation").node)
	src.relation.changes = changesOf(n)
	for _, name := range []string{"excluded", "old", "new"} { // names of the server's, in some versions
		w.sources[name] = append(w.sources[name], src)
	}
	w.children(n, s, "with_clause", "relation")
}

const onConflictUpdate = 3

// changesOf says what becomes of the rows that there are.
func changesOf(n *node) int {
	switch {
	case n.is("UpdateStmt"), n.get("on_conflict_clause").node.get("action").number == onConflictUpdate:
		return updates
	case n.is("DeleteStmt"):
		return deletes
	case n.is("MergeStmt"):
		return updates | deletes
	}
	return 0 // TRUNCATE fails where others refer to the table
}

func (w *walk) truncate(n *node, _ *scope) {
	w.writes()
	for _, r := range n.all("relations") {
		w.target(r)
	}
}

func (w *walk) writes() {
	w.targets = true
	if !w.options.AllowWrites {
		w.refusef("the database may only be read")
	}
}

// target reads the name of a table whose rows are changed.
func (w *walk) target(n *node) *source {
	r := relationOf(n)
	r.target = true
	w.addRelation(n, r)
	name := n.get("alias").node.get("aliasname").text
	if name == "" {
		name = r.name
	}
	src := &source{relation: r}
	w.sources[name] = append(w.sources[name], src)
	return src
}
