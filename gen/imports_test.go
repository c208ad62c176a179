package gen_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/toolgen/toolgen"

// A rule says what packages below a path may import of this module, and why.
// The most specific rule of a package holds. Files that are tests are free.
type rule struct {
	from string
	may  []string // packages; with /... a tree of them
	why  string
}

var rules = []rule{
	{"cmd/toolgen", []string{"gen", "templates"}, "a command parses flags, calls gen and prints"},
	{"gen", []string{"gen/internal/...", "templates", "runtime/schema"}, "the pipeline is in its stages"},
	{"gen/internal/diag", []string{}, "everything reports, so it can depend on nothing of ours"},
	{"gen/internal/model", []string{"gen/internal/diag"}, "the model is plain data"},
	{"gen/internal/load", []string{"gen/internal/diag", "gen/internal/directive"}, "loading knows nothing of what is made of a package; it looks for the mark only"},
	{"gen/internal/directive", []string{"gen/internal/diag", "runtime/schema"}, "the table is read by all"},
	{"gen/internal/doccomment", []string{"gen/internal/diag"}, "prose is prose"},
	{"gen/internal/naming", []string{"gen/internal/diag"}, "names are names"},
	{"gen/internal/config", []string{"gen/internal/directive", "gen/internal/diag", "runtime/schema"}, "the file is read before anything is loaded"},
	{"gen/internal/schema", []string{"gen/internal/load", "gen/internal/directive", "gen/internal/doccomment", "gen/internal/naming", "gen/internal/model", "gen/internal/diag", "runtime/schema"}, "a walk of a type knows source and prose, not hooks"},
	{"gen/internal/discover", []string{"gen/internal/config", "gen/internal/load", "gen/internal/directive", "gen/internal/diag", "runtime/schema"}, "finding hooks comes before making anything of them"},
	{"gen/internal/lint", []string{"gen/internal/config", "gen/internal/naming", "gen/internal/model", "gen/internal/diag"}, "lint reads what a model reads"},
	{"gen/internal/lock", []string{"gen/internal/model", "gen/internal/diag", "runtime/schema"}, "the lock is made of what is emitted, and read without sources"},
	{"gen/internal/build", []string{"gen/internal/discover", "gen/internal/config", "gen/internal/load", "gen/internal/directive", "gen/internal/doccomment", "gen/internal/naming", "gen/internal/schema", "gen/internal/model", "gen/internal/diag", "runtime/schema"}, "build puts the stages before it together, and writes nothing"},
	{"gen/internal/emit", []string{"gen/internal/model", "runtime/schema"}, "what is emitted depends on the model alone"},
	{"gen/internal/output", []string{"gen/internal/diag"}, "files are bytes"},
	{"runtime/schema", []string{}, "it is the leaf that the generator and the runtime share"},
	{"runtime", []string{"runtime/schema"}, "a program with generated tools links the standard library and this"},
	{"runtime/secret", []string{"runtime"}, "a secret knows nothing of connections"},
	{"runtime/connection", []string{"runtime", "runtime/secret"}, "a connection knows no system that it connects to"},
	{"runtime/connection/fileconn", []string{"runtime/connection"}, "a resolver is linked by who wants it"},
	{"runtime/connection/runtimevarconn", []string{"runtime/connection", "runtime/secret"}, "a resolver is linked by who wants it"},
	{"runtime/connection/etcdconn", []string{"runtime/connection"}, "a resolver is linked by who wants it"},
	{"runtime/connection/vaultconn", []string{"runtime/connection", "runtime/secret"}, "a resolver is linked by who wants it"},
	{"runtime/tabular", []string{"runtime", "runtime/schema"}, "rows are rows, whoever reads them"},
	{"runtime/toolset/sqltool", []string{"runtime", "runtime/schema", "runtime/toolimpl", "runtime/connection", "runtime/tabular"}, "a toolset knows no adapter, and no other toolset"},
	{"runtime/toolset/sqltool/sqlite", []string{"runtime/toolset/sqltool", "runtime/connection", "runtime/tabular", "runtime/worker"}, "a dialect is linked by who wants it"},
	{"runtime/toolset/sqltool/postgres", []string{"runtime/toolset/sqltool", "runtime/connection", "runtime/tabular", "runtime/worker"}, "a dialect is linked by who wants it"},
	{"runtime/toolset/sqltool/internal/sqltest", []string{"runtime", "runtime/connection", "runtime/tabular", "runtime/toolset/sqltool"}, "tests of dialects differ in the dialect"},
	{"runtime/worker", []string{"runtime", "runtime/schema"}, "a child process knows nothing of what it is for"},
	{"runtime/wrap", []string{"runtime", "runtime/schema"}, "a wrapper knows toolsets, and none in particular"},
	{"runtime/wrap/limit", []string{"runtime", "runtime/wrap"}, "limits are wrappers with dependencies of their own"},
	{"runtime/wrap/oteltrace", []string{"runtime", "runtime/wrap"}, "traces are a wrapper with dependencies of its own"},
	{"runtime/wrap/sqlstore", []string{"runtime"}, "a store knows what a journal is, and no wrapper"},
	{"runtime/internal/testserver", []string{}, "a server for tests knows nothing of what is tested"},
	{"runtime/runtimetest", []string{"runtime", "runtime/schema"}, "it checks what a run needs, and shares no table with adapters"},
	{"runtime/toolimpl", []string{"runtime", "runtime/schema"}, "generated code links nothing else"},
	{"runtime/internal/fixture", []string{}, "a hook package needs nothing of ours"},
	{"runtime/internal/fixture/fixturetools", []string{"runtime/internal/fixture", "runtime", "runtime/toolimpl"}, "generated code links its hooks and the runtime"},
	{"runtime/mcpserver", []string{"runtime", "runtime/schema"}, "an adapter only translates, and knows no toolset"},
	{"hooks", []string{}, "a hook package needs nothing of ours"},
	{"hooks/gitrepo/gitrepotools", []string{"hooks/gitrepo", "runtime", "runtime/toolimpl"}, "generated code links its hooks and the runtime"},
	{"hooks/httpapi/httpapitools", []string{"hooks/httpapi", "runtime", "runtime/toolimpl"}, "generated code links its hooks and the runtime"},
	{"hooks/sqlitedb/sqlitedbtools", []string{"hooks/sqlitedb", "runtime", "runtime/toolimpl"}, "generated code links its hooks and the runtime"},
	{"examples", []string{"examples/...", "hooks/...", "runtime/..."}, "an example is a program of a user"},
}

