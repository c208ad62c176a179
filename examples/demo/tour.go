package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/mcpserver"
)

// A stop is one call of the tour and what it shows.
type stop struct {
	title   string
	tool    string
	args    string
	isError bool
}

var stops = []stop{
	{"An answer: what the Go method returned, as JSON.", "shop_best_sellers", `{"from":"2025-03-01T00:00:00Z","to":"2025-04-01T00:00:00Z","limit":3}`, false},
	{"Bad arguments: one message says everything that is wrong.", "shop_refund_order", `{"orderId":7,"cents":"lots","reason":"late","reason":"again"}`, true},
	{"Refused: the hook's own error, which it has declared fit for a model.", "shop_refund_order", `{"order_id":7,"cents":99999999,"reason":"late delivery"}`, true},
	{"A Git repository, read in process.", "git_log", `{"options":{"limit":2}}`, false},
	{"A JSON API below one base URL.", "api_get", `{"path":"/stock/9780000000001"}`, false},
	{"A question that no hook answers, in SQL: read-only, on tables that are listed.", "shop_sql_query", `{"sql":"SELECT a.name, sum(l.quantity) AS sold FROM order_lines l JOIN books b ON b.id = l.book_id JOIN authors a ON a.id = b.author_id GROUP BY a.id ORDER BY sold DESC LIMIT 3"}`, false},
	{"The customers aren't listed: SQLite's own grammar says what a statement reads.", "shop_sql_query", `{"sql":"WITH c AS (SELECT * FROM customers) SELECT email FROM c"}`, true},
	{"And a hand-written tool beside the generated ones.", "shop_opening_hours", `{}`, false},
}

// tour serves the registry on a free port and calls it with the client of the
// official SDK.
func tour(ctx context.Context, out io.Writer, registry *runtime.Registry) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s, err := mcpserver.New(registry, server)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	err = visit(ctx, out, "http://"+l.Addr().String()+"/mcp")
	return errors.Join(err, s.Shutdown(ctx), <-served)
}

func visit(ctx context.Context, out io.Writer, url string) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "tour", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	fmt.Fprintf(out, "An MCP server at %s, protocol %s.\n\nIts tools:\n", url, session.InitializeResult().ProtocolVersion)
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(t.Description, "\n")
		fmt.Fprintf(out, "  %-20s %s\n", t.Name, first)
	}
	for _, st := range stops {
		if err := st.call(ctx, out, session); err != nil {
			return err
		}
	}
	return nil
}

// call makes one call and prints it. An outcome of another kind than expected
// is an error: the tour is a test too.
func (st stop) call(ctx context.Context, out io.Writer, session *mcp.ClientSession) error {
	fmt.Fprintf(out, "\n%s\n> %s %s\n", st.title, st.tool, st.args)
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: st.tool, Arguments: json.RawMessage(st.args)})
	if err != nil {
		return err
	}
	for _, c := range result.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			fmt.Fprintln(out, indent(text.Text))
		}
	}
	if result.IsError != st.isError {
		return fmt.Errorf("%s: is an error: %t, want %t", st.tool, result.IsError, st.isError)
	}
	return nil
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
