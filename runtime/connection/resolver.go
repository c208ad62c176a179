package connection

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// A Resolver finds connections by their ids. Its error is a [NotFoundError], by itself,
// where there is none of an id, and anything else where that isn't known.
type Resolver interface {
	Resolve(ctx context.Context, id string) (*Connection, error)
}

// A Watcher is a resolver that can say that a connection may have changed.
type Watcher interface {
	// Watch calls changed after each change, from any goroutine, until stop is called.
	Watch(id string, changed func()) (stop func())
}

// A NotFoundError says that there is no connection of an id, and where it was looked
// for.
type NotFoundError struct {
	ID     string
	Places []string
}

// Error lists the places.
func (e *NotFoundError) Error() string {
	if len(e.Places) == 0 {
		return "connection " + e.ID + " is not found: there is no place to look for it"
	}
	return "connection " + e.ID + " is not found: looked for it in " + strings.Join(e.Places, ", ")
}

// Chain asks resolvers one after the other. The first that knows an id answers; an error
// other than [NotFoundError] ends the search.
func Chain(resolvers ...Resolver) Resolver {
	c := chain(resolvers)
	if slices.ContainsFunc(resolvers, func(r Resolver) bool { _, ok := r.(Watcher); return ok }) {
		return watchingChain{c}
	}
	return c
}

type chain []Resolver

// Resolve implements [Resolver].
func (c chain) Resolve(ctx context.Context, id string) (*Connection, error) {
	missing := &NotFoundError{ID: id}
	for _, r := range c {
		found, err := r.Resolve(ctx, id)
		if err == nil {
			return found, nil
		}
		not, ok := err.(*NotFoundError) //nolint:errorlint // one inside of another error is about something else
		if !ok || not == nil {
			return nil, err
		}
		missing.Places = append(missing.Places, not.Places...)
	}
	return nil, missing
}

type watchingChain struct{ chain }

// Watch implements [Watcher].
func (c watchingChain) Watch(id string, changed func()) (stop func()) {
	var stops []func()
	for _, r := range c.chain {
		if w, ok := r.(Watcher); ok {
			stops = append(stops, w.Watch(id, changed))
		}
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// Static knows the connections that it is given, by their ids.
func Static(connections ...Connection) Resolver { return static(connections) }

type static []Connection

// Resolve implements [Resolver].
func (s static) Resolve(_ context.Context, id string) (*Connection, error) {
	var found *Connection
	for i := range s {
		if s[i].ID != id {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("connection %s: the program gives two of that id: give each its own", id)
		}
		found = &s[i]
	}
	if found == nil {
		return nil, &NotFoundError{id, []string{"the program itself"}}
	}
	return found, nil
}

// Env reads TOOLGEN_CONN_ and the id in upper case, all but letters, digits and _ in it
// as _: TOOLGEN_CONN_MY_DB for my-db. Two ids that meet in one variable are an error.
func Env() Resolver { return &env{prefix: "TOOLGEN_CONN_"} }

// AirflowEnv reads what Airflow reads, AIRFLOW_CONN_ and the id in upper case, as it is;
// then that with _ as [Env] has it.
func AirflowEnv() Resolver { return &env{prefix: "AIRFLOW_CONN_", verbatim: true} }

type env struct {
	prefix   string
	verbatim bool

	mu  sync.Mutex
	ids map[string]string // by variable
}

// Resolve implements [Resolver].
func (e *env) Resolve(_ context.Context, id string) (*Connection, error) {
	if id == "" {
		return nil, errors.New("a connection has no id")
	}
	folded := e.prefix + strings.Map(func(r rune) rune {
		if r == '_' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(id))
	variables := []string{folded}
	if exact := e.prefix + strings.ToUpper(id); e.verbatim && exact != folded {
		variables = []string{exact, folded}
	}
	for _, variable := range variables {
		text, ok := os.LookupEnv(variable)
		if !ok {
			continue
		}
		if err := e.claim(variable, id); err != nil {
			return nil, err
		}
		if strings.TrimSpace(text) == "" {
			return nil, fmt.Errorf("connection %s: %s is empty: unset it, or give it a URI or JSON", id, variable)
		}
		c, err := Parse(id, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", variable, err)
		}
		return c, nil
	}
	return nil, &NotFoundError{id, variables}
}

// claim notes whose a variable is.
func (e *env) claim(variable, id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ids == nil {
		e.ids = make(map[string]string)
	}
	if other, ok := e.ids[variable]; ok && other != id {
		return fmt.Errorf("connections %s and %s are both %s: rename one", other, id, variable)
	}
	e.ids[variable] = id
	return nil
}
