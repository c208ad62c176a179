package sqlstore_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/wrap/sqlstore"
)

// refunds is a toolset of one tool, which must not run twice.
type refunds struct{}

func (r refunds) Tools(context.Context) ([]runtime.Tool, error) { return []runtime.Tool{r}, nil }

func (refunds) Definition() *runtime.Definition {
	return &runtime.Definition{Name: "refund", Description: "Refunds an order.", Input: json.RawMessage(`{"type":"object"}`)}
}

func (refunds) Call(context.Context, json.RawMessage) (*runtime.Result, error) {
	fmt.Println("(money moves)")
	return runtime.TextResult("refunded"), nil
}

// A run that is begun again under its name replays what it did.
func ExampleSQLite() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "agent.db"))
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }()
	registry, err := runtime.NewRegistry(refunds{})
	if err != nil {
		panic(err)
	}
	for range 2 {
		run, err := registry.Start(context.Background(), runtime.Journal(sqlstore.SQLite(db), "ticket-4711", "v1.4.0"))
		if err != nil {
			panic(err)
		}
		out, err := run.Call(context.Background(), runtime.Call{ID: "c1", Name: "refund", Args: json.RawMessage(`{"order":7}`)})
		if err != nil {
			panic(err)
		}
		fmt.Println(out[0].Result.Blocks[0].Text, "replayed:", out[0].Replayed)
		if err := run.Close(); err != nil { // as a crash would
			panic(err)
		}
	}
	// Output:
	// (money moves)
	// refunded replayed: false
	// refunded replayed: true
}
