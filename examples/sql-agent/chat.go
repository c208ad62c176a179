package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/toolgen/toolgen/runtime"
)

// chat is a model that is served like OpenAI's chat completions.
type chat struct {
	url   string
	model string
	key   string // "": none is sent
}

// message is one of a conversation.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
	CallID  string `json:"tool_call_id,omitempty"`
}

// call is a tool call, its arguments a text of JSON.
type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// function is a tool as the API describes one.
type function struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// maxReply is how much of an answer is read, in bytes.
const maxReply = 4 << 20

// complete asks the model for the next message.
func (c chat) complete(ctx context.Context, messages []message, tools []runtime.Tool) (message, error) {
	functions := make([]function, len(tools))
	for i, t := range tools {
		d, f := t.Definition(), &functions[i]
		f.Type = "function"
		f.Function.Name, f.Function.Description, f.Function.Parameters = d.Name, d.Description, d.Input
	}
	body, err := json.Marshal(map[string]any{"model": c.model, "messages": messages, "tools": functions})
	if err != nil {
		return message{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.url, "/")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return message{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return message{}, fmt.Errorf("the model can't be reached (MODEL_URL says where it is): %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err != nil {
		return message{}, err
	}
	var reply struct {
		Choices []struct {
			Message message `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil || response.StatusCode != http.StatusOK || len(reply.Choices) == 0 {
		return message{}, fmt.Errorf("the model answers %s: %.300s", response.Status, raw)
	}
	return reply.Choices[0].Message, nil
}
