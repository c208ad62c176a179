package runtime_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/runtime"
)

// asking is a tool that says which calls are to be approved.
type asking struct {
	*fake

	needs func(args json.RawMessage) (string, bool)
}

func (a asking) NeedsApproval(_ context.Context, args json.RawMessage) (string, bool) {
	return a.needs(args)
}

func (a asking) Validate(_ context.Context, args json.RawMessage) error {
	if string(args) == "bad" {
		return runtime.Retryf("bad arguments")
	}
	return nil
}

type tools []runtime.Tool

func (t tools) Tools(context.Context) ([]runtime.Tool, error) { return t, nil }

// TestApproval calls tools that a person has to approve: none of those calls
// runs, and no person is asked about bad arguments.
func TestR28ApprovalIsAsked(t *testing.T) {
	t.Parallel()
	ran := 0
	tool := func(name string, a runtime.Approval, needs func(json.RawMessage) (string, bool)) runtime.Tool {
		f := newFake(name, func(context.Context, json.RawMessage) (*runtime.Result, error) {
			ran++
			return runtime.TextResult("ran"), nil
		})
		f.def.Approval = a
		if needs == nil {
			return f
		}
		return asking{f, needs}
	}
	large := func(args json.RawMessage) (string, bool) { return "a large sum", string(args) == "100" }
	registry, err := runtime.NewRegistry(tools{
		tool("never", runtime.Never, nil), tool("always", runtime.Always, nil), tool("ask", runtime.Ask, large),
		tool("nobody", runtime.Ask, nil), tool("panics", runtime.Ask, func(json.RawMessage) (string, bool) { panic("x") }),
	})
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context(), runtime.ErrorsEndCall())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, args string
		want       runtime.Kind
		reason     string
	}{
		{"never", "1", runtime.OK, ""},
		{"always", "1", runtime.Pending, "calls of tool always need approval"},
		{"ask", "1", runtime.OK, ""},
		{"ask", "100", runtime.Pending, "a large sum"},
		{"ask", "bad", runtime.Retry, "bad arguments"},
		{"nobody", "1", runtime.Pending, "nobody"},
		{"panics", "1", runtime.Fatal, "panic: x"},
	} {
		ran = 0
		out, err := run.Call(t.Context(), runtime.Call{ID: "1", Name: c.tool, Args: json.RawMessage(c.args)})
		if err != nil {
			t.Fatal(err)
		}
		o := out[0]
		if o.Kind != c.want || c.reason != "" && !strings.Contains(o.Err.Error(), c.reason) || (ran == 1) != (c.want == runtime.OK) {
			t.Errorf("%s %s: %s %v, ran %d", c.tool, c.args, o.Kind, o.Err, ran)
		}
	}
}
