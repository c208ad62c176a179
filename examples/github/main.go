// Github serves ten methods of go-github, a package that is not ours, as tools
// over MCP. Nothing was written for it but the names of the methods in
// toolgen.yaml: prose, parameters and types are read from its source.
//
// Usage:
//
//	GITHUB_TOKEN=… github [-http ADDR]
package main

import (
	"fmt"
	"os"

	"github.com/google/go-github/v84/github"

	"github.com/toolgen/toolgen/examples/github/githubtools"
	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/mcpserver"
)

func main() {
	client := github.NewClient(nil)
	if token := os.Getenv("GITHUB_TOKEN"); token != "" {
		client = client.WithAuthToken(token)
	}
	registry, err := newRegistry(client)
	if err != nil {
		fmt.Fprintln(os.Stderr, "github:", err)
		os.Exit(1)
	}
	mcpserver.Main(registry, mcpserver.Options{Name: "github", Version: "0.1.0"})
}

func newRegistry(client *github.Client) (*runtime.Registry, error) {
	return runtime.NewRegistry(
		githubtools.NewIssuesService(client.Issues),
		githubtools.NewRepositoriesService(client.Repositories),
	)
}
