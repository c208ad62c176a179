package wrap_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/runtimetest"
	"github.com/toolgen/toolgen/runtime/wrap"
)

// TestR27Spill keeps results that are too large, masked, in memory and in files; a
// model reads on and finds in them; they go with the run, and there is an end of room.
func TestR27Spill(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "spill")
	for name, dir := range map[string]string{"in memory": "", "in files": folder} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			long := strings.Repeat("é", 50_000) + " hunter2 needle " + strings.Repeat("x", 10_000) + " needle"
			big := knows("big")
			big.call = func(_ context.Context, args json.RawMessage) (*runtime.Result, error) {
				if string(args) == `"huge"` {
					return runtime.TextResult(strings.Repeat("y", 40<<20)), nil
				}
				return runtime.TextResult(long), nil
			}
			registry, err := runtime.NewRegistry(wrap.Spill(newVault(newSet(big, knows("small"))), dir))
			if err != nil {
				t.Fatal(err)
			}
			run, err := registry.Start(t.Context(), runtime.NoBudgets())
			if err != nil {
				t.Fatal(err)
			}
			if got := names(t, run); got != "big small read_result search_result" {
				t.Fatalf("%s", got)
			}
			o := call(t, run, "big", "{}")
			if o.Kind != runtime.OK || o.Result.Handle != "r1" || !o.Result.Truncated || o.Result.TotalBytes != len(long)+len("[redacted]")-len("hunter2") {
				t.Fatalf("%s %+v", o.Message, o.Result)
			}
			shown := text(o)
			if !strings.HasPrefix(shown, strings.Repeat("é", 2048)+"\n[4096 of ") || !strings.HasSuffix(shown, "handle r1: read_result reads on, search_result finds in it]") {
				t.Errorf("…%s", shown[4090:])
			}
			if got := text(call(t, run, "read_result", `{"handle":"r1","offset":100001,"limit":26}`)); got != "[redacted] needle xxxxxxxx\n[bytes 100001 to 100027 of 110026]" {
				t.Errorf("%q", got)
			}
			var found struct {
				Matches []struct {
					Offset int
					Around string
				}
				Total int
			}
			if err := json.Unmarshal(call(t, run, "search_result", `{"handle":"r1","text":"needle"}`).Result.Structured, &found); err != nil {
				t.Fatal(err)
			}
			if found.Total != 2 || found.Matches[0].Offset != 100_012 || !strings.Contains(found.Matches[0].Around, "[redacted] needle") {
				t.Errorf("%+v", found)
			}
			if strings.Contains(shown, "hunter2") || strings.Contains(found.Matches[0].Around, "hunter2") {
				t.Error("a secret is kept")
			}
			for args, want := range map[string]string{
				`{"handle":"r9"}`: "no result with the handle", `{"handle":"r1","offset":999999}`: "has 110026 bytes", `{"handle":"r1","limit":0}`: "limit from 1",
				`{"handle":1}`: "/handle: want a string", `{"x":1}`: "unknown field",
			} {
				if o := call(t, run, "read_result", args); o.Kind != runtime.Retry || !strings.Contains(o.Message, want) {
					t.Errorf("%s: %s", args, text(o))
				}
			}
			if o := call(t, run, "small", "{}"); text(o) != "small as small" || o.Result.Handle != "" {
				t.Errorf("%s", text(o))
			}
			if o := call(t, run, "big", `"huge"`); o.Kind != runtime.OK {
				t.Errorf("%s", text(o))
			}
			if o := call(t, run, "big", `"huge"`); o.Kind != runtime.Failed || !strings.Contains(o.Message, "there is room for") {
				t.Errorf("%s", o.Message)
			}
			if dir != "" {
				checkFiles(t, dir)
			}
			if err := run.Close(); err != nil {
				t.Fatal(err)
			}
			if left, err := os.ReadDir(dir); dir != "" && (err != nil || len(left) > 0) {
				t.Errorf("%v, %v are left", left, err)
			}
		})
	}
	runtimetest.Toolset(t, wrap.Spill(newSet(knows("x")), ""), runtimetest.Args("read_result", `{"handle":"r1"}`))
}

// checkFiles finds files that only their owner can read.
func checkFiles(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestR28ApproveWrapper asks a person as policies say, and never less than a tool
// does by itself.
func TestR28ApproveWrapper(t *testing.T) {
	t.Parallel()
	look, change, own := knows("look"), knows("change"), knows("own")
	look.def.Hints.ReadOnly, change.def.Hints.Destructive, own.def.Approval = runtime.Yes, runtime.No, runtime.Always
	own.def.Hints.ReadOnly = runtime.Yes
	large := func(_ context.Context, _ *runtime.Definition, args json.RawMessage) (string, bool) {
		return "a large sum", string(args) == "100"
	}
	for name, c := range map[string]struct {
		policy wrap.ApprovalPolicy
		args   string
		want   map[string]string
	}{
		"always":   {wrap.AlwaysApprove, "{}", map[string]string{"look": "calls of tool look need approval", "change": "calls of tool change need approval", "own": "calls of tool own need approval"}},
		"by hints": {wrap.ApproveByHints, "{}", map[string]string{"look": "", "change": "it may change something", "own": "calls of tool own need approval"}},
		"small":    {large, "1", map[string]string{"look": "", "change": "", "own": "calls of tool own need approval"}},
		"large":    {large, "100", map[string]string{"look": "a large sum", "change": "a large sum", "own": "a large sum"}},
	} {
		for tool, want := range c.want {
			run := start(t, wrap.Approve(newSet(look, change, own), c.policy))
			o := call(t, run, tool, c.args)
			got := ""
			if p := run.Pending(); len(p) > 0 {
				got = p[0].Reason
			}
			if (o.Kind == runtime.Pending) != (want != "") || got != want {
				t.Errorf("%s, %s: %s %q, want %q", name, tool, o.Kind, got, want)
			}
		}
	}
}
