package connection_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	_ "github.com/ncruces/go-sqlite3/driver"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/internal/fixture"
	"github.com/toolgen/toolgen/runtime/internal/fixture/fixturetools"
	"github.com/toolgen/toolgen/runtime/mcpserver"
	"github.com/toolgen/toolgen/runtime/secret"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
	"github.com/toolgen/toolgen/runtime/toolset/sqltool/sqlite"
	"github.com/toolgen/toolgen/runtime/wrap"
	"github.com/toolgen/toolgen/runtime/wrap/oteltrace"
)

// planted are 20 secrets: with quotes, backslashes, accents, percent signs, one inside
// of another, one of several lines.
func planted() []string {
	all := make([]string, 0, 20)
	for i, form := range []string{"plain-%d-secret", `quo"ted-%d-\secret`, "äccented-%d-ß", "per%%cent-%d+and space", "line-one-of-secret-%d\nline-two-of-secret-%d"} {
		for j := range 4 {
			n := 1000 + i*4 + j
			all = append(all, fmt.Sprintf(strings.ReplaceAll(form, "%d", "%[1]d"), n))
		}
	}
	return all
}

// store is a connection with all of them: in the password, under many names of the
// extra, in JSON in a string, and in a URL.
func store(secrets []string) connection.Connection {
	extra := map[string]any{}
	nested := map[string]any{}
	for i, s := range secrets[1:] {
		switch {
		case i < 8:
			extra[fmt.Sprintf("api_token_%d", i)] = s
		case i < 14:
			nested[fmt.Sprint("n", i)] = []any{s}
		case i < 16:
			extra[fmt.Sprintf("proxy_%d", i)] = (&url.URL{Scheme: "http", Host: "proxy", User: url.UserPassword("u", s)}).String()
		default:
			inner, _ := json.Marshal(map[string]string{"k": s})
			extra[fmt.Sprintf("keyfile_dict_%d", i)] = string(inner)
		}
	}
	extra["service_account"] = nested
	return connection.Connection{ID: "store", Type: "x", Host: "h", Password: secret.New(secrets[0]), Extra: extra}
}

// leaky is a toolset that tells all that it knows, in every way that there is.
type leaky struct {
	*connection.Handle[string]

	secrets []string
}

func (l *leaky) ID() string { return "leaky" }

func (l *leaky) Instructions(context.Context) ([]runtime.Instruction, error) {
	return []runtime.Instruction{{Text: strings.Join(l.secrets, " and ")}}, nil
}

type leak struct {
	of  *leaky
	def runtime.Definition
	do  func(ctx context.Context, told string) (*runtime.Result, error)
}

func (l *leak) Definition() *runtime.Definition { return &l.def }

func (l *leak) Call(ctx context.Context, _ json.RawMessage) (*runtime.Result, error) {
	lease, err := l.of.Get(ctx)
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	var all []string
	for _, s := range l.of.secrets {
		for _, form := range written(s) {
			all = append(all, form)
		}
	}
	told := strings.Join(all, " | ")
	runtime.Progress(ctx, 1, 1, told)
	return l.do(ctx, told)
}

// written are the forms in which a secret is looked for, and told.
func written(s string) map[string]string {
	quoted, _ := json.Marshal(s)
	twice, _ := json.Marshal(string(quoted))
	return map[string]string{
		"itself": s, "JSON": string(quoted[1 : len(quoted)-1]), "JSON in JSON": string(twice[3 : len(twice)-3]), "query": url.QueryEscape(s), "path": url.PathEscape(s),
		"base64": base64.StdEncoding.EncodeToString([]byte(s)), "basic": base64.StdEncoding.EncodeToString([]byte("store:" + s))[8:], "hex": hex.EncodeToString([]byte(s)),
		"Go": strings.Trim(fmt.Sprintf("%q", s), `"`), "Go, ASCII": strings.Trim(fmt.Sprintf("%+q", s), `"`),
	}
}

