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

// beneath refuses a statement for what it reaches through its relations: the plan of a
// view shows what is below, a write to one changes that, and a foreign key with CASCADE
// changes the rows of another table.
func (e *engine) beneath(ctx context.Context, s *session, f *found) error {
	if e.options.AllTables {
		return nil
	}
	var views, updated, deleted []string
	for _, r := range f.relations {
		if f.kind == sqltool.Explain && r.answer.Policies {
			return sqltool.Refuse(explainShows)
		}
		seen := f.kind == sqltool.Explain || r.target
		if seen && (r.answer.Kind == "v" || r.answer.Kind == "f" && !r.target) {
			views = append(views, r.answer.OID)
		}
		if r.changes&updates != 0 {
			updated = append(updated, r.answer.OID)
		}
		if r.changes&deletes != 0 {
			deleted = append(deleted, r.answer.OID)
		}
	}
	if len(views)+len(updated)+len(deleted) == 0 {
		return nil
	}
	raw, err := s.own(ctx, beneathSQL, arrayLiteral(views), arrayLiteral(updated), arrayLiteral(deleted))
	if err != nil {
		return err
	}
	var reached []struct {
		Schema, Name, Kind string
		Policies           bool
		Key                bool
	}
	if err := decode(raw, &reached); err != nil {
		return err
	}
	var reasons []string
	for _, r := range reached {
		switch listed := e.allows(r.Schema, r.Name, 1); {
		case f.kind == sqltool.Explain && (!listed || r.Kind == "f" || r.Policies):
			reasons = append(reasons, explainShows)
		case r.Key && !listed:
			reasons = append(reasons, "rows of another table, which is not allowed, refer to these and would be changed too")
		case !listed:
			reasons = append(reasons, "a table below this view is not allowed, so that the view can't be written")
		}
	}
	if len(reasons) > 0 {
		return sqltool.Refuse(reasons...)
	}
	return nil
}
