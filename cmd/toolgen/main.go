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
//	breaking   compare the tools with those of a revision or lock; exit 1 if
//	           callers have to change
//	list       print the tools: name, hook, hints, bytes of their schemas; with
//	           -v what is hidden, pinned and left out
//	lint       look at what models read: descriptions, hints, names
//	init       write a first toolgen.yaml and hook, over nothing that is there;
//	           with -package print the methods of a package to choose from
//	explain    print what a code or directive means, or, without one, all
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
//	-strict        warnings are errors
//	-format form   text; or json or sarif (2.1.0), which go to standard output
//	-o file        write there what goes to standard output
//	-q             print errors only
//	-v             print notes too: what was left out or dropped
//
// and of single verbs:
//
//	-against ref   breaking: a git revision or a lock file; default: the merge
//	               base with origin/HEAD
//	-allow class   breaking: narrowing is no failure
//	-fail-on class breaking: wording or widening is one; more with commas
//	-package path  init: the package whose candidates to print
//
// The exit status is 0 when all is well, 1 after errors or when check, diff or
// breaking found a difference, and 2 for a wrong command line.
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
// One line a module runs it, and in CI toolgen check fails when somebody forgot
// to:
//
//	//go:generate go tool toolgen
//
// With a registry in toolgen.yaml, an agent or server links all tools of the
// module at once:
//
//	registry, err := agenttools.New(agenttools.Hooks{Desk: desk})
//	…
//	mcpserver.Main(registry, mcpserver.Options{Name: "orders", Version: "1.0.0"})
//
// # Directives
//
// A directive is a line of its own in a doc comment, exactly //toolgen: and its
// name. Words are bare, "quoted" or `raw`; quotes go around a whole word:
// "title=Pay back", never title="Pay back".
//
// On a method, what it is:
//
//	expose [name=NAME] [title=TITLE] ["prose"]   it is a tool; prose replaces the doc comment
//	readonly, destructive, idempotent            what the tool does to the world
//	closedworld                                  it reaches nothing beyond the host's own systems
//	sequential                                   it runs alone in a batch of calls
//	timeout DURATION                             how long one call may take, such as 30s
//	retries N                                    corrections in a row that a model has
//	defer                                        it need not be in the first list a model gets
//	example `{"n":1}`                            arguments that show how to call it
//	errors [retry=ErrA,ErrB] [failed=ErrC]       errors of the package, variables or types, whose text a
//	                                             model may see: those it can correct, those it can't
//	end                                          the rest of the doc comment is not for the model
//	allow CODE ["why"]                           accepts a warning here; on a type, for all of its tools
//
// On a method, what a model may send:
//
//	param NAME[.field] ["prose"] [KEY=VALUE]…    describes and constrains a parameter, or a field of it
//	hide NAME[.field]                            it is not offered and has its zero value
//	pin NAME[.field] VALUE                       it is not offered and has this value: text, or JSON
//	pin NAME const=C                             a constant or variable of the package
//	pin NAME from=FUNC                           what func(context.Context) (T, error) returns at each call
//	pin NAME option                              what the host gives the toolset's constructor
//	confine NAME [enum=A,B] [prefix=P]           the host's policy on top of all else; under is a path at or
//	  [under=DIR] [pattern=RE] [minimum=N]       below a folder by its text: symbolic links are the hook's
//	  [maximum=N]                                business, see os.Root
//	guard FUNC NAME…                             FUNC(ctx, values…) error; its error is for the model to correct
//	approve [when=FUNC]                          a person approves each call, or those for which
//	                                             FUNC(ctx, parameters…) bool says so
//	options NAME WithA,WithB                     offers constructors of functional options as an object
//	collect NAME                                 what a callback is called with, before the method returns, is
//	                                             the result
//
// The keys of param are those of JSON Schema: minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern,
// format (date-time, date, time, email, uri, uuid, ipv4, ipv6, hostname),
// minItems, maxItems, uniqueItems, minProperties, maxProperties, enum, default,
// title; and required, optional, secret (never repeated in a message),
// encoding=base64 (of an io.Reader) and schema. The decoder checks all of them.
// In a path the parameter has its Go name, and what is below it the names of JSON.
// What is confined must be sent, unless it has a default; what a pin is in is
// made even where the model leaves it out, unless it has properties that must be
// sent: then it must be sent too. An option that isn't sent is not applied. A
// path holds for what it leads to, and no deeper in a type that contains itself.
// Flags stand alone: required, optional, secret, uniqueItems. A list with commas
// in its values goes to the yaml.
//
// On a method, how results are shown:
//
//	result [max_bytes=N] [max_items=N]           limits; items are those of a stream
//	  [media=TYPE]                               bytes are an image or sound of this media type
//	  [redact=a.b] [drop=N] [unwrap=METHOD]      leaves out a property, a result (counted from 0), or shows
//	                                             what a method of the result returns
//
// On a type:
//
//	toolset [prefix=PREFIX] [name=NAME]          of a receiver: the prefix of its tools; the Go name of its toolset
//	enum names|open|off                          its constants: integers by name, described but not enforced, nothing
//	schema `{…}`                                 JSON Schema of a type that encodes itself
//
// On a struct field, or at a parameter in its list:
//
//	param ["prose"] [KEY=VALUE]…                 describes and constrains it
//	hide                                         (fields only) it is not offered
//	schema `{…}`                                 (fields only) JSON Schema in the place of the derived one
//
// An error that errors doesn't name ends the agent's run, or, behind an MCP
// server, the call; the model reads "tool X failed" with a reference to the log.
//
// # The lock
//
// toolgen.lock, beside toolgen.yaml or at the module's root, is the surface of
// the tools: names, prose, schemas, hints, limits, policies, what is hidden,
// pinned (as a hash) or left out. It is written with the rest and belongs under
// version control, so that a change of what models see is reviewed like one of an
// API. toolgen breaking compares it with that of a revision, and says of each
// change where it comes from and which class it is of:
//
//	breaking    a tool, argument or property of a result is removed, renamed or of
//	            another type; an argument must be sent that need not be; no longer
//	            read-only; destructive now
//	narrowing   calls that were right are refused: a value of an enum is removed, a
//	            bound is tighter, an argument is confined, hidden or pinned, a
//	            default differs, a guard or approval stands before the hook
//	widening    a tool, optional argument, value or property is new; a bound is looser
//	wording     any prose: models act on it
//
// Breaking and narrowing ones make it fail.
//
// # Names
//
// A tool is called prefix_method in snake_case: method Refund of package orders
// is orders_refund. The prefix is the package's name unless a directive or the
// yaml says otherwise. Arguments are parameters in snake_case; fields of structs
// are called as in JSON.
//
// # Prose
//
// The description of a tool is its doc comment, without the method's name in
// front, up to a parameter section. What is below a heading Implementation or
// Internal, and what follows Deprecated:, is not for the model. A parameter is
// described by the first of: a directive or the yaml; an item "name: text" or
// "name - text" below a line Parameters:, Params:, Args:, Arguments: or Inputs:
// or a heading of that name; a comment in the parameter list. A field is
// described by its directive, its doc comment or the comment on its line. What
// follows Returns: describes the result. [Desk.Cancel] becomes the name of that
// tool.
//
// # Types
//
// Arguments and results are what encoding/json makes of the types, with these
// differences. A parameter is required unless it is a pointer, variadic or a
// struct without a required field; a field unless it is a pointer or has
// omitempty or omitzero, or, in packages that are not yours, no json tag. Null
// leaves out what is optional, and is nil for a slice or map. A pointer that is
// left out is nil: say required of one that the method can't do without. The exported
// constants of a type, two or more, are the values that an argument may have.
// []byte is base64, time.Duration a string such as 1h30m. Integers are exact,
// and unknown or repeated names are refused. Nil slices and maps are written as
// [] and {}.
//
// A context is passed. A variadic parameter of functions or of interfaces with
// methods is not offered, unless options says which; io.Reader and the like are
// strings; what is written to an io.Writer is the result; iter.Seq[T] and <-chan T
// are arrays. Any other parameter of a function, channel or interface type is an
// error. An interface with unexported methods is an object {type, value}, as is
// one whose implementations the yaml lists. Parameters without a name have those
// of the one implementation of their interface.
//
// *http.Response and what embeds it is dropped from results. A result that is no
// object is {"result": …}; several are an object by their names. iter.Seq,
// iter.Seq2 and channels are {"items": […]}; readers and []byte are text, or
// base64 where they are none, and readers are closed. Where a result has a method
// Result() (T, error), T is shown.
//
// Tags of other tools count: jsonschema, jsonschema_description, doc,
// description, help, default, enum, minimum, maximum, minLength, maxLength,
// pattern, format, required, and of validate required, min, max, len, gt, gte,
// lt, lte, oneof, email, url, uuid.
//
// # toolgen.yaml
//
// It is found from the working folder up to the module's root. All keys but
// version are optional:
//
//	version: 1
//	lock: toolgen.lock       # where the lock is; "" for none
//	lint:
//	  param_docs: warn       # or off or error: parameters without a description
//	  description_max: 1024  # characters
//	  disable: [TG405]       # codes that lint doesn't report, TG405 to TG407 and TG412 to TG417
//	registry:                # a package that gathers toolsets; may be a list
//	  output: ./internal/agenttools
//	  package: agenttools    # its name; default: base of output
//	  packages: [./orders]   # default: all with hooks
//	defaults:                # these keys are legal at packages, types and methods too: the innermost wins
//	  description: full      # or summary: the first paragraph (not at a method, where it is prose)
//	  timeout: 0s            # of a call; 0s: that of the run
//	  max_args_bytes: 1048576
//	  max_result_bytes: 65536
//	  allow: [TG331]         # warnings that are accepted; those of all levels add up
//	  max_items: 1000        # of a stream
//	  repair: true           # a string that holds the object or array that is wanted stands for it
//	  coerce: false          # a string that is the literal of a number or boolean stands for it
//	  duration: string       # or ns: integers
//	  field_names: json      # or snake: fields without a json name
//	  unsupported_fields: error  # or omit: leave out optional fields that can't be sent
//	packages:
//	  - path: github.com/google/go-github/v84/github   # or ./folder
//	    output: ./internal/githubtools   # required for packages that are not yours
//	    package: githubtools             # default: base of output
//	    prefix: github                   # default: the package's name; "" for none
//	    required_doc: ["This member is required."]   # prose at a field that means it is required
//	    drop_results: ["*github.Response"]           # types of results that are not shown
//	    enums: {github.LockReason: open}             # closed, names, open or off
//	    schemas: {github.Timestamp: {type: string, format: date-time}}
//	    implementations: {redis.Vector: [VectorFP32, VectorRef]}   # what a model may choose from
//	    types:
//	      - type: IssuesService
//	        prefix: issues                 # default: the package's
//	        methods:
//	          - ListByRepo
//	          - method: Create
//	            name: github_create_issue
//	            title: Create an issue
//	            description: Opens an issue.
//	            hints: [destructive]
//	            sequential: true
//	            errors: {retry: [ErrBadRange], failed: [ErrGone]}
//	            defer: true
//	            approve: true            # or a function that says when
//	            retries: 2
//	            guard: {example.com/shop/policy.CheckOwner: [owner]}
//	            examples: [{owner: acme}]
//	            param_names: [owner, repo]   # of parameters without a name, the context not counted
//	            params:                  # dots reach into structs; the keys are those of the directive param, and:
//	              owner: {description: Who owns the repository., pin: acme}
//	              team: {pin_const: DefaultTeam}   # or pin_from: FUNC, or pin_option: FIELD
//	              repo: {confine: {enum: [site, docs]}, minLength: 1}
//	              opts: {hide: true}
//	              fn: {collect: true}
//	              options: {options: [WithLimit]}
//	            results: [{index: 1, fields: [NextPage, Rate.Remaining], as: page}]
//	            drop: [0]                # results that are not shown, counted from 0
//	            redact: [token]
//	            media: image/png
//	            unwrap: {method: All, into: "[]map[string]any"}
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
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
	format  string // text, json or sarif
	output  string // file in the place of standard output
	stdout  io.Writer
	stderr  io.Writer
	clear   func() // takes the line of progress away

	against string // breaking
	allow   string
	failOn  string
	pkg     string // init
}

