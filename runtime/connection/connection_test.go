package connection_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/secret"
)

// full has a secret in every place that has one.
func full(tb testing.TB) *connection.Connection {
	tb.Helper()
	c, err := connection.Parse("orders", `{"conn_type":"postgresql","login":"ann","password":"s3cret-0","host":"db","port":5432,"schema":"shop","extra":{
		"sslmode":"require","Access_Key_ID":"s3cret-1","aws":{"secret_access_key":"s3cret-2","region":"eu"},"tokens":["s3cret-3",{"n":90071992547409931}],
		"keyfile_dict":"{\"private_key\":\"s3cret-4\",\"n\":[\"s3cret-5\"]}","proxy":"http://u:s3cret-6@proxy:8080","mode":"plain","authorization":true,"x_api_key":"\"s3cret-7",
		"jdbc":"jdbc:postgresql://u:s3cret%8@h/db","dsn":"u:s3cret-9@tcp(h)/db","my_secret":"{\"pin\":87654321}","conf":"{\"password\":\"s3cret-a\"}"}}`)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestR36Secrets(t *testing.T) {
	t.Parallel()
	var got []string
	for _, v := range full(t).Secrets() {
		got = append(got, v.Reveal())
	}
	slices.Sort(got)
	want := []string{`"s3cret-7`, "87654321", "90071992547409931", "s3cret-0", "s3cret-1", "s3cret-2", "s3cret-3", "s3cret-4", "s3cret-5", "s3cret-6", "s3cret-6", "s3cret-9", "s3cret-9", "s3cret-a", "s3cret%8", "s3cret%8", `{"pin":87654321}`, `{"private_key":"s3cret-4","n":["s3cret-5"]}`}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestR36Prints prints a connection in every way: without a secret.
func TestR36Prints(t *testing.T) {
	t.Parallel()
	c := full(t)
	var all strings.Builder
	for _, value := range []any{c, *c, []connection.Connection{*c}, struct{ C *connection.Connection }{c}, map[string]any{"c": c}} {
		for _, verb := range "vsdqxX" {
			for _, flags := range []string{"", "+", "#"} {
				fmt.Fprintf(&all, "%"+flags+string(verb)+"\n", value)
			}
		}
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(raw)
		var text, structured bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("x", "v", value)
		slog.New(slog.NewJSONHandler(&structured, nil)).Info("x", "v", value)
		all.WriteString(text.String() + structured.String())
	}
	if strings.Contains(all.String(), "s3cret") || strings.Contains(all.String(), "90071992547409931") {
		t.Errorf("a secret is printed: %s", all.String())
	}
	if got := c.String(); got != "postgres://ann:[redacted]@db:5432/shop" {
		t.Errorf("%s", got)
	}
	inHost, err := connection.Parse("x", `{"conn_type":"http","host":"https://agent:s3:cret@api.example.com"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := inHost.String(); got != "http://https://agent:[redacted]@api.example.com" || len(inHost.Secrets()) != 2 {
		t.Errorf("%s, %d secrets", got, len(inHost.Secrets()))
	}
	if got := (connection.Connection{Type: "x", Login: "a@b:c"}).String(); got != "x://a%40b%3Ac@" {
		t.Errorf("%s", got)
	}
}

// failing can't be asked.
type failing struct{ err error }

func (f failing) Resolve(context.Context, string) (*connection.Connection, error) { return nil, f.err }

func TestR37Chain(t *testing.T) {
	t.Parallel()
	a, b := connection.Connection{ID: "a", Host: "first"}, connection.Connection{ID: "a", Host: "second"}
	down := failing{errors.New("the store is down")}
	missing := failing{&connection.NotFoundError{ID: "a", Places: []string{"there"}}}
	for name, c := range map[string]struct {
		chain connection.Resolver
		want  string
	}{
		"first":        {connection.Chain(connection.Static(a), connection.Static(b)), "first"},
		"second":       {connection.Chain(missing, connection.Static(b)), "second"},
		"down":         {connection.Chain(missing, down, connection.Static(b)), "the store is down"},
		"down later":   {connection.Chain(connection.Static(a), down), "first"},
		"nowhere":      {connection.Chain(connection.Static(), missing), "connection a is not found: looked for it in the program itself, there"},
		"none":         {connection.Chain(), "connection a is not found: there is no place to look for it"},
		"twice":        {connection.Static(a, b), "connection a: the program gives two of that id"},
		"inside":       {connection.Chain(connection.Chain(missing), connection.Static(b)), "second"},
		"says nothing": {failing{nil}, "said nothing"},
		"another's":    {connection.Chain(failing{fmt.Errorf("its password: %w", missing.err)}, connection.Static(b)), "its password: connection a is not found: looked for it in there"},
		"joined":       {connection.Chain(failing{errors.Join(down.err, missing.err)}, connection.Static(b)), "the store is down\nconnection a is not found: looked for it in there"},
	} {
		got, err := connection.Named(c.chain, "a").Connection(t.Context())
		var text string
		if err != nil {
			text = err.Error()
		} else {
			text = got.Host
		}
		if !strings.HasPrefix(text, c.want) && !strings.HasSuffix(text, c.want) {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

func TestR37Env(t *testing.T) {
	for name, value := range map[string]string{
		"TOOLGEN_CONN_MY_DB": "postgres://u:hunter2@one", "AIRFLOW_CONN_MY_DB": "postgres://two", "AIRFLOW_CONN_ONLY.HERE": "x://three", "AIRFLOW_CONN_ONLY_HERE": "x://four",
		"TOOLGEN_CONN_EMPTY": " ", "TOOLGEN_CONN_BAD": "hunter2", "TOOLGEN_CONN_JSON": `{"conn_type":"my-type","port":"1"}`, "AIRFLOW_CONN_ÄH": "x://five",
	} {
		t.Setenv(name, value)
	}
	resolver := func() connection.Resolver { return connection.Chain(connection.Env(), connection.AirflowEnv()) }
	for id, want := range map[string]string{
		"my_db": "postgres://u:[redacted]@one", "my-db": "postgres://u:[redacted]@one", "My.Db": "postgres://u:[redacted]@one", "only.here": "x://three", "only_here": "x://four", "only-here": "x://four",
		"empty": "connection empty: TOOLGEN_CONN_EMPTY is empty: unset it, or give it a URI or JSON", "json": "my_type://:1", "äh": "x://five",
		"bad":  "TOOLGEN_CONN_BAD: connection bad: want JSON, or a URI that begins with its type and ://",
		"none": "connection none is not found: looked for it in TOOLGEN_CONN_NONE, AIRFLOW_CONN_NONE",
		"n.o":  "connection n.o is not found: looked for it in TOOLGEN_CONN_N_O, AIRFLOW_CONN_N.O, AIRFLOW_CONN_N_O",
		"":     "a connection has no id",
	} {
		c, err := resolver().Resolve(t.Context(), id)
		var got string
		if err != nil {
			got = err.Error()
		} else if got = c.String(); c.ID != id {
			t.Errorf("%s: ID %q", id, c.ID)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	one := resolver()
	if _, err := one.Resolve(t.Context(), "my-db"); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Resolve(t.Context(), "my.db"); err == nil || err.Error() != "connections my-db and my.db are both TOOLGEN_CONN_MY_DB: rename one" {
		t.Errorf("two ids in one variable: %v", err)
	}
	if _, err := one.Resolve(t.Context(), "my-db"); err != nil {
		t.Errorf("the first again: %v", err)
	}
}

func TestR39Direct(t *testing.T) {
	t.Parallel()
	s := connection.Direct(connection.Connection{ID: "a", Password: secret.New("hunter2")})
	if c, err := s.Connection(t.Context()); err != nil || s.ID() != "a" || c.Password.Reveal() != "hunter2" {
		t.Errorf("%v, %v", c, err)
	}
}
