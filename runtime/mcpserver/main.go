package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolgen/toolgen/runtime"
)

// The exit codes of Main.
const (
	exitDone  = 0
	exitError = 1
	exitUsage = 2
)

// Main is the main function of a server's program, and doesn't return. It
// serves standard input and output, or, with -http ADDR, HTTP; -list prints
// what tools/list answers, -version the version. It exits with 0 after the end
// of input or SIGTERM, 1 after an error, 2 for wrong flags. A second signal
// ends it at once.
func Main(r *runtime.Registry, o Options) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(exitError)
	}()
	os.Exit(program(ctx, r, o, os.Args[1:], os.Stdout, os.Stderr))
}

func program(ctx context.Context, r *runtime.Registry, o Options, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet(o.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("http", "", "serve HTTP at this `address` instead of standard input and output")
	list := flags.Bool("list", false, "print the tools and exit")
	version := flags.Bool("version", false, "print the version and exit")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "%s: unexpected argument %q\n", o.Name, flags.Arg(0))
		return exitUsage
	}
	s, err := New(r, o)
	if err == nil {
		switch {
		case *version:
			_, err = fmt.Fprintln(stdout, o.Name, o.Version)
		case *list:
			err = s.printList(ctx, stdout)
		case *addr != "":
			err = s.serveAt(ctx, *addr, stderr)
		default:
			err = s.ServeStdio(ctx)
		}
		err = errors.Join(err, s.Shutdown(context.WithoutCancel(ctx)))
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", o.Name, err)
		return exitError
	}
	return exitDone
}

// serveAt is ListenAndServe with a word on where.
func (s *Server) serveAt(ctx context.Context, addr string, stderr io.Writer) error {
	l, err := s.listen(ctx, addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%s: serving http://%s/mcp\n", s.options.Name, l.Addr())
	return s.Serve(ctx, l)
}

// printList prints the result of tools/list: by name, as the SDK lists.
func (s *Server) printList(ctx context.Context, w io.Writer) error {
	if _, err := s.start(ctx); err != nil {
		return err
	}
	tools := slices.SortedFunc(slices.Values(s.tools), func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	result := &mcp.ListToolsResult{Tools: tools}
	result.CacheScope = "public" // as the SDK answers
	return enc.Encode(result)
}
