package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/hooks/sqlitedb"
	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/postgres"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/sqlite"
	"github.com/toolgen/toolgen/runtime/worker"
)

func TestMain(m *testing.M) {
	worker.Main(postgres.Worker, sqlite.Worker)
	os.Exit(m.Run())
}

// scripted is a model that sends what a script says, and keeps what it was told last.
type scripted struct {
	t      *testing.T
	script [][2]string // the tool and its arguments; "" and the answer
	told   []string
	tools  []string
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []message
		Tools    []function
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.Header.Get("Authorization") != "Bearer k" {
		s.t.Error(err, r.Header)
	}
	if last := asked.Messages[len(asked.Messages)-1]; last.Role == "tool" {
		s.told = append(s.told, last.Content)
	} else {
		for _, f := range asked.Tools {
			s.tools = append(s.tools, f.Function.Name)
		}
	}
	step := s.script[0]
	s.script = s.script[1:]
	m := message{Role: "assistant", Content: step[1]}
	if step[0] != "" {
		c := call{ID: "c", Type: "function"}
		c.Function.Name, c.Function.Arguments = step[0], step[1]
		m = message{Role: "assistant", Calls: []call{c}}
	}
	if err := json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": m}}}); err != nil {
		s.t.Error(err)
	}
}

// TestAgent has a model explore the bookshop: it makes mistakes, is told so, mends them,
// and is kept from what isn't its business.
func TestAgent(t *testing.T) {
	t.Parallel()
	model := &scripted{t: t, script: [][2]string{
		{"list_tables", `{}`},
		{"get_schema", `{"table_name":"order_lines"}`},
		{"query", `{"sql":"SELECT title, sum(amount) FROM books JOIN order_lines ON book_id = books.id GROUP BY 1"}`},
		{"query", `{"sql":"SELECT email FROM customers"}`},
		{"query", `{"sql":"SELECT b.title, sum(l.quantity) AS sold FROM books b JOIN order_lines l ON l.book_id = b.id GROUP BY b.id ORDER BY sold DESC, b.id LIMIT ?","params":[1]}`},
		{"query", `not even JSON`},
		{"", "The Crooked Harbour."},
	}}
	server := httptest.NewServer(model)
	defer server.Close()
	path := filepath.Join(t.TempDir(), "shop.db")
	if err := sqlitedb.Seed(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	tools, err := open("sqlite:///"+path, sqltool.Options{AllowedTables: []string{"authors", "books", "orders", "order_lines"}})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := runtime.NewRegistry(tools)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := ask(t.Context(), chat{server.URL, "m", "k"}, registry, "Which book sells best?")
	if err != nil || answer != "The Crooked Harbour." {
		t.Errorf("%q, %v", answer, err)
	}
	if err := registry.Close(); err != nil {
		t.Error(err)
	}
	if got := strings.Join(model.tools, " "); got != "list_tables get_schema query check_query" {
		t.Errorf("%s", got)
	}
	for i, want := range []string{
		`{"tables":[{"name":"authors"`, `"columns":[{"name":"id","type":"INTEGER"`, "query: no such column: amount", "query: table customers is not allowed; allowed: authors, books, order_lines, orders",
		`"columns":["title","sold"],"rows":[["`, "query: ",
	} {
		if i >= len(model.told) || !strings.Contains(model.told[i], want) {
			t.Errorf("step %d: told %q, want %s", i+1, model.told[min(i, len(model.told)-1)], want)
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"what is the question":                          nil,
		`a connection of type "mysql": want postgres`:   {"-connection", "mysql://h/db", "-all-tables", "how many?"},
		"AllowedTables is empty":                        {"-connection", "postgres://u:p@h/db", "how many?"},
		"the model can't be reached (MODEL_URL says wh": {"-connection", "postgres://u:p@h/db", "-tables", "orders", "how many?"},
	} {
		if err := run(t.Context(), args, chat{url: "http://127.0.0.1:1"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}
