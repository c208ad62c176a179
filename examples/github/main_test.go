package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-github/v84/github"

	"github.com/toolgen/toolgen/runtime"
)

// issue is one as GitHub's documentation shows it, cut to what matters here.
const issue = `{"id":1,"node_id":"MDU6SXNzdWUx","number":1347,"state":"open","title":"Found a bug","body":"I'm having a problem with this.",
"user":{"login":"octocat","id":9007199254740993,"type":"User","site_admin":false},
"labels":[{"id":208045946,"name":"bug","color":"f29513","default":true}],
"comments":0,"created_at":"2011-04-22T13:33:48Z","updated_at":"2011-04-22T13:33:48Z","author_association":"COLLABORATOR"}`

// respond answers as GitHub's API documents it, and echoes what was asked.
func respond(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Asked", r.Method+" "+r.URL.String()+" "+string(body))
	w.Header().Set("Content-Type", "application/json")
	switch r.Method + " " + r.URL.Path {
	case "GET /repos/octocat/hello/issues":
		fmt.Fprint(w, "["+issue+"]")
	case "GET /repos/octocat/hello/issues/1347", "PATCH /repos/octocat/hello/issues/1347":
		fmt.Fprint(w, issue)
	case "POST /repos/octocat/hello/issues":
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, issue)
	case "POST /repos/octocat/hello/issues/1347/comments":
		fmt.Fprint(w, `{"id":1,"body":"Me too","user":{"login":"octocat","id":1},"created_at":"2011-04-14T16:00:49Z"}`)
	case "POST /repos/octocat/hello/issues/1347/labels":
		fmt.Fprint(w, `[{"id":208045946,"name":"bug","description":"Something isn't working","color":"f29513","default":true}]`)
	case "GET /repos/octocat/hello":
		fmt.Fprint(w, `{"id":1296269,"name":"hello","full_name":"octocat/hello","private":false,"owner":{"login":"octocat"},"parent":{"id":2,"name":"up"},"topics":["a"],"pushed_at":"2011-01-26T19:06:43Z"}`)
	case "GET /repos/octocat/hello/commits":
		fmt.Fprint(w, `[{"sha":"6dcb09b5b57875f334f61aebed695e2e4193db5e","commit":{"message":"Fix all the bugs","author":{"name":"Monalisa","email":"a@example.com","date":"2011-04-14T16:00:49Z"}}}]`)
	case "GET /repos/octocat/hello/languages":
		fmt.Fprint(w, `{"C":78769,"Python":7769}`)
	case "GET /repos/octocat/hello/readme":
		fmt.Fprint(w, `{"type":"file","encoding":"base64","size":5,"name":"README.md","path":"README.md","content":"aGVsbG8=","sha":"3d21ec53a331a6f037a91c368710b99387d012c1"}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"Not Found"}`)
	}
}

func TestTenMethods(t *testing.T) {
	t.Parallel()
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		respond(w, r)
		asked = w.Header().Get("X-Asked")
	}))
	defer server.Close()
	client := github.NewClient(nil)
	base, err := url.Parse(server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	client.BaseURL = base
	registry, err := newRegistry(client)
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context(), runtime.ErrorsEndCall())
	if err != nil {
		t.Fatal(err)
	}
	tools, err := run.Step(t.Context())
	if err != nil || len(tools) != 10 {
		t.Fatalf("%d tools, %v; want ten", len(tools), err)
	}
	const repo = `"owner":"octocat","repo":"hello"`
	for _, c := range []struct {
		tool, args  string
		asks, shows string
	}{
		{"github_list_by_repo", `{` + repo + `,"opts":{"state":"open","labels":["bug"],"since":"2011-01-01T00:00:00Z"}}`, "GET /repos/octocat/hello/issues?labels=bug&since=2011-01-01T00%3A00%3A00Z&state=open", `"number":1347`},
		{"github_get_issue", `{` + repo + `,"number":1347}`, "GET /repos/octocat/hello/issues/1347", `"id":9007199254740993`},
		{"github_create_issue", `{` + repo + `,"issue":{"title":"Found a bug","labels":["bug"]}}`, `POST /repos/octocat/hello/issues {"title":"Found a bug","labels":["bug"]}`, `"created_at":"2011-04-22T13:33:48Z"`},
		{"github_edit_issue", `{` + repo + `,"number":1347,"issue":{"state":"closed"}}`, `PATCH /repos/octocat/hello/issues/1347 {"state":"closed"}`, `"title":"Found a bug"`},
		{"github_create_comment", `{` + repo + `,"number":1347,"comment":{"body":"Me too"}}`, `{"body":"Me too"}`, `"body":"Me too"`},
		{"github_add_labels_to_issue", `{` + repo + `,"number":1347,"labels":["bug"]}`, `["bug"]`, `"name":"bug"`},
		{"github_get_repository", `{` + repo + `}`, "GET /repos/octocat/hello", `"parent":{"id":2,"name":"up"`},
		{"github_list_commits", `{` + repo + `,"opts":{"path":"README.md"}}`, "path=README.md", `"message":"Fix all the bugs"`},
		{"github_list_languages", `{` + repo + `}`, "GET /repos/octocat/hello/languages", `{"C":78769,"Python":7769}`},
		{"github_get_readme", `{` + repo + `}`, "GET /repos/octocat/hello/readme", `"content":"aGVsbG8="`},
	} {
		out, err := run.Call(t.Context(), runtime.Call{ID: "1", Name: c.tool, Args: json.RawMessage(c.args)})
		if err != nil || out[0].Kind != runtime.OK {
			t.Errorf("%s %s: %v %s %v", c.tool, c.args, err, out[0].Message, out[0].Err)
			continue
		}
		if !strings.Contains(asked, c.asks) {
			t.Errorf("%s asks %s, want %s", c.tool, asked, c.asks)
		}
		if text := string(out[0].Result.Structured); !strings.Contains(text, c.shows) || !json.Valid(out[0].Result.Structured) {
			t.Errorf("%s shows %s, want %s", c.tool, text, c.shows)
		}
	}
	out, err := run.Call(t.Context(), runtime.Call{ID: "1", Name: "github_get_issue", Args: json.RawMessage(`{` + repo + `,"number":404}`)})
	if err != nil || out[0].Kind != runtime.Fatal || strings.Contains(out[0].Message, "Not Found") {
		t.Errorf("an issue that isn't there: %v %+v", err, out[0])
	}
}

// TestProse reads descriptions that come from go-github's own source.
func TestProse(t *testing.T) {
	t.Parallel()
	registry, err := newRegistry(github.NewClient(nil))
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	def, ok := run.Definition(t.Context(), "github_create_issue")
	if !ok || !strings.HasPrefix(def.Description, "Create a new issue on the specified repository.") {
		t.Errorf("github_create_issue is described as %q", def.Description)
	}
}
