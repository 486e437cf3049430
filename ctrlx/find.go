package ctrlx

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/byversion"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/flow"
)

// finder finds the object that ref names. An object that does not exist is no error, see [checks.Resolver].
type finder func(ctx context.Context, ref checks.Ref, w wanted) (checks.Object, error)

// wanted holds the parts of an owner reference that a [checks.Ref] lacks. Both fields may be empty.
type wanted struct {
	uid     types.UID // of the object; another object of its name does not count
	version string    // of its API
}

// known returns the object of a ref that names no object of the API server.
func known(ref checks.Ref) (checks.Object, bool) {
	return checks.Object{Ref: ref}, ref.Kind == "" || ref.Name == ""
}

// ownerOf finds the owner of obj. The function owner names it, or else the controlling
// owner reference.
func ownerOf[T client.Object](ctx context.Context, obj T, owner func(T) checks.Ref, find finder) (checks.Object, error) {
	if owner != nil {
		ref := owner(obj)
		if o, ok := known(ref); ok {
			return o, nil
		}
		return withID(find, ctx, ref)
	}
	c := metav1.GetControllerOfNoCopy(obj)
	if c == nil {
		return checks.Object{}, nil
	}
	gv, err := schema.ParseGroupVersion(c.APIVersion)
	if err != nil {
		return checks.Object{}, fmt.Errorf("ctrlx: the controlling owner reference to %s %s: %w", c.Kind, c.Name, err)
	}
	return find(ctx, checks.Ref{Group: gv.Group, Kind: c.Kind, Name: c.Name}, wanted{c.UID, gv.Version})
}

// withID finds the object of a ref, and keeps the ref's cloud ID.
func withID(find finder, ctx context.Context, ref checks.Ref) (checks.Object, error) {
	if o, ok := known(ref); ok {
		return o, nil
	}
	obj, err := find(ctx, ref, wanted{})
	if err == nil && obj.Ref.ID == "" {
		obj.Ref.ID = ref.ID
	}
	return obj, err
}

// Read returns the object that ref names as a W, for operations, checks and hooks. It is the way to the data of a Secret or a
// ConfigMap, whose metadata alone is watched ([WithWatchedKinds]):
//
//	secret, err := ctrlx.Read[*corev1.Secret](ctx, req.Resource.Spec.Credentials.Ref())
//
// The object comes from the cache if that has the whole object, and else from the API server. Then a pass reads it once: a
// check and Apply get the same data. The resource follows it as with [Follow], so a change of the data causes a pass. W is the
// type that the scheme of the manager has for the kind. The copy is the caller's.
//
// The object is read in the cluster of the manager, with the rights of the manager, also under [WithTargetClient]. An object of
// another namespace needs [WithForeignReferences]. The error of an object that does not exist waits for it ([flow.WaitFor]),
// and apierrors.IsNotFound reports it. Read also fails outside of a pass, and for an object of another type.
func Read[W client.Object](ctx context.Context, ref checks.Ref) (W, error) {
	var none W
	obj, err := resolve(ctx, ref)
	if err != nil {
		return none, err
	}
	Follow(ctx, obj.Ref)
	value := obj.Value
	if obj.Whole != nil {
		if value, err = obj.Whole(ctx); err != nil {
			return none, fmt.Errorf("ctrlx: %s: %w", obj.Ref, err)
		}
	}
	if value == nil {
		err := apierrors.NewNotFound(schema.GroupResource{Group: ref.Group, Resource: ref.Kind}, ref.Name)
		return none, flow.WaitFor(fmt.Errorf("ctrlx: %s: %w", obj.Ref, err), obj.Ref)
	}
	if read, ok := value.(W); ok {
		return read.DeepCopyObject().(W), nil
	}
	return none, fmt.Errorf("ctrlx: %s is a %T, and not a %T: give Read the type that the scheme of the manager has for the kind", obj.Ref, value, none)
}

// whole returns the whole object of a kind whose metadata is watched; nil: it does not exist. The pass reads it once.
func (p *pass) whole(ctx context.Context, ref checks.Ref) (any, error) {
	ref.ID = ""
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.indexOf(ref)
	if i >= 0 && p.seen[i].whole != nil {
		return p.seen[i].whole, nil
	}
	obj, err := p.engine.Whole(ctx, ref)
	if obj == nil || err != nil {
		return nil, err
	}
	if i >= 0 {
		p.seen[i].whole = obj
	}
	return obj, nil
}

// namesOnly is the Value of an object whose name was listed, and not its content.
type namesOnly struct{}