// A verb is one word of the command line, its function in a file of its own.
type verb struct {
	run   func(*command, context.Context) (int, error)
	flags string // that it takes
}

// The flags of verbs that run the generator.
const generating = "C config tags strict format o q v "

var verbs = map[string]verb{
	"generate": {(*command).generate, generating},
	"check":    {(*command).check, generating},
	"diff":     {(*command).diff, generating},
	"breaking": {(*command).breaking, generating + "against allow fail-on"},
	"list":     {(*command).list, generating},
	"lint":     {(*command).lint, generating},
	"init":     {(*command).initialize, "C tags o package"},
	"explain":  {(*command).explain, "C o"},
	"version":  {(*command).version, "C o"},
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := &command{stdout: stdout, stderr: stderr}
	word, err := c.parse(args)
	if err != nil {
		return usage(stderr, err)
	}
	var held bytes.Buffer
	if c.output != "" {
		c.stdout = &held
	}
	c.clear = c.progress()
	code, err := verbs[word].run(c, ctx)
	c.clear()
	code = c.exit(code, err)
	if c.output == "" || code == exitUsage || errors.Is(err, context.Canceled) {
		return code
	}
	if err := writeFile(c.within(c.output), held.Bytes()); err != nil {
		fmt.Fprintln(c.stderr, "toolgen:", err)
		return exitError
	}
	return code
}

