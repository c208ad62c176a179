package sqlite

import (
	"context"
	"errors"
	"sort"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// look looks at the schema, on a connection that reads.
func (e *engine) look(ctx context.Context, at func(c *conn, p *policy) error) error {
	c, err := e.acquire(ctx, false)
	if err != nil {
		return err
	}
	defer e.release(c)
	c.db.SetInterrupt(ctx)
	p, err := e.policyOf(c)
	if err != nil {
		return err
	}
	return at(c, p)
}

// Relations implements [sqltool.Engine].
func (e *engine) Relations(ctx context.Context, page sqltool.Page) (out []sqltool.Relation, err error) {
	err = e.look(ctx, func(c *conn, p *policy) error {
		estimates, err := c.estimates()
		if err != nil {
			return err
		}
		for key, r := range p.all {
			if p.allowed[key] && r.shown > page.After && strings.Contains(strings.ToLower(r.name), strings.ToLower(page.Match)) {
				out = append(out, e.relation(r, estimates))
			}
		}
		return nil
	})
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out[:min(len(out), page.Limit)], err
}

func (e *engine) relation(r relation, estimates map[string]int64) sqltool.Relation {
	estimate, known := estimates[fold(r.name)]
	if !known {
		estimate = -1
	}
	return sqltool.Relation{Name: r.shown, Kind: r.kind, RowEstimate: estimate}
}

// Triggered implements [sqltool.Engine].
func (e *engine) Triggered(ctx context.Context) (names []string, err error) {
	err = e.look(ctx, func(c *conn, p *policy) error {
		return c.own("SELECT DISTINCT tbl_name FROM sqlite_schema WHERE type = 'trigger' ORDER BY 1", nil, func(s *sqlite3.Stmt) {
			if table := fold(s.ColumnText(0)); p.allowed[table] {
				names = append(names, p.all[table].shown)
			}
		})
	})
	return names, err
}

// estimates are the numbers of rows that ANALYZE has left; none, where it never ran.
func (c *conn) estimates() (map[string]int64, error) {
	there := false
	if err := c.own("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'", nil, func(*sqlite3.Stmt) { there = true }); err != nil || !there {
		return nil, err
	}
	out := make(map[string]int64)
	err := c.own("SELECT tbl, stat FROM sqlite_stat1", nil, func(s *sqlite3.Stmt) {
		first, _, _ := strings.Cut(s.ColumnText(1), " ")
		if n, err := strconv.ParseInt(first, 10, 64); err == nil {
			out[fold(s.ColumnText(0))] = max(n, out[fold(s.ColumnText(0))])
		}
	})
	return out, err
}

// Schema implements [sqltool.Engine].
func (e *engine) Schema(ctx context.Context, name string) (out *sqltool.Schema, err error) {
	err = e.look(ctx, func(c *conn, p *policy) error {
		part, err := parse(name)
		if err != nil {
			return nil //nolint:nilerr // there is no such table
		}
		r, ok := p.all[fold(part.Text)] // SQLite compares names in any case, in quotes too
		if !ok || !p.allowed[fold(r.name)] {
			return nil
		}
		estimates, err := c.estimates()
		if err != nil {
			return err
		}
		out = &sqltool.Schema{Relation: e.relation(r, estimates)}
		return errors.Join(c.columns(r.name, out), c.references(p, r.name, out))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *conn) columns(table string, out *sqltool.Schema) error {
	type key struct {
		at   int
		name string
	}
	var keys []key
	err := c.own("SELECT name, type, \"notnull\", coalesce(dflt_value, ''), pk, hidden FROM pragma_table_xinfo(?)", []string{table}, func(s *sqlite3.Stmt) {
		hidden := s.ColumnInt(5)
		if hidden == 1 { // of a virtual table: an argument
			return
		}
		name := s.ColumnText(0)
		out.Columns = append(out.Columns, sqltool.Column{
			Name: name, Type: s.ColumnText(1), NotNull: s.ColumnBool(2), Default: s.ColumnText(3), Generated: hidden > 1,
		})
		if at := s.ColumnInt(4); at > 0 {
			keys = append(keys, key{at, name})
		}
	})
	sort.Slice(keys, func(i, j int) bool { return keys[i].at < keys[j].at })
	for _, k := range keys {
		out.PrimaryKey = append(out.PrimaryKey, k.name)
	}
	if len(keys) == 1 { // an INTEGER PRIMARY KEY is the row's number
		for i := range out.Columns {
			if column := &out.Columns[i]; column.Name == keys[0].name && strings.EqualFold(column.Type, "integer") {
				column.NotNull = true
			}
		}
	}
	return err
}

// references are the foreign keys to tables that may be used.
func (c *conn) references(p *policy, table string, out *sqltool.Schema) error {
	last := -1
	return c.own("SELECT id, \"table\", \"from\", coalesce(\"to\", '') FROM pragma_foreign_key_list(?) ORDER BY id, seq", []string{table}, func(s *sqlite3.Stmt) {
		parent := fold(s.ColumnText(1))
		if !p.allowed[parent] {
			return
		}
		if id := s.ColumnInt(0); id != last {
			out.ForeignKeys = append(out.ForeignKeys, sqltool.ForeignKey{References: p.all[parent].shown})
			last = id
		}
		k := &out.ForeignKeys[len(out.ForeignKeys)-1]
		k.Columns, k.To = append(k.Columns, s.ColumnText(2)), append(k.To, s.ColumnText(3))
	})
}