// objects returns the view of listed objects for checks. self is the resource.
func (of readinesses) objects(listed []client.Object, q checks.Query, self index.ID) []checks.Object {
	all := make([]checks.Object, len(listed))
	for i, obj := range listed {
		ref := checks.Ref{Group: q.Group, Kind: q.Kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
		if q.NamesOnly {
			all[i] = checks.Object{
				Ref: ref, Value: namesOnly{}, Deleting: !obj.GetDeletionTimestamp().IsZero(), Partial: "only its name was listed; leave NamesOnly out of the query",
			}
		} else {
			all[i] = of.object(obj, ref, "")
		}
		if foreign(self.Namespace, ref.Namespace) {
			all[i] = withoutText(all[i])
		}
		all[i].Self = engine.ID(schema.GroupKind{Group: q.Group, Kind: q.Kind}, client.ObjectKeyFromObject(obj)) == self
	}
	return all
}

// readinesses holds the functions that return the readiness of the objects of a kind.
type readinesses map[schema.GroupKind]ready.Func

// object returns the view of obj for checks. obj was read for ref. An object with
// another UID than the wanted one was created again under its name: the wanted object does
// not exist.
func (of readinesses) object(obj client.Object, ref checks.Ref, uid types.UID) checks.Object {
	if uid != "" && obj.GetUID() != uid {
		return checks.Object{Ref: ref}
	}
	f := of[schema.GroupKind{Group: ref.Group, Kind: ref.Kind}]
	switch {
	case f != nil:
	case ref.Group == "" && (ref.Kind == "ConfigMap" || ref.Kind == "Secret"):
		f = Exists
	default:
		f = ready.Of
	}
	o := ready.Object(obj, ref, f)
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		o.Partial = "only its metadata is watched; name the kind in ctrlx.WithWatchedKinds"
	}
	return o
}

// WithReadiness sets how ready owners and references of a kind are: [Exists],
// [AnyGeneration], [Kstatus], or a function that only reads the object. Without
// the option, it is the Ready condition of the present generation. An object
// without that condition is never ready, except a ConfigMap and a Secret, which
// are ready if they exist. A kind without a name and a nil function panic.
func WithReadiness(kind schema.GroupKind, of func(obj client.Object) checks.Readiness) Option {
	if kind.Kind == "" || of == nil {
		panic(fmt.Sprintf("ctrlx: WithReadiness: %q: give a kind and a function", kind))
	}
	return option(func(o *options) {
		if o.readiness == nil {
			o.readiness = readinesses{}
		}
		o.readiness[kind] = of
	})
}

// Exists is the readiness of kinds whose objects are ready if they exist, such as
// ConfigMap and Secret.
func Exists(obj client.Object) checks.Readiness {
	return checks.Readiness{State: checks.Ready, Generation: obj.GetGeneration(), Observed: obj.GetGeneration()}
}

// AnyGeneration is the readiness of kinds whose Ready condition has no generation, as
// the kinds of many Crossplane providers. After a change of its spec, such an object
// looks ready until its controller has noticed the change.
func AnyGeneration(obj client.Object) checks.Readiness { return ready.OfAnyGeneration(obj) }

// Kstatus returns the readiness of a kind by the rules of kstatus, for example of
// Deployment and Job. An object of another kind without conditions is ready by these
// rules. A kind without a name or a version panics.
func Kstatus(kind schema.GroupVersionKind) func(obj client.Object) checks.Readiness {
	if kind.Kind == "" || kind.Version == "" {
		panic(fmt.Sprintf("ctrlx: Kstatus: %q: give a kind and a version", kind))
	}
	return ready.Cached(ready.Kstatus(kind), byversion.DefaultSize)
}

// WithForeignReferences allows references into other namespaces. Without it, an
// object may refer to objects of its own namespace and to objects without a
// namespace. A reference to any other object is an error (NamespaceNotAllowed),
// and the object is not read: else a user who may create objects could find out
// which objects exist where the user may not read.
//
// allow reports whether an object of namespace may refer to the object of ref,
// which has a namespace. An object without a namespace has no namespace of its
// own, so allow decides about each of its references, with an empty namespace. For
// a set of one other namespace ([checks.Query]), ref is the Ref of the set. A
// query with [checks.AllNamespaces] is always allowed, because code names it: do
// not take the namespace of a query from a spec.
//
// No message quotes the reason and the message of an object in another namespace,
// also with this option. Nil panics.
func WithForeignReferences(allow func(namespace string, ref checks.Ref) bool) Option {
	if allow == nil {
		panic("ctrlx: WithForeignReferences: the function is nil")
	}
	return option(func(o *options) { o.foreign = allow })
}

// foreignReferences is the function of [WithForeignReferences]; nil: it was not
// given.
type foreignReferences func(namespace string, ref checks.Ref) bool

// foreign reports whether a namespace is another one than that of an object; empty:
// there is none.
func foreign(own, namespace string) bool {
	return namespace != "" && namespace != own && namespace != checks.AllNamespaces
}

// refused returns the error of a reference of an object of a namespace; nil: it is
// allowed. ref has the namespace of the referenced object, if that has one.
func (allow foreignReferences) refused(own string, ref checks.Ref) error {
	if !foreign(own, ref.Namespace) || allow != nil && allow(own, ref) {
		return nil
	}
	return &apierr.NamespaceNotAllowedError{Namespace: ref.Namespace}
}

// withoutText returns an object without the texts that messages quote.
func withoutText(o checks.Object) checks.Object {
	o.Readiness.Reason, o.Readiness.Message = "", ""
	return o
}

// reference is find for a reference that a user may have written.
func (p *pass) reference(ctx context.Context, ref checks.Ref, w wanted) (checks.Object, error) {
	own := p.engine.Waiter().Namespace
	if !foreign(own, ref.Namespace) || engine.IsDependent(ctx) { // code names the dependents
		return p.find(ctx, ref, w)
	}
	at := p.engine.Resolved(ctx, ref)
	if err := p.foreign.refused(own, at); err != nil {
		return checks.Object{}, err
	}
	o, err := p.find(ctx, ref, w)
	if foreign(own, at.Namespace) {
		o = withoutText(o)
	}
	return o, err
}
