package ctrlx

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

const suspendedMessage = "the object is suspended; resume it to continue"

// suspension is the link on Pass that blocks the passes of suspended objects. It does not block their deletion.
func suspension[T client.Object](suspended func(T) bool, deleting func(T) bool) flow.PassMiddleware[T] {
	return chain.Named("Suspended", func(next flow.PassHandler[T]) flow.PassHandler[T] {
		return func(ctx context.Context, obj T) (flow.Outcome, error) {
			if deleting(obj) || !suspended(obj) {
				return next(ctx, obj)
			}
			return flow.Stop(checks.Block(ReasonSuspended, suspendedMessage, checks.WithRetry(classify.OnChange))), nil
		}
	})
}
