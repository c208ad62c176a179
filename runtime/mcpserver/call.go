package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/semaphore"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/schema"
)

// statelessVersion is the first protocol version of the new era.
const statelessVersion = "2026-07-28"

// toolOf writes a definition as MCP has it.
func toolOf(def *runtime.Definition) (*mcp.Tool, error) {
	input, err := schema.Compact(def.Input)
	if err != nil {
		return nil, fmt.Errorf("mcpserver: tool %s: input schema: %w", def.Name, err)
	}
	tool := &mcp.Tool{
		Name: def.Name, Title: def.Title, Description: def.Description,
		InputSchema: json.RawMessage(input), Annotations: annotations(def),
	}
	if def.Output == nil {
		return tool, nil
	}
	output, err := schema.Compact(def.Output)
	if err != nil {
		return nil, fmt.Errorf("mcpserver: tool %s: output schema: %w", def.Name, err)
	}
	if isObjectSchema(output) {
		tool.OutputSchema = json.RawMessage(output)
	}
	return tool, nil
}

// add registers a tool with the SDK by its raw API: the typed one goes through
// maps and rounds integers beyond 2^53.
func (s *Server) add(sdk *mcp.Server, tool *mcp.Tool) (err error) {
	defer func() {
		if p := recover(); p != nil { // how the SDK reports a schema that it won't take
			err = fmt.Errorf("mcpserver: tool %s: %v", tool.Name, p)
		}
	}()
	sdk.AddTool(tool, s.call)
	return nil
}

// isObjectSchema reports whether a schema describes objects, the only kind of
// structured result that the old era has.
func isObjectSchema(raw []byte) bool {
	var s struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(raw, &s) == nil && s.Type == "object"
}

// annotations writes all four hints; an unknown one is the worst case.
func annotations(def *runtime.Definition) *mcp.ToolAnnotations {
	destructive := def.Hints.Destructive.Or(def.Hints.ReadOnly != runtime.Yes)
	open := def.Hints.OpenWorld.Or(true)
	return &mcp.ToolAnnotations{
		Title: def.Title, ReadOnlyHint: def.Hints.ReadOnly.Or(false), DestructiveHint: &destructive,
		IdempotentHint: def.Hints.Idempotent.Or(false), OpenWorldHint: &open,
	}
}

// A connection is the calls that share a run: those of a process on standard
// input and output.
type connection struct {
	run     *runtime.Run
	barrier *semaphore.Weighted // all of it: a sequential tool, which runs alone
}

// all is the weight of a sequential call; others weigh 1.
const all = 1 << 30

func newConnection(run *runtime.Run) *connection {
	return &connection{run: run, barrier: semaphore.NewWeighted(all)}
}

type connectionKey struct{}

// call runs one call. Whatever becomes of it is a result: an error would be
// one of the protocol, which a model never sees.
func (s *Server) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, done, ok := s.calls.begin(ctx)
	if !ok {
		return failure("the server is shutting down"), nil
	}
	defer done()
	run, release, err := s.runOf(ctx, req.Params.Name)
	if err == nil {
		defer release()
	}
	switch {
	case ctx.Err() != nil:
		return failure(fmt.Sprintf("tool %s was not run: the call was cancelled", req.Params.Name)), nil
	case err != nil:
		s.logger.ErrorContext(ctx, "no run", "err", err)
		return failure("the server can't take calls"), nil
	}
	outcomes, err := run.Call(ctx, runtime.Call{ID: "1", Name: req.Params.Name, Args: req.Params.Arguments})
	if err != nil {
		s.logger.ErrorContext(ctx, "call failed", "tool", req.Params.Name, "err", err)
		return failure(fmt.Sprintf("tool %s can't be called", req.Params.Name)), nil
	}
	return s.result(ctx, &outcomes[0], req.ProtocolVersion() >= statelessVersion), nil
}

// runOf returns the run of the connection that a call came by, or one of its
// own: over HTTP each request stands by itself.
func (s *Server) runOf(ctx context.Context, tool string) (*runtime.Run, func(), error) {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		run, err := s.newRun(ctx)
		if err != nil {
			return nil, nil, err
		}
		return run, func() { _ = run.Close() }, nil // closing a run can't fail here: it holds nothing
	}
	weight := int64(1)
	if def, ok := c.run.Definition(ctx, tool); ok && def.Sequential {
		weight = all
	}
	if err := c.barrier.Acquire(ctx, weight); err != nil {
		return nil, nil, err
	}
	return c.run, func() { c.barrier.Release(weight) }, nil
}

// result writes an outcome as MCP has it.
func (s *Server) result(ctx context.Context, o *runtime.Outcome, stateless bool) *mcp.CallToolResult {
	switch o.Kind {
	case runtime.OK:
		return s.success(ctx, o, stateless)
	case runtime.Retry, runtime.Failed:
		return failure(o.Message)
	case runtime.Pending, runtime.Held:
		return failure(fmt.Sprintf("tool %s needs %s, which this server can't ask for", o.Name, o.Reason))
	default:
		s.logger.ErrorContext(ctx, o.Message, "tool", o.Name, "reason", o.Reason, "err", o.Err)
		return failure(o.Message)
	}
}

func failure(message string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: message}}}
}

func (s *Server) success(ctx context.Context, o *runtime.Outcome, stateless bool) *mcp.CallToolResult {
	out := &mcp.CallToolResult{}
	for i := range o.Result.Blocks {
		out.Content = append(out.Content, content(&o.Result.Blocks[i]))
	}
	structured := o.Result.Structured
	if structured == nil {
		return out
	}
	if !json.Valid(structured) { // the SDK would never answer
		s.logger.ErrorContext(ctx, "a tool returned a structured result that is not JSON", "tool", o.Name)
		return failure(fmt.Sprintf("tool %s: the result is not valid", o.Name))
	}
	if len(out.Content) == 0 {
		out.Content = []mcp.Content{&mcp.TextContent{Text: string(structured)}}
	}
	if o.Result.Truncated && len(o.Result.Blocks) == 0 {
		out.Content = append(out.Content, &mcp.TextContent{Text: "[" + o.Result.Hint + "]"})
	}
	if stateless || bytes.HasPrefix(bytes.TrimLeft(structured, " \t\r\n"), []byte("{")) {
		out.StructuredContent = structured
	}
	return out
}

func content(b *runtime.Block) mcp.Content {
	switch b.Kind {
	case runtime.Image:
		return &mcp.ImageContent{Data: b.Data, MIMEType: b.MIME}
	case runtime.Audio:
		return &mcp.AudioContent{Data: b.Data, MIMEType: b.MIME}
	case runtime.Link:
		link := &mcp.ResourceLink{URI: b.URI, Name: b.Name, MIMEType: b.MIME}
		if b.Size > 0 {
			link.Size = &b.Size
		}
		return link
	case runtime.Resource:
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: b.URI, MIMEType: b.MIME, Text: b.Text, Blob: b.Data}}
	default:
		return &mcp.TextContent{Text: b.Text}
	}
}