func (l *leaky) Tools(context.Context) ([]runtime.Tool, error) {
	var tools []runtime.Tool
	add := func(name string, do func(ctx context.Context, told string) (*runtime.Result, error)) {
		tools = append(tools, &leak{l, runtime.Definition{Name: name, Description: "Leaks.", Input: json.RawMessage(`{"type":"object"}`), MaxResult: 4096}, do})
	}
	add("text", func(_ context.Context, told string) (*runtime.Result, error) { return runtime.TextResult(told), nil })
	add("structured", func(_ context.Context, told string) (*runtime.Result, error) {
		raw, err := json.Marshal(map[string]any{told: told, "list": l.secrets})
		return &runtime.Result{Structured: raw}, err
	})
	add("link", func(_ context.Context, told string) (*runtime.Result, error) {
		return &runtime.Result{Hint: told[:100], Blocks: []runtime.Block{{Kind: runtime.Link, URI: "x://" + told[:1000], Name: told[:1000]}}}, nil
	})
	add("retry", func(_ context.Context, told string) (*runtime.Result, error) { return nil, runtime.Retryf("%s", told) })
	add("failed", func(_ context.Context, told string) (*runtime.Result, error) {
		return nil, &runtime.FailedError{Message: told, Cause: errors.New(told)}
	})
	add("broken", func(_ context.Context, told string) (*runtime.Result, error) { return nil, errors.New(told) })
	add("panics", func(_ context.Context, told string) (*runtime.Result, error) { panic(told) })
	add("asks", func(_ context.Context, told string) (*runtime.Result, error) {
		return nil, &runtime.PendingError{Kind: runtime.PendingApproval, Reason: told}
	})
	return tools, nil
}

// outputs is all that anybody is shown.
type outputs struct {
	mu  sync.Mutex
	all map[string]string
}

func (o *outputs) add(name string, v any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, ok := v.(string)
	if !ok {
		raw, err := json.Marshal(v)
		text = fmt.Sprintf("%v %+v %s %v", v, v, raw, err)
	}
	o.all[name] += text
}

// TestR35NothingLeaks plants 20 secrets in a connection, the environment, arguments,
// results, errors and panics, and looks for them in all that a model, a log, a span, a
// journal, a reviewer, a client over MCP or a host is shown, in ten encodings.
func TestR35NothingLeaks(t *testing.T) {
	secrets := planted()
	c := store(secrets)
	raw, err := json.Marshal(map[string]any{"conn_type": c.Type, "host": c.Host, "password": c.Password.Reveal(), "extra": c.Extra})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TOOLGEN_CONN_STORE", string(raw))
	source := connection.Named(connection.Env(), "store")
	out := &outputs{all: make(map[string]string)}
	dir := t.TempDir()
	l := &leaky{connection.NewHandle(source, func(_ context.Context, c *connection.Connection) (string, error) {
		out.add("connection", c)
		return c.Password.Reveal(), nil
	}), secrets}
	if _, err := l.Get(t.Context()); err != nil { // so that instructions are known to have secrets
		t.Fatal(err)
	}

	var logged bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	exporter, reader := tracetest.NewInMemoryExporter(), metric.NewManualReader()
	traced := []oteltrace.Option{
		oteltrace.Capture(true), oteltrace.TracerProvider(trace.NewTracerProvider(trace.WithSyncer(exporter))),
		oteltrace.MeterProvider(metric.NewMeterProvider(metric.WithReader(reader))),
	}
	generated := secret.With(fixturetools.NewService(&fixture.Service{}), l)
	ts := wrap.Spill(oteltrace.Trace(wrap.Log(wrap.Combine(l, generated, database(t, secrets)), logger), traced...), filepath.Join(dir, "spill"))
	registry, err := runtime.NewRegistry(ts)
	if err != nil {
		t.Fatal(err)
	}
	runAll(t, registry, out, secrets, dir, logger)
	serve(t, registry, out, secrets)
	out.add("log", logged.String())
	for _, span := range exporter.GetSpans() {
		out.add("span", fmt.Sprintf("%+v", span))
	}
	var metrics metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &metrics); err != nil {
		t.Fatal(err)
	}
	out.add("metrics", fmt.Sprintf("%+v", metrics))
	_, failed := connection.NewHandle(source, func(_ context.Context, c *connection.Connection) (string, error) {
		return "", fmt.Errorf("dial %s %v", c.Password.Reveal(), c.Extra)
	}).Get(t.Context())
	out.add("handle", failed.Error()+fmt.Sprintf("%+v", failed))
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"connection", "instructions", "message", "error", "result", "pending", "progress", "log", "span", "metrics", "file journal", "file spill", "mcp", "handle"} {
		if len(out.all[want]) < 20 {
			t.Errorf("%s shows nothing: %q", want, out.all[want])
		}
	}
	for name, text := range out.all {
		for i, s := range secrets {
			for form, encoded := range written(s) {
				if at := strings.Index(text, encoded); at >= 0 {
					t.Errorf("%s shows secret %d (%s): …%q…", name, i, form, text[max(0, at-40):min(len(text), at+len(encoded)+40)])
				}
			}
		}
	}
}

