package httpapi_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/hooks/httpapi"
)

func serve(t *testing.T) (*httpapi.API, *httptest.Server) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/echo/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, `{"method":%q,"path":%q,"query":%q,"body":%q}`, r.Method, r.URL.Path, r.URL.RawQuery, body)
	})
	mux.HandleFunc("/v1/text", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, "short and stout")
	})
	mux.HandleFunc("/v1/empty", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/v1/huge", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 1<<20+1)) })
	mux.HandleFunc("/v1/inside", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/v1/empty", http.StatusFound) })
	mux.HandleFunc("/v1/outside", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/secret", http.StatusFound) })
	mux.HandleFunc("/secret", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `"secret"`) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	api, err := httpapi.New(s.URL+"/v1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return api, s
}

func TestGet(t *testing.T) {
	t.Parallel()
	api, _ := serve(t)
	r, err := api.Get(t.Context(), "/echo/a b", httpapi.GetOptions{Query: map[string]string{"q": "x&y", "p": "1"}})
	if err != nil || string(r.Body) != `{"method":"GET","path":"/v1/echo/a b","query":"p=1&q=x%26y","body":""}` {
		t.Errorf("%s, %v", r.Body, err)
	}
	if r, err := api.Get(t.Context(), "text", httpapi.GetOptions{}); err != nil || r.Status != http.StatusTeapot || r.Text != "short and stout" || r.Body != nil {
		t.Errorf("%+v, %v", r, err)
	}
	for _, path := range []string{"/empty", "/inside"} {
		if r, err := api.Get(t.Context(), path, httpapi.GetOptions{}); err != nil || r.Status != http.StatusNoContent {
			t.Errorf("%s: %+v, %v", path, r, err)
		}
	}
	r, err = api.Post(t.Context(), "/echo/", map[string]any{"a": int64(9007199254740993)})
	if err != nil || !strings.Contains(string(r.Body), `9007199254740993`) {
		t.Errorf("%s, %v", r.Body, err)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	api, server := serve(t)
	for _, path := range []string{"/../secret", "/..", "../secret", "/a/../../secret", "//evil.example/x", "/a?x=1", "/a#b", "/a/./b", `/a\b`, "/%2e%2e/../secret"} {
		if r, err := api.Get(t.Context(), path, httpapi.GetOptions{}); !errors.Is(err, httpapi.ErrPath) {
			t.Errorf("%s: %+v, %v; want it refused", path, r, err)
		}
	}
	if _, err := api.Get(t.Context(), "/outside", httpapi.GetOptions{}); !errors.Is(err, httpapi.ErrPath) {
		t.Errorf("a redirect out of the base: %v", err)
	}
	if _, err := api.Get(t.Context(), "/huge", httpapi.GetOptions{}); !errors.Is(err, httpapi.ErrUnavailable) {
		t.Errorf("a huge body: %v", err)
	}
	server.Close()
	if _, err := api.Get(t.Context(), "/empty", httpapi.GetOptions{}); !errors.Is(err, httpapi.ErrUnavailable) || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("a server that is down: %v", err)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "api.example.com", "ftp://api.example.com", "https://user:hunter2@api.example.com", "https://api.example.com?x=1", "https://"} {
		if _, err := httpapi.New(base, nil); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", base, err)
		}
	}
}
