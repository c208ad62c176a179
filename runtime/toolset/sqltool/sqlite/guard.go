package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// A check is the guard of one statement: what its authorizer allows, and what it has
// seen.
type check struct {
	look func(action sqlite3.AuthorizerActionCode, name, detail, inner string) // set: all is allowed, and told

	policy    *policy
	options   *sqltool.Options
	mentioned map[string]bool // what stands where a table does, folded
	writes    bool

	reasons   []string
	relations map[string]bool // folded
	functions map[string]bool
	written   map[string]bool
}

// statements are what a statement may begin with. Some others, such as VACUUM, ask no
// authorizer.
var statements = set("select with values insert replace update delete explain pragma")

// newCheck checks what SQLite has no grammar for, and returns the guard of the rest.
func newCheck(p *policy, o *sqltool.Options, tokens []sqltool.Token) (*check, *sqltool.Refusal) {
	if r := sqltool.CheckCaps(tokens); r != nil {
		return nil, r
	}
	c := &check{
		policy: p, options: o, writes: o.AllowWrites, mentioned: make(map[string]bool),
		relations: make(map[string]bool), functions: make(map[string]bool), written: make(map[string]bool),
	}
	for name := range sqltool.Defined(tokens, fold) { // SQLite's authorizer tells such a name from none of these
		if p.triggers[name] || p.all[name].kind != "" {
			c.refuse("WITH may not define %s, which is a name of the database: choose another", name)
		}
	}
	for _, ref := range sqltool.TableRefs(tokens) {
		name := fold(ref.Name)
		c.mentioned[name] = true
		r, exists := p.all[name]
		switch {
		case p.allowed[name]:
		case strings.HasPrefix(name, "pragma_"), p.modules[name] && !tableFunctions[name]:
			c.refuse("function %s is not allowed", ref.Name)
		case exists && !p.allowed[name] && r.kind != "", strings.HasPrefix(name, "sqlite_") && !o.AllTables:
			c.refuseTable(ref.Name) // a view, or a module's table: the program doesn't name them
		}
	}
	return c, nil
}

// refuseTable refuses a table, and says which there are.
func (c *check) refuseTable(name string) bool {
	return c.refuse("table %s is not allowed; allowed: %s (list_tables shows all)", name, c.policy.list())
}

func (c *check) refuse(format string, args ...any) bool {
	c.reasons = append(c.reasons, fmt.Sprintf(format, args...))
	return false
}

const changesSchema = "this changes what tables there are, or how the database works, which is not allowed"

// doing is what is said of actions that nothing allows.
var doing = map[sqlite3.AuthorizerActionCode]string{
	sqlite3.AUTH_TRANSACTION: "transactions are not allowed: each call is one",
	sqlite3.AUTH_SAVEPOINT:   "savepoints are not allowed: each call is a transaction",
	sqlite3.AUTH_ATTACH:      "ATTACH is not allowed",
	sqlite3.AUTH_DETACH:      "DETACH is not allowed",
	sqlite3.AUTH_ANALYZE:     "ANALYZE is not allowed",
	sqlite3.AUTH_REINDEX:     "REINDEX is not allowed",
}

// allows is the authorizer: what isn't named here is denied.
func (c *check) allows(action sqlite3.AuthorizerActionCode, name, detail, schema, inner string) bool {
	if c.look != nil {
		c.look(action, name, detail, inner)
		return true
	}
	switch action {
	case sqlite3.AUTH_SELECT, sqlite3.AUTH_RECURSIVE:
		return true
	case sqlite3.AUTH_READ:
		return c.reads(fold(name), detail, fold(schema), fold(inner))
	case sqlite3.AUTH_FUNCTION:
		return c.calls(fold(detail), fold(inner))
	case sqlite3.AUTH_PRAGMA:
		return c.pragma(fold(name), detail)
	case sqlite3.AUTH_INSERT, sqlite3.AUTH_UPDATE, sqlite3.AUTH_DELETE:
		return c.changes(fold(name), fold(schema), fold(inner))
	}
	if words, ok := doing[action]; ok {
		return c.refuse("%s", words)
	}
	return c.refuse(changesSchema)
}