// within is a path as seen from the folder of -C.
func (c *command) within(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.options.Dir, path)
}

// exit prints an error of a verb and returns the exit code.
func (c *command) exit(code int, err error) int {
	var inTheWay *gen.InTheWayError
	var wrong *usageError
	switch {
	case errors.As(err, &wrong):
		return usage(c.stderr, err)
	case errors.As(err, &inTheWay):
		c.report(report{diagnostics: inTheWay.Diagnostics})
		return exitError
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(c.stderr, "toolgen: interrupted; nothing was written")
		return exitError
	case err != nil:
		if c.format != "text" {
			c.report(report{failure: err.Error()})
		}
		fmt.Fprintln(c.stderr, "toolgen:", err)
		return exitError
	}
	return code
}

// flagSet declares the flags.
func (c *command) flagSet(tags *string) *flag.FlagSet {
	flags := flag.NewFlagSet("toolgen", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&c.options.Dir, "C", "", "")
	flags.StringVar(&c.options.Config, "config", "", "")
	flags.StringVar(tags, "tags", "", "")
	flags.BoolVar(&c.options.Strict, "strict", false, "")
	flags.BoolVar(&c.quiet, "q", false, "")
	flags.BoolVar(&c.verbose, "v", false, "")
	flags.StringVar(&c.format, "format", "text", "")
	flags.StringVar(&c.output, "o", "", "")
	flags.StringVar(&c.against, "against", "", "")
	flags.StringVar(&c.allow, "allow", "", "")
	flags.StringVar(&c.failOn, "fail-on", "", "")
	flags.StringVar(&c.pkg, "package", "", "")
	return flags
}

