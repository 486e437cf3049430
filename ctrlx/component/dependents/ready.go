package dependents

import (
	"context"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// awaitReady adds the readiness of the object to the
// result. An object in sync that is not ready becomes Waiting.
func awaitReady(of func(client.Object) checks.Readiness) Middleware {
	var kinds sync.Map // of ready.Func, by schema.GroupVersionKind
	return func(next Handler) Handler {
		return func(ctx context.Context, r *Request) (Result, error) {
			res, err := next(ctx, r)
			if err != nil || res.Object == nil {
				return res, err
			}
			switch res.Outcome {
			case Created, Updated, InSync, Waiting:
				if res.Readiness, err = r.readiness(of, &kinds, res.Object); err != nil {
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
}

// readiness returns how ready an object is. The conditions that its kind must
// have, and its status hints, count in addition to of or to kstatus.
func (r *Request) readiness(of ready.Func, kinds *sync.Map, obj client.Object) (checks.Readiness, error) {
	hints, err := ready.Hints{}, error(nil)
	if r.Policies.StatusHint != "" {
		if hints, err = ready.ParseHints(r.Policies.StatusHint); err != nil {
			return checks.Readiness{}, err
		}
	}
	if of == nil {
		known, ok := kinds.Load(r.gvk)
		if !ok {
			known, _ = kinds.LoadOrStore(r.gvk, kstatusOf(r.gvk))
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