// reads decides whether a column may be read. Of what is only counted SQLite doesn't
// always say by which name it came: what the program opens decides that.
func (c *check) reads(table, column, schema, inner string) bool {
	p := c.policy
	_, exists := p.all[table]
	switch {
	case schema != "" && schema != mainSchema:
		return c.refuse("%s.%s is not allowed: there is only main", schema, table)
	case p.allowed[table]:
		c.relations[table] = true
		return true
	case strings.HasPrefix(table, "pragma_"), p.modules[table] && !tableFunctions[table]:
		return c.refuse("function %s is not allowed", table)
	case strings.HasPrefix(table, "sqlite_"):
		return c.options.AllTables || column == "" || c.refuseTable(table)
	case exists && p.all[table].kind != "" && inner == "":
		return c.refuseTable(p.all[table].shown) // a view by itself
	case !exists, column == "":
		return true // a common table expression, a query in FROM, or a table that is counted
	case p.below[read{table, inner}]:
		return true // it is below a view that may be used
	case c.writes && (inner != "" || p.isPartner(table, c.written)):
		return true // it is for a trigger, or foreign keys: what the statement itself names, the shadow knows
	}
	return c.refuseTable(table)
}

// calls decides whether a function may be called.
func (c *check) calls(name, inner string) bool {
	c.functions[name] = true
	switch {
	case allowedFunctions[name], identity[name] && c.options.AllTables, c.policy.calls[name] && inner != "":
		return true
	case c.writes && inner != "":
		return true // a trigger's: see reads
	}
	for _, extra := range c.options.AllowedFunctions {
		if part, err := sqltool.ParseName(extra, quotes...); err == nil && strings.EqualFold(part[0].Text, name) {
			return true
		}
	}
	return c.refuse("function %s is not allowed", name)
}

// pragma decides whether a pragma may be read; none may be set.
func (c *check) pragma(name, argument string) bool {
	switch name {
	case "table_info", "table_xinfo", "index_list", "foreign_key_list":
		if c.policy.allowed[fold(argument)] {
			c.relations[fold(argument)] = true
			return true
		}
	case "user_version", "table_list":
		if c.options.AllTables && argument == "" {
			return true
		}
	}
	return c.refuse("PRAGMA %s is not allowed: use get_schema", name)
}

// changes decides whether rows of a table may be changed.
func (c *check) changes(table, schema, inner string) bool {
	p := c.policy
	switch {
	case !c.writes:
		return c.refuse("the database may only be read")
	case schema != "" && schema != mainSchema, strings.HasPrefix(table, "sqlite_"):
		return c.refuse(changesSchema)
	case p.triggers[inner]:
		return true // triggers are the operator's
	case p.all[table].kind == "view":
		return c.refuse("%s is a view: change the tables that it shows, if you may", p.all[table].shown)
	case p.allowed[table]:
		c.relations[table], c.written[table] = true, true
		return true
	case !c.mentioned[table] && p.isPartner(table, c.written):
		return c.refuse("rows of another table, which is not allowed, refer to these and would be changed too")
	}
	return c.refuseTable(table)
}

// program decides by what a statement opens.
func (c *check) program(opened map[string]bool, kind sqltool.Kind) {
	p := c.policy
	for table := range opened {
		switch {
		case p.allowed[table], c.options.AllTables && strings.HasPrefix(table, "sqlite_"):
		case c.mentioned[table]:
			c.refuseTable(cmp.Or(p.all[table].shown, table))
		case kind == sqltool.Explain:
			c.refuse("EXPLAIN shows the tables below a view, which are not allowed")
		case table == unknownTable, table == "sqlite_schema", !c.belowView(table) && !c.worksFor(table):
			c.refuse("the statement reads a table that is not allowed; allowed: %s (list_tables shows all)", p.list())
		}
	}
}

// worksFor reports whether a table is opened by what SQLite itself does when one that is
// written is: foreign keys, triggers, the counters of keys.
func (c *check) worksFor(table string) bool {
	for written := range c.written {
		if c.policy.machinery[written][table] {
			return true
		}
	}
	return false
}

// belowView reports whether a table is opened by a view that may be used and that the
// statement names.
func (c *check) belowView(table string) bool {
	for view, opened := range c.policy.opened {
		if c.mentioned[view] && opened[table] {
			return true
		}
	}
	return false
}

