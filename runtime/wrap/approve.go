package wrap

import (
	"context"
	"encoding/json"

	"github.com/toolgen/toolgen/runtime"
)

// An ApprovalPolicy says whether a person decides about a call, and tells that person
// why.
type ApprovalPolicy func(ctx context.Context, def *runtime.Definition, args json.RawMessage) (reason string, needed bool)

// AlwaysApprove has a person decide about every call.
func AlwaysApprove(_ context.Context, def *runtime.Definition, _ json.RawMessage) (reason string, needed bool) {
	return "calls of tool " + def.Name + " need approval", true
}

// ApproveByHints has a person decide about calls of tools that don't say that they
// change nothing.
func ApproveByHints(_ context.Context, def *runtime.Definition, _ json.RawMessage) (reason string, needed bool) {
	switch h := def.Hints; {
	case h.ReadOnly == runtime.Yes:
		return "", false
	case h.Destructive.Or(true):
		return "it may delete or overwrite", true
	default:
		return "it may change something", true
	}
}

// Approve has a person decide about calls, as a policy says. What a tool demands by
// itself still holds: a wrapper only ever adds.
func Approve(ts runtime.Toolset, policy ApprovalPolicy) runtime.Toolset {
	return Each(ts, func(t runtime.Tool) (runtime.Tool, error) {
		def := *t.Definition()
		def.Approval = runtime.Ask
		return &approving{tool{t, &def}, policy}, nil
	})
}

type approving struct {
	tool

	policy ApprovalPolicy
}

// NeedsApproval implements [runtime.Policy].
func (a *approving) NeedsApproval(ctx context.Context, args json.RawMessage) (reason string, needed bool) {
	if reason, needed = a.policy(ctx, a.definition, args); needed {
		return reason, true
	}
	switch a.Tool.Definition().Approval {
	case runtime.Never:
		return "", false
	case runtime.Ask:
		if p, ok := runtime.AsTool[runtime.Policy](a.Tool); ok {
			return p.NeedsApproval(ctx, args)
		}
	}
	return "", true
}
