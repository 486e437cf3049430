package ctrlx

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/flow"
)

// WithKeeping says which other objects a resource keeps by finalizers that its links add ([SetFinalizers]). keeps reports
// whether a finalizer keeps other, the object of ref, for the resource. It is called for objects that a user deletes and the
// resource waits for: each then waits for the other. The resource is Stalled (DependencyCycle) until its spec refers to
// another object or it is deleted, and [Why] shows the wait of other. ref has the namespace of other. keeps only reads; a
// panic counts as false. Nil panics, and so does a second WithKeeping.
func WithKeeping[T client.Object](keeps func(resource T, ref checks.Ref, other client.Object) bool) Option {
	if keeps == nil {
		panic("ctrlx: WithKeeping: the function is nil")
	}
	return func(o *options) {
		if o.keeps != nil {
			panic("ctrlx: WithKeeping is given twice: give one function for all finalizers")
		}
		o.keeps = keeps
	}
}

// keeping reports whether a user deletes at, the object of ref, and obj keeps it.
func (r *core) keeping(obj client.Object, ref checks.Ref, at client.Object) (yes bool) {
	if r.keeps == nil || at.GetDeletionTimestamp().IsZero() {
		return false
	}
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	ref.ID = ""
	return r.keeps(obj, ref, at)
}

// keptCycle returns the path if the object of a pass waits for an object that a user deletes, and that it keeps itself.
func (r *core) keptCycle(p *pass, obj client.Object, out flow.Outcome) []checks.Ref {
	if r.keeps == nil || out.State() != flow.StateBlocked {
		return nil
	}
	for _, ref := range out.WaitingFor() {
		if f := p.seenAs(p.engine.Resolved(p, ref)); f.Object != nil && r.keeping(obj, f.Ref, f.Object) {
			self := p.engine.Waiter()
			path := checks.Ref{Group: self.Group, Kind: self.Kind, Namespace: self.Namespace, Name: self.Name}
			return []checks.Ref{path, f.Ref, path}
		}
	}
	return nil
}

// SetFinalizers replaces the finalizers of another object than that of the pass, for example of one that the resource uses.
// obj is as it was read, with its kind if it is a *metav1.PartialObjectMetadata, and gets the answer. The write is refused
// (Conflict) if obj has changed since. It causes no pass over a resource that waits for obj or follows it, even if the
// manager watches only the metadata of the kind. It is an error outside of a pass.
func SetFinalizers(ctx context.Context, obj client.Object, finalizers []string) error {
	p := passOf(ctx)
	if p == nil {
		return errors.New("ctrlx: SetFinalizers: the context is that of no pass: hand on the context that the link was given")
	}
	gvk, err := p.local.GroupVersionKindFor(obj)
	if err != nil {
		return fmt.Errorf("ctrlx: SetFinalizers: add the type to the scheme: %w", err)
	}
	base := obj.DeepCopyObject().(client.Object)
	obj.SetFinalizers(finalizers)
	id := engine.ID(gvk.GroupKind(), client.ObjectKeyFromObject(obj))
	err = p.engine.Engine().Touch(ctx, id, base.GetResourceVersion(), func(ctx context.Context) (string, error) {
		err := p.local.Patch(ctx, obj, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
		return obj.GetResourceVersion(), err
	})
	if err == nil {
		p.touched(base, obj)
	}
	return err
}
