// Package mcpserver serves a registry over MCP, the Model Context Protocol, on
// standard input and output or on HTTP, in both eras of the protocol: versions
// up to 2025-11-25, with initialize, and 2026-07-28, where each request stands
// by itself.
//
// It only translates. A call goes through a [runtime.Run], which resolves the
// name, bounds the result and recovers panics; bad arguments and failures of a
// tool are results that say so, never errors of the protocol, so that a model
// reads them and can do better.
//
// A program with a registry is a server in one line:
//
//	mcpserver.Main(registry, mcpserver.Options{Name: "orders", Version: "1.4.0"})
//
// Clients start such a program P themselves. Claude Desktop
// (claude_desktop_config.json) and Cursor (.cursor/mcp.json):
//
//	{"mcpServers": {"orders": {"command": "P", "args": []}}}
//
// VS Code (.vscode/mcp.json):
//
//	{"servers": {"orders": {"type": "stdio", "command": "P"}}}
//
// Claude Code:
//
//	claude mcp add orders -- P
//
// Over HTTP, P -http 127.0.0.1:8080 serves http://127.0.0.1:8080/mcp: for
// Cursor {"url": URL}, for VS Code {"type": "http", "url": URL}. Requests must
// name a host that is meant, and come from no foreign web page: see [Options].
//
// On standard input and output the package owns both: whatever a hook or its
// child process prints goes to standard error and breaks no framing.
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolgen/toolgen/runtime"
)

// Options says what a server is called and who may reach it.
type Options struct {
	Name, Version string // required
	Title         string // for people

	// AllowedHosts are the names, with or without a port, by which clients may
	// address the server besides loopback names and the address that it is
	// bound to. Others are refused, so that no web page can reach a server on
	// the machine of its reader by a name that it controls.
	AllowedHosts []string

	// AllowedOrigins are the web origins, such as https://app.example.com,
	// whose pages may call the server besides its own. Clients that are no
	// browsers send none and are not concerned.
	AllowedOrigins []string

	// AllowOpen lets ListenAndServe bind an address that other machines reach.
	// The server asks nobody who they are: that is up to what stands in front.
	AllowOpen bool

	Logger *slog.Logger // nil: standard error, warnings and up
}

// A Server serves one registry. It is safe for concurrent use.
type Server struct {
	registry *runtime.Registry
	options  Options
	logger   *slog.Logger

	mu    sync.Mutex
	sdk   *mcp.Server // made at the first start
	tools []*mcp.Tool
	stop  context.CancelFunc // ends everything that serves
	done  context.Context    //nolint:containedctx // the life of the server, which has many entries
	calls *inFlight
}

// New returns a server. It checks the options only; tools are listed, and
// toolsets opened, when serving starts.
func New(r *runtime.Registry, o Options) (*Server, error) {
	switch {
	case r == nil:
		return nil, errors.New("mcpserver: the registry is nil")
	case o.Name == "" || o.Version == "":
		return nil, errors.New("mcpserver: Options.Name and Version are required")
	}
	for _, origin := range o.AllowedOrigins {
		if !strings.Contains(origin, "://") || strings.HasSuffix(origin, "/") || strings.Contains(origin, "*") {
			return nil, fmt.Errorf("mcpserver: allowed origin %q: write scheme://host, without a path and without *", origin)
		}
	}
	for _, host := range o.AllowedHosts {
		if host == "" || strings.ContainsAny(host, "*/ ") {
			return nil, fmt.Errorf("mcpserver: allowed host %q: write a name, with or without a port", host)
		}
	}
	s := &Server{registry: r, options: o, logger: o.Logger}
	if s.logger == nil {
		s.logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	s.done, s.stop = context.WithCancel(context.Background())
	s.calls = newInFlight()
	return s, nil
}

// start opens the registry and makes the SDK's server, once; a failure is
// tried again by the next start.
func (s *Server) start(ctx context.Context) (*mcp.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sdk != nil || s.done.Err() != nil {
		return s.sdk, s.done.Err()
	}
	run, err := s.newRun(ctx)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	tools, err := run.Step(ctx) // opens the registry
	if err != nil {
		return nil, err
	}
	instructions, err := s.instructions(ctx)
	if err != nil {
		return nil, err
	}
	sdk := mcp.NewServer(
		&mcp.Implementation{Name: s.options.Name, Version: s.options.Version, Title: s.options.Title},
		&mcp.ServerOptions{
			Instructions: instructions, Logger: s.logger,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		},
	)
	listed := make([]*mcp.Tool, len(tools))
	for i, t := range tools {
		if listed[i], err = toolOf(t.Definition()); err != nil {
			return nil, err
		}
		if err := s.add(sdk, listed[i]); err != nil {
			return nil, err
		}
	}
	s.sdk, s.tools = sdk, listed
	return sdk, nil
}

// newRun starts a run for calls of clients: the agent run is theirs, so an
// error ends its call only.
func (s *Server) newRun(ctx context.Context) (*runtime.Run, error) {
	return s.registry.Start(ctx, runtime.ErrorsEndCall(), runtime.NoBudgets())
}

func (s *Server) instructions(ctx context.Context) (string, error) {
	list, err := s.registry.Instructions(ctx)
	if err != nil {
		return "", err
	}
	texts := make([]string, len(list))
	for i, in := range list {
		texts[i] = in.Text
	}
	return strings.Join(texts, "\n\n"), nil
}

// Shutdown ends all serving: no new calls, five seconds for running ones, or as
// long as ctx lasts if that is less, then their contexts end and they get one
// second more. It closes the registry's toolsets then, in reverse.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop()
	s.calls.end(ctx)
	return s.registry.Close()
}
