package oteltrace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/runtimetest"
	"github.com/toolgen/toolgen/runtime/secret"
	"github.com/toolgen/toolgen/runtime/wrap/oteltrace"
)

type tool struct {
	def  runtime.Definition
	call func() (*runtime.Result, error)
}

func (t *tool) Definition() *runtime.Definition { return &t.def }

func (t *tool) Call(context.Context, json.RawMessage) (*runtime.Result, error) { return t.call() }

// set has a secret.
type set []runtime.Tool

func (s set) Tools(context.Context) ([]runtime.Tool, error) { return s, nil }

func (set) FindSecrets(text string) []runtime.Span { return hunter2().FindSecrets(text) }

var hunter2 = sync.OnceValue(func() *secret.Masker {
	var m secret.Masker
	m.Add(secret.New("hunter2"))
	return &m
})

func newTool(name string, r *runtime.Result, err error) runtime.Tool {
	return &tool{runtime.Definition{Name: name, Description: "Does " + name + ".", Input: json.RawMessage(`{"type":"object"}`)}, func() (*runtime.Result, error) { return r, err }}
}

// spans calls every tool and returns the spans as text, and how many durations were
// recorded.
func spans(t *testing.T, ctx context.Context, ts runtime.Toolset, opts ...oteltrace.Option) (all string, durations uint64) {
	t.Helper()
	exporter := tracetest.NewInMemoryExporter()
	tracers := trace.NewTracerProvider(trace.WithSyncer(exporter))
	reader := metric.NewManualReader()
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	registry, err := runtime.NewRegistry(oteltrace.Trace(ts, append(opts, oteltrace.TracerProvider(tracers), oteltrace.MeterProvider(meters))...)) //nolint:contextcheck // it opens nothing
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(ctx, runtime.ErrorsEndCall(), runtime.NoBudgets())
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	tools, err := run.Step(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if _, err := run.Call(ctx, runtime.Call{ID: "c1", Name: tool.Definition().Name, Args: json.RawMessage(`{"pw":"hunter2"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for _, s := range exporter.GetSpans() {
		attrs := slices.Clone(s.Attributes)
		slices.SortFunc(attrs, func(a, b attribute.KeyValue) int { return strings.Compare(string(a.Key), string(b.Key)) })
		fmt.Fprintf(&b, "%s %s %s", s.Name, s.SpanKind, s.Status.Code)
		for _, a := range attrs {
			fmt.Fprintf(&b, " %s=%s", strings.TrimPrefix(string(a.Key), "gen_ai."), a.Value.String())
		}
		b.WriteString("\n")
	}
	var data metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &data); err != nil {
		t.Fatal(err)
	}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			if h, ok := m.Data.(metricdata.Histogram[float64]); ok && m.Name == "gen_ai.execute_tool.duration" && m.Unit == "s" {
				for _, p := range h.DataPoints {
					durations += p.Count
				}
			}
		}
	}
	return b.String(), durations
}

func TestR30Trace(t *testing.T) {
	t.Parallel()
	ts := set{
		newTool("fine", &runtime.Result{Structured: json.RawMessage(`{"pw":"hunter2"}`)}, nil), newTool("retry", nil, runtime.Retryf("again")),
		newTool("failed", nil, runtime.Failedf("no")), newTool("broken", nil, errors.New("password is hunter2")),
	}
	got, durations := spans(t, oteltrace.WithIdentity(t.Context(), "a1", "conv"), ts)
	const common = "agent.id=a1 conversation.id=conv operation.name=execute_tool tool.call.id=c1 tool.description=Does NAME. tool.name=NAME tool.type=function\n"
	var want strings.Builder
	for _, line := range []string{"fine internal Unset ", "retry internal Unset error.type=tool_retry ", "failed internal Error error.type=tool_failed ", "broken internal Error error.type=tool_error "} {
		name, _, _ := strings.Cut(line, " ")
		want.WriteString("execute_tool " + line + strings.ReplaceAll(common, "NAME", name))
	}
	if diff := cmp.Diff(want.String(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if durations != 4 {
		t.Errorf("%d durations, want 4", durations)
	}
	if strings.Contains(got, "hunter2") || strings.Contains(got, "redacted") {
		t.Error("content is in the spans")
	}
}

func TestR30Capture(t *testing.T) {
	t.Parallel()
	got, _ := spans(t, t.Context(), set{newTool("fine", &runtime.Result{Structured: json.RawMessage(`{"pw":"hunter2"}`)}, nil)}, oteltrace.Capture(true), oteltrace.Type("datastore"))
	for _, want := range []string{`tool.call.arguments={"pw":"[redacted]"}`, `tool.call.result={"pw":"[redacted]"}`, "tool.type=datastore"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}

// TestR30OneSpan makes none within that of an SDK for the same call.
func TestR30OneSpan(t *testing.T) {
	t.Parallel()
	provider := trace.NewTracerProvider()
	ctx, span := provider.Tracer("sdk").Start(t.Context(), "execute_tool fine")
	defer span.End()
	if got, durations := spans(t, ctx, set{newTool("fine", runtime.TextResult("ok"), nil)}); got != "" || durations != 1 {
		t.Errorf("%q, %d durations", got, durations)
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	runtimetest.Toolset(t, oteltrace.Trace(set{newTool("x", runtime.TextResult("ok"), nil)}))
}

// BenchmarkWrapper is what tracing adds to a call: F13, without a provider, and with
// one whose spans go nowhere.
func BenchmarkWrapper(b *testing.B) {
	b.Run("off", func(b *testing.B) {
		runtimetest.Overhead(b, func(ts runtime.Toolset) runtime.Toolset { return oteltrace.Trace(ts) })
	})
	b.Run("on", func(b *testing.B) {
		tracers, meters := trace.NewTracerProvider(), metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))
		runtimetest.Overhead(b, func(ts runtime.Toolset) runtime.Toolset {
			return oteltrace.Trace(ts, oteltrace.TracerProvider(tracers), oteltrace.MeterProvider(meters))
		})
	})
}
