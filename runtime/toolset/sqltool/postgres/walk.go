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

// column is a column of a query.
type column struct {
	of   *query
	name string
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

// source is something in FROM.
type source struct {
	columns  []string // as its alias names them; nil: it doesn't
	relation *relation
	query    *query
}

// query is what is known of the columns of a subquery or a common table expression.
type query struct {
	renamed []string // by the name of the common table expression
	names   []string
	stars   []*source // all of their columns are among them
	aliases []string  // and those of all that is called so in the statement
}

// isColumn reports whether a name before a dot surely has a column: whatever is called so
// in the statement has it, wherever that is. Nothing is sure where the server itself gives
// a name to something in FROM.
func (f *found) isColumn(a attr) bool {
	return a.alias != "" && !f.nameless && f.allHave(a.alias, a.name)
}

func (f *found) allHave(alias, name string) bool {
	all := f.sources[alias]
	return len(all) > 0 && !slices.ContainsFunc(all, func(s *source) bool { return !f.has(s, name) })
}

// has reports whether something in FROM surely has a column.
func (f *found) has(s *source, name string) bool {
	switch {
	case s.columns != nil:
		return slices.Contains(s.columns, name)
	case s.relation != nil:
		return s.relation.answer != nil && slices.Contains(s.relation.answer.Columns, name)
	case s.query == nil:
		return false
	}
	key := column{s.query, name}
	known, ok := f.columns[key]
	if !ok {
		f.columns[key] = false // while it is looked for: a recursive query has itself in FROM
		known = f.queryHas(s.query, name)
		f.columns[key] = known
	}
	return known
}

func (f *found) queryHas(q *query, name string) bool {
	if q.renamed != nil {
		return slices.Contains(q.renamed, name)
	}
	return slices.Contains(q.names, name) || slices.ContainsFunc(q.stars, func(s *source) bool { return f.has(s, name) }) ||
		slices.ContainsFunc(q.aliases, func(alias string) bool { return f.allHave(alias, name) })
}

// scope is where the names of common table expressions hold.
type scope struct {
	outer *scope
	ctes  map[string]*query
}

func (s *scope) lookup(name string) (*query, bool) {
	for ; s != nil; s = s.outer {
		if q, ok := s.ctes[name]; ok {
			return q, true
		}
	}
	return nil, false
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

// with reads the common table expressions of a statement, and returns the scope in which
// their names hold. Without RECURSIVE a name holds behind its own expression only.
func (w *walk) with(n *node, outer *scope) *scope {
	clause := n.get("with_clause").node
	if clause == nil {
		return outer
	}
	s := &scope{outer, make(map[string]*query)}
	all := clause.all("ctes")
	recursive := clause.get("recursive").number != 0
	if recursive {
		for _, cte := range all {
			s.ctes[cte.get("ctename").text] = &query{renamed: cte.words("aliascolnames")}
		}
	}
	for _, cte := range all {
		if !recursive && (cte.get("search_clause").node != nil || cte.get("cycle_clause").node != nil) {
			w.refusef("SEARCH and CYCLE are not allowed without RECURSIVE")
		}
		q := w.query(cte.get("ctequery").node, s)
		w.children(cte, s, "ctequery", "aliascolnames")
		name := cte.get("ctename").text
		if !recursive {
			s = &scope{s, map[string]*query{name: {renamed: cte.words("aliascolnames")}}}
		}
		known, _ := s.lookup(name)
		known.names, known.stars, known.aliases = q.names, q.stars, q.aliases
	}
	return s
}

// query reads a statement that has columns, and returns what is known of them.
func (w *walk) query(n *node, outer *scope) *query {
	if !n.is("SelectStmt") {
		w.node(n, outer)
		return &query{}
	}
	s := w.with(n, outer)
	q := &query{}
	if left := n.get("larg").node; left != nil {
		q = w.query(left, s)
		w.query(n.get("rarg").node, s)
	}
	var sources []*source
	for _, item := range n.all("from_clause") {
		sources = append(sources, w.from(item, s)...)
	}
	w.children(n, s, "with_clause", "larg", "rarg", "from_clause")
	for _, target := range n.all("target_list") {
		q.add(target, sources)
	}
	return q
}

// add notes what is known of a column of a SELECT.
func (q *query) add(target *node, sources []*source) {
	name, val := target.get("name").text, target.get("val").node
	for val.is("TypeCast") { // it has the name of what is cast, if that has one
		val = val.get("arg").node
	}
	fields := val.all("fields")
	switch {
	case name != "":
	case val.is("FuncCall"):
		if words := val.words("funcname"); len(words) > 0 {
			name = words[len(words)-1]
		}
	case !val.is("ColumnRef") || len(fields) == 0:
	case !fields[len(fields)-1].is("A_Star"):
		name = fields[len(fields)-1].get("sval").text
	case len(fields) == 1:
		q.stars = append(q.stars, sources...)
	default:
		q.aliases = append(q.aliases, fields[len(fields)-2].get("sval").text)
	}
	if name != "" {
		q.names = append(q.names, name)
	}
}

// from reads something in FROM, and returns what is in it.
func (w *walk) from(n *node, s *scope) []*source {
	alias := n.get("alias").node
	name := alias.get("aliasname").text
	src := &source{columns: alias.words("colnames")}
	inner := []*source{src}
	switch n.kind {
	case "RangeVar":
		if name == "" {
			name = n.get("relname").text
		}
		w.rangeVar(n, s, src)
	case "RangeSubselect":
		src.query = w.query(n.get("subquery").node, s)
	case "JoinExpr":
		left, right := w.from(n.get("larg").node, s), w.from(n.get("rarg").node, s)
		inner = slices.Concat(left, right)
		src.query = &query{stars: inner}
		w.join(n, s)
	case "RangeTableSample":
		w.sample(n, s)
		return w.from(n.get("relation").node, s)
	default:
		for _, column := range n.all("coldeflist") {
			src.columns = append(src.columns, column.get("colname").text)
		}
		w.children(n, s)
	}
	if name == "" {
		for _, given := range w.given(n) {
			w.sources[given] = append(w.sources[given], src)
		}
		return inner
	}
	w.sources[name] = append(w.sources[name], src)
	return []*source{src}
}

// given are the names that the server gives to something in FROM that has none: a
// function's is its own.
func (w *walk) given(n *node) (names []string) {
	switch n.kind {
	case "JoinExpr":
	case "RangeTableFunc":
		return []string{"xmltable"}
	case "JsonTable":
		return []string{"json_table"}
	case "RangeFunction":
		for _, list := range n.all("functions") {
			items := list.all("items")
			words := []string(nil)
			if len(items) > 0 && items[0].is("FuncCall") {
				words = items[0].words("funcname")
			}
			if len(words) == 0 {
				w.nameless = true
				continue
			}
			names = append(names, words[len(words)-1])
		}
	default:
		w.nameless = true
	}
	return names
}

// rangeVar reads a name in FROM: a common table expression's, or a relation's.
func (w *walk) rangeVar(n *node, s *scope, src *source) {
	r := relationOf(n)
	if q, ok := s.lookup(r.name); ok && r.schema == "" && r.catalog == "" {
		src.query = q
		return
	}
	w.addRelation(n, r)
	src.relation = r
}

func relationOf(n *node) *relation {
	return &relation{qualified: qualified{n.get("schemaname").text, n.get("relname").text}, catalog: n.get("catalogname").text}
}

func (w *walk) addRelation(n *node, r *relation) {
	if n.get("relpersistence").text != "p" {
		w.refusef("temporary tables are not allowed")
	}
	w.relations = append(w.relations, r)
	w.question.relations.add(r.qualified)
}

// join reads how two are joined: by a condition, or by columns that are equal.
func (w *walk) join(n *node, s *scope) {
	w.node(n.get("quals").node, s)
	if n.get("is_natural").number != 0 || len(n.all("using_clause")) > 0 {
		w.operator("=")
	}
	if using := n.get("join_using_alias").node; using != nil {
		name := using.get("aliasname").text
		w.sources[name] = append(w.sources[name], &source{columns: n.words("using_clause")})
	}
}

func (w *walk) sample(n *node, s *scope) {
	words := n.words("method")
	name := words[len(words)-1]
	if len(words) > 1 && words[0] != "pg_catalog" || len(words) > 2 || name != "system" && name != "bernoulli" {
		w.refusef("TABLESAMPLE %s is not allowed: there are SYSTEM and BERNOULLI", name)
	}
	w.children(n, s, "method", "relation")
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
