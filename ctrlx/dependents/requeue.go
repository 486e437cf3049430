package dependents

import (
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

// Requeue returns what a reconciler without ctrlx returns after
// [Dependents.Apply], Prune or Delete:
//
//	return dependents.Requeue(web.Apply(ctx, shop, settings(shop), server(shop)))
//
// It requeues after the delay of the progress, if that is not done. A
// [ctrlx.RetriableError] with a delay, as of a contested object, becomes a
// requeue after this delay, and nil: log or report the error before. Any other
// error is returned, so that controller-runtime retries with its back-off.
func Requeue(p flow.Progress, err error) (reconcile.Result, error) {
	if e, ok := errors.AsType[ctrlx.RetriableError](err); ok && e.RetryAfter() > 0 {
		return reconcile.Result{RequeueAfter: e.RetryAfter()}, nil
	}
	if err != nil || p.IsDone() {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: p.After()}, nil
}
