package dependents

import (
	"context"
	"strings"

	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// awaitReady adds the readiness of the object to the result. An object in sync
// that is not ready becomes Waiting.
func awaitReady(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		res, err := next(ctx, r)
		if err != nil || res.Object == nil || res.Pending != nil {
			return res, err
		}
		switch res.Outcome {
		case Created, Updated, InSync, Waiting:
			res.Readiness, err = r.kind.readinessOf(r.Policies.StatusHint, res.Object)
			if err != nil {
				return Result{}, err
			}
		default:
			return res, nil
		}
		if isReady(res.Readiness) || res.Contested {
			return res, nil
		}
		if res.Outcome == InSync {
			res.Outcome = Waiting
		}
		res.Problem = cut(ready.Problem(res.Object))
		res.Message = notReady(res)
		return res, nil
	}
}

// notReady says why an object is not ready. It ends with the problem that a
// condition of the object names.
func notReady(res Result) string {
	text := "it is not ready"
	for _, why := range []string{res.Readiness.Reason, res.Readiness.Message} {
		if why != "" {
			text += ": " + why
		}
	}
	if text = cut(text); res.Problem != "" && !strings.HasSuffix(res.Problem, ": "+res.Readiness.Message) {
		text += "; " + res.Problem
	}
	return text
}
