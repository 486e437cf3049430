package dependents

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// replace writes the whole manifest. Finalizers and allocated fields of the
// live object stay.
func replace(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.Live == nil || r.Policies.Update != UpdateReplace {
			return next(ctx, r)
		}
		u, err := r.changed(func(string) bool { return true })
		if err != nil {
			return Result{}, err
		}
		if err = r.keepAllocated(u); err != nil {
			return Result{}, err
		}
		if err = r.writer().Update(ctx, u, r.manager()); err != nil {
			return Result{}, err
		}
		return r.wrote(Updated, u)
	}
}

// allocated returns the fields of a kind that Kubernetes sets after the create.
// An autoscaler sets spec.replicas of any kind. The API server refuses a change
// of the others, so a write without them would fail for ever.
func allocated(kind string) [][]string {
	switch kind {
	case "Job.batch":
		paths := [][]string{{"spec", "selector"}}
		for _, label := range []string{
			"batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name",
		} {
			paths = append(paths, []string{"spec", "template", "metadata", "labels", label})
		}
		return paths
	case "PersistentVolumeClaim":
		return [][]string{{"spec", "volumeName"}, {"spec", "storageClassName"}}
	}
	return [][]string{{"spec", "replicas"}}
}

// keepAllocated adds the allocated fields of the live object that the manifest
// lacks. A null counts as absent, even that of a parent, as templates make it.
// A field that this name owns is not added, because an earlier manifest had it.
func (r *Request) keepAllocated(u *unstructured.Unstructured) error {
	m, err := managersOf(r.Live, r.of.manager)
	if err != nil {
		return err
	}
	live, err := r.content(r.Live)
	if err != nil {
		return err
	}
	for _, path := range allocated(r.gvk.GroupKind().String()) {
		value, _, _ := unstructured.NestedFieldNoCopy(live.Object, path...)
		given, _, err := unstructured.NestedFieldNoCopy(u.Object, path...)
		var elements fieldpath.Path
		for _, name := range path {
			elements = append(elements, fieldpath.FieldNameElement(name))
		}
		if value == nil || given != nil || err != nil || m.owns(m.ours, elements) {
			continue
		}
		for i := range path {
			if parent, _, _ := unstructured.NestedFieldNoCopy(u.Object, path[:i+1]...); parent == nil {
				unstructured.RemoveNestedField(u.Object, path[:i+1]...)
				break // SetNestedField makes it
			}
		}
		if err := unstructured.SetNestedField(u.Object, runtime.DeepCopyJSONValue(value), path...); err != nil {
			return err
		}
	}
	return nil
}

// recreate deletes an object of the policy Recreate. A later pass creates it.
// The adoption verdict of this pass is that of the deletion, too.
func recreate(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.Live == nil || r.Policies.Update != UpdateRecreate {
			return next(ctx, r)
		}
		res, err := remove(ctx, r)
		if res.Outcome == Gone {
			res.Outcome = Terminating // the next pass reads again, and creates it
		}
		res.Message = "it is being deleted, to be created with the new manifest"
		return res, err
	}
}