// parse reads the command line: flags may stand before and after the verb.
func (c *command) parse(args []string) (word string, err error) {
	var tags string
	flags := c.flagSet(&tags)
	if err := flags.Parse(args); err != nil {
		return "", err
	}
	word, c.options.Patterns = "generate", flags.Args()
	if len(c.options.Patterns) > 0 {
		first := c.options.Patterns[0]
		if _, ok := verbs[first]; ok {
			word = first
			if err := flags.Parse(c.options.Patterns[1:]); err != nil {
				return "", err
			}
			c.options.Patterns = flags.Args()
		} else if first == "help" {
			return "", flag.ErrHelp
		} else if !strings.ContainsAny(first, "./") {
			return "", fmt.Errorf("unknown verb %q; a folder is written ./%s", first, first)
		}
	}
	if tags != "" {
		c.options.Tags = strings.Split(tags, ",")
	}
	if !slices.Contains([]string{"text", "json", "sarif"}, c.format) {
		return "", fmt.Errorf("-format %s: write text, json or sarif", c.format)
	}
	if info, err := os.Stat(c.options.Dir); c.options.Dir != "" && (err != nil || !info.IsDir()) {
		return "", fmt.Errorf("-C %s: there is no such folder", c.options.Dir)
	}
	if c.options.Config != "" {
		c.options.Config = c.within(c.options.Config)
	}
	return word, misplaced(flags, word)
}

