package sqlite

import (
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// A policy is what may be used of one state of the schema.
type policy struct {
	version  int64               // of the schema
	all      map[string]relation // by name in lower case: what there is
	allowed  map[string]bool     // of those, what may be used
	shown    []string            // names of those, sorted, as SQL writes them
	below    map[read]bool       // what is read below the views that are allowed
	inner    map[string]bool     // the names that such a read comes from: no WITH may define one
	calls    map[string]bool     // functions that those views call
	triggers map[string]bool     // of allowed tables, for writing
	keys     []foreignKey
}

// A read is a table that is read because of another name.
type read struct{ table, inner string }

type relation struct {
	name  string
	shown string // as SQL writes it
	kind  string // "", view, virtual table
}

type foreignKey struct {
	child, parent      string // in lower case
	from, to           string // columns, in lower case
	onDelete, onUpdate string
}

// fold is how SQLite compares names: ASCII only.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// policyOf returns the policy of the schema as a connection sees it.
func (e *engine) policyOf(c *conn) (*policy, error) {
	version, err := c.schemaVersion()
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	p := e.policy
	e.mu.Unlock()
	if p != nil && p.version == version {
		return p, nil
	}
	if p, err = e.newPolicy(c, version); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.policy = p
	return p, nil
}

func (e *engine) newPolicy(c *conn, version int64) (*policy, error) {
	p := &policy{
		version: version, all: make(map[string]relation), allowed: make(map[string]bool),
		below: make(map[read]bool), inner: make(map[string]bool), calls: make(map[string]bool), triggers: make(map[string]bool),
	}
	triggers := make(map[string]string)
	err := c.own("SELECT name, type, tbl_name, coalesce(sql, '') FROM sqlite_schema WHERE type IN ('table', 'view', 'trigger')", nil, func(s *sqlite3.Stmt) {
		name, kind := s.ColumnText(0), s.ColumnText(1)
		switch {
		case kind == "trigger":
			triggers[fold(name)] = fold(s.ColumnText(2))
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
	for trigger, table := range triggers {
		p.triggers[trigger] = p.allowed[table]
	}
	return p, c.foreignKeys(p)
}

// lists reports whether a relation is on the list.
func (e *engine) lists(name string) bool {
	return slices.ContainsFunc(e.options.AllowedTables, func(entry string) bool {
		part, err := parse(entry)
		return err == nil && part.Matches(name)
	})
}

// shown is a name as SQL writes it: SQLite says whether it needs quotes.
func (c *conn) shown(name string) string {
	before := c.check
	c.check = nil
	defer func() { c.check = before }()
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
	s, _, err := c.db.Prepare("SELECT * FROM main." + sqlite3.QuoteIdentifier(view.name))
	c.check = nil
	if err = errors.Join(err, closed(s)); err != nil {
		p.allowed[fold(view.name)] = false
		p.shown = slices.DeleteFunc(p.shown, func(name string) bool { return name == view.shown })
		return
	}
	for _, r := range reads {
		if r.inner == "" && r.table == fold(view.name) {
			continue
		}
		p.below[r] = true
		p.inner[r.inner] = r.inner != ""
	}
	for _, name := range calls {
		p.calls[name] = true
	}
}

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
		err := c.own("SELECT \"table\", \"from\", coalesce(\"to\", ''), on_delete, on_update FROM pragma_foreign_key_list(?)", []string{r.name}, func(s *sqlite3.Stmt) {
			p.keys = append(p.keys, foreignKey{
				child: key, parent: fold(s.ColumnText(0)), from: fold(s.ColumnText(1)), to: fold(s.ColumnText(2)),
				onDelete: s.ColumnText(3), onUpdate: s.ColumnText(4),
			})
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
