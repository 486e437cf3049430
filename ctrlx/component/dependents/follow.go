package dependents

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
)

// follow states in the pass of a reconciler that its owner depends on the objects
// of requests. The objects of another cluster have no events in this manager.
func (d *Dependents) follow(ctx context.Context, a action, requests []*Request) {
	if d.engine == nil || a != applying {
		return
	}
	refs := make([]checks.Ref, len(requests))
	for i, r := range requests {
		refs[i] = r.ref
	}
	ctrlx.Follow(ctx, refs...)
}

// watch lets the manager watch a kind of dependents.
func (d *Dependents) watch(k *kind) {
	if d.engine != nil {
		d.engine.Writes(k.gvk.GroupKind(), func(obj client.Object) uint64 { return d.seen(k, obj) })
	}
}

// seen returns a digest of what matters of a dependent, besides its spec or data:
// the readiness, the labels, and the annotations with the marks. It is 0 for an
// object that is no dependent of this name.
func (d *Dependents) seen(k *kind, obj client.Object) uint64 {
	if obj.GetLabels()[d.keys.owner] == "" {
		return 0
	}
	p, _ := d.policies.over(d.name, obj.GetAnnotations())
	r, err := k.readinessOf(p.StatusHint, obj)
	if err != nil { // a person has changed the annotation
		return digest.Metadata(obj)
	}
	state := uint64(r.State) << 1
	if isReady(r) {
		state++
	}
	return digest.And(digest.Metadata(obj), state)
}
