// Package fileconn finds connections in a file, in the shape that Airflow's local files
// have: ids, each with a URI, with JSON, or with fields.
//
//	orders: postgresql://ann@db.internal/shop?sslmode=require
//	billing:
//	  conn_type: mysql
//	  host: db.internal
//	  login: agent
//	  password: {env: BILLING_PASSWORD}
//	  extra:
//	    ssl_ca: /etc/ssl/db.pem
//	warehouse: {from: "file:///run/secrets/warehouse"}
//
// A whole connection, a field, or a value in extra may be {env: NAME}, a variable of the
// environment, or {from: URL}, what [Values] reads from there; in extra, where {env: prod}
// may be data, NAME is in capitals and URL has :// in it. The fields are those of
// [connection.FromFields], and extra_dejson, which is another name of extra. JSON, being
// YAML, is read too; anchors and tags are not.
//
// The file is read at each use; it is not found where it isn't there. One that others
// than its owner may read is warned of, once. A change of it is seen at once, where the
// system tells, by a handle that watches.
package fileconn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/toolgen/toolgen/runtime/connection"
)

// maxFile is how large a file may be.
const maxFile = 4 << 20

// A File is a resolver of what is in one file. It is a [connection.Watcher] too.
type File struct {
	path   string
	values func(ctx context.Context, url string) (string, error)
	logger *slog.Logger
	warn   sync.Once
}

// An Option changes how a file is read.
type Option func(*File)

// Values reads what {from: URL} names, such as runtimevarconn.Value. Without it such a
// value is an error.
func Values(read func(ctx context.Context, url string) (string, error)) Option {
	return func(f *File) { f.values = read }
}

// Logger gets the warning. The default is [slog.Default].
func Logger(l *slog.Logger) Option { return func(f *File) { f.logger = l } }

// New returns the resolver of a file. It reads nothing yet.
func New(path string, opts ...Option) *File {
	f := &File{path: path, logger: slog.Default()}
	for _, o := range opts {
		o(f)
	}
	return f
}

// Resolve implements [connection.Resolver].
func (f *File) Resolve(ctx context.Context, id string) (*connection.Connection, error) {
	data, err := f.read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &connection.NotFoundError{ID: id, Places: []string{f.path + ", which isn't there"}}
	}
	if err != nil {
		return nil, fmt.Errorf("connection %s: %w", id, err)
	}
	all, err := f.mapping(data)
	if err != nil {
		return nil, err
	}
	for _, entry := range all {
		if entry.key == id {
			return f.connection(ctx, id, entry.value)
		}
	}
	return nil, &connection.NotFoundError{ID: id, Places: []string{f.path}}
}

func (f *File) read() (data []byte, err error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait
		return nil, fmt.Errorf("%s is no regular file", f.path)
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		f.warn.Do(func() {
			f.logger.Warn("others can read a file with connections: chmod 600 it", "file", f.path, "mode", mode.String())
		})
	}
	data, err = io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxFile:
		return nil, fmt.Errorf("%s has more than %d bytes", f.path, maxFile)
	case tooDeep(data):
		return nil, fmt.Errorf("%s is nested deeper than %d brackets", f.path, maxDepth)
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}

// maxDepth is how many brackets may be open at once: the parser takes memory by the
// square of it.
const maxDepth = 1000

func tooDeep(data []byte) bool {
	depth := 0
	for _, c := range data {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		}
		if depth > maxDepth {
			return true
		}
	}
	return false
}

// entry is a key and its value.
type entry struct {
	key   string
	value ast.Node
}

