package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/flow"
)

// WithKeeping says which other objects a resource keeps by finalizers that its links add ([SetFinalizers]). keeps reports
// whether a finalizer keeps other, the object of ref, for the resource. It is called for objects that a user deletes and the
// resource waits for: each then waits for the other. The resource is Stalled (DependencyCycle) until its spec refers to
// another object or it is deleted, and [Why] shows the wait of other. ref has the namespace of other. keeps only reads; a
// panic counts as false. Nil panics, and so does a second WithKeeping.
func WithKeeping[T client.Object](keeps func(resource T, ref checks.Ref, other client.Object) bool) Option {
	setup.MustEdit("ctrlx: WithKeeping", keeps)
	return option(func(o *options) {
		if o.keeps != nil {
			panic("ctrlx: WithKeeping is given twice: give one function for all finalizers")
		}
		o.keeps = keeps
	})
}

// keeping reports whether a user deletes at, the object of ref, and obj keeps it. r.keeps is not nil.
func (r *core) keeping(obj client.Object, ref checks.Ref, at client.Object) (yes bool) {
	defer func() { _ = recover() }()
	return !at.GetDeletionTimestamp().IsZero() && r.keeps(obj, ref, at)
}

// keptCycle returns the path if the object of a pass waits for an object that a user deletes, and that it keeps itself.
func (r *core) keptCycle(p *pass, obj client.Object, out flow.Outcome) []checks.Ref {
	if r.keeps == nil || out.State() != flow.StateBlocked {
		return nil
	}
	for _, ref := range out.WaitingFor() {
		if f := p.seenAs(p.engine.Resolved(p, ref)); f.Object != nil && r.keeping(obj, f.Ref, f.Object) {
			self := p.engine.Waiter
			return []checks.Ref{self, f.Ref, self}
		}
	}
	return nil
}

// SetFinalizers replaces the finalizers of an object that the pass is not about, such as an object that the resource uses.
// obj is as it was read, with its kind if it is a *metav1.PartialObjectMetadata, and gets the answer. The write is refused
// (Conflict) if obj has changed since. It causes no pass over a resource that waits for obj or follows it, even if the
// manager watches only the metadata of the kind. It is an error outside of a pass.
func SetFinalizers(ctx context.Context, obj client.Object, finalizers []string) error {
	p := passOf(ctx)
	if p == nil {
		return errors.New("ctrlx: SetFinalizers: the context is that of no pass: hand on the context that the link was given")
	}
	gvk, err := p.of.client.GroupVersionKindFor(obj)
	if err != nil {
		return fmt.Errorf("ctrlx: SetFinalizers: add the type to the scheme: %w", err)
	}
	base := obj.DeepCopyObject().(client.Object)
	obj.SetFinalizers(finalizers)
	id := engine.ID(gvk.GroupKind(), client.ObjectKeyFromObject(obj))
	err = p.of.engine.Touch(ctx, id, base.GetResourceVersion(), func(ctx context.Context) (string, error) {
		err := p.of.client.Patch(ctx, obj, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
		return obj.GetResourceVersion(), err
	})
	if err == nil {
		p.touched(base, obj)
	}
	return err
}

// AheadPrefix begins the names of the annotations of [WriteAhead].
const AheadPrefix = "ahead.windlass-go.github.io/"

// WriteAhead sets the annotation [AheadPrefix] + name of the resource of a pass, and adds the finalizer of the reconciler,
// in one write. An empty value removes the annotation. Call it in a link before the link changes anything outside of the
// resource: a later pass then finds the annotation and can undo the change, also a pass of a deletion, or of another process.
// [WithFinalizer] names the finalizer.
//
// The write causes no pass. It is refused if the resource was changed since the pass read it; the pass then ends without an
// event, and the resource is read again. WriteAhead writes nothing if nothing changes, and nothing for a resource that the API
// server has deleted. It is an error outside of a pass, and without Operations.Delete: nothing would read the annotation of a
// deleted resource.
//
// resource is the resource of the request that the link got. Users of the resource can change its annotations, and a copy has the
// annotations of the original: store the UID in value, and check it.
func WriteAhead(ctx context.Context, resource client.Object, name, value string) error {
	p := passOf(ctx)
	if p == nil {
		return errors.New("ctrlx: WriteAhead: the context is that of no pass: hand on the context that the link was given")
	}
	r := p.of
	switch {
	case !r.kind.Is(resource):
		return fmt.Errorf("ctrlx: %s: WriteAhead: the resource is a %T: give the resource of the request", r.name, resource)
	case !r.finalizes:
		return fmt.Errorf("ctrlx: %s: WriteAhead needs Operations.Delete: set it, for example to a function that is done at once", r.name)
	case p.orphan:
		return nil
	}
	name = AheadPrefix + name
	if was, had := resource.GetAnnotations()[name]; controllerutil.ContainsFinalizer(resource, r.opt.finalizer) && was == value && had == (value != "") {
		return nil
	}
	if err := r.hasStatus(ctx); err != nil {
		return err
	}
	set := func(at client.Object) {
		annotations := maps.Clone(at.GetAnnotations())
		if annotations == nil {
			annotations = map[string]string{}
		}
		if annotations[name] = value; value == "" {
			delete(annotations, name)
		}
		at.SetAnnotations(annotations)
	}
	if err := r.finalize(p, resource, "annotation "+name, set); err != nil {
		return err
	}
	read := r.kind.Copy(p.read) // as if the pass had read it: the write is no change of the inputs
	set(read)                   // only this one: a user may have changed others since the pass began
	p.read = read
	return nil
}

// aheadOf returns the annotations of [WriteAhead].
func aheadOf(obj client.Object) map[string]string {
	all := maps.Clone(obj.GetAnnotations())
	maps.DeleteFunc(all, func(key, _ string) bool { return !strings.HasPrefix(key, AheadPrefix) })
	return all
}

// sameAnnotations reports whether two versions of an object have the same annotations. A new value of [WriteAhead] is no
// difference, because the reconciler wrote it. A removed one is. The annotations of an ApplySet do not count.
func sameAnnotations(old, now map[string]string) bool {
	if maps.Equal(old, now) {
		return true
	}
	counts := func(all map[string]string) map[string]string {
		all = maps.Clone(all)
		maps.DeleteFunc(all, func(key, _ string) bool {
			_, still := now[key]
			return still && strings.HasPrefix(key, AheadPrefix) || strings.HasPrefix(key, applySetPrefix)
		})
		return all
	}
	return maps.Equal(counts(old), counts(now))
}
