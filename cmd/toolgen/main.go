// Toolgen turns Go methods into typed tools that AI agents can call.
//
// Usage:
//
//	toolgen [flags] [verb] [patterns]
//
// The verbs are:
//
//	generate   write what changed (the default)
//	check      write nothing; exit 1 if something would change
//	diff       print what would change, as a unified diff
//	list       print the tools
//	version    print the version
//
// Without patterns a run is over the whole module, wherever it starts: the
// packages with a //toolgen: directive and those that toolgen.yaml names. With
// patterns, folders such as ./orders or ./..., or import paths that toolgen.yaml
// names, only files of their packages are written; generated registries, and
// files whose hooks are gone, are left alone.
//
// The flags are:
//
//	-C dir         run as if started in dir
//	-config file   use this instead of the toolgen.yaml found from the working
//	               folder up to the module's root
//	-tags list     build tags, separated by commas
//	-q             print errors only
//	-v             print notes too: what was left out or dropped
//
// The exit status is 0 when all is well, 1 after errors or when check or diff
// found a difference, and 2 for a wrong command line.
//
// # A hook
//
// A hook is a method of an exported type, with a directive in its doc comment:
//
//	// Refund pays an order back.
//	//
//	// Parameters:
//	//   - orderID: the number on the invoice
//	//
//	//toolgen:expose
//	//toolgen:destructive
//	func (d *Desk) Refund(ctx context.Context, orderID string, cents int64) (Receipt, error)
//
// The doc comment is what a model reads. Toolgen writes a package beside the
// hook's own (orders/orderstools) whose NewDesk makes a toolset of a *Desk.
// One line a module runs it:
//
//	//go:generate go tool toolgen
//
// and in CI, toolgen check fails when somebody forgot to.
//
// # Directives
//
// On a method: expose, param, hide, readonly, destructive, idempotent,
// closedworld, sequential, timeout. On a receiver type: toolset. On a struct
// field: param, hide. What a heading Implementation or Internal has below it in
// a doc comment is not for the model.
//
// # Packages that are not yours
//
// They are named in toolgen.yaml, with the methods to expose; their prose is
// read from their source:
//
//	version: 1
//	packages:
//	  - path: github.com/google/go-github/v84/github
//	    output: ./internal/githubtools
//	    unsupported_fields: omit
//	    types:
//	      - type: IssuesService
//	        methods:
//	          - ListByRepo
//	          - method: Create
//	            hints: [destructive]
//	registry: {output: ./internal/agenttools}
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/toolgen/toolgen/gen"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit codes.
const (
	exitDone  = 0
	exitError = 1 // errors, or a difference
	exitUsage = 2
)

// A command is what all verbs share.
type command struct {
	options gen.Options
	quiet   bool
	verbose bool
	stdout  io.Writer
	stderr  io.Writer
}

// verbs are the functions behind the words, each in a file of its own.
var verbs = map[string]func(*command, context.Context) (int, error){
	"generate": (*command).generate,
	"check":    (*command).check,
	"diff":     (*command).diff,
	"list":     (*command).list,
	"version":  (*command).version,
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := &command{stdout: stdout, stderr: stderr}
	flags := flag.NewFlagSet("toolgen", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&c.options.Dir, "C", "", "")
	flags.StringVar(&c.options.Config, "config", "", "")
	tags := flags.String("tags", "", "")
	flags.BoolVar(&c.quiet, "q", false, "")
	flags.BoolVar(&c.verbose, "v", false, "")
	verb, patterns, err := parse(flags, args)
	if err != nil {
		return usage(stderr, err)
	}
	if *tags != "" {
		c.options.Tags = strings.Split(*tags, ",")
	}
	c.options.Patterns = patterns
	code, err := verbs[verb](c, ctx)
	var inTheWay *gen.InTheWayError
	switch {
	case errors.As(err, &inTheWay):
		for _, d := range inTheWay.Diagnostics {
			fmt.Fprintln(stderr, d)
		}
		return exitError
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "toolgen: interrupted; nothing was written")
		return exitError
	case err != nil:
		fmt.Fprintln(stderr, "toolgen:", err)
		return exitError
	}
	return code
}

// parse reads the command line: flags may stand before and after the verb.
func parse(flags *flag.FlagSet, args []string) (verb string, patterns []string, err error) {
	verb = "generate"
	if err := flags.Parse(args); err != nil {
		return "", nil, err
	}
	rest := flags.Args()
	if len(rest) == 0 {
		return verb, nil, nil
	}
	if _, ok := verbs[rest[0]]; ok {
		verb = rest[0]
		if err := flags.Parse(rest[1:]); err != nil {
			return "", nil, err
		}
		return verb, flags.Args(), nil
	}
	if !strings.ContainsAny(rest[0], "./") {
		return "", nil, fmt.Errorf("unknown verb %q; a folder is written ./%s", rest[0], rest[0])
	}
	return verb, rest, nil
}

func usage(stderr io.Writer, err error) int {
	if errors.Is(err, flag.ErrHelp) {
		err = nil
	}
	if err != nil {
		fmt.Fprintln(stderr, "toolgen:", err)
	}
	fmt.Fprint(stderr, `usage: toolgen [flags] [generate|check|diff|list|version] [patterns]

  -C dir         run as if started in dir
  -config file   use this toolgen.yaml
  -tags list     build tags, separated by commas
  -q             print errors only
  -v             print notes too

go doc github.com/toolgen/toolgen/cmd/toolgen has the manual.
`)
	return exitUsage
}

// result runs the generator and prints its diagnostics. It reports false if
// there was an error among them.
func (c *command) result(ctx context.Context) (*gen.Result, bool, error) {
	r, err := gen.Generate(ctx, c.options)
	if err != nil {
		return nil, false, err
	}
	ok := true
	for _, d := range r.Diagnostics {
		switch d.Severity {
		case "error":
			ok = false
		case "warning":
			if c.quiet {
				continue
			}
		default:
			if !c.verbose {
				continue
			}
		}
		fmt.Fprintln(c.stderr, d)
	}
	return r, ok, nil
}
