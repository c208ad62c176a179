package wrap

import (
	"context"
	"log/slog"
	"time"

	"github.com/toolgen/toolgen/runtime"
)

// maxLogged is how many bytes of arguments a log has.
const maxLogged = 4 << 10

// Log logs calls and how they end: at the level info, with a second line at warn
// for calls that the model could correct or that failed, and at error, with the
// cause, for those that ended the run. Arguments are logged at debug, masked and at
// most 4 KiB of them; results are not.
func Log(ts runtime.Toolset, logger *slog.Logger) runtime.Toolset {
	name := ""
	if id, ok := runtime.As[runtime.Identified](ts); ok {
		name = id.ID()
	}
	return Each(ts, func(t runtime.Tool) (runtime.Tool, error) {
		return &logged{Tool: t, logger: logger, toolset: name}, nil
	})
}

type logged struct {
	runtime.Tool

	logger  *slog.Logger
	toolset string
}

// Unwrap implements [runtime.ToolWrapper].
func (l *logged) Unwrap() runtime.Tool { return l.Tool }

// Enabled tells a run whether anything would be logged.
func (l *logged) Enabled(ctx context.Context) bool { return l.logger.Enabled(ctx, slog.LevelError) }

// call describes a call.
func (l *logged) call(ctx context.Context) []slog.Attr {
	info, _ := runtime.CallFrom(ctx)
	out := make([]slog.Attr, 0, 12)
	out = append(out, slog.String("tool.name", info.Tool))
	if l.toolset != "" {
		out = append(out, slog.String("toolset", l.toolset))
	}
	return append(out, slog.String("call_id", info.ID), slog.String("run", info.RunID), slog.Int("step", info.Step), slog.Int("attempt", info.Attempt))
}

// Before implements [runtime.Observer].
func (l *logged) Before(ctx context.Context, call runtime.Call) context.Context {
	if l.logger.Enabled(ctx, slog.LevelInfo) {
		l.logger.LogAttrs(ctx, slog.LevelInfo, "tool call", append(l.call(ctx), slog.Int("args_bytes", len(call.Args)))...)
	}
	if l.logger.Enabled(ctx, slog.LevelDebug) {
		args := "withheld"
		if masked, err := runtime.MaskerFrom(ctx).MaskJSON(call.Args); err == nil {
			args = clip(string(masked), maxLogged)
		}
		l.logger.LogAttrs(ctx, slog.LevelDebug, "tool arguments", append(l.call(ctx), slog.String("args", args))...)
	}
	return ctx
}

// After implements [runtime.Observer].
func (l *logged) After(ctx context.Context, o runtime.Outcome) {
	if l.logger.Enabled(ctx, slog.LevelInfo) {
		attrs := append(l.call(ctx), slog.String("outcome", string(o.Kind)), slog.Duration("duration", o.Elapsed.Round(time.Microsecond)))
		message := "tool result"
		switch {
		case o.Kind == runtime.Pending:
			message = "waiting for approval"
			if o.Reason != runtime.Reason(runtime.PendingApproval) {
				message = "waiting"
			}
			attrs = append(attrs, slog.String("reason", string(o.Reason)))
		case o.Result != nil:
			attrs = append(attrs, slog.Int("result_bytes", size(o.Result)), slog.Bool("truncated", o.Result.Truncated), slog.Bool("replayed", o.Replayed))
		}
		l.logger.LogAttrs(ctx, slog.LevelInfo, message, attrs...)
	}
	switch o.Kind {
	case runtime.Retry, runtime.Failed:
		l.logger.LogAttrs(ctx, slog.LevelWarn, "tool refused", append(l.call(ctx), slog.String("reason", string(o.Reason)), slog.String("message", o.Message))...)
	case runtime.Fatal:
		cause := ""
		if o.Err != nil {
			cause = runtime.MaskerFrom(ctx).Mask(o.Err.Error())
		}
		l.logger.LogAttrs(ctx, slog.LevelError, "tool failed", append(l.call(ctx), slog.String("reason", string(o.Reason)), slog.String("message", o.Message), slog.String("cause", cause))...)
	}
}

func size(r *runtime.Result) int {
	n := len(r.Structured)
	for i := range r.Blocks {
		n += len(r.Blocks[i].Text) + len(r.Blocks[i].Data)
	}
	return n
}

// clip returns at most n bytes of a text, whole runes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
