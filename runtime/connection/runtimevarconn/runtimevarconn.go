// Package runtimevarconn finds connections where gocloud.dev/runtimevar reads: files,
// HTTP, buckets, and the secret and parameter stores of clouds. The program imports the
// drivers that it uses, under gocloud.dev/runtimevar.
//
//	import _ "gocloud.dev/runtimevar/awssecretsmanager"
//
//	resolver, err := runtimevarconn.New("awssecretsmanager://agents-{id}?region=eu-central-1&decoder=string")
//
// What is read is a connection in either form of [connection.Parse]. A handle is told of
// changes as the driver notices them.
package runtimevarconn

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"gocloud.dev/gcerrors"
	"gocloud.dev/runtimevar"

	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/secret"
)

// placeholder is what an id stands in the place of.
const placeholder = "{id}"

// New returns the resolver of a URL with {id} in it, in whose place an id is put, escaped
// for the part of the URL that it is in.
func New(template string) (connection.Resolver, error) {
	if !strings.Contains(template, placeholder) {
		return nil, errors.New("runtimevarconn: the URL has no {id} in it: each id needs a place of its own; for a single one there is runtimevarconn.One")
	}
	if err := check(strings.ReplaceAll(template, placeholder, "id")); err != nil {
		return nil, err
	}
	return resolver{template: template}, nil
}

// One returns the resolver of one id, whose connection is at a URL.
func One(id, address string) (connection.Resolver, error) {
	if id == "" {
		return nil, errors.New("runtimevarconn: a connection has no id")
	}
	if err := check(address); err != nil {
		return nil, err
	}
	return resolver{only: id, template: address}, nil
}

func check(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return errors.New("runtimevarconn: the URL is none: write scheme://place?option=value")
	}
	return nil
}

type resolver struct {
	only     string // the only id; "": any
	template string
}

// address is where an id is; "": nowhere.
func (r resolver) address(id string) (string, error) {
	if r.only != "" {
		if id != r.only {
			return "", nil
		}
		return r.template, nil
	}
	if id == "" || id == "." || id == ".." || strings.ContainsAny(id, "/\\") {
		return "", fmt.Errorf("connection %q: an id in a URL is neither . nor .. and has no slashes", id)
	}
	before, query, ok := strings.Cut(r.template, "?")
	out := strings.ReplaceAll(before, placeholder, url.PathEscape(id))
	if ok {
		out += "?" + strings.ReplaceAll(query, placeholder, url.QueryEscape(id))
	}
	return out, nil
}

// Resolve implements [connection.Resolver].
func (r resolver) Resolve(ctx context.Context, id string) (*connection.Connection, error) {
	address, err := r.address(id)
	if err != nil {
		return nil, err
	}
	if address == "" {
		return nil, &connection.NotFoundError{ID: id, Places: []string{place(r.template)}}
	}
	text, err := read(ctx, address)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, &connection.NotFoundError{ID: id, Places: []string{place(address)}}
	}
	if err != nil {
		return nil, fmt.Errorf("connection %s: %w", id, without(address, err))
	}
	return connection.Parse(id, text)
}

// Value reads the text at a URL, without the line's end that files have, for
// fileconn.Values.
func Value(ctx context.Context, address string) (string, error) {
	if err := check(address); err != nil {
		return "", err
	}
	text, err := read(ctx, address)
	return strings.TrimRight(text, "\r\n"), without(address, err)
}

func read(ctx context.Context, address string) (text string, err error) {
	v, err := runtimevar.OpenVariable(ctx, address)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	// Watch, of which the first answer is what there is, or why there is nothing; Latest
	// would wait for better times.
	snapshot, err := v.Watch(ctx)
	if err != nil {
		return "", err
	}
	switch value := snapshot.Value.(type) {
	case string:
		return value, nil
	case []byte:
		return string(value), nil
	default:
		return "", fmt.Errorf("it is decoded to a %T: write decoder=string, or none", value)
	}
}

// place is a URL without what may be secret in it: login and options.
func place(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "a URL"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// without is an error whose text doesn't repeat a URL's login and options, however a
// driver has written them.
func without(address string, err error) error {
	if err == nil {
		return nil
	}
	text := strings.ReplaceAll(err.Error(), address, place(address))
	var m secret.Masker
	if u, parsed := url.Parse(address); parsed == nil {
		m.Add(secret.New(u.RawQuery), secret.New(u.User.String()))
		if password, ok := u.User.Password(); ok {
			m.Add(secret.New(password))
		}
		for _, values := range u.Query() {
			for _, value := range values {
				m.Add(secret.New(value))
			}
		}
	}
	return errors.New(place(address) + ": " + m.Mask(text)) // the error itself repeats it
}

// Watch implements [connection.Watcher].
func (r resolver) Watch(id string, changed func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		address, err := r.address(id)
		if err != nil || address == "" {
			return
		}
		v, err := runtimevar.OpenVariable(ctx, address)
		if err != nil {
			return // who resolves it learns that
		}
		defer func() { _ = v.Close() }() // what it was for is over
		for first := true; ; first = false {
			_, err := v.Watch(ctx)
			switch {
			case ctx.Err() != nil || errors.Is(err, runtimevar.ErrClosed):
				return
			case err == nil && !first:
				changed()
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
