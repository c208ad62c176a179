// Demo is a bookshop's agent side: three generated toolsets, a hand-written one, and
// the SQL toolset over the shop's database, in one registry, served over MCP.
//
// Usage:
//
//	demo tour            start the server on a free port and call it
//	demo serve [flags]   serve on standard input and output; -http ADDR for HTTP
//
// The shop's database is made in the folder that DEMO_DATA names, .cache/demo
// if it is empty, unless it is there already. The Git repository is the one
// that the working folder is in, or DEMO_REPO: a client that starts the server
// elsewhere sets both to absolute paths.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/toolgen/toolgen/examples/demo/agenttools"
	"github.com/toolgen/toolgen/hooks/gitrepo"
	"github.com/toolgen/toolgen/hooks/httpapi"
	"github.com/toolgen/toolgen/hooks/sqlitedb"
	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/mcpserver"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/sqlite"
	"github.com/toolgen/toolgen/runtime/worker"
)

//go:generate go run ../../cmd/toolgen

func main() {
	worker.Main(sqlite.Worker) // a statement that doesn't end is killed with its process
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// server says what the demo is called.
var server = mcpserver.Options{Name: "bookshop", Version: "0.1.0", Title: "A bookshop's tools"}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		args = []string{"tour"}
	}
	agent, err := open(ctx)
	if err != nil {
		return err
	}
	switch args[0] {
	case "serve":
		os.Args = append(os.Args[:1], args[1:]...)
		mcpserver.Main(agent.registry, server) //nolint:contextcheck // it makes its own, which signals end
		return nil                             // not reached
	case "tour":
		return errors.Join(tour(ctx, os.Stdout, agent.registry), agent.close())
	default:
		return fmt.Errorf("unknown verb %q: write tour or serve", args[0])
	}
}

// agent is what an agent links, and what is open for it.
type agent struct {
	registry *runtime.Registry
	close    func() error
}

func open(ctx context.Context) (*agent, error) {
	shop, err := openShop(ctx)
	if err != nil {
		return nil, err
	}
	repo, err := gitrepo.Open(cmp.Or(os.Getenv("DEMO_REPO"), "."))
	if err != nil {
		return nil, errors.Join(err, shop.Close())
	}
	supplier, api, err := startSupplier(ctx)
	if err != nil {
		return nil, errors.Join(err, shop.Close())
	}
	// Questions that no hook answers: read-only, and not about the customers.
	questions, err := sqltool.New(sqlite.Dialect, connection.Direct(connection.Connection{ID: "shop", Type: "sqlite", Host: shopFile()}), sqltool.Options{
		AllowedTables: []string{"authors", "books", "orders", "order_lines"}, Prefix: "shop_sql_",
	})
	if err != nil {
		return nil, errors.Join(err, supplier.Close(), shop.Close())
	}
	// The line that an agent links: generated toolsets first, then others.
	registry, err := agenttools.New(agenttools.Hooks{Repo: repo, API: api, Shop: shop}, openingHours{}, questions)
	return &agent{registry, func() error { return errors.Join(supplier.Close(), shop.Close()) }}, err
}

// shopFile is where the shop's database is.
func shopFile() string {
	return filepath.Join(cmp.Or(os.Getenv("DEMO_DATA"), filepath.Join(".cache", "demo")), "shop.db")
}

// openShop opens the shop's database, made at the first use.
func openShop(ctx context.Context) (*sqlitedb.Shop, error) {
	path := shopFile()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return nil, err
		}
		unfinished := path + ".new" // so that an interrupted run leaves no half of a shop
		_ = os.Remove(unfinished)
		if err := sqlitedb.Seed(ctx, unfinished); err != nil {
			return nil, err
		}
		if err := os.Rename(unfinished, path); err != nil {
			return nil, err
		}
	}
	return sqlitedb.OpenShop(ctx, path)
}

// startSupplier serves the JSON API of a supplier, and returns it as a hook.
func startSupplier(ctx context.Context) (*http.Server, *httpapi.API, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/stock/{isbn}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"isbn":%q,"copies":12,"delivered_in_days":3}`, r.PathValue("isbn"))
	})
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = s.Serve(l) }() // ends with Close
	api, err := httpapi.New("http://"+l.Addr().String()+"/v1", nil)
	return s, api, err
}
