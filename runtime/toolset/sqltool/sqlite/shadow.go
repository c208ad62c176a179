package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/ncruces/go-sqlite3"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// A shadow is an empty database in memory that has what may be used, and nothing else:
// the tables on the list as they were made, and the views on it as tables with their
// columns. A statement that is prepared there can't name what isn't on the list, however
// it is written: SQLite itself doesn't find it. No trigger and no view stands between a
// function and who calls it.
type shadow struct {
	mu      sync.Mutex
	counter int64 // the root page of SQLite's own table of AUTOINCREMENT; 0: there is none
	db      *sqlite3.Conn
	of      *policy        // of what it was made
	opened  map[int64]bool // root pages of what it has
	check   *check         // of the statement that is prepared; nil: it is being made
}

// close closes it.
func (s *shadow) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == nil {
		return nil
	}
	err := s.db.Close()
	s.db = nil
	return err
}

// build makes it anew of a schema. The mutex is held.
func (s *shadow) build(c *conn, p *policy) error {
	if s.db != nil {
		if err := s.db.Close(); err != nil {
			return err
		}
		s.db = nil
	}
	db, err := sqlite3.Open(":memory:")
	if err != nil {
		return err
	}
	s.db, s.check, s.opened = db, nil, make(map[int64]bool)
	err = errors.Join(
		db.Exec("PRAGMA trusted_schema = 0; PRAGMA foreign_keys = 0; SELECT 1 FROM json_each('[]'), json_tree('[]'), generate_series(1, 1)"),
		replaceFunctions(db),
	)
	for key, r := range p.all {
		if p.allowed[key] && err == nil {
			err = s.add(c, r)
		}
	}
	if err == nil {
		err = s.roots()
	}
	if err == nil {
		db.Limit(sqlite3.LIMIT_ATTACHED, 0)
		db.Limit(sqlite3.LIMIT_SQL_LENGTH, 2*maxSQL)
		err = db.SetAuthorizer(func(action sqlite3.AuthorizerActionCode, name, detail, schema, _ string) sqlite3.AuthorizerReturnCode {
			if s.check == nil || s.check.binds(action, fold(name), fold(detail), schema) {
				return sqlite3.AUTH_OK
			}
			return sqlite3.AUTH_DENY
		})
	}
	if err != nil {
		s.db = nil
		return errors.Join(err, db.Close())
	}
	s.of = p
	return nil
}

// add makes one relation: a table as it was made, where that can be done, else a table of
// its columns.
func (s *shadow) add(c *conn, r relation) error {
	made := ""
	if r.kind == "" {
		err := c.own("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", []string{r.name}, func(row *sqlite3.Stmt) { made = row.ColumnText(0) })
		if err != nil {
			return err
		}
	}
	if made != "" && s.db.Exec(made) == nil {
		return nil
	}
	var columns []string
	err := c.own("SELECT name FROM pragma_table_xinfo(?)", []string{r.name}, func(row *sqlite3.Stmt) {
		columns = append(columns, sqlite3.QuoteIdentifier(row.ColumnText(0)))
	})
	if err != nil || len(columns) == 0 {
		return err
	}
	return s.db.Exec("CREATE TABLE " + sqlite3.QuoteIdentifier(r.name) + " (" + strings.Join(columns, ", ") + ")")
}

// roots notes the root pages of the tables that are there, and their indexes.
func (s *shadow) roots() error {
	rows, _, err := s.db.Prepare("SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0")
	if err != nil {
		return err
	}
	s.counter = 0
	for rows.Step() {
		switch root, table := rows.ColumnInt64(0), fold(rows.ColumnText(1)); {
		case table == "sqlite_sequence":
			s.counter = root
		case !strings.HasPrefix(table, "sqlite_"):
			s.opened[root] = true
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// verify prepares a statement, which a real one has passed, where nothing else is. It
// returns why it is refused.
func (s *shadow) verify(ctx context.Context, c *conn, p *policy, o *sqltool.Options, sql, plain string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	whole := false
	defer func() {
		if !whole { // it has panicked: another one is made
			s.db = nil
		}
	}()
	err := s.look(ctx, c, p, o, sql, plain)
	whole = true
	return err
}

func (s *shadow) look(ctx context.Context, c *conn, p *policy, o *sqltool.Options, sql, plain string) error {
	if s.db == nil || s.of != p {
		if err := s.build(c, p); err != nil {
			return fmt.Errorf("the guard can't be made of the schema: %w", err)
		}
	}
	s.db.SetInterrupt(ctx)
	defer s.db.SetInterrupt(context.Background()) //nolint:contextcheck // what comes later sets its own
	s.check = &check{policy: p, options: o, writes: o.AllowWrites, relations: make(map[string]bool), functions: make(map[string]bool)}
	stmt, _, err := s.db.Prepare(sql)
	reasons := s.check.reasons
	s.check = nil
	err = errors.Join(err, closed(stmt))
	switch {
	case len(reasons) > 0:
		return sqltool.Refuse(reasons...)
	case err != nil:
		return sqltool.Refuse("the statement names something that is not allowed; allowed: " + p.list() + " (list_tables shows all)")
	}
	program, _, err := s.db.Prepare("EXPLAIN " + plain)
	if err != nil {
		return sqltool.Refuse("the guard can't read this statement: write it in another way")
	}
	var refusal error
	const opcode, p2, p3 = 1, 3, 4
	virtual := false
	for program.Step() {
		switch program.ColumnText(opcode) {
		case "OpenRead", "OpenWrite", "ReopenIdx":
			root := program.ColumnInt64(p2)
			counts := o.AllowWrites && root == s.counter && !strings.Contains(fold(sql), "sqlite_sequence") // a key is given
			if program.ColumnInt64(p3) != 0 || !s.opened[root] && !counts {
				refusal = sqltool.Refuse("the statement reads a table that is not allowed; allowed: " + p.list() + " (list_tables shows all)")
			}
		case "VOpen":
			virtual = true
		}
	}
	if virtual && strings.Contains(fold(sql), "pragma_") && !p.namesPragma() {
		refusal = sqltool.Refuse("functions of pragmas are not allowed: use get_schema")
	}
	return errors.Join(refusal, program.Close())
}

// namesPragma reports whether a relation that may be used has pragma_ in its name.
func (p *policy) namesPragma() bool {
	for name := range p.allowed {
		if p.allowed[name] && strings.Contains(name, "pragma_") {
			return true
		}
	}
	return false
}

// binds is the authorizer of a shadow: all tables that there are may be used, but SQLite's
// own and those that are functions.
func (c *check) binds(action sqlite3.AuthorizerActionCode, name, detail, schema string) bool {
	switch action {
	case sqlite3.AUTH_SELECT, sqlite3.AUTH_RECURSIVE:
		return true
	case sqlite3.AUTH_READ:
		_, exists := c.policy.all[name]
		return exists || !strings.HasPrefix(name, "sqlite_") && !strings.HasPrefix(name, "pragma_") && (!c.policy.modules[name] || tableFunctions[name]) ||
			c.refuse("table %s is not allowed", name)
	case sqlite3.AUTH_FUNCTION:
		return c.calls(detail, "")
	case sqlite3.AUTH_PRAGMA:
		return c.pragma(name, detail)
	case sqlite3.AUTH_INSERT, sqlite3.AUTH_UPDATE, sqlite3.AUTH_DELETE:
		return c.writes && c.policy.allowed[name] && c.policy.all[name].kind != "view" && fold(schema) == mainSchema || c.refuse(changesSchema)
	}
	return c.refuse(changesSchema)
}
