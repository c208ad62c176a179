package vaultconn_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/vault/api"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/connection/vaultconn"
	"github.com/toolgen/toolgen/runtime/secret"
)

// fakeVault is an HTTP server with what Vault documents of its API: reading from KV
// version 2 and logging in by AppRole. It is no Vault: no package of the system's has
// one.
type fakeVault struct {
	mu      sync.Mutex
	tokens  map[string]bool
	logins  int
	secrets map[string]string // the data of a secret, by path; deleted: it was there
}

const deleted = "deleted"

func (f *fakeVault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	answer := func(status int, format string, args ...any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, format, args...)
	}
	if r.URL.Path == "/v1/auth/approle/login" {
		var body struct {
			RoleID   string `json:"role_id"`
			SecretID string `json:"secret_id"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.RoleID != "role" || body.SecretID != "hunter2" {
			answer(http.StatusBadRequest, `{"errors":["invalid role or secret ID"]}`)
			return
		}
		f.logins++
		token := fmt.Sprint("token-", f.logins)
		f.tokens = map[string]bool{token: true}
		answer(http.StatusOK, `{"auth":{"client_token":%q,"lease_duration":60,"renewable":true}}`, token)
		return
	}
	if !f.tokens[r.Header.Get("X-Vault-Token")] || strings.Contains(r.URL.Path, "forbidden") {
		answer(http.StatusForbidden, `{"errors":["permission denied"]}`)
		return
	}
	switch data, ok := f.secrets[strings.TrimPrefix(r.URL.Path, "/v1/")]; {
	case !ok:
		answer(http.StatusNotFound, `{"errors":[]}`)
	case data == deleted:
		answer(http.StatusNotFound, `{"data":{"data":null,"metadata":{"created_time":"2026-01-01T00:00:00Z","deletion_time":"2026-01-02T00:00:00Z","destroyed":false,"version":1}}}`)
	default:
		answer(http.StatusOK, `{"data":{"data":%s,"metadata":{"created_time":"2026-01-01T00:00:00Z","deletion_time":"","destroyed":false,"version":1}}}`, data)
	}
}

func start(t *testing.T, f *fakeVault, token string) *api.Client {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	config := api.DefaultConfig()
	config.Address, config.MaxRetries = server.URL, 0
	client, err := api.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	client.SetToken(token)
	return client
}

func resolve(t *testing.T, r connection.Resolver, id string) string {
	t.Helper()
	c, err := r.Resolve(t.Context(), id)
	if err != nil {
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error repeats a secret: %v", id, err)
		}
		return err.Error()
	}
	return c.ID + " " + c.String()
}

func TestR37Vault(t *testing.T) {
	t.Parallel()
	f := &fakeVault{tokens: map[string]bool{"root": true}, secrets: map[string]string{
		"secret/data/connections/uri":     `{"conn_uri":"postgresql://u:hunter2@h/db"}`,
		"secret/data/connections/json":    `{"conn_uri":"{\"conn_type\":\"x\"}"}`,
		"secret/data/connections/fields":  `{"conn_type":"my-type","host":"h","login":"u","password":"hunter2","port":"5432","extra":"{\"a\":1}"}`,
		"secret/data/connections/number":  `{"conn_type":"x","port":5432}`,
		"secret/data/connections/unknown": `{"conn_type":"x","passwort":"hunter2"}`,
		"secret/data/connections/both":    `{"conn_uri":"x://h","host":"hunter2"}`,
		"secret/data/connections/odd":     `{"conn_uri":7}`,
		"secret/data/connections/gone":    deleted,
		"secret/data/connections/a/b":     `{"conn_uri":"x://deep"}`,
		"kv/data/orders":                  `{"conn_uri":"x://elsewhere"}`,
	}}
	client := start(t, f, "root")
	r := vaultconn.New(client)
	for id, want := range map[string]string{
		"uri":       "uri postgres://u:[redacted]@h/db",
		"json":      "json x://",
		"fields":    "fields my_type://u:[redacted]@h:5432",
		"number":    "number x://:5432",
		"a/b":       "a/b x://deep",
		"none":      "connection none is not found: looked for it in Vault secret/connections/none",
		"gone":      "connection gone is not found: looked for it in Vault secret/connections/gone",
		"unknown":   "connection unknown: vault: passwort: no such field",
		"both":      "connection both: vault: conn_uri is a text, and stands alone",
		"odd":       "connection odd: vault: conn_uri is a text, and stands alone",
		"forbidden": "connection forbidden: vault: ",
		"../x":      `connection "../x": this is no id in Vault`,
		"":          `connection "": this is no id in Vault`,
	} {
		if got := resolve(t, r, id); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	if got := resolve(t, vaultconn.New(client, vaultconn.Mount("/kv/"), vaultconn.Path("")), "orders"); got != "orders x://elsewhere" {
		t.Error(got)
	}
	stops := connection.Chain(r, connection.Static(connection.Connection{ID: "forbidden"}))
	if got := resolve(t, stops, "forbidden"); !strings.Contains(got, "permission denied") {
		t.Errorf("a refusal gives way to another store: %s", got)
	}
}

// TestR37VaultAppRole logs in at the first use, and once more when the token isn't taken
// any more.
func TestR37VaultAppRole(t *testing.T) {
	t.Parallel()
	f := &fakeVault{secrets: map[string]string{"secret/data/connections/a": `{"conn_uri":"x://h"}`}}
	r := vaultconn.New(start(t, f, ""), vaultconn.AppRole("role", secret.New("hunter2")))
	if f.logins != 0 {
		t.Error("making a resolver logs in")
	}
	for i := range 3 {
		if got := resolve(t, r, "a"); got != "a x://h" {
			t.Errorf("%d: %s", i, got)
		}
		if i == 1 {
			f.mu.Lock()
			f.tokens = nil
			f.mu.Unlock()
		}
	}
	if f.logins != 2 {
		t.Errorf("logged in %d times, want 2", f.logins)
	}
	wrong := vaultconn.New(start(t, &fakeVault{}, ""), vaultconn.AppRole("role", secret.New("hunter3")))
	if got := resolve(t, wrong, "a"); !strings.Contains(got, "log in by AppRole") {
		t.Error(got)
	}
}
