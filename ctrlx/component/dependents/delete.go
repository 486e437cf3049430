package dependents

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// remove deletes the live object, and no other version of it. It is the end of
// the delete chain.
func remove(ctx context.Context, r *Request) (Result, error) {
	if err := r.versioned(); err != nil {
		return Result{}, err
	}
	uid, version := r.Live.GetUID(), r.Live.GetResourceVersion()
	// The client decodes the answer, and refuses a kind that the scheme lacks in any
	// other form.
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.gvk)
	u.SetNamespace(r.ref.Namespace)
	u.SetName(r.ref.Name)
	err := r.of.client.Delete(ctx, u, client.Preconditions{UID: &uid, ResourceVersion: &version},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	switch {
	case apierrors.IsNotFound(err):
		return Result{Outcome: Gone}, nil
	case err != nil:
		return Result{}, err
	}
	return r.result(Terminating, "it is being deleted"), nil
}

// orphan keeps an object if its delete policy says so. If drop is set, it removes
// the marks of the owner.
func orphan(drop bool) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, r *Request) (Result, error) {
			kept := r.Policies.Delete == DeleteOrphan ||
				r.Policies.Delete == DeleteOrphanOnApply && !r.OwnerDeleted ||
				r.Policies.Delete == DeleteOrphanOnDelete && r.OwnerDeleted
			switch {
			case !kept:
				return next(ctx, r)
			case !drop:
				return r.result(Orphaned, ""), nil
			}
			if err := r.versioned(); err != nil {
				return Result{}, err
			}
			marks := map[string]any{}
			for _, mark := range []string{markOwner, markDigest, markApplied} {
				marks[r.of.name+"/"+mark] = nil
			}
			patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
				"uid": r.Live.GetUID(), "resourceVersion": r.Live.GetResourceVersion(), "annotations": marks,
				"labels": map[string]any{r.of.name + "/" + markOwner: nil},
			}})
			if err != nil {
				return Result{}, err
			}
			live := &metav1.PartialObjectMetadata{}
			live.SetNamespace(r.ref.Namespace)
			live.SetName(r.ref.Name)
			live.SetGroupVersionKind(r.gvk)
			err = r.of.client.Patch(ctx, live, client.RawPatch(types.MergePatchType, patch), r.manager())
			if client.IgnoreNotFound(err) != nil {
				return Result{}, err
			}
			return r.result(Orphaned, ""), nil
		}
	}
}
