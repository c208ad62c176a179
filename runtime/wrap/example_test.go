package wrap_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/wrap"
)

// shop stands for any toolset, such as a generated one.
func shop() runtime.Toolset {
	look := &fake{
		def: runtime.Definition{Name: "look", Description: "Shows an order.", Input: json.RawMessage(`{"type":"object"}`), Hints: runtime.Hints{ReadOnly: runtime.Yes}},
		call: func(context.Context, json.RawMessage) (*runtime.Result, error) {
			return &runtime.Result{Structured: json.RawMessage(`{"id":"A-17","email":"ann@example.com"}`)}, nil
		},
	}
	refund := &fake{
		def: runtime.Definition{Name: "refund", Description: "Pays an order back.", Input: json.RawMessage(`{"type":"object"}`), Hints: runtime.Hints{Destructive: runtime.Yes}},
		call: func(context.Context, json.RawMessage) (*runtime.Result, error) {
			return runtime.TextResult("paid back"), nil
		},
	}
	return newSet(look, refund)
}

// show lists a toolset and calls its first tool.
func show(ts runtime.Toolset, calls ...string) {
	ctx := context.Background()
	registry, err := runtime.NewRegistry(ts)
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := registry.Start(ctx, runtime.NoBudgets())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run.Close()
	list := func() {
		tools, err := run.Step(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		var names []string
		for _, t := range tools {
			names = append(names, t.Definition().Name)
		}
		fmt.Println("tools:", strings.Join(names, " "))
	}
	list()
	for _, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		if args == "" {
			args = "{}"
		}
		out, err := run.Call(ctx, runtime.Call{ID: "1", Name: name, Args: json.RawMessage(args)})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, out[0].Kind, text(out[0]))
	}
	if len(calls) > 0 && strings.HasPrefix(calls[0], wrap.SearchTool) {
		list()
	}
}

func ExampleFilter() {
	show(wrap.Filter(shop(), wrap.ReadOnly))
	// Output: tools: look
}

func ExamplePrefix() {
	show(wrap.Prefix(shop(), "shop"))
	// Output: tools: shop_look shop_refund
}

func ExampleRename() {
	show(wrap.Rename(shop(), map[string]string{"look": "show_order"}))
	// Output: tools: show_order refund
}

func ExamplePrepare() {
	show(wrap.Prepare(shop(), func(_ context.Context, defs []*runtime.Definition) []*runtime.Definition {
		return defs[:1] // no refunds at night
	}))
	// Output: tools: look
}

func ExampleCombine() {
	show(wrap.Combine(wrap.Prefix(shop(), "eu"), wrap.Prefix(fixed{knows("look")}, "us")))
	// Output: tools: eu_look eu_refund us_look
}

func ExampleTimeout() {
	tools, err := wrap.Timeout(shop(), 5*time.Second).Tools(context.Background())
	fmt.Println(tools[0].Definition().Timeout, err)
	// Output: 5s <nil>
}

func ExampleIntercept() {
	show(wrap.Intercept(shop(), func(ctx context.Context, t runtime.Tool, args json.RawMessage, next wrap.Next) (*runtime.Result, error) {
		if t.Definition().Name == "refund" {
			return nil, runtime.Failedf("the desk is closed")
		}
		return next(ctx, args)
	}), "refund")
	// Output:
	// tools: look refund
	// refund failed failed the desk is closed
}

func ExampleDynamic() {
	night := true
	show(wrap.Dynamic(func(context.Context) (runtime.Toolset, error) {
		if night {
			return wrap.Filter(shop(), wrap.ReadOnly), nil
		}
		return shop(), nil
	}, wrap.PerStep))
	// Output: tools: look
}

func ExampleExternal() {
	show(wrap.External(&runtime.Definition{Name: "browse", Description: "Opens a page in the user's browser.", Input: json.RawMessage(`{"type":"object"}`)}), "browse")
	// Output:
	// tools: browse
	// browse pending pending
}

func ExampleSearch() {
	show(wrap.Search(wrap.Combine(wrap.Defer(shop()), fixed{knows("help")})), `search_tools {"query":"pay back"}`)
	// Output:
	// tools: help search_tools
	// search_tools ok {"tools":[{"name":"refund","description":"Pays an order back."}],"total":1}
	// tools: help search_tools refund
}

func ExampleApprove() {
	show(wrap.Approve(shop(), wrap.ApproveByHints), "look", "refund")
	// Output:
	// tools: look refund
	// look ok {"id":"A-17","email":"ann@example.com"}
	// refund pending pending
}

func ExampleMask() {
	show(wrap.Mask(shop(), wrap.MaskRule{Path: "email"}, wrap.MaskRule{Pattern: regexp.MustCompile(`A-\d+`)}), "look")
	// Output:
	// tools: look refund
	// look ok {"id":"[redacted]","email":"[redacted]"}
}

func ExampleCache() {
	show(wrap.Cache(wrap.Filter(shop(), wrap.ReadOnly), time.Minute, 1<<20), "look", "look")
	// Output:
	// tools: look
	// look ok {"id":"A-17","email":"ann@example.com"}
	// look ok {"id":"A-17","email":"ann@example.com"}
}

func ExampleSpill() {
	long := knows("export")
	long.call = func(context.Context, json.RawMessage) (*runtime.Result, error) {
		return runtime.TextResult(strings.Repeat("row\n", 50_000)), nil
	}
	show(wrap.Spill(fixed{long}, ""), `search_result {"handle":"r1","text":"row"}`)
	// Output:
	// tools: export read_result search_result
	// search_result retry retry there is no result with the handle "r1" in this run
}

func ExampleLog() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "duration" || a.Key == "run" {
			return slog.Attr{}
		}
		return a
	}}))
	show(wrap.Log(shop(), logger), "look")
	// Output:
	// tools: look refund
	// level=INFO msg="tool call" tool.name=look toolset=set call_id=1 step=1 attempt=1 args_bytes=2
	// level=INFO msg="tool result" tool.name=look toolset=set call_id=1 step=1 attempt=1 outcome=ok result_bytes=39 truncated=false replayed=false
	// look ok {"id":"A-17","email":"ann@example.com"}
}

func ExampleDirStore() {
	dir, err := os.MkdirTemp("", "journal-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	store := wrap.DirStore(dir)
	registry, err := runtime.NewRegistry(shop())
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for range 2 { // the second time as after a crash
		run, err := registry.Start(ctx, runtime.Journal(store, "order-A-17", "v1"))
		if err != nil {
			fmt.Println(err)
			return
		}
		out, err := run.Call(ctx, runtime.Call{ID: "1", Name: "refund", Args: json.RawMessage("{}")})
		fmt.Println(text(out[0]), out[0].Replayed, err)
		if err := run.Close(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// paid back false <nil>
	// paid back true <nil>
}
