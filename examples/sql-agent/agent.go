package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/toolgen/toolgen/runtime"
)

// maxSteps is how often the model is asked, for one question.
const maxSteps = 20

// ask has the model answer a question, with what the tools of a registry show it. All that
// must hold, whatever the model sends, is in the run: budgets, deadlines, retries.
func ask(ctx context.Context, model chat, registry *runtime.Registry, question string) (answer string, err error) {
	run, err := registry.Start(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	instructions, err := registry.Instructions(ctx)
	if err != nil {
		return "", err
	}
	system := []string{"Answer the question about the database. Say which query the answer comes from."}
	for _, i := range instructions {
		system = append(system, i.Text)
	}
	messages := []message{{Role: "system", Content: strings.Join(system, "\n")}, {Role: "user", Content: question}}
	for range maxSteps {
		tools, err := run.Step(ctx)
		if err != nil {
			return "", err
		}
		reply, err := model.complete(ctx, messages, tools)
		if err != nil {
			return "", err
		}
		if len(reply.Calls) == 0 {
			return reply.Content, nil
		}
		messages = append(messages, reply)
		outcomes, err := run.Call(ctx, calls(reply)...)
		if err != nil {
			return "", err
		}
		for i := range outcomes {
			text := shown(&outcomes[i])
			fmt.Fprintf(os.Stderr, "%s %s\n  %.200s\n", outcomes[i].Name, outcomes[i].Args, strings.ReplaceAll(text, "\n", " "))
			messages = append(messages, message{Role: "tool", CallID: outcomes[i].ID, Content: text})
		}
	}
	return "", fmt.Errorf("the model has no answer after %d steps", maxSteps)
}

// calls are what a model asks for. It may write arguments that are no JSON: the tool says
// so.
func calls(reply message) (all []runtime.Call) {
	for _, c := range reply.Calls {
		all = append(all, runtime.Call{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
	}
	return all
}

// shown is what the model reads of an outcome.
func shown(o *runtime.Outcome) string {
	if o.Kind == runtime.OK {
		return string(o.Result.Structured)
	}
	return o.Message
}
