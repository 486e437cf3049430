package ctrlx

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/status"
	"github.com/windlass-go/windlass/flow"
)

// suspension is the link on Pass that blocks the passes of suspended objects. It does not block their deletion.
func suspension[T client.Object](r *core) flow.PassMiddleware[T] {
	return chain.Named("Suspended", func(next flow.PassHandler[T]) flow.PassHandler[T] {
		return func(ctx context.Context, obj T) (flow.Outcome, error) {
			if r.deleting(obj) || !r.kind.Suspended(obj) {
				return next(ctx, obj)
			}
			return flow.Stop(checks.Block(ReasonSuspended, status.SuspendedMessage, checks.WithRetry(classify.OnChange))), nil
		}
	})
}
