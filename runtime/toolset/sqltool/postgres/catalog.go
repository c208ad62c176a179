package postgres

import (
	"context"
	"strconv"

	"github.com/huandu/go-sqlbuilder"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// ident writes a name as SQL has it: in quotes where it must.
func (e *engine) ident(name string) string {
	plain := name != "" && !e.keywords[name] && (name[0] < '0' || name[0] > '9')
	for i := range len(name) {
		c := name[i]
		plain = plain && (c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	}
	if plain {
		return name
	}
	return quote(name)
}

// rows runs a query of ours that was built, and returns its rows.
func (s *session) rows(ctx context.Context, b sqlbuilder.Builder) ([][][]byte, error) {
	sql, args := b.BuildWithFlavor(sqlbuilder.PostgreSQL)
	values := make([][]byte, len(args))
	for i, arg := range args {
		if text, ok := arg.(string); ok { // all are
			values[i] = []byte(text)
		}
	}
	result := s.conn.ExecParams(ctx, sql, values, nil, nil, nil).Read()
	return result.Rows, result.Err
}

// listed is the condition that a relation is one of the list: t and n are it and its
// schema.
func (e *engine) listed(b *sqlbuilder.Cond, t, n string) string {
	if e.options.AllTables {
		return n + ".nspname NOT LIKE 'pg\\_%' AND " + n + ".nspname <> 'information_schema'"
	}
	var all []string
	for _, entry := range e.tables {
		all = append(all, b.And(matches(b, n+".nspname", entry.schema), matches(b, t+".relname", entry.name)))
	}
	return b.Or(all...)
}

func matches(b *sqlbuilder.Cond, column string, part sqltool.Part) string {
	if part.Quoted {
		return b.EQ(column, part.Text)
	}
	return "lower(" + column + ` COLLATE "C") = ` + b.Var(sqltool.FoldASCII(part.Text)) + "::text"
}

// foundRelation is a relation that an entry of the list means.
type foundRelation struct {
	Schema, Name, Kind string
	Barrier            bool // of a view: no condition sees the rows that it leaves out
}

// relationsOf are the relations that an entry of the list means.
func (e *engine) relationsOf(ctx context.Context, s *session, t entry) (all []foundRelation, err error) {
	b := sqlbuilder.PostgreSQL.NewSelectBuilder()
	b.Select("n.nspname", "t.relname", "t.relkind", "coalesce(t.reloptions::text ~ 'security_barrier=(true|on|1|yes)', false)").
		From("pg_class t").Join("pg_namespace n", "n.oid = t.relnamespace").
		Where("t.relkind IN ('r', 'v', 'm', 'f', 'p', 'S')", matches(&b.Cond, "n.nspname", t.schema), matches(&b.Cond, "t.relname", t.name)).OrderBy(`t.relname COLLATE "C"`)
	rows, err := s.rows(ctx, b)
	for _, r := range rows {
		all = append(all, foundRelation{string(r[0]), string(r[1]), string(r[2]), string(r[3]) == "t"})
	}
	return all, err
}

// kinds are what relations are called that are no tables.
var kinds = map[string]string{"v": "view", "m": "materialized view", "f": "foreign table", "p": "", "r": ""}

// Relations implements [sqltool.Engine]. Partitions are shown if their table isn't on the
// list.
func (e *engine) Relations(ctx context.Context, page sqltool.Page) (all []sqltool.Relation, err error) {
	s, err := e.begin(ctx, false)
	if err != nil {
		return nil, err
	}
	defer s.end(ctx)
	b := sqlbuilder.PostgreSQL.NewSelectBuilder()
	parent := sqlbuilder.PostgreSQL.NewSelectBuilder()
	parent.Select("1").From("pg_partition_ancestors(t.oid) a").Join("pg_class p", "p.oid = a.relid").Join("pg_namespace pn", "pn.oid = p.relnamespace").
		Where("p.oid <> t.oid", e.listed(&parent.Cond, "p", "pn"))
	b.Select(relationColumns...).From("pg_class t").Join("pg_namespace n", "n.oid = t.relnamespace").
		Where("t.relkind IN ('r', 'v', 'm', 'f', 'p')", e.listed(&b.Cond, "t", "n"), b.NotExists(parent))
	isDefault := "(n.nspname = " + b.Var(e.options.Schema) + ")::int"
	order := isDefault + `, n.nspname COLLATE "C", t.relname COLLATE "C"`
	if page.Match != "" {
		b.Where("strpos(lower(t.relname), lower(" + b.Var(page.Match) + "::text)) > 0")
	}
	if schema, name, ok := e.after(page.After); ok {
		last := "0"
		if schema == e.options.Schema {
			last = "1"
		}
		b.Where("(" + order + ") > (" + b.Var(last) + "::int, " + b.Var(schema) + "::text, " + b.Var(name) + "::text)")
	}
	b.OrderBy(order).SQL("LIMIT " + b.Var(strconv.Itoa(page.Limit)) + "::int")
	rows, err := s.rows(ctx, b)
	for _, r := range rows {
		all = append(all, e.relationOf(r))
	}
	return all, err
}

var relationColumns = []string{"n.nspname", "t.relname", "t.relkind", "t.reltuples::bigint::text", "coalesce(obj_description(t.oid, 'pg_class'), '')", "t.oid::text"}

func (e *engine) relationOf(r [][]byte) sqltool.Relation {
	return sqltool.Relation{
		Name: e.shown(string(r[0]), string(r[1])), Kind: kinds[string(r[2])], RowEstimate: estimate(string(r[2]), string(r[3])), Comment: string(r[4]),
	}
}

// after reads the name at which a list goes on.
func (e *engine) after(shown string) (schema, name string, ok bool) {
	t, err := parseEntry(shown, e.options.Schema)
	if shown == "" || err != nil {
		return "", "", false
	}
	return t.schema.Text, t.name.Text, true
}

// Triggered implements [sqltool.Engine].
func (e *engine) Triggered(ctx context.Context) (names []string, err error) {
	s, err := e.begin(ctx, false)
	if err != nil {
		return nil, err
	}
	defer s.end(ctx)
	b := sqlbuilder.PostgreSQL.NewSelectBuilder()
	b.Select("n.nspname", "t.relname").From("pg_class t").Join("pg_namespace n", "n.oid = t.relnamespace").
		Where("t.relkind IN ('r', 'v', 'f', 'p')", e.listed(&b.Cond, "t", "n"), b.Or("EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = t.oid AND NOT g.tgisinternal)",
			"EXISTS (SELECT FROM pg_rewrite w WHERE w.ev_class = t.oid AND w.ev_type <> '1')")).OrderBy("n.nspname", "t.relname")
	rows, err := s.rows(ctx, b)
	for _, r := range rows {
		names = append(names, e.shown(string(r[0]), string(r[1])))
	}
	return names, err
}

// Schema implements [sqltool.Engine].
func (e *engine) Schema(ctx context.Context, name string) (*sqltool.Schema, error) {
	t, err := parseEntry(name, e.options.Schema)
	if err != nil || t.database != "" && t.database != e.database {
		return nil, nil //nolint:nilnil // there is no such table
	}
	s, err := e.begin(ctx, false)
	if err != nil {
		return nil, err
	}
	defer s.end(ctx)
	b := sqlbuilder.PostgreSQL.NewSelectBuilder()
	b.Select(relationColumns...).From("pg_class t").Join("pg_namespace n", "n.oid = t.relnamespace").
		Where("t.relkind IN ('r', 'v', 'm', 'f', 'p')", e.listed(&b.Cond, "t", "n"), matches(&b.Cond, "n.nspname", folded(t.schema)), matches(&b.Cond, "t.relname", folded(t.name)))
	rows, err := s.rows(ctx, b)
	if err != nil || len(rows) != 1 {
		return nil, err
	}
	out := &sqltool.Schema{Relation: e.relationOf(rows[0])}
	oid := string(rows[0][5])
	if err := s.columns(ctx, oid, out); err != nil {
		return nil, err
	}
	return out, e.keys(ctx, s, oid, out)
}

// folded is a name as SQL reads it: without quotes it is in lower case.
func folded(p sqltool.Part) sqltool.Part {
	if !p.Quoted {
		p.Text = sqltool.FoldASCII(p.Text)
	}
	p.Quoted = true
	return p
}

func (s *session) columns(ctx context.Context, oid string, out *sqltool.Schema) error {
	b := sqlbuilder.PostgreSQL.NewSelectBuilder()
	b.Select("a.attname", "format_type(a.atttypid, a.atttypmod)", "a.attnotnull", "coalesce(pg_get_expr(d.adbin, d.adrelid), '')",
		"coalesce(col_description(a.attrelid, a.attnum), '')", "a.attgenerated <> '' OR a.attidentity = 'a'").
		From("pg_attribute a").JoinWithOption(sqlbuilder.LeftJoin, "pg_attrdef d", "d.adrelid = a.attrelid AND d.adnum = a.attnum").
		Where(b.EQ("a.attrelid", oid), "a.attnum > 0", "NOT a.attisdropped").OrderBy("a.attnum")
	rows, err := s.rows(ctx, b)
	for _, r := range rows {
		c := sqltool.Column{Name: string(r[0]), Type: string(r[1]), NotNull: string(r[2]) == "t", Default: string(r[3]), Comment: string(r[4]), Generated: string(r[5]) == "t"}
		out.Columns = append(out.Columns, c)
	}
	return err
}

// keys are the primary key, and the foreign keys to tables that may be used.
func (e *engine) keys(ctx context.Context, s *session, oid string, out *sqltool.Schema) error {
	b := sqlbuilder.PostgreSQL.NewSelectBuilder()
	names := func(list, of string) string {
		return "(SELECT json_agg(a.attname ORDER BY k.i) FROM unnest(c." + list + ") WITH ORDINALITY AS k(n, i) JOIN pg_attribute a ON a.attrelid = c." + of + " AND a.attnum = k.n)"
	}
	b.Select("c.contype", names("conkey", "conrelid"), "coalesce("+names("confkey", "confrelid")+", '[]')", "coalesce(n.nspname, '')", "coalesce(t.relname, '')").
		From("pg_constraint c").JoinWithOption(sqlbuilder.LeftJoin, "pg_class t", "t.oid = c.confrelid").
		JoinWithOption(sqlbuilder.LeftJoin, "pg_namespace n", "n.oid = t.relnamespace").
		Where(b.EQ("c.conrelid", oid), b.Or("c.contype = 'p'", b.And("c.contype = 'f'", e.listed(&b.Cond, "t", "n")))).OrderBy("c.conname")
	rows, err := s.rows(ctx, b)
	if err != nil {
		return err
	}
	for _, r := range rows {
		var columns, to []string
		if err := decode(r[1], &columns); err != nil {
			return err
		}
		if err := decode(r[2], &to); err != nil {
			return err
		}
		if string(r[0]) == "p" {
			out.PrimaryKey = columns
			continue
		}
		out.ForeignKeys = append(out.ForeignKeys, sqltool.ForeignKey{Columns: columns, References: e.shown(string(r[3]), string(r[4])), To: to})
	}
	return nil
}

// estimate is a statistic of the server's; -1: it has none. A view has no rows of its own.
func estimate(kind, tuples string) int64 {
	n, err := strconv.ParseInt(tuples, 10, 64)
	if err != nil || kind == "v" {
		return -1
	}
	return n
}
