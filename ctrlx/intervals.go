package ctrlx

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/status"
	"github.com/windlass-go/windlass/flow"
)

// RequeueConfiguration is implemented by an object, or its spec, that sets its
// requeue interval: the time from Ready to the next pass, if nothing happens. ctrlx
// adds up to 5 %. Zero and negative mean the resync of the [flow.Backoff].
type RequeueConfiguration interface {
	GetRequeueInterval() time.Duration
}

// RetryConfiguration is implemented by an object, or its spec, that sets the delay
// after a [RetriableError] without a delay. Zero and negative mean the requeue
// interval.
type RetryConfiguration interface {
	GetRetryInterval() time.Duration
}

// TimeoutConfiguration is implemented by an object, or its spec, that sets a
// time-out: the object has failed if it was applied and is not ready for that long.
// The package documentation says when the clock runs. Zero and negative mean the
// requeue interval, or else the resync. An object of a type without the method has
// no time-out.
type TimeoutConfiguration interface {
	GetTimeout() time.Duration
}

// SuspendConfiguration is implemented by an object, or its spec, that users can
// suspend: no pass reads or writes its resource, unless a user deletes the object.
// Suspending or resuming a finished object changes its spec, which starts its passes
// again.
type SuspendConfiguration interface {
	IsSuspended() bool
}

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

// isSuspended reports whether obj is suspended and not being deleted. A panic
// counts as not suspended: the link Suspended reports it.
func (r *core) isSuspended(obj client.Object) (yes bool) {
	defer func() { _ = recover() }()
	return r.kind.Suspended != nil && r.kind.Suspended(obj) && !r.deleting(obj)
}
