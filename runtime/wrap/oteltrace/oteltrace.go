// Package oteltrace traces and measures calls with OpenTelemetry, by its conventions
// for generative AI: a span execute_tool NAME for each call, and a histogram of their
// durations. It uses the API only; without an SDK it costs next to nothing.
//
// Arguments and results are content: they are left out unless an option, or the
// convention's environment variable, asks for them; then they are masked.
package oteltrace

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/wrap"
)

// The keys of the conventions. They are our own since packages semconv from v1.42.0
// on have none for generative AI.
const (
	operationName   = attribute.Key("gen_ai.operation.name")
	toolName        = attribute.Key("gen_ai.tool.name")
	toolCallID      = attribute.Key("gen_ai.tool.call.id")
	toolDescription = attribute.Key("gen_ai.tool.description")
	toolType        = attribute.Key("gen_ai.tool.type")
	toolArguments   = attribute.Key("gen_ai.tool.call.arguments")
	toolResult      = attribute.Key("gen_ai.tool.call.result")
	agentID         = attribute.Key("gen_ai.agent.id")
	conversationID  = attribute.Key("gen_ai.conversation.id")
	errorType       = attribute.Key("error.type")
)

const (
	scope       = "github.com/toolgen/toolgen/runtime/wrap/oteltrace"
	operation   = "execute_tool"
	captureEnv  = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
	maxCaptured = 16 << 10 // bytes of arguments, and of a result
)

// An Option changes what is traced.
type Option func(*tracing)

// Capture says whether arguments and results are in spans, whatever the environment
// says.
func Capture(yes bool) Option { return func(t *tracing) { t.capture = yes } }

// TracerProvider sets another than the global one.
func TracerProvider(p trace.TracerProvider) Option {
	return func(t *tracing) { t.tracer = p.Tracer(scope) }
}

// MeterProvider sets another than the global one.
func MeterProvider(p metric.MeterProvider) Option {
	return func(t *tracing) { t.meter = p.Meter(scope) }
}

// Type sets the type of the tools: function, which is the default, extension, or
// datastore.
func Type(name string) Option { return func(t *tracing) { t.toolType = name } }

type tracing struct {
	tracer   trace.Tracer
	meter    metric.Meter
	duration metric.Float64Histogram
	capture  bool
	toolType string
}

// Trace traces the calls of all tools.
func Trace(ts runtime.Toolset, opts ...Option) runtime.Toolset {
	t := &tracing{tracer: otel.Tracer(scope), meter: otel.Meter(scope), toolType: "function", capture: strings.EqualFold(os.Getenv(captureEnv), "true")}
	for _, o := range opts {
		o(t)
	}
	var err error
	t.duration, err = t.meter.Float64Histogram("gen_ai.execute_tool.duration", metric.WithUnit("s"), metric.WithDescription("How long calls of tools take."))
	return wrap.Each(ts, func(tool runtime.Tool) (runtime.Tool, error) {
		return &traced{tool, t}, err
	})
}

type traced struct {
	runtime.Tool

	tracing *tracing
}

// Unwrap implements [runtime.ToolWrapper].
func (t *traced) Unwrap() runtime.Tool { return t.Tool }

type identityKey struct{}

type identity struct{ agent, conversation string }

// WithIdentity returns a context for [runtime.Run.Call] whose spans name an agent and
// a conversation; an empty one is left out.
func WithIdentity(ctx context.Context, agent, conversation string) context.Context {
	return context.WithValue(ctx, identityKey{}, identity{agent, conversation})
}

// within reports whether ctx has the span that an SDK made for the same call: one is
// enough.
func within(ctx context.Context) bool {
	s, ok := trace.SpanFromContext(ctx).(interface{ Name() string })
	return ok && strings.HasPrefix(s.Name(), operation+" ")
}

type spanKey struct{}

// Before implements [runtime.Observer].
func (t *traced) Before(ctx context.Context, call runtime.Call) context.Context {
	if within(ctx) {
		return ctx
	}
	def := t.Definition()
	attrs := []attribute.KeyValue{operationName.String(operation), toolName.String(call.Name), toolCallID.String(call.ID), toolType.String(t.tracing.toolType)}
	if def.Description != "" {
		attrs = append(attrs, toolDescription.String(def.Description))
	}
	if id, ok := ctx.Value(identityKey{}).(identity); ok {
		for key, value := range map[attribute.Key]string{agentID: id.agent, conversationID: id.conversation} {
			if value != "" {
				attrs = append(attrs, key.String(value))
			}
		}
	}
	ctx, span := t.tracing.tracer.Start(ctx, operation+" "+call.Name, trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(attrs...))
	if t.tracing.capture && span.IsRecording() {
		span.SetAttributes(toolArguments.String(content(ctx, call.Args)))
	}
	return context.WithValue(ctx, spanKey{}, span)
}

// content is JSON to show: masked, and whole or not at all.
func content(ctx context.Context, raw json.RawMessage) string {
	masked, err := runtime.MaskerFrom(ctx).MaskJSON(raw)
	if err != nil || !json.Valid(masked) || len(masked) > maxCaptured {
		return `"withheld"`
	}
	return string(masked)
}

// After implements [runtime.Observer].
func (t *traced) After(ctx context.Context, o runtime.Outcome) {
	attrs := []attribute.KeyValue{operationName.String(operation), toolName.String(o.Name)}
	if o.Kind != runtime.OK && o.Reason != "" {
		attrs = append(attrs, errorType.String(string(o.Reason)))
	}
	t.tracing.duration.Record(ctx, o.Elapsed.Seconds(), metric.WithAttributes(attrs...))
	span, ok := ctx.Value(spanKey{}).(trace.Span)
	if !ok {
		return
	}
	defer span.End()
	if o.Kind != runtime.OK && o.Reason != "" {
		span.SetAttributes(errorType.String(string(o.Reason)))
	}
	if o.Kind == runtime.Failed || o.Kind == runtime.Fatal {
		span.SetStatus(codes.Error, o.Message)
	}
	if t.tracing.capture && o.Result != nil && span.IsRecording() {
		span.SetAttributes(toolResult.String(content(ctx, shown(o.Result))))
	}
}

// shown is a result as JSON.
func shown(r *runtime.Result) json.RawMessage {
	if r.Structured != nil {
		return r.Structured
	}
	var texts []string
	for i := range r.Blocks {
		texts = append(texts, r.Blocks[i].Text)
	}
	b, err := json.Marshal(strings.Join(texts, "\n"))
	if err != nil {
		return nil
	}
	return b
}
