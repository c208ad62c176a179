package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of an HTTP server.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 120 * time.Second
	maxHeader     = 64 << 10
)

// Handler starts the server and returns it as a handler, for any path. Both
// eras are served, each request by itself: the server keeps no sessions, so it
// survives restarts and can run behind a load balancer.
func (s *Server) Handler(ctx context.Context) (http.Handler, error) {
	return s.handler(ctx, "")
}

func (s *Server) handler(ctx context.Context, bound string) (http.Handler, error) {
	sdk, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdk }, &mcp.StreamableHTTPOptions{
		Stateless: true, Logger: s.logger, MaxRequestBodyBytes: maxFrame, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the check below is stricter, and knows AllowedHosts
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.done.Err() != nil {
			http.Error(w, "the server is shutting down", http.StatusServiceUnavailable)
			return
		}
		if header := s.refused(r, bound); header != "" {
			http.Error(w, "Forbidden: the "+header+" header is not allowed here", http.StatusForbidden)
			return
		}
		if r.Method == http.MethodOptions && r.Header.Get("Origin") != "" {
			s.preflight(w, r)
			return
		}
		if origin := r.Header.Get("Origin"); s.isListed(origin) {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Add("Vary", "Origin")
		}
		inner.ServeHTTP(w, r)
	}), nil
}

// preflight answers a browser's question whether a page of an allowed origin
// may call.
func (s *Server) preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	h.Set("Access-Control-Allow-Methods", "POST")
	h.Set("Access-Control-Allow-Headers", "Content-Type, Accept, Authorization, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id")
	h.Add("Vary", "Origin")
	w.WriteHeader(http.StatusNoContent)
}

// refused returns the header for which a request is refused, or "".
func (s *Server) refused(r *http.Request, bound string) string {
	if !s.hostAllowed(r.Host, bound) {
		return "Host"
	}
	origins := r.Header.Values("Origin")
	switch {
	case len(origins) == 0:
		return ""
	case len(origins) > 1 || !s.originAllowed(origins[0], r):
		return "Origin"
	}
	return ""
}

func (s *Server) hostAllowed(host, bound string) bool {
	name := hostName(host)
	if isLoopback(name) {
		return true
	}
	return slices.ContainsFunc(append([]string{bound}, s.options.AllowedHosts...), func(allowed string) bool {
		return allowed != "" && (strings.EqualFold(allowed, host) || strings.EqualFold(strings.Trim(allowed, "[]"), name))
	})
}

// originAllowed reports whether a page of an origin may call: one of the
// server itself, or a listed one. The origin null is nobody's.
func (s *Server) originAllowed(origin string, r *http.Request) bool {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return s.isListed(origin) || strings.EqualFold(origin, scheme+r.Host)
}

func (s *Server) isListed(origin string) bool {
	return slices.ContainsFunc(s.options.AllowedOrigins, func(o string) bool { return strings.EqualFold(o, origin) })
}

func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// ListenAndServe serves HTTP at addr, any path, until ctx ends. Without a host
// it is the loopback address. An address that other machines reach needs
// Options.AllowedHosts and AllowOpen.
func (s *Server) ListenAndServe(ctx context.Context, addr string) error {
	l, err := s.listen(ctx, addr)
	if err != nil {
		return err
	}
	return s.Serve(ctx, l)
}

func (s *Server) listen(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("mcpserver: address %q: write host:port", addr)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if !isLoopback(host) && (!s.options.AllowOpen || len(s.options.AllowedHosts) == 0) {
		return nil, fmt.Errorf("mcpserver: %s is reachable by others: set AllowOpen and AllowedHosts", addr)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
}

// Serve is ListenAndServe for a listener, which it closes. Who makes the
// listener answers for who can reach it.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h, err := s.handler(ctx, l.Addr().String())
	if err != nil {
		return errors.Join(err, l.Close())
	}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	case <-s.done.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return server.Close() // Shutdown ends the calls that still run
	}
	return nil
}
