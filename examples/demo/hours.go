package main

import (
	"context"
	"encoding/json"

	"github.com/toolgen/toolgen/runtime"
)

// openingHours is a hand-written toolset of one tool: what toolgen would write
// if there were a method to write it for.
type openingHours struct{}

var hoursDefinition = runtime.Definition{
	Name:        "shop_opening_hours",
	Description: "Tells when the shop is open.",
	Input:       json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
	Hints:       runtime.Hints{ReadOnly: runtime.Yes, OpenWorld: runtime.No},
}

// Tools implements [runtime.Toolset].
func (openingHours) Tools(context.Context) ([]runtime.Tool, error) {
	return []runtime.Tool{hoursTool{}}, nil
}

type hoursTool struct{}

func (hoursTool) Definition() *runtime.Definition { return &hoursDefinition }

func (hoursTool) Call(context.Context, json.RawMessage) (*runtime.Result, error) {
	return runtime.TextResult("Monday to Friday from 9 to 18, Saturday from 10 to 14."), nil
}
