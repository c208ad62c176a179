package sqlite

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// A policy is what may be used of one state of the schema.
type policy struct {
	version   int64                      // of the schema
	file      os.FileInfo                // whose schema it is
	all       map[string]relation        // by name in lower case: what there is
	allowed   map[string]bool            // of those, what may be used
	shown     []string                   // names of those, sorted, as SQL writes them
	below     map[read]bool              // what is read below the views that are allowed
	calls     map[string]bool            // functions that those views call
	opened    map[string]map[string]bool // by view: the tables that it opens
	triggers  map[string]bool            // all of them, for writing
	machinery map[string]map[string]bool // by table: what a write of it opens by itself
	keys      []foreignKey
	roots     map[int64]string // by root page: the table, or that of the index
	modules   map[string]bool  // tables that are no tables, but functions
}

// A read is a table that is read because of another name.
type read struct{ table, inner string }

type relation struct {
	name  string
	shown string // as SQL writes it
	kind  string // "", view, virtual table
}

type foreignKey struct{ child, parent string } // in lower case

// fold is how SQLite compares names: ASCII only.
func fold(name string) string { return sqltool.FoldASCII(name) }

// policyOf returns the policy of the schema as a connection sees it.
func (e *engine) policyOf(c *conn) (*policy, error) {
	version, err := c.schemaVersion()
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	p := e.policy
	e.mu.Unlock()
	if p != nil && p.version == version && os.SameFile(p.file, c.file) {
		return p, nil
	}
	if p, err = e.newPolicy(c, version); err != nil {
		return nil, err
	}
	p.file = c.file
	e.mu.Lock()
	defer e.mu.Unlock()
	e.policy = p
	return p, nil
}

func (e *engine) newPolicy(c *conn, version int64) (*policy, error) {
	p := &policy{
		version: version, all: make(map[string]relation), allowed: make(map[string]bool),
		below: make(map[read]bool), calls: make(map[string]bool), opened: make(map[string]map[string]bool), triggers: make(map[string]bool),
		machinery: make(map[string]map[string]bool),
		roots:     map[int64]string{1: "sqlite_schema"}, modules: make(map[string]bool),
	}
	err := c.own("SELECT name, type, tbl_name, coalesce(sql, ''), coalesce(rootpage, 0) FROM sqlite_schema", nil, func(s *sqlite3.Stmt) {
		name, kind := s.ColumnText(0), s.ColumnText(1)
		if root := s.ColumnInt64(4); root > 0 {
			p.roots[root] = fold(s.ColumnText(2))
		}
		switch {
		case kind == "trigger":
			p.triggers[fold(name)] = true
			return
		case kind == "index":
			return
		case strings.HasPrefix(fold(name), "sqlite_"):
			return // SQLite's own
		case kind == "table" && strings.HasPrefix(fold(s.ColumnText(3)), "create virtual"):
			kind = "virtual table"
		case kind == "table":
			kind = ""
		}
		p.all[fold(name)] = relation{name: name, kind: kind}
	})
	if err != nil {
		return nil, err
	}
	if err := c.own("SELECT name FROM pragma_module_list", nil, func(s *sqlite3.Stmt) { p.modules[fold(s.ColumnText(0))] = true }); err != nil {
		return nil, err
	}
	for key, r := range p.all {
		r.shown = c.shown(r.name)
		p.all[key] = r
		if p.allowed[key] = e.options.AllTables || e.lists(r.name); p.allowed[key] {
			p.shown = append(p.shown, r.shown)
		}
	}
	sort.Strings(p.shown)
	for key, r := range p.all {
		if p.allowed[key] && r.kind == "view" {
			c.lookBelow(p, r)
		}
	}
	if e.options.AllowWrites {
		for key, r := range p.all {
			if p.allowed[key] && r.kind == "" {
				c.lookWrites(p, r)
			}
		}
	}
	return p, c.foreignKeys(p)
}

// lookWrites notes what SQLite opens when a table is written, besides what a statement
// names. One that can't be written opens nothing.
func (c *conn) lookWrites(p *policy, table relation) {
	name := sqlite3.QuoteIdentifier(table.name)
	var columns []string
	if err := c.own("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", []string{table.name}, func(s *sqlite3.Stmt) {
		column := sqlite3.QuoteIdentifier(s.ColumnText(0))
		columns = append(columns, column+" = "+column)
	}); err != nil {
		return
	}
	all := make(map[string]bool)
	for _, statement := range []string{
		"INSERT INTO main." + name + " DEFAULT VALUES", "REPLACE INTO main." + name + " DEFAULT VALUES", "DELETE FROM main." + name + " WHERE 1 = 1",
		"UPDATE main." + name + " SET " + strings.Join(columns, ", "),
	} {
		if opened, err := c.opens(p, statement); err == nil {
			maps.Copy(all, opened)
		}
	}
	p.machinery[fold(table.name)] = all
}