// database is the SQL toolset, whose connection has a secret of its own, over tables
// with all of them.
func database(t *testing.T, secrets []string) runtime.Toolset {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secrets.db")
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	statements := []string{"CREATE TABLE t (s)"}
	for _, s := range secrets {
		statements = append(statements, "INSERT INTO t VALUES ('"+strings.ReplaceAll(s, "'", "''")+"')")
	}
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	ts, err := sqltool.New(sqlite.Dialect, connection.Direct(connection.Connection{ID: "sql", Host: path, Password: secret.New(secrets[0])}), sqltool.Options{AllowedTables: []string{"t"}})
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

// runAll calls every tool, with the secrets in its arguments, and notes all that is
// shown.
func runAll(t *testing.T, registry *runtime.Registry, out *outputs, secrets []string, dir string, logger *slog.Logger) {
	t.Helper()
	journal := filepath.Join(dir, "journal")
	args, err := json.Marshal(map[string]any{"secrets": secrets})
	if err != nil {
		t.Fatal(err)
	}
	instructions, err := registry.Instructions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out.add("instructions", instructions)
	ctx := runtime.WithProgress(t.Context(), func(_ runtime.CallInfo, _, _ float64, text string) { out.add("progress", text) })
	statement, err := json.Marshal(map[string]string{"sql": "SELECT s, '" + strings.ReplaceAll(strings.Join(secrets, " "), "'", "''") + "' FROM t"})
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := json.Marshal(map[string]string{"sql": "SELECT \"" + strings.ReplaceAll(secrets[0], `"`, `""`) + "\".x FROM \"" + secrets[1] + "\""})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"text", "structured", "link", "retry", "failed", "broken", "panics", "asks", "fixture_small", "fixture_medium", "query", "check_query", "get_schema"} {
		args := args
		switch name {
		case "query":
			args = statement
		case "check_query":
			args = wrong
		}
		run, err := registry.Start(t.Context(), runtime.ID("run-"+name), runtime.Journal(wrap.DirStore(journal), "run-"+name, "v1"))
		if err != nil {
			t.Fatal(err)
		}
		outcomes, ended := run.Call(ctx, runtime.Call{ID: "c1", Name: name, Args: args})
		for _, o := range outcomes {
			out.add("message", o.Message)
			if o.Err != nil {
				out.add("error", o.Err.Error()+fmt.Sprintf("%+v", o.Err))
				logger.Error("outcome", "err", o.Err)
			}
			if o.Result != nil {
				out.add("result", *o.Result)
			}
		}
		if ended != nil {
			out.add("error", ended.Error()+fmt.Sprintf("%+v", ended))
		}
		out.add("pending", run.Pending())
		files(t, out, dir)
		if err := run.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// files notes what journals and spilled results have on the disk.
func files(t *testing.T, out *outputs, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		kind, _, _ := strings.Cut(strings.TrimPrefix(path, dir+"/"), "/")
		out.add("file "+kind, string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// serve calls every tool over MCP.
func serve(t *testing.T, registry *runtime.Registry, out *outputs, secrets []string) {
	t.Helper()
	server, err := mcpserver.New(registry, mcpserver.Options{Name: "leaky", Version: "1", Logger: slog.New(slog.NewTextHandler(writer{out}, nil))})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := server.Handler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	session := mcpClient(t, handler)
	out.add("mcp", session.InitializeResult().Instructions)
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range listed.Tools {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: map[string]any{"secrets": secrets}})
		if err != nil {
			t.Fatal(err)
		}
		out.add("mcp", result)
	}
}

type writer struct{ out *outputs }

func (w writer) Write(p []byte) (int, error) {
	w.out.add("mcp log", string(p))
	return len(p), nil
}