// mapping parses the file into its connections.
func (f *File) mapping(data []byte) (all []entry, err error) {
	defer func() {
		if recover() != nil { // the parser, on some input
			err = fmt.Errorf("%s is not YAML", f.path)
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, f.syntax(err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			return nil, f.errorf(doc.Body, "a second document: write one")
		}
		body = doc.Body
	}
	if body == nil {
		return nil, nil
	}
	return f.entries(body)
}

// syntax says where an error is; the parser's own text repeats what is
// there.
func (f *File) syntax(err error) error {
	var positioned yaml.Error
	if errors.As(err, &positioned) && positioned.GetToken() != nil {
		at := positioned.GetToken().Position
		return fmt.Errorf("%s:%d:%d: what is here is not YAML", f.path, at.Line, at.Column)
	}
	return fmt.Errorf("%s is not YAML", f.path)
}

// errorf is an error with the position of a node.
func (f *File) errorf(n ast.Node, format string, args ...any) error {
	at := f.path
	if n != nil && n.GetToken() != nil {
		at = fmt.Sprintf("%s:%d:%d", f.path, n.GetToken().Position.Line, n.GetToken().Position.Column)
	}
	return fmt.Errorf("%s: %w", at, fmt.Errorf(format, args...))
}

// entries are those of a mapping.
func (f *File) entries(n ast.Node) ([]entry, error) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return nil, f.errorf(n, "want names with values")
	}
	all := make([]entry, 0, len(m.Values))
	seen := make(map[string]bool)
	for _, v := range m.Values {
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			return nil, f.errorf(v.Key, "<< isn't read: write the fields out")
		}
		key, err := f.scalar(v.Key)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, f.errorf(v.Key, "a name is there twice")
		}
		seen[key] = true
		all = append(all, entry{key, v.Value})
	}
	return all, nil
}

// scalar is the text of a scalar, as it is written.
func (f *File) scalar(n ast.Node) (string, error) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, nil
	default:
		return "", f.errorf(n, "want a text")
	}
}

// connection reads one: a text in either of Airflow's forms, or its fields.
func (f *File) connection(ctx context.Context, id string, n ast.Node) (*connection.Connection, error) {
	text, ok, err := f.text(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("connection %s: %w", id, err)
	}
	if ok {
		c, err := connection.Parse(id, text)
		if err != nil {
			return nil, f.errorf(n, "%w", err)
		}
		return c, nil
	}
	fields, err := f.fields(ctx, id, n)
	if err != nil {
		return nil, fmt.Errorf("connection %s: %w", id, err)
	}
	c, err := connection.FromFields(fields)
	if err != nil {
		return nil, fmt.Errorf("connection %s: %w", id, f.errorf(n, "%w", err))
	}
	c.ID = id
	return c, nil
}

// text is a value that is one: a string, or one that is read from elsewhere.
func (f *File) text(ctx context.Context, n ast.Node) (string, bool, error) {
	switch n := n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		text, err := f.scalar(n)
		return text, true, err
	case *ast.MappingNode:
		return f.elsewhere(ctx, n)
	default:
		return "", false, nil
	}
}

// elsewhere reads {env: NAME} and {from: URL}.
func (f *File) elsewhere(ctx context.Context, n *ast.MappingNode) (text string, ok bool, err error) {
	if len(n.Values) != 1 {
		return "", false, nil
	}
	key, err := f.scalar(n.Values[0].Key)
	if err != nil || key != "env" && key != "from" {
		return "", false, nil //nolint:nilerr // it is something else
	}
	value, ok := n.Values[0].Value.(*ast.StringNode)
	switch {
	case !ok:
		return "", false, nil
	case key == "env":
		if text, ok = os.LookupEnv(value.Value); !ok {
			return "", false, f.errorf(value, "the environment has no %s", variable(value.Value))
		}
		return text, true, nil
	case f.values == nil:
		return "", false, f.errorf(value, "from isn't read: give the file fileconn.Values")
	}
	if text, err = f.values(ctx, value.Value); err != nil {
		return "", false, f.errorf(value, "%w", err)
	}
	return text, true, nil
}

// variable is a name as an error shows it: what looks like none may be a secret at the
// wrong place.
func variable(name string) string {
	if capitals.MatchString(strings.ToUpper(name)) {
		return name
	}
	return "such variable"
}

var capitals = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// isData reports whether a mapping in extra is data though it looks like what is to be
// read elsewhere.
func isData(n *ast.MappingNode) bool {
	if len(n.Values) != 1 {
		return true
	}
	value, ok := n.Values[0].Value.(*ast.StringNode)
	return !ok || !capitals.MatchString(value.Value) && !strings.Contains(value.Value, "://")
}

