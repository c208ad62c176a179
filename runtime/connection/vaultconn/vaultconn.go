// Package vaultconn finds connections in HashiCorp Vault, where Airflow has them: in the
// KV version 2 engine at secret, under connections/ and the id, as conn_uri, a text in
// either form of [connection.Parse], or as the fields of [connection.FromFields].
//
//	client, err := api.NewClient(api.DefaultConfig()) // VAULT_ADDR, VAULT_TOKEN
//	resolver := vaultconn.New(client)
//
//	$ vault kv put secret/connections/orders conn_uri='postgres://ann:…@db/shop'
//	$ vault kv put secret/connections/billing conn_type=mysql host=db login=agent password=…
//
// The client's token is used, or with [AppRole] one that is fetched at the first use, and
// again once Vault doesn't take it any more.
package vaultconn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/hashicorp/vault/api"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/secret"
)

// An Option changes where connections are, and how to log in.
type Option func(*resolver)

// Mount names the KV version 2 engine. The default is secret.
func Mount(path string) Option { return func(r *resolver) { r.mount = strings.Trim(path, "/") } }

// Path is what is before the id. The default is connections.
func Path(path string) Option { return func(r *resolver) { r.path = strings.Trim(path, "/") } }

// AppRole logs in by the AppRole method, which is mounted at approle.
func AppRole(roleID string, secretID secret.Value) Option {
	return func(r *resolver) { r.roleID, r.secretID = roleID, secretID }
}

// New returns the resolver. It asks Vault for nothing yet. The client is the resolver's
// own: with AppRole its token changes.
func New(client *api.Client, opts ...Option) connection.Resolver {
	r := &resolver{client: client, mount: "secret", path: "connections"}
	for _, o := range opts {
		o(r)
	}
	return r
}

type resolver struct {
	client      *api.Client
	mount, path string
	roleID      string
	secretID    secret.Value

	mu       sync.Mutex
	loggedIn bool
}

// Resolve implements [connection.Resolver].
func (r *resolver) Resolve(ctx context.Context, id string) (*connection.Connection, error) {
	if id == "" || strings.Contains("/"+id+"/", "/../") || strings.Contains("/"+id+"/", "/./") {
		return nil, fmt.Errorf("connection %q: this is no id in Vault", id)
	}
	at := id
	if r.path != "" {
		at = r.path + "/" + id
	}
	fields, err := r.read(ctx, at)
	switch {
	case errors.Is(err, api.ErrSecretNotFound) || err == nil && fields == nil: // never there, or deleted
		return nil, &connection.NotFoundError{ID: id, Places: []string{"Vault " + r.mount + "/" + at}}
	case err != nil:
		return nil, fmt.Errorf("connection %s: vault: %w", id, err)
	}
	uri, ok := fields["conn_uri"]
	if !ok {
		c, err := connection.FromFields(fields)
		if err != nil {
			return nil, fmt.Errorf("connection %s: vault: %w", id, err)
		}
		c.ID = id
		return c, nil
	}
	text, ok := uri.(string)
	if !ok || len(fields) > 1 {
		return nil, fmt.Errorf("connection %s: vault: conn_uri is a text, and stands alone", id)
	}
	return connection.Parse(id, text)
}

// read reads a secret, logging in where that is needed.
func (r *resolver) read(ctx context.Context, at string) (map[string]any, error) {
	if err := r.login(ctx, ""); err != nil {
		return nil, err
	}
	token := r.client.Token()
	found, err := r.client.KVv2(r.mount).Get(ctx, at)
	if refused, ok := errors.AsType[*api.ResponseError](err); ok && refused.StatusCode == http.StatusForbidden && r.roleID != "" {
		if err := r.login(ctx, token); err != nil { // it may have run out
			return nil, err
		}
		found, err = r.client.KVv2(r.mount).Get(ctx, at)
	}
	if err != nil || found == nil {
		return nil, err
	}
	return found.Data, nil
}

// login fetches a token by AppRole, once, and again in the place of one that was refused.
func (r *resolver) login(ctx context.Context, refused string) error {
	if r.roleID == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loggedIn && (refused == "" || r.client.Token() != refused) {
		return nil
	}
	answer, err := r.client.Logical().WriteWithContext(ctx, "auth/approle/login", map[string]any{"role_id": r.roleID, "secret_id": r.secretID.Reveal()})
	switch {
	case err != nil:
		return fmt.Errorf("log in by AppRole: %w", err)
	case answer == nil || answer.Auth == nil || answer.Auth.ClientToken == "":
		return errors.New("log in by AppRole: Vault gave no token")
	}
	r.client.SetToken(answer.Auth.ClientToken)
	r.loggedIn = true
	return nil
}
