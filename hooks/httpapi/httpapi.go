// Package httpapi calls a JSON API below one base URL. What an agent can reach
// through it is bounded: no other host, path or scheme, no redirect elsewhere,
// and bodies of a size that is known beforehand.
package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// maxBody is the most that is read of a response, in bytes.
const maxBody = 1 << 20

// Errors that a caller can act on.
var (
	ErrPath        = errors.New("path not allowed")
	ErrUnavailable = errors.New("unavailable")
)

// API is a JSON API.
//
//toolgen:toolset prefix=api
type API struct {
	base   *url.URL
	client *http.Client
}

// New returns the API below a base URL, such as https://api.example.com/v1. The
// client does the requests; its redirects stay below the base too. Nil is
// [http.DefaultClient].
func New(base string, client *http.Client) (*API, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, fmt.Errorf("base URL: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("base URL %s: write https://host/path, without user, query and fragment", u.Redacted())
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if client == nil {
		client = http.DefaultClient
	}
	c := *client
	api := &API{base: u, client: &c}
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) >= 5 {
			return fmt.Errorf("%w: more than 5 redirects", ErrUnavailable)
		}
		return api.below(req.URL)
	}
	return api, nil
}

// below returns an error unless a URL is one of the API's.
func (a *API) below(u *url.URL) error {
	if u.Scheme != a.base.Scheme || u.Host != a.base.Host || !strings.HasPrefix(u.Path+"/", a.base.Path+"/") {
		return fmt.Errorf("%w: the API redirects out of %s", ErrPath, a.base)
	}
	return nil
}

// Response is what the API answered.
type Response struct {
	Status int             `json:"status"`         // HTTP status code
	Body   json.RawMessage `json:"body,omitempty"` // JSON; left out if there is none
	Text   string          `json:"text,omitempty"` // a body that isn't JSON
}

// GetOptions are what a request can have besides.
type GetOptions struct {
	Query map[string]string `json:"query,omitempty"` // query parameters by name
}

// Get reads a resource of the API.
//
// Parameters:
//   - path: where it is below the API's base, such as /users/7
//   - options: what else to send
//
//toolgen:expose
//toolgen:readonly
//toolgen:timeout 30s
//toolgen:errors retry=ErrPath failed=ErrUnavailable
func (a *API) Get(ctx context.Context, path string, options GetOptions) (*Response, error) {
	return a.do(ctx, http.MethodGet, path, options.Query, nil)
}

// Post sends a JSON body to a resource of the API.
//
// Parameters:
//   - path: where it is below the API's base, such as /users
//   - body: what to send
//
//toolgen:expose
//toolgen:timeout 30s
//toolgen:errors retry=ErrPath failed=ErrUnavailable
func (a *API) Post(ctx context.Context, path string, body map[string]any) (*Response, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return a.do(ctx, http.MethodPost, path, nil, raw)
}

// url returns the URL of a path. A path that leaves the base is refused rather
// than cleaned: the caller meant something else.
func (a *API) url(p string, query map[string]string) (*url.URL, error) {
	p = strings.TrimPrefix(p, "/")
	if strings.ContainsAny(p, "?#\\\x00") || p != "" && path.Clean("/"+p) != "/"+strings.TrimSuffix(p, "/") {
		return nil, fmt.Errorf("%w: write it like /users/7, without .., ? and #; parameters go into query", ErrPath)
	}
	u := *a.base
	u.Path = a.base.Path + "/" + p
	values := make(url.Values, len(query))
	for k, v := range query {
		values.Set(k, v)
	}
	u.RawQuery = values.Encode()
	return &u, nil
}

func (a *API) do(ctx context.Context, method, path string, query map[string]string, body []byte) (r *Response, err error) {
	u, err := a.url(path, query)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.client.Do(req)
	switch {
	case errors.Is(err, ErrPath):
		return nil, err
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%w: the API doesn't answer", ErrUnavailable)
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	return read(resp)
}

// read reads a response up to the bound.
func read(resp *http.Response) (*Response, error) {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: the answer broke off", ErrUnavailable)
	case len(raw) > maxBody:
		return nil, fmt.Errorf("%w: the answer is larger than %d bytes; ask for less", ErrUnavailable, maxBody)
	}
	r := &Response{Status: resp.StatusCode}
	switch {
	case len(raw) == 0:
	case json.Valid(raw):
		r.Body = raw
	default:
		r.Text = string(raw)
	}
	return r, nil
}
