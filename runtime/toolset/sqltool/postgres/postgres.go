// Package postgres is the dialect of PostgreSQL, 13 and later. It links no C.
//
//	func main() {
//		worker.Main(postgres.Worker) // the first line
//		...
//		tools, err := sqltool.New(postgres.Dialect, connection.Named(resolver, "shop"), sqltool.Options{AllowedTables: []string{"orders"}})
//
// The connection's host, port, login and password are the server's, its schema is the
// database. Of its extra, sslmode, sslrootcert, sslcert, sslkey, connect_timeout,
// application_name and target_session_attrs are taken; any other parameter is an error.
//
// # The guard
//
// PostgreSQL's own parser reads a statement, in a child process: see [Worker]. Whatever is
// in the tree that it makes must be in a table of what may be there; what isn't is refused,
// be it new or never heard of. Then one query asks the server's catalogue what the names
// are: tables, functions, types and operators, under the search path of the session. It is
// the first of the transaction in which the statement runs. A table must be on the list; a
// function must be built in and on a list that is reviewed, in all the ways in which it can
// be called; a type must not be one whose values name what there is. A name behind a dot is
// a function too, if there is one: o.leak calls leak(o), if o has no such column.
//
// A listed view may be read, whatever it reads. That is no boundary of rows, unless the
// view is a security barrier: a condition may see the rows that the view leaves out.
//
// # Below the guard
//
// Transactions are read-only, unless a statement writes, and the parameters of the session
// are those of its start, to which each call returns. The extended protocol takes one
// statement. Best is a login that may read no more than the model should: what functions do
// outside of transactions only the guard and the login's grants stop.
//
// # Time
//
// A call that ends early, for its deadline or its bounds, has the server end its work too,
// within two seconds. A few functions, such as xpath, don't look whether they are to stop:
// their backend works on, and no more calls begin than there may be connections. A value may be as long as the server makes it, up to 16 MiB, where
// the connection is closed: no row is shown of what is larger.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// Dialect is PostgreSQL.
var Dialect sqltool.Dialect = dialect{}

type dialect struct{}

// Name implements [sqltool.Dialect].
func (dialect) Name() string { return "PostgreSQL" }

// lexis is how PostgreSQL writes.
var lexis = sqltool.Lexis{
	Quotes: []string{`""`}, NestedComments: true, EscapeStrings: true, DollarQuotes: true, ReturnEnds: true, MoreOperators: "?`",
}

// systemSchema is where the system's own names are; it is first on the search path.
const systemSchema = "pg_catalog"

// Check implements [sqltool.Dialect].
func (dialect) Check(o *sqltool.Options) error {
	if o.Schema == "" {
		o.Schema = "public"
	}
	var errs []error
	if strings.ContainsRune(o.Schema, 0) || strings.HasPrefix(o.Schema, "pg_") {
		errs = append(errs, fmt.Errorf("Schema is %q: want a schema of the database's own", o.Schema))
	}
	for _, text := range o.AllowedTables {
		if _, err := parseEntry(text, o.Schema); err != nil {
			errs = append(errs, fmt.Errorf("AllowedTables: %w", err))
		}
	}
	for _, text := range o.AllowedFunctions {
		if n, err := sqltool.ParseName(text, lexis.Quotes...); err != nil || len(n) > 2 {
			errs = append(errs, fmt.Errorf("AllowedFunctions: %q is no function, nor a schema and one", text))
		}
	}
	return errors.Join(errs...)
}

// entry is a relation, or a function, that the options name.
type entry struct {
	text     string
	database string // "": any
	schema   sqltool.Part
	name     sqltool.Part
}

// parseEntry reads the name of a relation. One without a schema is of the default one.
func parseEntry(text, schema string) (entry, error) {
	n, err := sqltool.ParseName(text, lexis.Quotes...)
	if err != nil {
		return entry{}, err
	}
	e := entry{text: text, schema: sqltool.Part{Text: schema, Quoted: true}, name: n[len(n)-1]}
	if len(n) > 1 {
		e.schema = n[len(n)-2]
	}
	const whole = 3
	if len(n) == whole {
		e.database = n[0].Text
	}
	return e, nil
}

func (e *entry) matches(schema, name string) bool {
	return e.schema.Matches(schema) && e.name.Matches(name)
}

