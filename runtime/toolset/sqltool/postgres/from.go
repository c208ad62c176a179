package postgres

import "slices"

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

// column is a column of a query.
type column struct {
	of   *query
	name string
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
