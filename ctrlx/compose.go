package ctrlx

import (
	"context"
	"slices"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/flow"
)

// composed makes the flow of the given operations and links, and of the added ones. It
// makes it again for each hook, so that Flow lists the hook. In New it panics on operations
// and links that are not valid.
func (r *Reconciler[T]) composed() *Reconciler[T] {
	ops, ext := r.ops, r.ext
	if ops.Delete == nil && (r.hooks.onDelete() || r.guard != nil) {
		ops.Delete = func(context.Context, *flow.Request[T]) (flow.Progress, error) { return flow.Done(), nil }
	}
	r.finalizes = ops.Delete != nil
	gets := ops.Get != nil || ext.Get.Len() > 0
	if r.guard != nil {
		ext = r.guard.extended(ext, gets)
	}
	if r.finalizes {
		ext = r.finalizing(ext, gets)
	}

	if r.config.suspended != nil {
		ext.Pass = ext.Pass.Append(suspension(r.config.suspended, ops.Deleting))
	}
	ext.Pass = ext.Pass.Append(r.hooks.postRead...)
	if r.target != nil {
		ext.Pass = ext.Pass.Append(r.target.link(r.opt.targetBy))
	}
	ext = r.quietRestart(r.hooks.extended(ext, gets))
	ext.Classify = ext.Classify.Append(classified)

	ops.Get, ops.Apply, ops.Delete = inPlace(ops.Get), r.noted(inPlace(ops.Apply)), inPlace(ops.Delete)

	opts := append(slices.Clip(r.opt.flow), flow.WithErrors(otherObjects), flow.WithResolver(resolve), flow.WithLister(list), flow.WithBackoff(r.opt.backoff),
		flow.WithObserver(r.observer))
	r.flow = flow.New(r.name, ops, ext, opts...)
	return r
}

// targetsOf finds out by which client resources are deployed.
func (r *Reconciler[T]) targetsOf() {
	switch r.opt.targetBy {
	case "WithTargetClient":
		r.target = optionFor[func(context.Context, client.Client, T) (client.Client, error)]("New: "+r.name, r.opt.targetBy, r.opt.target)
	case "WithImpersonation":
		as := optionFor[func(T) rest.ImpersonationConfig]("New: "+r.name, r.opt.targetBy, r.opt.target)
		r.target = impersonating(as, func() *identities { return r.clients })
	}
}
