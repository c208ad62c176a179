// Sql-agent answers questions about a database: a model explores it with the four tools of
// the SQL toolset, and can neither change, leak nor hang it beyond what its operator allows.
//
// Usage:
//
//	sql-agent [flags] question...
//
//	-connection URI   postgres://user:password@host:5432/database, or sqlite:///path/to/file
//	-tables LIST      the tables that may be read: orders,sales.region,"Order Items"
//	-all-tables       all of them
//	-writes           rows of those tables may be changed
//
// Without -connection it makes a bookshop in .cache/sql-agent, and asks that.
//
// The model is any that is served like OpenAI's chat completions. The environment says
// where: MODEL_URL (http://127.0.0.1:11434/v1, where Ollama serves, if it is empty), MODEL,
// and MODEL_KEY. A connection may be in the environment too: SQL_AGENT_CONNECTION keeps its
// password out of the list of processes.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/toolgen/toolgen/hooks/sqlitedb"
	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/postgres"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/sqlite"
	"github.com/toolgen/toolgen/runtime/worker"
)

func main() {
	worker.Main(postgres.Worker, sqlite.Worker) // what can't be stopped has a process of its own
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	model := chat{url: cmp.Or(os.Getenv("MODEL_URL"), "http://127.0.0.1:11434/v1"), model: cmp.Or(os.Getenv("MODEL"), "qwen3"), key: os.Getenv("MODEL_KEY")}
	if err := run(ctx, os.Args[1:], model); err != nil {
		fmt.Fprintln(os.Stderr, "sql-agent:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has run
	}
}

// run answers the question in args.
func run(ctx context.Context, args []string, model chat) error {
	flags := flag.NewFlagSet("sql-agent", flag.ContinueOnError)
	uri := flags.String("connection", os.Getenv("SQL_AGENT_CONNECTION"), "URI of the database")
	tables := flags.String("tables", "", "tables that may be read, with commas between")
	all := flags.Bool("all-tables", false, "all tables may be read")
	writes := flags.Bool("writes", false, "rows may be changed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	question := strings.Join(flags.Args(), " ")
	if question == "" {
		return errors.New("what is the question? write it behind the flags")
	}
	options := sqltool.Options{AllTables: *all, AllowWrites: *writes}
	if *tables != "" {
		options.AllowedTables = strings.Split(*tables, ",")
	}
	if *uri == "" {
		path, err := bookshop(ctx)
		if err != nil {
			return err
		}
		*uri, options.AllowedTables = "sqlite:///"+path, []string{"authors", "books", "orders", "order_lines"}
	}
	tools, err := open(*uri, options)
	if err != nil {
		return err
	}
	registry, err := runtime.NewRegistry(tools) //nolint:contextcheck // it opens nothing
	if err != nil {
		return err
	}
	answer, err := ask(ctx, model, registry, question)
	if err == nil {
		fmt.Println(answer)
	}
	return errors.Join(err, registry.Close())
}

// open makes the toolset of a database.
func open(uri string, o sqltool.Options) (*sqltool.Toolset, error) {
	c, err := connection.Parse("database", uri)
	if err != nil {
		return nil, err
	}
	dialects := map[string]sqltool.Dialect{"postgres": postgres.Dialect, "postgresql": postgres.Dialect, "sqlite": sqlite.Dialect}
	d := dialects[c.Type]
	if d == nil {
		return nil, fmt.Errorf("a connection of type %q: want postgres or sqlite", c.Type)
	}
	if c.Type == "sqlite" && c.Host == "" && c.Schema != "" && !filepath.IsAbs(c.Schema) {
		c.Schema = "/" + c.Schema // as in sqlite:///var/lib/shop.db
	}
	return sqltool.New(d, connection.Direct(*c), o)
}

// bookshop makes a database to ask, at the first use.
func bookshop(ctx context.Context) (string, error) {
	path, err := filepath.Abs(filepath.Join(".cache", "sql-agent", "shop.db"))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return "", err
	}
	unfinished := path + ".new" // so that an interrupted run leaves no half of a shop
	_ = os.Remove(unfinished)
	if err := sqlitedb.Seed(ctx, unfinished); err != nil {
		return "", err
	}
	return path, os.Rename(unfinished, path)
}
