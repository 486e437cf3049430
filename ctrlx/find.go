package ctrlx

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
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
	return ready.Object(obj, ref, f)
}