// Guard implements [sqltool.Engine]. What writes is prepared once more where it can: only
// there SQLite shows what a write does to other tables.
func (e *engine) Guard(ctx context.Context, sql string) (sqltool.Statement, error) {
	s, err := e.passed(ctx, sql)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (e *engine) passed(ctx context.Context, sql string) (*statement, error) {
	s, err := e.guard(ctx, sql, false)
	if err != nil || s.verdict.Kind != sqltool.Write {
		return s, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return e.guard(ctx, sql, true)
}

func (e *engine) guard(ctx context.Context, sql string, writes bool) (_ *statement, err error) {
	c, err := e.acquire(ctx, writes)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			e.release(c)
		}
	}()
	defer c.recover(&err)
	s, v, err := e.prepare(ctx, c, sql)
	if err != nil {
		return nil, err
	}
	return &statement{e, c, s, v}, nil
}

// prepare prepares a statement under the guard. The guard stays until the connection is
// released: SQLite prepares again when the schema changes.
func (e *engine) prepare(ctx context.Context, c *conn, sql string) (*sqlite3.Stmt, *sqltool.Verdict, error) {
	c.db.SetInterrupt(ctx)
	p, err := e.policyOf(c)
	if err != nil {
		return nil, nil, err
	}
	tokens := lexis.Tokens(sql)
	if len(tokens) == 0 {
		return nil, nil, sqltool.Refuse("the statement is empty: write one")
	}
	if !statements[fold(tokens[0].Text)] || tokens[0].Kind != sqltool.Word {
		return nil, nil, unknownStatement(c, sql)
	}
	check, refusal := newCheck(p, &e.options, tokens)
	if refusal != nil {
		return nil, nil, refusal
	}
	c.check = check
	s, tail, err := c.db.Prepare(sql)
	if refused := check.verify(s, tail, err); refused != nil {
		return nil, nil, errors.Join(refused, closed(s))
	}
	if err != nil {
		return nil, nil, err
	}
	v := check.verdict(s.ReadOnly(), tokens)
	bare := plain(sql, tokens)
	opened, err := c.opens(p, bare)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	if check.program(opened, v.Kind); len(check.reasons) > 0 {
		return nil, nil, errors.Join(sqltool.Refuse(check.reasons...), s.Close())
	}
	if !e.options.AllTables {
		if err := e.shadow.verify(ctx, c, p, &e.options, sql, bare); err != nil {
			return nil, nil, errors.Join(err, s.Close())
		}
	}
	return s, v, nil
}

// unknownStatement says what is wrong with a statement that begins with what none may: the
// engine's own words, where it can't read it either.
func unknownStatement(c *conn, sql string) error {
	c.check = &check{look: func(sqlite3.AuthorizerActionCode, string, string, string) {}}
	s, _, err := c.db.Prepare(sql)
	if err = errors.Join(err, closed(s)); err != nil {
		return err
	}
	return sqltool.Refuse("only statements that read, insert, update or delete are allowed")
}

// verify returns why a statement that was prepared is refused.
func (c *check) verify(s *sqlite3.Stmt, tail string, err error) error {
	if err != nil { // what is named and may not be used is not to be told of by the engine
		for table := range c.mentioned {
			if _, exists := c.policy.all[table]; exists && !c.policy.allowed[table] {
				c.refuseTable(table)
			}
		}
	}
	switch {
	case len(c.reasons) > 0:
		return sqltool.Refuse(c.reasons...)
	case err != nil:
		return nil //nolint:nilerr // it is not the guard's
	case s == nil:
		return sqltool.Refuse("the statement is empty: write one")
	case len(lexis.Tokens(tail)) > 0:
		return sqltool.Refuse("one statement per call: send them separately")
	case !s.ReadOnly() && !c.writes:
		return sqltool.Refuse("the database may only be read")
	}
	return nil
}

// plain is a statement without EXPLAIN in front.
func plain(sql string, tokens []sqltool.Token) string {
	if fold(tokens[0].Text) != "explain" || len(tokens) < 2 {
		return sql
	}
	if len(tokens) > 3 && fold(tokens[1].Text) == "query" && fold(tokens[2].Text) == "plan" {
		return sql[tokens[3].At:]
	}
	return sql[tokens[1].At:]
}

func (c *check) verdict(readOnly bool, tokens []sqltool.Token) *sqltool.Verdict {
	v := new(sqltool.Verdict)
	switch first := fold(tokens[0].Text); {
	case !readOnly:
		v.Kind = sqltool.Write
	case first == "explain":
		v.Kind = sqltool.Explain
	case first == "pragma":
		v.Kind = sqltool.Show
	}
	for name := range c.relations {
		if r, ok := c.policy.all[name]; ok {
			v.Relations = append(v.Relations, r.shown)
		}
	}
	for name := range c.functions {
		v.Functions = append(v.Functions, name)
	}
	return v
}