// misplaced refuses a flag that the verb doesn't take, and one without a value.
func misplaced(flags *flag.FlagSet, word string) (err error) {
	flags.Visit(func(f *flag.Flag) {
		switch {
		case !slices.Contains(strings.Fields(verbs[word].flags), f.Name):
			err = fmt.Errorf("%s takes no -%s", word, f.Name)
		case f.Value.String() == "":
			err = fmt.Errorf("-%s has no value", f.Name)
		}
	})
	return err
}

// A usageError is a wrong command line that a verb found.
type usageError struct{ error }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

func usage(stderr io.Writer, err error) int {
	if errors.Is(err, flag.ErrHelp) {
		err = nil
	}
	if err != nil {
		fmt.Fprintln(stderr, "toolgen:", err)
	}
	fmt.Fprint(stderr, `usage: toolgen [flags] [verb] [patterns]

  generate       write what changed (the default)
  check          write nothing; exit 1 if something would change
  diff           print what would change
  breaking       compare the tools with those of a revision or lock
  list           print the tools
  lint           look at what models read
  init           write the first files of a module
  explain        print what a code or directive means
  version        print the version

  -C dir         run as if started in dir
  -config file   use this toolgen.yaml
  -tags list     build tags, separated by commas
  -strict        warnings are errors
  -format form   text, json or sarif
  -o file        write what goes to standard output there
  -q             print errors only
  -v             print notes too
  -against ref   breaking: a git revision or a lock file
  -allow class   breaking: narrowing
  -fail-on class breaking: widening or wording
  -package path  init: print the candidates of a package

go doc github.com/toolgen/toolgen/cmd/toolgen has the manual.
`)
	return exitUsage
}

// result runs the generator, and says false where an error is among its
// diagnostics. It prints none: what is reported beside them is the verb's.
func (c *command) result(ctx context.Context) (*gen.Result, bool, error) {
	r, err := gen.Generate(ctx, c.options)
	if err != nil {
		return nil, false, err
	}
	return r, !slices.ContainsFunc(r.Diagnostics, func(d gen.Diagnostic) bool { return d.Severity == "error" }), nil
}

// writeFile replaces a file, whole or not at all, through symbolic links and with
// the mode that it has. What is no file, such as a device, is written to.
func writeFile(path string, data []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return os.WriteFile(path, data, mode)
		}
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".toolgen-*")
	if err != nil {
		return fmt.Errorf("-o %s: %w", path, errors.Unwrap(err))
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
