package inuse

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx"
)

// The protocol has two orders. A resource that begins to use an object writes its record, and then reads the object live. A
// resource that releases an object changes its record, marks the object, and then lists the other records. The mark replaces
// the finalizer by another one, which also keeps the object. So one of the two sees the other: if the first one read the
// object before the mark, the list shows its record. Otherwise it replaces the mark by the finalizer, and the removal of the
// mark meets a conflict. An object that is being deleted needs no mark, because no resource begins to use it. (A resource
// that uses it without a record, because the guard is new, may lose it in the moment in which the last recorded one releases
// it: the API server accepts no finalizer any more.)
//
// Of two resources that release an object at the same time, at least one list shows neither, because each changes its record
// before it lists.

// protection is the state of a referenced object.
type protection int

const (
	protected protection = iota
	absent               // it does not exist
	ending               // a user deletes it, and the resource must not begin to use it
)

// look reads an object live, and sets its state: whether a resource may use it. uses reports that the resource may use it
// already.
func (g *guard[T]) look(ctx context.Context, t *target, uses bool) (*metav1.PartialObjectMetadata, error) {
	t.state = absent
	if t.missing {
		return nil, nil
	}
	at, err := g.read(ctx, *t)
	if at == nil || err != nil {
		return nil, err
	}
	t.state = protected
	if !at.DeletionTimestamp.IsZero() && !(uses && g.keeps(at)) {
		t.state = ending
	}
	return at, nil
}

// keeps reports whether a guard of the kind keeps an object.
func (g *guard[T]) keeps(at client.Object) bool {
	return slices.ContainsFunc(at.GetFinalizers(), func(f string) bool { return f == g.finalizer || f == g.mark })
}

// set replaces the finalizers of the guard, if the object is still as at was read.
func (g *guard[T]) set(ctx context.Context, at client.Object, own ...string) error {
	others := slices.DeleteFunc(slices.Clone(at.GetFinalizers()), func(f string) bool { return f == g.finalizer || f == g.mark })
	return ctrlx.SetFinalizers(ctx, at, append(others, own...))
}

// attempts bounds the repetitions of a write after a conflict.
const attempts = 5

// protect adds the finalizer to an object that a resource may use, and sets its state.
func (g *guard[T]) protect(ctx context.Context, t *target, uses bool) error {
	for range attempts {
		at, err := g.look(ctx, t, uses)
		if t.state != protected || !at.DeletionTimestamp.IsZero() || slices.Contains(at.Finalizers, g.finalizer) {
			return err
		}
		if err = g.set(ctx, at, g.finalizer); !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return g.busy(*t)
}

// unprotect removes the finalizer of an object that no other resource uses.
func (g *guard[T]) unprotect(ctx context.Context, obj T, t target) error {
	if used, err := g.used(ctx, obj, t); used || err != nil { // the user releases the object later
		return err
	}
	for range attempts {
		at, err := g.read(ctx, t)
		if at == nil || err != nil || !g.keeps(at) {
			return err
		}
		ends := !at.DeletionTimestamp.IsZero()
		if !ends && !slices.Contains(at.Finalizers, g.mark) {
			err = g.set(ctx, at, g.mark)
		}
		used := false
		if err == nil {
			used, err = g.used(ctx, obj, t)
		}
		switch {
		case err != nil:
		case !used:
			err = g.set(ctx, at)
		case !ends:
			err = g.set(ctx, at, g.finalizer)
		}
		if !apierrors.IsConflict(err) {
			return client.IgnoreNotFound(err)
		}
	}
	return g.busy(t)
}

// busy returns the error of an object that other writers change all the time. It is retried as a conflict.
func (g *guard[T]) busy(t target) error {
	return apierrors.NewConflict(schema.GroupResource{Group: t.gvk.Group, Resource: t.gvk.Kind}, t.ref.Name,
		fmt.Errorf("it changed %d times while its finalizers were written", attempts))
}

// used reports whether the record of a resource holds an object. The record of obj does not, unless a later leader has changed
// it. If only a record that cannot be read may hold it, the answer is an error: that resource may never release the object.
// The list is live.
func (g *guard[T]) used(ctx context.Context, obj T, t target) (bool, error) {
	namespace, page := t.ref.Namespace, ""
	var unreadable error
	if obj.GetNamespace() == "" {
		namespace = ""
	}
	for limit := int64(10); ; limit = min(limit*10, 1000) { // the first page usually shows a user, if there is one
		var list metav1.PartialObjectMetadataList
		list.SetGroupVersionKind(g.gvk.GroupVersion().WithKind(g.gvk.Kind + "List"))
		err := g.live.List(ctx, &list, client.InNamespace(namespace), client.Limit(limit), client.Continue(page))
		if apierrors.IsResourceExpired(err) && page != "" {
			page, unreadable = "", nil
			continue
		}
		if err != nil {
			return false, fmt.Errorf("the list of its users: %w", err)
		}
		for i := range list.Items {
			at := &list.Items[i]
			switch states, err := recordOf(at); {
			case err != nil:
				unreadable = fmt.Errorf("%s %s may use it: %v", g.gvk.Kind, client.ObjectKeyFromObject(at), err)
			case states[t.key] == stateHeld:
				return true, nil
			}
		}
		if page = list.GetContinue(); page == "" {
			return false, unreadable
		}
	}
}

// read reads the metadata of an object live; nil: it does not exist.
func (g *guard[T]) read(ctx context.Context, t target) (*metav1.PartialObjectMetadata, error) {
	at := &metav1.PartialObjectMetadata{}
	at.SetGroupVersionKind(t.gvk)
	err := g.live.Get(ctx, client.ObjectKey{Namespace: t.ref.Namespace, Name: t.ref.Name}, at)
	if ctrlx.Errors().NotFound(err) {
		return nil, nil
	}
	return at, err
}
