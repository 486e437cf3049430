package memory

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Again is the delay after a conflict: the object that was read was old, and the event
// of the new version comes soon. The delay doubles up to againAtMost while the watch is
// broken, because each pass may call the cloud.
const Again, againAtMost = 50 * time.Millisecond, 30 * time.Second

// Ended ends a pass in the memory of its object. It turns a conflict, which an object
// has that was read before its last change, into a requeue without an error.
func (s *Store) Ended(ctx context.Context, name types.NamespacedName, result reconcile.Result, err error, now func() time.Time) (reconcile.Result, error) {
	known := s.Get(name)
	switch {
	case err == nil && known.Failures == 0: // almost always
	case err == nil:
		s.Change(name, func(e *Entry) { e.Failures = 0 })
	case apierrors.IsConflict(err):
		log.FromContext(ctx).V(1).Info("the object was changed meanwhile, or created again; it is read again", "conflict", err.Error())
		result, err = reconcile.Result{RequeueAfter: Delay(int(known.Failures), Again, againAtMost)}, nil
		s.Change(name, func(e *Entry) { e.Failures = min(e.Failures, 100) + 1 })
	}
	if result.RequeueAfter != 0 {
		s.Due(name, now().Add(result.RequeueAfter))
	}
	return result, err
}
