package dependents

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx"
)

// remove deletes the live object, and no other version of it. It is the end of
// the delete chain.
func remove(ctx context.Context, r *Request) (Result, error) {
	if err := r.versioned(); err != nil {
		return Result{}, err
	}
	uid, version := r.Live.GetUID(), r.Live.GetResourceVersion()
	// The client decodes the answer, and refuses a kind that the scheme lacks
	// in any other form.
	if r.of.mode == writing {
		r.of.creations.forget(r)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.gvk)
	u.SetNamespace(r.ref.Namespace)
	u.SetName(r.ref.Name)
	err := r.writer().Delete(ctx, u, client.Preconditions{UID: &uid, ResourceVersion: &version},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	switch {
	case ctrlx.Errors().NotFound(err):
		return Result{Outcome: Gone}, nil
	case err != nil:
		return Result{}, err
	}
	return r.result(Terminating, "it is being deleted"), nil
}

// orphan keeps an object if its delete policy says so. If drop is set, it
// removes the marks of the owner.
func orphan(drop bool) middleware {
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
			return r.try(ctx, dropMarks)
		}
	}
}

// dropMarks removes the marks of the owner from an object that is kept.
func dropMarks(ctx context.Context, r *Request) (Result, error) {
	if err := r.versioned(); err != nil {
		return Result{}, err
	}
	marks, labels := map[string]any{}, map[string]any{r.of.name + "/" + markOwner: nil}
	for _, mark := range []string{markOwner, markDigest, markApplied} {
		marks[r.of.name+"/"+mark] = nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": r.Live.GetUID(), "resourceVersion": r.Live.GetResourceVersion(), "annotations": marks, "labels": labels,
	}})
	if err != nil {
		return Result{}, err
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetNamespace(r.ref.Namespace)
	live.SetName(r.ref.Name)
	live.SetGroupVersionKind(r.gvk)
	err = r.writer().Patch(ctx, live, client.RawPatch(types.MergePatchType, patch), r.of.FieldOwner())
	if err != nil && !ctrlx.Errors().NotFound(err) {
		return Result{}, err
	}
	return r.result(Orphaned, ""), nil
}
