package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/internal/fixture"
	"github.com/toolgen/toolgen/runtime/internal/fixture/fixturetools"
	"github.com/toolgen/toolgen/runtime/mcpserver"
)

// asServer is the environment variable under which the test binary is a server
// on standard input and output.
const asServer = "TOOLGEN_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		os.Args = append(os.Args[:1], strings.Fields(os.Getenv(asServer+"_FLAGS"))...)
		mcpserver.Main(newRegistry(), options)
	}
	os.Exit(m.Run())
}

var options = mcpserver.Options{Name: "test", Version: "1.0.0"}

// tool is a hand-written tool.
type tool struct {
	name string
	call func(ctx context.Context, args json.RawMessage) (*runtime.Result, error)
	def  runtime.Definition
}

func (t *tool) Definition() *runtime.Definition { return &t.def }

func (t *tool) Call(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
	return t.call(ctx, args)
}

type tools []*tool

func (ts tools) Tools(context.Context) ([]runtime.Tool, error) {
	out := make([]runtime.Tool, len(ts))
	for i, t := range ts {
		t.def.Name = t.name
		if t.def.Input == nil {
			t.def.Input = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		t.def.Description = "Is called " + t.name + "."
		out[i] = t
	}
	return out, nil
}

func (tools) Instructions(context.Context) ([]runtime.Instruction, error) {
	return []runtime.Instruction{{Text: "Be kind."}}, nil
}

func newRegistry() *runtime.Registry {
	registry, err := runtime.NewRegistry(fixturetools.NewService(&fixture.Service{}), handWritten())
	if err != nil {
		panic(err)
	}
	return registry
}

func handWritten() tools {
	result := func(r *runtime.Result, err error) func(context.Context, json.RawMessage) (*runtime.Result, error) {
		return func(context.Context, json.RawMessage) (*runtime.Result, error) { return r, err }
	}
	text := func(s string) *runtime.Result { return runtime.TextResult(s) }
	pixel := runtime.Block{Kind: runtime.Image, MIME: "image/png", Data: []byte("\x89PNG\r\n")}
	long := make([]string, 2000)
	for i := range long {
		long[i] = strings.Repeat("x", 100)
	}
	items, err := json.Marshal(map[string][]string{"result": long})
	if err != nil {
		panic(err)
	}
	return tools{
		{name: "printing", call: func(context.Context, json.RawMessage) (*runtime.Result, error) {
			if _, err := fmt.Println(strings.Repeat("a stray print ", 1000)); err != nil {
				return nil, err
			}
			cmd := exec.Command("echo", "a child's print")
			cmd.Stdout = os.Stdout
			if err := cmd.Run(); err != nil {
				return nil, err
			}
			return text("printed"), nil
		}},
		{name: "broken", call: result(nil, errors.New("password=hunter2"))},
		{name: "panicking", call: func(context.Context, json.RawMessage) (*runtime.Result, error) { panic("hunter2") }},
		{name: "failing", call: result(nil, runtime.Failedf("no such order"))},
		{name: "pending", call: result(nil, &runtime.PendingError{Kind: runtime.PendingApproval})},
		{name: "invalid_result", call: result(&runtime.Result{Structured: json.RawMessage(`{"a":`)}, nil)},
		{name: "array_result", call: result(&runtime.Result{Structured: json.RawMessage(`[1]`)}, nil)},
		{name: "long_result", call: result(&runtime.Result{Structured: items}, nil)},
		{name: "slow", call: func(ctx context.Context, _ json.RawMessage) (*runtime.Result, error) {
			select {
			case <-time.After(300 * time.Millisecond):
				return text("slow"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}},
		{name: "test_simple_text", call: result(text("This is a simple text response for testing."), nil)},
		{name: "test_image_content", call: result(&runtime.Result{Blocks: []runtime.Block{pixel}}, nil)},
		{name: "test_audio_content", call: result(&runtime.Result{Blocks: []runtime.Block{{Kind: runtime.Audio, MIME: "audio/wav", Data: []byte("RIFF")}}}, nil)},
		{name: "test_embedded_resource", call: result(&runtime.Result{Blocks: []runtime.Block{{Kind: runtime.Resource, URI: "test://embedded-resource", MIME: "text/plain", Text: "This is an embedded resource content."}}}, nil)},
		{name: "test_multiple_content_types", call: result(&runtime.Result{Blocks: []runtime.Block{
			{Kind: runtime.Text, Text: "Multiple content types test:"}, pixel,
			{Kind: runtime.Resource, URI: "test://mixed-content-resource", MIME: "application/json", Text: `{"test":"data","value":123}`},
		}}, nil)},
		{name: "test_error_handling", call: result(nil, runtime.Failedf("This tool intentionally returns an error for testing"))},
		{name: "json_schema_2020_12_tool", call: result(text("ok"), nil), def: runtime.Definition{Input: json.RawMessage(schema2020)}},
	}
}

// schema2020 has every keyword that the conformance suite looks for.
const schema2020 = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
  "properties": {
    "name": {"type": "string"},
    "address": {"$ref": "#/$defs/address"},
    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
    "phone": {"type": "string"},
    "email": {"type": "string"}
  },
  "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
  "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
  "then": {"required": ["phone"]},
  "else": {"required": ["email"]},
  "additionalProperties": false
}`

// serveHTTP starts a server on a free port and returns its URL.
func serveHTTP(tb testing.TB, o mcpserver.Options) string {
	tb.Helper()
	s, err := mcpserver.New(newRegistry(), o)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	tb.Cleanup(func() {
		cancel()
		if err := errors.Join(<-served, s.Shutdown(context.Background())); err != nil {
			tb.Errorf("serve: %v", err)
		}
	})
	return "http://" + l.Addr().String() + "/mcp"
}

// child is a server process on standard input and output.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startChild(tb testing.TB) *child {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	c := &child{cmd: exec.Command(exe)}
	c.cmd.Env = append(os.Environ(), asServer+"=1")
	c.cmd.Stderr = io.Discard
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	c.out = bufio.NewScanner(out)
	c.out.Buffer(nil, 16<<20)
	if err := c.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.cmd.Process.Kill() })
	return c
}

func (c *child) send(tb testing.TB, lines ...string) {
	tb.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(c.in, l+"\n"); err != nil {
			tb.Fatal(err)
		}
	}
}

// response is one line of the server's output.
type response struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func (c *child) receive(tb testing.TB) response {
	tb.Helper()
	if !c.out.Scan() {
		tb.Fatalf("the server ended: %v", c.out.Err())
	}
	var r response
	if err := json.Unmarshal(c.out.Bytes(), &r); err != nil {
		tb.Fatalf("not a message: %.200s", c.out.Bytes())
	}
	return r
}

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func callLine(id int, name, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, name, args)
}

// TestStdio talks to a server process in the old era, prints and broken lines
// in between.
func TestStdio(t *testing.T) {
	t.Parallel()
	c := startChild(t)
	c.send(t, initialize)
	if r := c.receive(t); !strings.Contains(string(r.Result), `"instructions":"Be kind."`) || strings.Contains(string(r.Result), "listChanged") {
		t.Errorf("initialize: %s", r.Result)
	}
	c.send(t, initialized, callLine(1, "printing", "{}"))
	if r := c.receive(t); !strings.Contains(string(r.Result), "printed") {
		t.Errorf("a tool that prints: %s", r.Result)
	}
	for line, code := range map[string]int{
		`{"jsonrpc":"2.0",`:                          jsonrpc.CodeParseError,
		`{"jsonrpc":"2.0","id":9,"method":"ping"} x`: jsonrpc.CodeParseError,
		`[1]`: jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"1.0","id":9,"method":"ping"}`:   jsonrpc.CodeInvalidRequest,
		`{"x":"` + strings.Repeat("y", 5<<20) + `"}`: jsonrpc.CodeInvalidRequest,
	} {
		c.send(t, line)
		if r := c.receive(t); r.Error == nil || r.Error.Code != code {
			t.Errorf("%.50s: %+v; want the error %d", line, r.Error, code)
		}
	}
	c.send(t, callLine(2, "fixture_small", `{"city":"a","days":9007199254740993,"unit":"b"}`))
	if r := c.receive(t); !strings.Contains(string(r.Result), "9007199254740992") { // celsius is a float64
		t.Errorf("a call after broken lines: %s", r.Result)
	}
	c.send(t, callLine(3, "nope", "{}"))
	if r := c.receive(t); r.Error == nil || r.Error.Code != jsonrpc.CodeInvalidParams || !strings.Contains(r.Error.Message, `unknown tool "nope"`) {
		t.Errorf("an unknown tool: %+v", r.Error)
	}
}

// TestStdioAnswersBeforeTheEnd ends the input with calls under way: all are
// answered, and the process ends by itself.
func TestStdioAnswersBeforeTheEnd(t *testing.T) {
	t.Parallel()
	c := startChild(t)
	c.send(t, initialize, initialized)
	for i := 1; i <= 6; i++ {
		c.send(t, callLine(i, "slow", "{}"))
	}
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	answers := 0
	for c.out.Scan() {
		if strings.Contains(c.out.Text(), `"slow"`) {
			answers++
		}
	}
	if err := c.cmd.Wait(); err != nil || answers != 6 {
		t.Errorf("%d answers, %v; want 6 and a clean end", answers, err)
	}
}

// TestStdioEnds ends a server by a signal while its client doesn't read.
func TestStdioEnds(t *testing.T) {
	t.Parallel()
	c := startChild(t)
	c.send(t, initialize, initialized)
	for i := range 500 {
		c.send(t, callLine(i+1, "long_result", "{}"))
	}
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.cmd.Wait() }()
	select {
	case err := <-ended:
		t.Logf("ended: %v", err)
	case <-time.After(30 * time.Second):
		t.Error("the server goes on after a signal")
	}
}

