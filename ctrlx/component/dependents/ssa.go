package dependents

import (
	"context"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
)

// ssaMerge applies the manifest and wins all conflicts. Finalizers that this name
// owns stay, because the controller of a dependent may have the same name.
func ssaMerge(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.Live == nil || !r.ssa() {
			return next(ctx, r)
		}
		m, err := managersOf(r.Live, r.of.manager)
		if err != nil {
			return Result{}, err
		}
		u, err := r.changed(m.ownsFinalizer)
		if err != nil {
			return Result{}, err
		}
		config := client.ApplyConfigurationFromUnstructured(u)
		err = r.of.client.Apply(ctx, config, r.manager(), client.ForceOwnership)
		if err != nil {
			return Result{}, err
		}
		return r.wrote(Updated, u)
	}
}

// ssaOverride takes over the fields of managers with a prefix, so that the apply
// inside it removes those that the manifest lacks. Under both policies of
// server-side apply it takes over the fields that updates of this name own, as
// after a change of the policy.
func ssaOverride(prefixes []string) Middleware {
	name := "SsaOverride"
	if len(prefixes) > 0 {
		name += "(" + strings.Join(prefixes, ", ") + ")"
	}
	return chain.Named(name, func(next Handler) Handler {
		return func(ctx context.Context, r *Request) (Result, error) {
			if r.Live == nil || !r.ssa() {
				return next(ctx, r)
			}
			if err := r.versioned(); err != nil {
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
			if !changed {
				return next(ctx, r)
			}
			patch, err := json.Marshal([]map[string]any{
				{"op": "replace", "path": "/metadata/uid", "value": r.Live.GetUID()},
				{"op": "replace", "path": "/metadata/managedFields", "value": entries},
				{"op": "replace", "path": "/metadata/resourceVersion", "value": r.Live.GetResourceVersion()},
			})
			if err != nil {
				return Result{}, err
			}
			inner := *r
			inner.Live = r.Live.DeepCopyObject().(client.Object)
			err = r.of.client.Patch(ctx, inner.Live, client.RawPatch(types.JSONPatchType, patch), r.manager())
			if err != nil {
				return Result{}, err
			}
			res, err := next(ctx, &inner)
			res.TookOver = err == nil
			return res, err
		}
	})
}
