package sqlite

import (
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
	mentioned map[string]bool // names and literals in the text, folded
	writes    bool

	reasons   []string
	relations map[string]bool // folded
	functions map[string]bool
	written   map[string]bool
}

// newCheck checks what SQLite has no grammar for, and returns the guard of the rest.
func newCheck(p *policy, o *sqltool.Options, tokens []sqltool.Token, writes bool) (*check, *sqltool.Refusal) {
	if r := sqltool.CheckCaps(tokens); r != nil {
		return nil, r
	}
	c := &check{
		policy: p, options: o, writes: writes, mentioned: make(map[string]bool),
		relations: make(map[string]bool), functions: make(map[string]bool), written: make(map[string]bool),
	}
	for i, t := range tokens {
		if t.Kind != sqltool.Word && t.Kind != sqltool.Quoted && t.Kind != sqltool.Literal {
			continue
		}
		name := fold(t.Text)
		c.mentioned[name] = true
		if (p.inner[name] || p.triggers[name]) && defines(tokens[i+1:]) {
			return nil, sqltool.Refuse(fmt.Sprintf("WITH may not define %s, which is a name of the database: choose another", t.Text))
		}
	}
	return c, nil
}

// defines reports whether what follows a name makes it that of a common table expression:
// (columns) AS, or AS [NOT] [MATERIALIZED] and a bracket.
func defines(after []sqltool.Token) bool {
	if len(after) == 0 {
		return false
	}
	if after[0].Text == "(" {
		return true
	}
	if fold(after[0].Text) != "as" || after[0].Kind != sqltool.Word || len(after) < 2 {
		return false
	}
	next := fold(after[1].Text)
	return after[1].Kind != sqltool.Quoted && after[1].Kind != sqltool.Literal && (next == "(" || next == "not" || next == "materialized")
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

// reads decides whether a table may be read.
func (c *check) reads(table, column, schema, inner string) bool {
	p := c.policy
	_, exists := p.all[table]
	switch {
	case schema != "" && schema != mainSchema:
		return c.refuse("%s.%s is not allowed: there is only main", schema, table)
	case p.below[read{table, inner}] && inner != "", p.triggers[inner] && c.writes:
		return true // it is below a view, or a trigger, that may be used
	case p.allowed[table]:
		c.relations[table] = true
		return true
	case !exists && tableFunctions[table]:
		c.functions[table] = true
		return true
	case !exists && column == "" && schema == "":
		return true // a common table expression, or a query in FROM
	case column == "" && !c.mentioned[table] && c.belowSomeView(table):
		return true // SQLite has merged a view into the query that counts its rows
	case c.writes && !c.mentioned[table] && p.isPartner(table, c.written):
		return true // foreign keys are kept
	case c.options.AllTables && strings.HasPrefix(table, "sqlite_"):
		return true
	}
	return c.refuse("table %s is not allowed; allowed: %s (list_tables shows all)", table, p.list())
}

func (c *check) belowSomeView(table string) bool {
	for r := range c.policy.below {
		if r.table == table && c.mentionedView(r.inner) {
			return true
		}
	}
	return false
}

func (c *check) mentionedView(view string) bool { return c.mentioned[view] && c.policy.allowed[view] }

// calls decides whether a function may be called.
func (c *check) calls(name, inner string) bool {
	c.functions[name] = true
	switch {
	case allowedFunctions[name], identity[name] && c.options.AllTables:
		return true
	case c.policy.inner[inner] && c.policy.calls[name], c.policy.triggers[inner] && c.writes:
		return true
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
	case p.allowed[table]:
		c.relations[table], c.written[table] = true, true
		return true
	case !c.mentioned[table] && p.isPartner(table, c.written):
		return c.refuse("rows of %s refer to these and would be changed too: change those first, if you may", table)
	}
	return c.refuse("table %s is not allowed; allowed: %s (list_tables shows all)", table, p.list())
}

// Guard implements [sqltool.Engine].
func (e *engine) Guard(ctx context.Context, sql string) (*sqltool.Verdict, error) {
	c, err := e.acquire(ctx, e.options.AllowWrites)
	if err != nil {
		return nil, err
	}
	defer e.release(c)
	s, v, err := e.prepare(ctx, c, sql)
	if err != nil {
		return nil, err
	}
	return v, s.Close()
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
	check, refusal := newCheck(p, &e.options, tokens, e.options.AllowWrites)
	if refusal != nil {
		return nil, nil, refusal
	}
	c.check = check
	s, tail, err := c.db.Prepare(sql)
	switch {
	case len(check.reasons) > 0:
		return nil, nil, errors.Join(sqltool.Refuse(check.reasons...), closed(s))
	case err != nil:
		return nil, nil, err
	case s == nil:
		return nil, nil, sqltool.Refuse("the statement is empty: write one")
	case len(lexis.Tokens(tail)) > 0:
		return nil, nil, errors.Join(sqltool.Refuse("one statement per call: send them separately"), s.Close())
	case !s.ReadOnly() && !e.options.AllowWrites:
		return nil, nil, errors.Join(sqltool.Refuse("the database may only be read"), s.Close())
	}
	v := check.verdict(sql, s.ReadOnly(), tokens)
	if v.Kind == sqltool.Explain && check.explainsHidden() {
		return nil, nil, errors.Join(sqltool.Refuse("EXPLAIN shows the tables below a view, which are not allowed"), s.Close())
	}
	return s, v, nil
}

func (c *check) verdict(sql string, readOnly bool, tokens []sqltool.Token) *sqltool.Verdict {
	v := &sqltool.Verdict{SQL: sql}
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

// explainsHidden reports whether a plan would name what is below a view and not allowed
// itself.
func (c *check) explainsHidden() bool {
	for name := range c.relations {
		if c.policy.all[name].kind != "view" {
			continue
		}
		for r := range c.policy.below {
			if !c.policy.allowed[r.table] {
				return true
			}
		}
	}
	return false
}
