package dependents

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// ssaMerge applies the manifest and wins all conflicts. Finalizers that this
// name owns stay, because the controller of a dependent may have the same name.
func ssaMerge(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.Live == nil || !r.ssa() {
			return next(ctx, r)
		}
		if err := r.readManaged(ctx); err != nil {
			return Result{}, err
		}
		m, err := managersOf(r.Live, r.of.manager)
		if err != nil {
			return Result{}, err
		}
		u, err := r.changed(m.ownsFinalizer)
		if err != nil {
			return Result{}, err
		}
		for _, path := range allocated(r.gvk.GroupKind().String()) {
			dropNull(u, path)
		}
		config := client.ApplyConfigurationFromUnstructured(u)
		err = r.writer().Apply(ctx, config, r.manager(), client.ForceOwnership)
		if err != nil {
			return Result{}, r.refused(err)
		}
		return r.wrote(Updated, u)
	}
}

// ssaOverride takes over the fields of managers with a prefix, so that the
// apply inside it removes those that the manifest lacks. Under both policies of
// server-side apply it takes over the fields that updates of this name own, as
// after a change of the policy, and releases the object from other owners. An
// apply alone would leave their marks, and they would write and delete it.
func ssaOverride(prefixes []string) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, r *Request) (Result, error) {
			if r.Live == nil || !r.ssa() {
				return next(ctx, r)
			}
			if err := r.readManaged(ctx); err != nil {
				return Result{}, err
			}
			var all []string
			if r.Policies.Update == UpdateSsaOverride {
				all = prefixes
			}
			entries, changed, err := taken(r.Live.GetManagedFields(), r.gvk.GroupVersion().String(), r.of.manager, all)
			if err != nil {
				return Result{}, err
			}
			inner := *r
			inner.Live = r.Live.DeepCopyObject().(client.Object)
			released := r.release(inner.Live)
			if !changed && !released {
				return next(ctx, r)
			}
			annotations := inner.Live.GetAnnotations()
			delete(annotations, r.of.keys.digest) // if the apply fails, the object must not count as in sync
			ops := []map[string]any{
				{"op": "replace", "path": "/metadata/uid", "value": r.Live.GetUID()},
				{"op": "replace", "path": "/metadata/resourceVersion", "value": r.Live.GetResourceVersion()},
				{"op": "add", "path": "/metadata/annotations", "value": annotations},
			}
			if changed {
				ops = append(ops, map[string]any{"op": "replace", "path": "/metadata/managedFields", "value": entries})
			}
			if released {
				ops = append(ops,
					map[string]any{"op": "add", "path": "/metadata/labels", "value": inner.Live.GetLabels()},
					map[string]any{"op": "add", "path": "/metadata/ownerReferences", "value": inner.Live.GetOwnerReferences()})
			}
			patch, err := json.Marshal(ops)
			if err != nil {
				return Result{}, err
			}
			err = r.writer().Patch(ctx, inner.Live, client.RawPatch(types.JSONPatchType, patch), r.manager())
			if err != nil {
				return Result{}, err
			}
			res, err := next(ctx, &inner)
			if err != nil || res.Object == nil {
				return res, err
			}
			if r.of.mode == trying {
				r.release(res.Object) // the API server did not store the release
			}
			if res.TookOver = changed; !changed {
				return res, nil
			}
			return r.remains(res, &entries[len(entries)-1], all)
		}
	}
}

// remains removes from the result of a takeover the fields that the apply
// removes. A dry-run of the apply leaves them, because the API server does not
// store a dry-run of the takeover. Otherwise they are gone already.
func (r *Request) remains(res Result, ours *metav1.ManagedFieldsEntry, prefixes []string) (Result, error) {
	kept, dry := fieldpath.NewSet(), false
	for _, e := range res.Object.GetManagedFields() {
		if takes(&e, ours.APIVersion, r.of.manager, prefixes) && (e.Manager != ours.Manager || e.Operation != ours.Operation) {
			dry = true
			continue
		}
		set, err := setOf(&e)
		if err != nil {
			return Result{}, err
		}
		kept = kept.Union(set)
	}
	if !dry {
		return res, nil
	}
	taken, err := setOf(ours)
	if err != nil {
		return Result{}, err
	}
	u, err := r.content(res.Object)
	if err != nil {
		return Result{}, err
	}
	u = u.DeepCopy()
	without(u.Object, taken, kept)
	left, err := r.wrote(res.Outcome, u)
	res.Object = left.Object
	return res, err
}
