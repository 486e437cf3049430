package ctrlx

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
)

// waitForSelf makes end wait for a change of itself, usually of its status, which causes no
// pass otherwise. end is the object as its pass left it. waitForSelf reports whether the
// object has changed already: a change that came to the cache before the wait began caused
// no pass, so the object is read from the cache after that.
func (r *core) waitForSelf(ctx context.Context, end client.Object) (changed bool) {
	name := client.ObjectKeyFromObject(end)
	left := &memory.Left{Version: end.GetResourceVersion(), Digest: digest.OfSelf(end)}
	r.memory.Change(name, func(e *memory.Entry) { e.Left = left })
	cached := r.kind.New()
	return r.client.Get(ctx, name, cached, engine.FromCache...) == nil && r.changedItself(cached)
}

// changedItself reports whether obj waits for itself, and another writer has changed it
// since its last pass.
func (r *core) changedItself(obj client.Object) bool {
	left := r.memory.Get(client.ObjectKeyFromObject(obj)).Left
	return left != nil && engine.Older(left.Version, obj.GetResourceVersion()) && left.Digest != digest.OfSelf(obj)
}

// causes lets the events pass that cause a pass, but for foreign writes of our conditions.
func (r *core) causes() predicate.Predicate {
	asked := r.asked()
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return asked.Update(e) || r.changedItself(e.ObjectNew) }}
}

// relabeled reports whether the labels of an object changed during the pass that ignored it. That event caused no pass,
// because [core.asked] lets it pass after such a pass only. So the object is read from the cache after that.
func (r *core) relabeled(p *pass) bool {
	cached := r.kind.New()
	return r.client.Get(p, client.ObjectKeyFromObject(p.read), cached, engine.FromCache...) == nil && engine.Older(p.read.GetResourceVersion(), cached.GetResourceVersion()) && !maps.Equal(cached.GetLabels(), p.read.GetLabels())
}

// asked reports whether a change of an object causes a pass. Of the changes of the status, only those of another writer do
// ([status.Writers]).
var asked = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	old, now := e.ObjectOld, e.ObjectNew
	return old == nil || now == nil ||
		old.GetUID() != now.GetUID() ||
		old.GetGeneration() != now.GetGeneration() ||
		old.GetDeletionTimestamp().IsZero() != now.GetDeletionTimestamp().IsZero() ||
		!slices.EqualFunc(old.GetOwnerReferences(), now.GetOwnerReferences(), sameOwner) ||
		!sameAnnotations(old.GetAnnotations(), now.GetAnnotations()) ||
		len(now.GetFinalizers()) < len(old.GetFinalizers()) // ours has to be put back
}}

// asked also reports a change of the labels of an object whose last pass a check ignored: the labels may choose the operator.
func (r *core) asked() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return asked.Update(e) || !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) && r.memory.Get(client.ObjectKeyFromObject(e.ObjectNew)).Kept
	}}
}

func sameOwner(a, b metav1.OwnerReference) bool {
	controls := ptr.Deref(a.Controller, false) == ptr.Deref(b.Controller, false)
	a.Controller, a.BlockOwnerDeletion, b.Controller, b.BlockOwnerDeletion = nil, nil, nil, nil // pointers, which == compares
	return controls && a == b
}