// connect connects the SDK's client.
func connect(t *testing.T, transport mcp.Transport, version string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// TestOutcomes calls every kind of tool over both transports in both eras.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	url := serveHTTP(t, options)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		stdio := exec.Command(exe)
		stdio.Env = append(os.Environ(), asServer+"=1")
		for name, transport := range map[string]mcp.Transport{
			"http":  &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true},
			"stdio": &mcp.CommandTransport{Command: stdio},
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				t.Parallel()
				session := connect(t, transport, version)
				if got := session.InitializeResult().ProtocolVersion; got != version {
					t.Fatalf("protocol %s, want %s", got, version)
				}
				checkList(t, session)
				checkCalls(t, session, version)
			})
		}
	}
}

func checkList(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]*mcp.Tool)
	for _, tl := range list.Tools {
		byName[tl.Name] = tl
	}
	small := byName["fixture_small"]
	if small == nil || len(list.Tools) != 6+len(handWritten()) {
		t.Fatalf("%d tools", len(list.Tools))
	}
	a := small.Annotations
	if a == nil || !a.ReadOnlyHint || *a.DestructiveHint || a.IdempotentHint || !*a.OpenWorldHint || small.OutputSchema == nil {
		t.Errorf("fixture_small is listed as %+v", a)
	}
	if a := byName["failing"].Annotations; a.ReadOnlyHint || !*a.DestructiveHint {
		t.Errorf("unknown hints are not the worst case: %+v", a)
	}
}

