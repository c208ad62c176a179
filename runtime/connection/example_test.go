package connection_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/connection"
	"github.com/toolgen/toolgen/runtime/secret"
)

// A forge is a hook of ours: it has a client of something that asks for a token.
type forge struct {
	client *connection.Handle[*forgeClient]
}

type forgeClient struct {
	base  string
	token secret.Value
}

// OpenIssues is what //toolgen:expose would stand above.
func (f *forge) OpenIssues(ctx context.Context, repository string) (string, error) {
	lease, err := f.client.Get(ctx)
	if err != nil {
		return "", err
	}
	defer lease.Release()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, lease.Value.base+"/"+repository, http.NoBody)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+lease.Value.token.Reveal())
	return "GET " + request.URL.String() + ", authorized with " + lease.Value.token.String(), nil // a real one would be sent
}

// A hook opens its client at the first call, with a connection that is kept where the
// team keeps them. The toolset that is generated of it, which here is none, learns of
// the secrets by secret.With.
func ExampleNewHandle() {
	_ = os.Setenv("TOOLGEN_CONN_FORGE", "http://:t0ken-4711@https%3A%2F%2Fforge.example/api")
	resolver := connection.Chain(connection.Env(), connection.AirflowEnv())
	hook := &forge{connection.NewHandle(connection.Named(resolver, "forge"), func(_ context.Context, c *connection.Connection) (*forgeClient, error) {
		return &forgeClient{c.Host + "/" + c.Schema, c.Password}, nil
	})}
	answer, err := hook.OpenIssues(context.Background(), "toolgen")
	fmt.Println(answer, err)

	var generated runtime.Toolset // forgetools.New(hook)
	ts := secret.With(generated, hook.client)
	secrets, _ := runtime.As[runtime.Secrets](ts)
	fmt.Println(runtime.NewMasker(secrets).Mask("the token is t0ken-4711"))
	// Output:
	// GET https://forge.example/api/toolgen, authorized with [redacted] <nil>
	// the token is [redacted]
}

// Texts are read as Airflow reads them, and print without their secrets.
func ExampleParse() {
	for _, text := range []string{
		"postgresql://ann:p%40ss@db.example:5432/shop?sslmode=require",
		`{"conn_type": "google-cloud-platform", "extra": {"project": "agents"}}`,
		"postgresql://ann:p/ss@db.example",
	} {
		c, err := connection.Parse("orders", text)
		if err != nil {
			fmt.Println(strings.TrimSpace(err.Error()))
			continue
		}
		fmt.Println(c, c.Extra)
	}
	// Output:
	// postgres://ann:[redacted]@db.example:5432/shop map[sslmode:require]
	// google_cloud_platform:// map[project:agents]
	// connection orders: port: want a number from 0 to 65535
}
