// Package etcdconn finds connections in etcd: under a prefix and the id, each in either
// form of [connection.Parse].
//
//	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Username: "agents", Password: password})
//	resolver := etcdconn.New(client, "/agents/connections/")
//
//	$ etcdctl put /agents/connections/orders 'postgres://ann:…@db/shop'
//
// A handle is told of a change as etcd tells of it. Who made the client closes it.
package etcdconn

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/toolgen/toolgen/runtime/connection"
)

// within is how long a look may take: the client waits for a server for ever.
const within = 10 * time.Second

// New returns the resolver of what is under a prefix, which ends with a slash where the
// keys have one.
func New(client *clientv3.Client, prefix string) connection.Resolver {
	return &resolver{client, prefix}
}

type resolver struct {
	client *clientv3.Client
	prefix string
}

// Resolve implements [connection.Resolver].
func (r *resolver) Resolve(ctx context.Context, id string) (*connection.Connection, error) {
	if id == "" {
		return nil, errors.New("a connection has no id")
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answer, err := r.client.Get(ctx, r.prefix+id)
	if err != nil {
		return nil, fmt.Errorf("connection %s: etcd: %w", id, err)
	}
	if len(answer.Kvs) == 0 {
		return nil, &connection.NotFoundError{ID: id, Places: []string{"etcd " + r.prefix + id}}
	}
	return connection.Parse(id, string(answer.Kvs[0].Value))
}

// Watch implements [connection.Watcher].
func (r *resolver) Watch(id string, changed func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			r.follow(ctx, id, changed)
			select { // the watch was cut: what happened meanwhile isn't known
			case <-ctx.Done():
			case <-time.After(time.Second):
				changed()
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// follow tells of changes until the watch ends.
func (r *resolver) follow(ctx context.Context, id string, changed func()) {
	for answer := range r.client.Watch(clientv3.WithRequireLeader(ctx), r.prefix+id) {
		if answer.Err() != nil {
			return
		}
		if len(answer.Events) > 0 {
			changed()
		}
	}
}