func checkCalls(t *testing.T, session *mcp.ClientSession, version string) {
	t.Helper()
	for _, c := range []struct {
		tool, args string
		isError    bool
		text       string // of the first block
		structured string
	}{
		{"fixture_small", `{"city":"a","days":3,"unit":"a"}`, false, `{"celsius":3.5,"windy":true}`, `{"celsius":3.5,"windy":true}`},
		{"fixture_small", `{"city":1}`, true, "fixture_small: 3 problems in the arguments\n/city: want a string, got the number 1\n/days: required property is missing\n/unit: required property is missing", ""},
		{"failing", `{}`, true, "no such order", ""},
		{"broken", `{}`, true, "tool broken failed (ref ", ""},
		{"panicking", `{}`, true, "tool panicking failed (ref ", ""},
		{"pending", `{}`, true, "tool pending needs approval, which this server can't ask for", ""},
		{"invalid_result", `{}`, true, "tool invalid_result: the result is not valid", ""},
		{"array_result", `{}`, false, "[1]", map[bool]string{true: "[1]"}[version >= "2026-07-28"]},
		{"test_simple_text", `{}`, false, "This is a simple text response for testing.", ""},
	} {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.args)})
		if err != nil {
			t.Errorf("%s: an error of the protocol: %v", c.tool, err)
			continue
		}
		text, _ := result.Content[0].(*mcp.TextContent)
		structured := ""
		if result.StructuredContent != nil {
			raw, _ := json.Marshal(result.StructuredContent)
			structured = string(raw)
		}
		if result.IsError != c.isError || text == nil || !strings.HasPrefix(text.Text, c.text) || structured != c.structured {
			t.Errorf("%s %s: error %t, %q, %s; want %t, %q, %s", c.tool, c.args, result.IsError, text.Text, structured, c.isError, c.text, c.structured)
		}
		if text != nil && strings.Contains(text.Text, "hunter2") {
			t.Errorf("%s: the client is told %q", c.tool, text.Text)
		}
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "long_result", Arguments: json.RawMessage("{}")})
	if err != nil || len(result.Content) != 2 || result.IsError {
		t.Errorf("a result that is cut: %v, %v; want its prefix and a remark", result, err)
	}
}

