// Package view turns objects of the API server into what checks see of them.
package view

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// Finder finds the object that ref names. An object that does not exist is no error, see [checks.Resolver].
type Finder func(ctx context.Context, ref checks.Ref, w Wanted) (checks.Object, error)

// Wanted holds the parts of an owner reference that a [checks.Ref] lacks. Both fields may be empty.
type Wanted struct {
	UID     types.UID // of the object; another object of its name does not count
	Version string    // of its API
}

// Key names an object for a flow, and not another one that is made under its name.
func Key[T client.Object](obj T) string {
	return client.ObjectKeyFromObject(obj).String() + " " + string(obj.GetUID())
}

// Deleting reports whether a user deletes an object.
func Deleting[T client.Object](obj T) bool { return !obj.GetDeletionTimestamp().IsZero() }

// Owner finds the owner of obj. The function owner names it, or else the controlling
// owner reference.
func Owner[T client.Object](ctx context.Context, obj T, owner func(T) checks.Ref, find Finder) (checks.Object, error) {
	if owner != nil {
		return find.WithID(ctx, owner(obj))
	}
	c := metav1.GetControllerOfNoCopy(obj)
	if c == nil {
		return checks.Object{}, nil
	}
	gv, err := schema.ParseGroupVersion(c.APIVersion)
	if err != nil {
		return checks.Object{}, fmt.Errorf("ctrlx: the controlling owner reference to %s %s: %w", c.Kind, c.Name, err)
	}
	return find(ctx, checks.Ref{Group: gv.Group, Kind: c.Kind, Name: c.Name}, Wanted{c.UID, gv.Version})
}

// WithID finds the object of a ref, and keeps the ref's cloud ID.
func (find Finder) WithID(ctx context.Context, ref checks.Ref) (checks.Object, error) {
	if ref.Kind == "" && ref.ID == "" && ref.Name != "" {
		return checks.Object{}, errors.New("ctrlx: the reference has no kind: set checks.Ref.Kind")
	}
	if ref.Kind == "" || ref.Name == "" { // it names no object of the API server
		return checks.Object{Ref: ref}, nil
	}
	obj, err := find(ctx, ref, Wanted{})
	if err == nil && obj.Ref.ID == "" {
		obj.Ref.ID = ref.ID
	}
	return obj, err
}

// namesOnly is the Value of an object whose name was listed, and not its content.
type namesOnly struct{}

// Readinesses holds the functions that return the readiness of the objects of a kind.
type Readinesses map[schema.GroupKind]ready.Func

// Objects returns the view of listed objects for checks. self is the resource.
func (of Readinesses) Objects(listed []client.Object, q checks.Query, self checks.Ref) []checks.Object {
	all := make([]checks.Object, len(listed))
	for i, obj := range listed {
		ref := checks.Ref{Group: q.Group, Kind: q.Kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
		if q.NamesOnly {
			all[i] = checks.Object{
				Ref: ref, Value: namesOnly{}, Deleting: Deleting(obj), Partial: "only its name was listed; leave NamesOnly out of the query",
			}
		} else {
			all[i] = of.Object(obj, ref, "")
		}
		if IsForeign(self.Namespace, ref.Namespace) {
			all[i] = WithoutText(all[i])
		}
		all[i].Self = ref == self
	}
	return all
}

// Object returns the view of obj for checks. obj was read for ref. An object with
// another UID than the wanted one was created again under its name: the wanted object does
// not exist.
func (of Readinesses) Object(obj client.Object, ref checks.Ref, uid types.UID) checks.Object {
	if uid != "" && obj.GetUID() != uid {
		return checks.Object{Ref: ref}
	}
	f := of[engine.KindOf(ref)]
	switch {
	case f != nil:
	case ref.Group == "" && (ref.Kind == "ConfigMap" || ref.Kind == "Secret"):
		f = Exists
	default:
		f = ready.Of
	}
	// The ref has the kind, because a typed object does not know its own.
	o := checks.Object{Ref: ref, Value: obj, Readiness: f(obj), Deleting: Deleting(obj)}
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		o.Partial = "only its metadata is watched; name the kind in ctrlx.WithWatchedKinds"
	}
	return o
}

// Exists is the readiness of kinds whose objects are ready if they exist.
func Exists(obj client.Object) checks.Readiness {
	return checks.Readiness{State: checks.Ready, Generation: obj.GetGeneration(), Observed: obj.GetGeneration()}
}

// ForeignReferences is the function of ctrlx.WithForeignReferences; nil: it was not
// given.
type ForeignReferences func(namespace string, ref checks.Ref) bool

// IsForeign reports whether a namespace is another one than that of an object; empty:
// there is none.
func IsForeign(own, namespace string) bool {
	return namespace != "" && namespace != own && namespace != checks.AllNamespaces
}

// Refused returns the error of a reference of an object of a namespace; nil: it is
// allowed. ref has the namespace of the referenced object, if that has one.
func (allow ForeignReferences) Refused(own string, ref checks.Ref) error {
	if !IsForeign(own, ref.Namespace) || allow != nil && allow(own, ref) {
		return nil
	}
	return &apierr.NamespaceNotAllowedError{Namespace: ref.Namespace}
}

// WithoutText returns an object without the texts that messages quote.
func WithoutText(o checks.Object) checks.Object {
	o.Readiness.Reason, o.Readiness.Message = "", ""
	return o
}
