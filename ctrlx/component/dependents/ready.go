package dependents

import (
	"context"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
)

// ready adds the readiness of the object to the result. An object in sync that
// is not ready becomes Waiting.
func ready(of func(client.Object) checks.Readiness) Middleware {
	var kinds sync.Map // of func(client.Object) checks.Readiness, by schema.GroupVersionKind
	return func(next Handler) Handler {
		return func(ctx context.Context, r *Request) (Result, error) {
			res, err := next(ctx, r)
			if err != nil || res.Object == nil {
				return res, err
			}
			switch res.Outcome {
			case Created, Updated, InSync, Waiting:
				if of != nil {
					res.Readiness = of(res.Object)
					break
				}
				kstatus, ok := kinds.Load(r.gvk)
				if !ok {
					kstatus, _ = kinds.LoadOrStore(r.gvk, ctrlx.Kstatus(r.gvk))
				}
				res.Readiness = kstatus.(func(client.Object) checks.Readiness)(res.Object)
			default:
				return res, nil
			}
			if isReady(res.Readiness) || res.Contested {
				return res, nil
			}
			if res.Outcome == InSync {
				res.Outcome = Waiting
			}
			res.Message = "it is not ready"
			for _, text := range []string{res.Readiness.Reason, res.Readiness.Message} {
				if text != "" {
					res.Message += ": " + text
				}
			}
			return res, nil
		}
	}
}