// TestHostAndOrigin sends what a page in a browser could send.
func TestHostAndOrigin(t *testing.T) {
	t.Parallel()
	o := options
	o.AllowedHosts = []string{"tools.example.com", "[2001:db8::1]"}
	o.AllowedOrigins = []string{"https://app.example.com"}
	url := serveHTTP(t, o)
	port := url[strings.LastIndexByte(url, ':'):strings.LastIndexByte(url, '/')]
	for _, c := range []struct {
		host, origin string
		ok           bool
	}{
		{"", "", true},
		{"localhost" + port, "", true},
		{"LOCALHOST" + port, "", true},
		{"[::1]" + port, "", true},
		{"tools.example.com", "", true},
		{"tools.example.com:8080", "", true},
		{"[2001:db8::1]:443", "", true},
		{"evil.example.com", "", false},
		{"evil.example.com" + port, "", false},
		{"127.0.0.1.evil.com" + port, "", false},
		{"localhost.", "", false},
		{"0.0.0.0" + port, "", false},
		{"", "https://app.example.com", true},
		{"localhost" + port, "http://localhost" + port, true},
		{"", "null", false},
		{"", "http://evil.example.com", false},
		{"", "http://app.example.com", false},
		{"", "https://app.example.com.evil.com", false},
		{"localhost" + port, "http://localhost:1", false},
		{"localhost" + port, "https://localhost" + port, false},
		{"localhost" + port, "http://evil.com@localhost" + port, false},
	} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodOptions} {
			req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(initialize))
			if err != nil {
				t.Fatal(err)
			}
			req.Host = c.host
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			if c.origin != "" {
				req.Header.Set("Origin", c.origin)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if ok := resp.StatusCode != http.StatusForbidden; ok != c.ok {
				t.Errorf("%s with Host %q, Origin %q: %d; allowed: want %t", method, c.host, c.origin, resp.StatusCode, c.ok)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	registry := newRegistry()
	for name, o := range map[string]mcpserver.Options{
		"no name":         {Version: "1"},
		"no version":      {Name: "x"},
		"origin slash":    {Name: "x", Version: "1", AllowedOrigins: []string{"https://a.example/"}},
		"origin wildcard": {Name: "x", Version: "1", AllowedOrigins: []string{"https://*.example"}},
		"host wildcard":   {Name: "x", Version: "1", AllowedHosts: []string{"*"}},
	} {
		if _, err := mcpserver.New(registry, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s, err := mcpserver.New(registry, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ListenAndServe(t.Context(), "0.0.0.0:0"); err == nil || !strings.Contains(err.Error(), "reachable by others") {
		t.Errorf("an address for everybody: %v", err)
	}
	if err := s.ListenAndServe(t.Context(), "nonsense"); err == nil {
		t.Error("an address without a port is accepted")
	}
}

// TestFlags runs the program with each of its flags.
func TestFlags(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags, out string
		code       int
	}{
		{"-version", "test 1.0.0\n", 0},
		{"-list", `{
  "ttlMs": 0,
  "cacheScope": "public",
  "tools": [`, 0},
		{"-nonsense", "", 2},
		{"extra", "", 2},
		{"-http nonsense", "", 1},
		{"-http 0.0.0.0:0", "", 1},
		{"", "", 0}, // the end of input
	} {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), asServer+"=1", asServer+"_FLAGS="+c.flags)
		out, err := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.HasPrefix(string(out), c.out) {
			t.Errorf("%s: status %d, %v, %.100s; want %d and %s", c.flags, code, err, out, c.code, c.out)
		}
	}
}

// TestShutdownOrder closes toolsets after the calls that use them.
func TestShutdownOrder(t *testing.T) {
	t.Parallel()
	events := make(chan string, 10)
	registry, err := runtime.NewRegistry(&lifecycle{events: events})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcpserver.New(registry, options)
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.Handler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(l) }()
	defer func() { _ = server.Close() }()
	session := connect(t, &mcp.StreamableClientTransport{Endpoint: "http://" + l.Addr().String(), DisableStandaloneSSE: true}, "2026-07-28")
	go func() {
		_, _ = session.CallTool(context.Background(), &mcp.CallToolParams{Name: "use", Arguments: json.RawMessage("{}")})
	}()
	var got []string
	for e := range events {
		if got = append(got, e); e == "start" {
			break
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(events)
	for e := range events {
		got = append(got, e)
	}
	if want := []string{"open", "start", "done", "close"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "use", Arguments: json.RawMessage("{}")}); err == nil {
		t.Error("a server that is shut down takes calls")
	}
}

// lifecycle is a toolset that tells what happens to it.
type lifecycle struct{ events chan string }

func (l *lifecycle) Open(context.Context) error { l.events <- "open"; return nil }
func (l *lifecycle) Close() error               { l.events <- "close"; return nil }

func (l *lifecycle) Tools(ctx context.Context) ([]runtime.Tool, error) {
	return tools{{name: "use", call: func(context.Context, json.RawMessage) (*runtime.Result, error) {
		l.events <- "start"
		time.Sleep(200 * time.Millisecond)
		l.events <- "done"
		return runtime.TextResult(""), nil
	}}}.Tools(ctx)
}
