package dependents

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// awaitReady adds the readiness of the object to the result. An object in sync
// that is not ready becomes Waiting.
func awaitReady(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		res, err := next(ctx, r)
		if err != nil || res.Object == nil {
			return res, err
		}
		switch res.Outcome {
		case Created, Updated, InSync, Waiting:
			res.Readiness, err = r.of.readinessOf(r.gvk, r.Policies.StatusHint, res.Object)
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

// readinessOf returns how ready an object of a kind is: by [WithReadiness], or by
// kstatus and the conditions that the kind must have. A status hint counts in
// addition.
func (d *Dependents) readinessOf(kind schema.GroupVersionKind, hint string, obj client.Object) (checks.Readiness, error) {
	hints, err := ready.Hints{}, error(nil)
	if hint != "" {
		if hints, err = ready.ParseHints(hint); err != nil {
			return checks.Readiness{}, err
		}
	}
	of := d.readiness
	if of == nil {
		known, ok := d.kstatus.Load(kind)
		if !ok {
			known, _ = d.kstatus.LoadOrStore(kind, kstatusOf(kind))
		}
		of = known.(ready.Func)
	}
	return hints.Hinted(obj, of(obj)), nil
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

// mostReadiness is the number of objects of a kind whose readiness is kept.
const mostReadiness = 4096

// kstatusOf returns the readiness of a kind by the rule of kstatus, and by the
// conditions that the kind must have.
func kstatusOf(kind schema.GroupVersionKind) ready.Func {
	of, hints := ready.Kstatus(kind), ready.HintsOf(kind.GroupKind())
	return ready.Cached(func(obj client.Object) checks.Readiness { return hints.Hinted(obj, of(obj)) }, mostReadiness)
}
