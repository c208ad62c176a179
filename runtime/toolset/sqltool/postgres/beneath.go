package postgres

import (
	"context"
	_ "embed"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

//go:embed beneath.sql
var beneathSQL string

// How a statement changes rows of a table: as bits.
const (
	updates = 1 << iota
	deletes
)

const explainShows = "EXPLAIN shows what is below a view, a foreign table, a table with row security or a function of the database's own, which is not allowed"

// reaches are the reasons why a write, or a lock, is refused for what it reaches.
var reaches = map[string]string{
	"key":  "rows of another table, which is not allowed, refer to these and would be changed too",
	"rule": "a rule of the table reaches another one, which is not allowed",
	"view": "a table below this view is not allowed, so that the view can't be written",
}

// beneath refuses a statement for what it reaches through its relations: the plan of a
// view shows what is below, a write to one changes that, and a foreign key with CASCADE
// changes the rows of another table.
func (e *engine) beneath(ctx context.Context, s *session, f *found) error {
	if e.options.AllTables {
		return nil
	}
	var views, updated, deleted, written []string
	add := func(list *[]string, r *relation, when bool) {
		if when {
			*list = append(*list, r.answer.OID)
		}
	}
	for _, r := range f.relations {
		if f.kind == sqltool.Explain && r.answer.Policies {
			return sqltool.Refuse(explainShows)
		}
		seen := f.kind == sqltool.Explain || f.locks || r.target
		add(&views, r, seen && (r.answer.Kind == "v" || r.answer.Kind == "f" && !r.target))
		add(&updated, r, r.changes&updates != 0)
		add(&deleted, r, r.changes&deletes != 0)
		add(&written, r, r.target)
	}
	if len(views)+len(written) == 0 {
		return nil
	}
	raw, err := s.own(ctx, beneathSQL, arrayLiteral(views), arrayLiteral(updated), arrayLiteral(deleted), arrayLiteral(written))
	if err != nil {
		return err
	}
	var reached []struct {
		Schema, Name, Kind string
		Policies           bool
		How                string
	}
	if err := decode(raw, &reached); err != nil {
		return err
	}
	var reasons []string
	for _, r := range reached {
		switch listed := e.allows(r.Schema, r.Name, 1); {
		case f.kind == sqltool.Explain && (!listed || r.Kind == "f" || r.Policies):
			reasons = append(reasons, explainShows)
		case !listed:
			reasons = append(reasons, reaches[r.How])
		}
	}
	if len(reasons) > 0 {
		return sqltool.Refuse(reasons...)
	}
	return nil
}