// only says which packages alone may import a dependency.
var only = []rule{
	{"github.com/dave/jennifer", []string{"gen/internal/emit"}, "one package knows how Go is written"},
	{"github.com/invopop/jsonschema", []string{"gen/internal/schema", "gen/internal/build"}, "schemas are made by the walk of a type"},
	{"github.com/santhosh-tekuri/jsonschema", []string{"gen/internal/schema"}, "what people write in directives is checked against the schema it is for"},
	{"github.com/goccy/go-yaml", []string{"gen/internal/config", "runtime/connection/fileconn"}, "one package of each reads yaml"},
	{"github.com/fsnotify/fsnotify", []string{"runtime/connection/fileconn"}, "one package watches files"},
	{"gocloud.dev", []string{"runtime/connection/runtimevarconn"}, "a resolver is linked by who wants it"},
	{"go.etcd.io/etcd", []string{"runtime/connection/etcdconn"}, "a resolver is linked by who wants it"},
	{"github.com/hashicorp/vault/api", []string{"runtime/connection/vaultconn"}, "a resolver is linked by who wants it"},
	{"golang.org/x/tools", []string{"gen/internal/load"}, "one package loads"},
	{"github.com/modelcontextprotocol/go-sdk", []string{"runtime/mcpserver", "examples"}, "the SDK is an adapter's business"},
	{"github.com/owenrumney/go-sarif", []string{"cmd/toolgen"}, "a command prints"},
	{"go.opentelemetry.io/otel", []string{"runtime/wrap/oteltrace"}, "a program that isn't traced links no telemetry"},
	{"github.com/sony/gobreaker", []string{"runtime/wrap/limit"}, "limits are linked by who wants them"},
	{"github.com/cenkalti/backoff", []string{"runtime/wrap/limit"}, "limits are linked by who wants them"},
	{"golang.org/x/time", []string{"runtime/wrap/limit"}, "limits are linked by who wants them"},
	{"github.com/google/go-cmp", nil, "it is for tests"},
	{"github.com/jackc/pgx", []string{"runtime/toolset/sqltool/postgres"}, "a program brings its own driver, and a dialect its engine's"},
	{"github.com/wasilibs/go-pgquery", []string{"runtime/toolset/sqltool/postgres"}, "a guard reads by its engine's grammar"},
	{"github.com/huandu/go-sqlbuilder", []string{"runtime/toolset/sqltool"}, "catalogues are asked by dialects"},
	{"github.com/go-sql-driver/mysql", nil, "a program brings its own driver"},
	{"github.com/ncruces/go-sqlite3", []string{"hooks/sqlitedb", "runtime/toolset/sqltool/sqlite"}, "a hook package brings its own driver, and a dialect its engine"},
	{"github.com/go-git/go-git", []string{"hooks/gitrepo"}, "a hook package brings its own library"},
	{"github.com/google/go-github", []string{"examples/github"}, "only the example of somebody else's package needs it"},
}

// standardOnly are packages that use nothing but the standard library and ours.
var standardOnly = []string{"runtime", "runtime/schema", "runtime/toolimpl", "gen/internal/diag", "gen/internal/model", "gen/internal/naming"}

// TestImports holds every file that is no test to the rules.
func TestImports(t *testing.T) {
	t.Parallel()
	root := ".."
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && (base == "testdata" || name != root && strings.HasPrefix(base, ".")) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			checkImport(t, filepath.ToSlash(rel), imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkImport(t *testing.T, pkg, imported string) {
	t.Helper()
	if own, ok := strings.CutPrefix(imported, module+"/"); ok {
		checkOwn(t, pkg, own)
		return
	}
	if !strings.Contains(strings.Split(imported, "/")[0], ".") {
		return // the standard library
	}
	if slices.Contains(standardOnly, pkg) {
		t.Errorf("%s imports %s: it uses the standard library only", pkg, imported)
	}
	for _, o := range only {
		if strings.HasPrefix(imported, o.from) && !slices.ContainsFunc(o.may, func(p string) bool { return below(pkg, p) }) {
			t.Errorf("%s imports %s: %s", pkg, imported, o.why)
		}
	}
}

func checkOwn(t *testing.T, pkg, imported string) {
	t.Helper()
	best := rule{}
	for _, r := range rules {
		if below(pkg, r.from) && len(r.from) > len(best.from) {
			best = r
		}
	}
	switch {
	case best.from == "":
		t.Errorf("%s: no rule says what it may import: add one", pkg)
	case slices.ContainsFunc(best.may, func(p string) bool {
		tree, ok := strings.CutSuffix(p, "/...")
		return imported == p || ok && below(imported, tree)
	}):
	default:
		t.Errorf("%s imports %s: %s", pkg, imported, best.why)
	}
}

func below(pkg, prefix string) bool { return pkg == prefix || strings.HasPrefix(pkg, prefix+"/") }