// lists reports whether a relation is on the list.
func (e *engine) lists(name string) bool {
	return slices.ContainsFunc(e.options.AllowedTables, func(entry string) bool {
		part, err := parse(entry)
		return err == nil && (part.Text == name || !part.Quoted && fold(part.Text) == fold(name))
	})
}

// shown is a name as SQL writes it: SQLite says whether it needs quotes.
func (c *conn) shown(name string) string {
	defer c.unguarded()()
	if part, err := parse(name); err == nil && !part.Quoted {
		s, tail, err := c.db.Prepare("SELECT 1 FROM " + name + " AS " + name)
		if s != nil {
			_ = s.Close() // it was only prepared
		}
		if err == nil && tail == "" {
			return name
		}
	}
	return sqlite3.QuoteIdentifier(name)
}

// lookBelow notes what a view reads and calls. A view that can't be read may not be used.
func (c *conn) lookBelow(p *policy, view relation) {
	var reads []read
	var calls []string
	c.check = &check{look: func(action sqlite3.AuthorizerActionCode, name, detail, inner string) {
		switch action {
		case sqlite3.AUTH_READ:
			reads = append(reads, read{fold(name), fold(inner)})
		case sqlite3.AUTH_FUNCTION:
			calls = append(calls, fold(detail))
		}
	}}
	all := "SELECT * FROM main." + sqlite3.QuoteIdentifier(view.name)
	s, _, err := c.db.Prepare(all)
	c.check = nil
	opened, openErr := c.opens(p, all)
	if err == nil && openErr == nil { // a join that nothing is shown of is left out, or isn't
		var counted map[string]bool
		if counted, openErr = c.opens(p, strings.Replace(all, "*", "count(*)", 1)); openErr == nil {
			maps.Copy(opened, counted)
		}
	}
	if err = errors.Join(err, openErr, closed(s)); err != nil {
		p.allowed[fold(view.name)] = false
		p.shown = slices.DeleteFunc(p.shown, func(name string) bool { return name == view.shown })
		return
	}
	p.opened[fold(view.name)] = opened
	for _, r := range reads {
		if r.inner != "" { // else it is the view itself, or is only counted
			p.below[r] = true
		}
		if t, exists := p.all[r.table]; exists && t.kind == "" {
			opened[r.table] = true
		}
	}
	for _, name := range calls {
		p.calls[name] = true
	}
}

// opens reads the program that SQLite makes of a statement: which tables it opens. The
// programs of triggers are in it.
func (c *conn) opens(p *policy, sql string) (map[string]bool, error) {
	tables := make(map[string]bool)
	const opcode, p1, p2, p3 = 1, 2, 3, 4 // columns
	err := c.own("EXPLAIN "+sql, nil, func(s *sqlite3.Stmt) {
		switch s.ColumnText(opcode) {
		case "OpenRead", "OpenWrite", "ReopenIdx":
			name := p.roots[s.ColumnInt64(p2)]
			if s.ColumnInt64(p3) != 0 { // of another database than main
				name = ""
			}
			tables[cmp.Or(name, unknownTable)] = true
		case "Clear", "Destroy": // of a whole table
			tables[cmp.Or(p.roots[s.ColumnInt64(p1)], unknownTable)] = true
		}
	})
	return tables, err
}

// unknownTable is one that a program opens and the schema doesn't have.
const unknownTable = "?"

func closed(s *sqlite3.Stmt) error {
	if s == nil {
		return nil
	}
	return s.Close()
}

func (c *conn) foreignKeys(p *policy) error {
	for key, r := range p.all {
		if r.kind != "" {
			continue
		}
		err := c.own("SELECT \"table\" FROM pragma_foreign_key_list(?)", []string{r.name}, func(s *sqlite3.Stmt) {
			p.keys = append(p.keys, foreignKey{child: key, parent: fold(s.ColumnText(0))})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isPartner reports whether an engine reads a column of a table to keep the foreign keys
// of one that is written.
func (p *policy) isPartner(table string, written map[string]bool) bool {
	return slices.ContainsFunc(p.keys, func(k foreignKey) bool {
		return k.child == table && written[k.parent] || k.parent == table && written[k.child]
	})
}

// list says what may be used, for a refusal.
func (p *policy) list() string {
	const most = 10
	if len(p.shown) > most {
		return strings.Join(p.shown[:most], ", ") + ", …"
	}
	return strings.Join(p.shown, ", ")
}

var _ sqltool.Engine = (*engine)(nil)
