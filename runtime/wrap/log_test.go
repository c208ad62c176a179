package wrap_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/secret"
	"github.com/toolgen/toolgen/runtime/wrap"
)

var discard = slog.New(slog.DiscardHandler)

// vault has a secret.
type vault struct {
	secret.Masker

	inner runtime.Toolset
}

func newVault(inner runtime.Toolset) *vault {
	v := &vault{inner: inner}
	v.Add(secret.New("hunter2"))
	return v
}

func (v *vault) Unwrap() []runtime.Toolset                         { return []runtime.Toolset{v.inner} }
func (v *vault) Tools(ctx context.Context) ([]runtime.Tool, error) { return v.inner.Tools(ctx) }

// TestR29Log logs every way in which a call can end.
func TestR29Log(t *testing.T) {
	t.Parallel()
	tool := func(name string, r *runtime.Result, err error) *fake {
		f := knows(name)
		f.call = func(context.Context, json.RawMessage) (*runtime.Result, error) { return r, err }
		return f
	}
	asks := tool("asks", nil, nil)
	asks.def.Approval = runtime.Always
	var b bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "duration" {
			return slog.Attr{}
		}
		return a
	}}))
	ts := wrap.Log(newVault(newSet(
		tool("fine", &runtime.Result{Structured: json.RawMessage(`{"ok":true}`)}, nil), tool("retry", nil, runtime.Retryf("not hunter2")), tool("failed", nil, runtime.Failedf("no")),
		tool("broken", nil, errors.New("password is hunter2")), asks,
	)), logger)
	run := start(t, ts, runtime.ErrorsEndCall(), runtime.NoBudgets(), runtime.ID("r1"))
	for _, name := range []string{"fine", "retry", "failed", "broken", "asks"} {
		if _, err := run.Call(t.Context(), runtime.Call{ID: "c-" + name, Name: name, Args: json.RawMessage(`{"pw":"hunter2"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	got := regexp.MustCompile(`ref [0-9a-f]{8}`).ReplaceAllString(b.String(), "ref X")
	var want strings.Builder
	for _, line := range []string{
		`INFO msg="tool call" NAME args_bytes=16`,
		`DEBUG msg="tool arguments" NAME args="{\"pw\":\"[redacted]\"}"`,
	} {
		want.WriteString(line + "\n")
	}
	ends := map[string]string{
		"fine":   `INFO msg="tool result" NAME outcome=ok result_bytes=11 truncated=false replayed=false`,
		"retry":  `INFO msg="tool result" NAME outcome=retry` + "\n" + `WARN msg="tool refused" NAME reason=tool_retry message="not [redacted]"`,
		"failed": `INFO msg="tool result" NAME outcome=failed` + "\n" + `WARN msg="tool refused" NAME reason=tool_failed message=no`,
		"broken": `INFO msg="tool result" NAME outcome=fatal` + "\n" + `ERROR msg="tool failed" NAME reason=tool_error message="tool broken failed (ref X)" cause="password is [redacted]"`,
		"asks":   `INFO msg="waiting for approval" NAME outcome=pending reason=approval`,
	}
	var all strings.Builder
	for _, name := range []string{"fine", "retry", "failed", "broken", "asks"} {
		text := strings.ReplaceAll(want.String()+ends[name], "NAME", "tool.name="+name+" toolset=set call_id=c-"+name+" run=r1 step=1 attempt=1")
		for line := range strings.SplitSeq(text, "\n") {
			all.WriteString("level=" + line + "\n")
		}
	}
	if diff := cmp.Diff(all.String(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(b.String(), "hunter2") {
		t.Error("a secret is in the log")
	}
}
