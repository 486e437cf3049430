package ctrlx

import (
	"context"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// work is what a pass needs besides what it looks at: what the object says of its intervals, and where it is deployed to.
type work struct {
	intervals
	backoff *flow.Backoff
	local   client.Client // the manager's
	remote  bool          // there is a link that finds the client of the deployment target

	mu   sync.Mutex
	read map[checks.Ref]any // the owner and the references that were read; nil: nobody asks
}

// workOf is that of the pass under way; nil outside of one.
func workOf(ctx context.Context) *work {
	p, ok := ctx.Value(passKey{}).(*pass)
	if !ok {
		return nil
	}
	return &p.work
}

// begin begins the work on an object.
func (r *Reconciler[T]) begin(p *pass, obj T) *work {
	w := &p.work
	w.intervals, w.backoff, w.local, w.remote = r.intervals(p, obj), r.opt.backoff, r.client, r.target != nil
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