// fields reads those of one connection.
func (f *File) fields(ctx context.Context, id string, n ast.Node) (map[string]any, error) {
	all, err := f.entries(n)
	if err != nil {
		return nil, err
	}
	fields := make(map[string]any)
	for _, e := range all {
		value, err := f.field(ctx, e)
		if err != nil {
			return nil, err
		}
		switch e.key {
		case "conn_id":
			if value != id {
				return nil, f.errorf(e.value, "conn_id is another than the name of the entry")
			}
			continue
		case "extra_dejson":
			if _, both := fields["extra"]; both {
				return nil, f.errorf(e.value, "extra and extra_dejson are the same: write one")
			}
			e.key = "extra"
		case "extra":
			if _, both := fields["extra"]; both {
				return nil, f.errorf(e.value, "extra and extra_dejson are the same: write one")
			}
		}
		if _, err := connection.FromFields(map[string]any{e.key: value}); err != nil {
			return nil, f.errorf(e.value, "%w", err)
		}
		fields[e.key] = value
	}
	return fields, nil
}

// field reads the value of one.
func (f *File) field(ctx context.Context, e entry) (any, error) {
	switch e.key {
	case "extra", "extra_dejson":
		if m, ok := e.value.(*ast.MappingNode); ok && isData(m) {
			return f.object(ctx, m)
		}
		return f.value(ctx, e.value)
	case "port":
	default: // a text, though it may look like a number
		if text, err := f.scalar(e.value); err == nil {
			return text, nil
		}
	}
	return f.value(ctx, e.value)
}

// value reads a value as package json decodes one.
func (f *File) value(ctx context.Context, n ast.Node) (any, error) {
	text, ok, err := f.text(ctx, n)
	if err != nil || ok {
		return text, err
	}
	switch n := n.(type) {
	case *ast.NullNode, nil:
		return nil, nil //nolint:nilnil // null
	case *ast.BoolNode:
		return n.Value, nil
	case *ast.IntegerNode, *ast.FloatNode:
		if !json.Valid([]byte(n.GetToken().Value)) {
			return nil, f.errorf(n, "want a number as JSON has it, or a text in quotes")
		}
		return json.Number(n.GetToken().Value), nil
	case *ast.SequenceNode:
		list := make([]any, len(n.Values))
		for i, element := range n.Values {
			if list[i], err = f.value(ctx, element); err != nil {
				return nil, err
			}
		}
		return list, nil
	case *ast.MappingNode:
		return f.object(ctx, n)
	default:
		return nil, f.errorf(n, "anchors, aliases and tags aren't read: write the value out")
	}
}

// object reads a mapping in extra.
func (f *File) object(ctx context.Context, n *ast.MappingNode) (map[string]any, error) {
	all, err := f.entries(n)
	if err != nil {
		return nil, err
	}
	out := make(map[string]any, len(all))
	for _, e := range all {
		if m, ok := e.value.(*ast.MappingNode); ok && isData(m) {
			if out[e.key], err = f.object(ctx, m); err != nil {
				return nil, err
			}
			continue
		}
		if out[e.key], err = f.value(ctx, e.value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Watch implements [connection.Watcher]. It watches the folder: files are replaced, and
// mounted secrets are links that change. Where the system doesn't tell, nothing is told,
// and a handle looks every five minutes.
func (f *File) Watch(_ string, changed func()) (stop func()) {
	w, err := fsnotify.NewWatcher()
	if err == nil {
		err = w.Add(filepath.Dir(f.path))
	}
	if err != nil {
		if w != nil {
			_ = w.Close() // it watches nothing
		}
		f.logger.Warn("a file with connections isn't watched", "file", f.path, "err", err)
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case _, ok := <-w.Events:
				if !ok {
					return
				}
				changed()
			case _, ok := <-w.Errors: // events were lost: something may have changed
				if !ok {
					return
				}
				changed()
			}
		}
	}()
	return func() {
		_ = w.Close() // it can't be used any more either way
		<-done
	}
}
