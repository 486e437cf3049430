package ctrlx

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/byversion"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/ctrlx/internal/settings"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/ctrlx/internal/view"
	"github.com/windlass-go/windlass/flow"
)

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
	var zero W
	obj, err := resolve(ctx, ref)
	if err != nil {
		return zero, err
	}
	Follow(ctx, obj.Ref)
	value := obj.Value
	if obj.Whole != nil {
		if value, err = obj.Whole(ctx); err != nil {
			return zero, fmt.Errorf("ctrlx: %s: %w", obj.Ref, err)
		}
	}
	if value == nil {
		err := apierrors.NewNotFound(schema.GroupResource{Group: ref.Group, Resource: ref.Kind}, ref.Name)
		return zero, flow.WaitFor(fmt.Errorf("ctrlx: %s: %w", obj.Ref, err), obj.Ref)
	}
	if read, ok := value.(W); ok {
		return read.DeepCopyObject().(W), nil
	}
	return zero, fmt.Errorf("ctrlx: %s is a %T, and not a %T: give Read the type that the scheme of the manager has for the kind", obj.Ref, value, zero)
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
	return settings.Option(func(o *settings.Shared) {
		if o.Readiness == nil {
			o.Readiness = view.Readinesses{}
		}
		o.Readiness[kind] = of
	})
}

// Exists is the readiness of kinds whose objects are ready if they exist, such as
// ConfigMap and Secret.
func Exists(obj client.Object) checks.Readiness { return view.Exists(obj) }

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
	setup.MustEdit("ctrlx: WithForeignReferences", allow)
	return settings.Option(func(o *settings.Shared) { o.Foreign = allow })
}

// Follow is [checks.OwnerRequest.Follow] for code of an operation that has the context of the
// pass, and no request. The trace does not show the objects. Outside of a pass it
// does nothing.
//
// Passes that do not call Apply keep what Apply has followed, until an Apply that
// begins again follows other objects. After a restart, this is not known until
// Apply is called: if Operations.Get reports objects in sync, call Follow there,
// too. An object that follows in this way stores no success for a quiet restart
// unless a check follows the same objects, because the library does not know them
// as the operation read them.
func Follow(ctx context.Context, refs ...checks.Ref) {
	if p := passOf(ctx); p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.follows = append(p.follows, refs...)
	}
}
