package ctrlx

import (
	"context"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

type workKey struct{}

// work is what a pass needs besides what it looks at (pass): what the object says of its intervals, and where it is
// deployed to. It is in the pass's context, by being it.
type work struct {
	context.Context
	intervals
	backoff *flow.Backoff
	local   client.Client // the manager's
	remote  bool          // there is a link that finds the client of the deployment target

	mu   sync.Mutex
	read map[checks.Ref]any // the owner and the references that were read; nil: nobody asks
}

// Value implements context.Context.
func (w *work) Value(key any) any {
	if key == (workKey{}) {
		return w
	}
	return w.Context.Value(key)
}

// workOf is that of the pass under way; nil outside of one.
func workOf(ctx context.Context) *work {
	w, _ := ctx.Value(workKey{}).(*work)
	return w
}

// begin begins the work on an object.
func (r *Reconciler[T]) begin(ctx context.Context, obj T) *work {
	w := &work{Context: ctx, intervals: r.intervals(ctx, obj), backoff: r.opt.backoff, local: r.client, remote: r.target != nil}
	if r.config.timeout != nil {
		w.read = map[checks.Ref]any{}
	}
	return w
}

// retryAfter is after how long to come back after a retriable error.
func (w *work) retryAfter(e RetriableError) time.Duration {
	switch d := e.RetryAfter(); {
	case d > 0:
		return d
	case w == nil:
		return 0
	case w.retry > 0:
		return w.retry
	}
	return w.backoff.Resync()
}

// saw notes what was read of an owner or a reference.
func (w *work) saw(obj checks.Object) {
	if w == nil || w.read == nil || obj.Ref.Kind == "" {
		return
	}
	obj.Ref.ID = "" // which is found out in what was read
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read[obj.Ref] = obj.Value
}

// resolving is a resolver whose findings are noted.
func resolving(ctx context.Context, ref checks.Ref) (checks.Object, error) {
	obj, err := resolve(ctx, ref)
	if err == nil {
		workOf(ctx).saw(obj)
	}
	return obj, err
}
