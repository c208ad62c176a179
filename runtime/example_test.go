package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolgen/toolgen/runtime"
)

// A clock is a hand-written toolset of one tool.
type clock struct{}

func (clock) Tools(context.Context) ([]runtime.Tool, error) { return []runtime.Tool{now{}}, nil }

type now struct{}

var nowDefinition = runtime.Definition{
	Name:        "clock_now",
	Description: "Tells the time.",
	Input:       json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
	Hints:       runtime.Hints{ReadOnly: runtime.Yes},
}

func (now) Definition() *runtime.Definition { return &nowDefinition }

func (now) Call(_ context.Context, args json.RawMessage) (*runtime.Result, error) {
	if string(args) != "{}" {
		return nil, runtime.Retryf("clock_now takes no arguments: send {}")
	}
	return runtime.TextResult("12:00"), nil
}

// A run calls what a model asked for in one response, and says how each call
// ended.
func ExampleRun_Call() {
	ctx := context.Background()
	registry, err := runtime.NewRegistry(clock{})
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := registry.Start(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run.Close()
	tools, err := run.Step(ctx) // what the model is shown
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range tools {
		fmt.Println(t.Definition().Name, "-", t.Definition().Description)
	}
	outcomes, err := run.Call(ctx,
		runtime.Call{ID: "1", Name: "clock_now", Args: json.RawMessage(`{}`)},
		runtime.Call{ID: "2", Name: "clock_now", Args: json.RawMessage(`{"zone":"UTC"}`)},
		runtime.Call{ID: "3", Name: "clock_nwo"},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range outcomes {
		if o.Kind == runtime.OK {
			fmt.Println(o.ID, o.Kind, o.Result.Blocks[0].Text)
		} else {
			fmt.Println(o.ID, o.Kind, o.Message)
		}
	}
	// Output:
	// clock_now - Tells the time.
	// 1 ok 12:00
	// 2 retry clock_now takes no arguments: send {}
	// 3 retry unknown tool "clock_nwo"; did you mean clock_now? You can call: clock_now
}

// As finds a toolset below its wrappers.
func ExampleAs() {
	var toolset runtime.Toolset = wrapped{clock{}}
	_, found := runtime.As[clock](toolset)
	fmt.Println(found)
	// Output: true
}
