// Package connection gives toolsets the systems that they work with, by names that a
// team chose: a toolset takes a [Source], an id with what resolves it, and learns at its
// first call where the system is and how to log in. Nothing is resolved before, nothing
// is written down, and what is rotated is taken up without a restart.
//
//	resolve := connection.Chain(connection.Env(), connection.AirflowEnv(), fileconn.New("connections.yaml"))
//	orders := sqltool.New(postgres.Dialect, connection.Named(resolve, "orders"), sqltool.Options{…})
//
// # Where connections are
//
// [Env] reads TOOLGEN_CONN_ORDERS, [AirflowEnv] AIRFLOW_CONN_ORDERS, both in the two
// forms that Airflow has: see [Parse]. Package fileconn reads a file, runtimevarconn
// what gocloud.dev/runtimevar reads, etcdconn etcd, vaultconn HashiCorp Vault. A [Chain]
// asks one after the other: the first that knows an id answers, and an error that isn't
// "not found" ends the search, so that a store that is down never gives way to another
// with other credentials.
//
// # Secrets
//
// The password, and strings of the extra that are secret by their names, are registered
// with the toolset's masker as soon as they are known, before anything is opened with
// them. A [Connection] prints without them.
//
// # Handles
//
// A [Handle] opens what a toolset works with, a pool or a client, at the first use, and
// opens it anew when the connection has changed: after five minutes, at once where the
// resolver watches, and when a call finds that its credentials aren't taken any more.
package connection

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/secret"
)

// A Connection says where a system is and how to log in: the fields that Airflow has. It
// prints without its secrets; the zero values of its fields say that nothing is known.
//
// Where a struct has one in a field that isn't exported, package fmt can't ask it, and
// prints its extra as it is: print the connection itself, or hold a pointer.
//
//nolint:recvcheck // what prints it has values too; what uses it has pointers
type Connection struct {
	ID          string // by which it is found
	Type        string // of the system, in lower case with _: postgres, google_cloud_platform
	Description string
	Host        string
	Schema      string // the database, where there is one
	Login       string
	Port        int // 0: the system's own
	Password    secret.Value

	// Extra is all else: strings, booleans, nil, json.Number, []any and map[string]any.
	Extra map[string]any
}

// sensitive are parts of names whose values are secret, in lower case.
var sensitive = []string{
	"password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "access_key",
	"private_key", "authorization", "keyfile_dict", "service_account",
}

func isSensitive(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(sensitive, func(part string) bool { return strings.Contains(name, part) })
}

// Secrets returns what nobody may see of a connection: its password; in its extra, all
// that is under a name with password, passwd, passphrase, secret, token, api_key,
// apikey, access_key, private_key, authorization, keyfile_dict or service_account in it,
// be it JSON in a string; and passwords in URLs.
func (c *Connection) Secrets() []secret.Value {
	all := append([]secret.Value{c.Password}, inURL(c.Host)...)
	walk(c.Extra, false, func(text string, hidden bool) {
		if hidden {
			all = append(all, secret.New(text))
		}
		all = append(all, inURL(text)...)
	})
	return slices.DeleteFunc(all, secret.Value.IsZero)
}

// loginInURL finds what is between the colon behind a login and the last @ of an
// authority: of a URL, of one with a prefix such as jdbc:, and of user:password@tcp(h).
var loginInURL = regexp.MustCompile(`((?:://|^)[^/?#\s:@]*:)([^/?#\s]*)@`)

// inURL returns the passwords in a URL, as they are written and decoded.
func inURL(text string) (all []secret.Value) {
	for _, match := range loginInURL.FindAllStringSubmatch(text, -1) {
		all = append(all, secret.New(match[2]), secret.New(unquote(match[2])))
	}
	return all
}

// walk visits the strings and numbers of an extra, those of JSON in a string too, and
// says whether they are below a name that hides them.
func walk(v any, hidden bool, visit func(text string, hidden bool)) {
	switch v := v.(type) {
	case string:
		visit(v, hidden)
		dec := json.NewDecoder(strings.NewReader(v))
		dec.UseNumber()
		var inner any
		if dec.Decode(&inner) == nil {
			switch inner.(type) {
			case map[string]any, []any:
				walk(inner, hidden, visit)
			}
		}
	case json.Number:
		visit(v.String(), hidden)
	case []any:
		for _, element := range v {
			walk(element, hidden, visit)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			walk(v[key], hidden || isSensitive(key), visit)
		}
	}
}

// String returns the connection as a URI without its password and extra.
func (c Connection) String() string {
	var b strings.Builder
	b.WriteString(c.Type + "://")
	if c.Login != "" || !c.Password.IsZero() {
		b.WriteString(url.User(c.Login).String())
		if !c.Password.IsZero() {
			b.WriteString(":" + c.Password.String())
		}
		b.WriteString("@")
	}
	b.WriteString(loginInURL.ReplaceAllString(c.Host, "${1}"+runtime.Redacted+"@"))
	if c.Port != 0 {
		b.WriteString(":" + strconv.Itoa(c.Port))
	}
	if c.Schema != "" {
		b.WriteString("/" + c.Schema)
	}
	return b.String()
}

// GoString implements [fmt.GoStringer].
func (c Connection) GoString() string { return c.String() }

// Format implements [fmt.Formatter]: every verb prints the same.
func (c Connection) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) } // as fmt itself ignores it

// LogValue implements [slog.LogValuer].
func (c Connection) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalJSON implements [json.Marshaler]: the id and the URI that String returns.
func (c Connection) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"id": c.ID, "uri": c.String()})
}

// equal reports whether two connections are the same in all that opens a system.
func (c *Connection) equal(d *Connection) bool {
	a, b := *c, *d
	a.Password, b.Password = secret.Value{}, secret.Value{}
	return c.Password.Equal(d.Password) && reflect.DeepEqual(a, b)
}

// A Source is one connection, resolved at each use. One that can say that it has
// changed is a [runtime.Watcher].
type Source interface {
	// ID names it, in errors.
	ID() string

	// Connection resolves it. The caller doesn't change what it gets.
	Connection(ctx context.Context) (*Connection, error)
}

// Direct is a source of a connection that the program has.
func Direct(c Connection) Source { return direct{&c} }

type direct struct{ c *Connection }

func (d direct) ID() string                                      { return d.c.ID }
func (d direct) Connection(context.Context) (*Connection, error) { return d.c, nil }

// Named is a source of the connection that a resolver finds by an id.
func Named(r Resolver, id string) Source {
	n := named{r, id}
	if w, ok := r.(Watcher); ok {
		return watched{n, w}
	}
	return n
}

type named struct {
	resolver Resolver
	id       string
}

func (n named) ID() string { return n.id }

func (n named) Connection(ctx context.Context) (*Connection, error) {
	c, err := n.resolver.Resolve(ctx, n.id)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fmt.Errorf("connection %s: its resolver found none and said nothing", n.id)
	}
	return c, nil
}

type watched struct {
	named

	watcher Watcher
}

// Watch implements [runtime.Watcher].
func (w watched) Watch(changed func()) (stop func()) { return w.watcher.Watch(w.id, changed) }
