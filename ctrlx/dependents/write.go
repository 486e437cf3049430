package dependents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writer returns the client of all writes. It stores nothing unless the
// Dependents writes, whatever links the chain has.
func (r *Request) writer() client.Client {
	if r.of.mode == writing {
		return r.via.client
	}
	return client.NewDryRunClient(r.via.client)
}

// manager returns the field manager of all writes.
func (r *Request) manager() client.FieldOwner { return r.of.FieldOwner() }

// versioned returns an error unless the live object was read with a UID and a
// resource version. A write without them would have no precondition.
func (r *Request) versioned() error {
	if r.Live == nil || r.Live.GetUID() == "" || r.Live.GetResourceVersion() == "" {
		return errors.New("it was not read, or without a UID or a resource version, so it is not written: " +
			"check the client, and the links that read the object")
	}
	return nil
}

// changed returns the marked manifest for a change of the live object, and of
// no other version of it.
func (r *Request) changed(keep func(finalizer string) bool) (*unstructured.Unstructured, error) {
	if err := r.versioned(); err != nil {
		return nil, err
	}
	u, err := r.marked()
	if err != nil {
		return nil, err
	}
	u.SetUID(r.Live.GetUID())
	u.SetResourceVersion(r.Live.GetResourceVersion())
	finalizers := u.GetFinalizers()
	for _, f := range r.Live.GetFinalizers() {
		if !slices.Contains(finalizers, f) && keep(f) {
			finalizers = append(finalizers, f)
		}
	}
	u.SetFinalizers(finalizers)
	return u, nil
}

// refused returns the error of an update. That of an immutable field names the
// policy that changes it, unless it would delete other objects.
func (r *Request) refused(err error) error {
	if !apierrors.IsInvalid(err) || r.gvk.Kind == "Namespace" || r.gvk.Kind == "CustomResourceDefinition" {
		return err
	}
	for _, text := range []string{"immutable", "updates to statefulset spec", "pod updates may not change"} {
		if strings.Contains(err.Error(), text) {
			return fmt.Errorf("to delete the object and create it again, set %s/%s=%s: %w",
				r.of.name, annotationUpdate, UpdateRecreate, err)
		}
	}
	return err
}

// noUpdate is the end of the apply chain.
func noUpdate(_ context.Context, r *Request) (Result, error) {
	return Result{}, fmt.Errorf("no link of the chain writes objects with the update policy %s: add the link again",
		r.Policies.Update)
}