// engine is one database.
type engine struct {
	pool     *pgxpool.Pool
	options  sqltool.Options
	path     string // the search path
	database string
	version  int // 150018
	tables   []entry
	allowed  []entry // functions
	reserved string  // types, as an array of oids
	jit      string  // the server's setting
	keywords map[string]bool
	deaf     deaf
}

// Open implements [sqltool.Dialect].
func (dialect) Open(ctx context.Context, s connection.Source, o sqltool.Options) (sqltool.Engine, error) {
	c, err := s.Connection(ctx)
	if err != nil {
		return nil, err
	}
	e := &engine{options: o, path: systemSchema + ", " + quote(o.Schema) + ", pg_temp"}
	for _, text := range o.AllowedTables {
		t, err := parseEntry(text, o.Schema)
		if err != nil {
			return nil, err
		}
		e.tables = append(e.tables, t)
	}
	e.allowed = functionEntries(&o)
	config, err := e.config(c)
	if err != nil {
		return nil, err
	}
	if e.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	parsers.open() //nolint:contextcheck // children live longer than the toolset
	if err := e.start(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// functionEntries are the functions of the options; one without a schema is the system's
// or the default schema's.
func functionEntries(o *sqltool.Options) (all []entry) {
	for _, text := range o.AllowedFunctions {
		n, err := sqltool.ParseName(text, lexis.Quotes...)
		if err != nil {
			continue // Check has refused it
		}
		fold := sqltool.Part{Text: n[len(n)-1].Text} // in any case
		if len(n) > 1 {
			all = append(all, entry{text: text, schema: sqltool.Part{Text: n[0].Text}, name: fold})
			continue
		}
		for _, schema := range []string{systemSchema, o.Schema} {
			all = append(all, entry{text: text, schema: sqltool.Part{Text: schema, Quoted: true}, name: fold})
		}
	}
	return all
}

// start reads what the guard needs to know of the server, and whether the list is clear.
func (e *engine) start(ctx context.Context) error {
	s, err := e.begin(ctx, false)
	if err != nil {
		return err
	}
	defer s.end(ctx)
	raw, err := s.own(ctx, "SELECT json_build_object('v', current_setting('server_version_num'), 'd', current_database(), 'e', current_setting('server_encoding'), 'j', (SELECT reset_val FROM pg_settings WHERE name = 'jit'), 'r', ("+reservedSQL+
		"), 'k', (SELECT json_agg(word) FROM pg_get_keywords() WHERE catcode <> 'U'))::text")
	if err != nil {
		return err
	}
	var server struct {
		V, D, E, J, R string
		K             []string
	}
	if err := decode(raw, &server); err != nil {
		return err
	}
	e.database, e.reserved, e.jit, e.keywords = server.D, server.R, server.J, make(map[string]bool)
	for _, word := range server.K {
		e.keywords[word] = true
	}
	if e.version, err = strconv.Atoi(server.V); err != nil {
		return err
	}
	const oldest = 130000
	if e.version < oldest {
		return fmt.Errorf("the server is PostgreSQL %d: want 13 or later", e.version/10000)
	}
	if server.E != "UTF8" { // the parser reads names as UTF-8, and cuts them there
		return fmt.Errorf("the database's encoding is %s: want UTF8", server.E)
	}
	return e.checkList(ctx, s)
}

// checkList refuses a list whose entries mean two tables, or one of another database, and
// logs those that mean none, and views that hide no rows.
func (e *engine) checkList(ctx context.Context, s *session) error {
	for _, t := range e.tables {
		if t.database != "" && t.database != e.database {
			return fmt.Errorf("AllowedTables: %s is of another database than %s", t.text, e.database)
		}
		relations, err := e.relationsOf(ctx, s, t)
		if err != nil {
			return err
		}
		var names []string
		for _, r := range relations {
			names = append(names, qualified{r.Schema, e.ident(r.Name)}.String())
		}
		switch {
		case len(relations) == 0:
			slog.WarnContext(ctx, "sqltool: there is no such table yet", "entry", t.text)
		case len(relations) > 1:
			return fmt.Errorf("AllowedTables: %s may be any of %s: put it in quotes", t.text, strings.Join(names, ", "))
		case relations[0].Kind == "v" && !relations[0].Barrier:
			slog.WarnContext(ctx, "sqltool: this view is no security barrier, and no boundary of rows", "view", names[0])
		}
	}
	return nil
}

// Close implements [sqltool.Engine].
func (e *engine) Close() error {
	e.pool.Close()
	parsers.close()
	return nil
}
