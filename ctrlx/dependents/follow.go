package dependents

import (
	"cmp"
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
)

// follow states in the pass of a reconciler that its owner depends on the
// objects of requests. The objects of another cluster have no events in this
// manager, and the manager may not show an owner what its deployment target
// hides.
//
// A dry-run, and the write after it, follow nothing: the pass has looked before.
func (d *Dependents) follow(ctx context.Context, a action, requests ...*Request) {
	if d.engine == nil || a != applying || d.mode == trying {
		return
	}
	for _, r := range requests {
		if !r.via.target && r.verdict == nil {
			ctrlx.Follow(ctx, r.ref)
		}
	}
}

// watch lets the manager watch a kind of dependents.
func (d *Dependents) watch(k *kind) {
	if d.engine != nil {
		d.engine.Writes(k.gvk.GroupKind(), func(obj client.Object) uint64 { return d.seen(k, obj) })
	}
}

// seen returns a digest of what matters of a dependent, besides its spec or
// data: the readiness, the labels, and the annotations with the marks. It is 0
// for an object that is no dependent of this name.
func (d *Dependents) seen(k *kind, obj client.Object) uint64 {
	if obj.GetLabels()[d.keys.owner] == "" {
		return 0
	}
	r, err := k.readinessOf(cmp.Or(obj.GetAnnotations()[d.keys.hint], d.policies.StatusHint), obj)
	if err != nil { // a person has changed the annotation
		return digest.Metadata(obj)
	}
	state := uint64(r.State) << 1
	if isReady(r) {
		state++
	}
	return digest.And(digest.Metadata(obj), state)
}
