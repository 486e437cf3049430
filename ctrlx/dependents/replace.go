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
		if err := r.readManaged(ctx); err != nil {
			return Result{}, err
		}
		u, err := r.changed(func(string) bool { return true })
		if err != nil {
			return Result{}, err
		}
		if err = r.keepAllocated(u); err != nil {
			return Result{}, err
		}
		if err = r.writer().Update(ctx, u, r.manager()); err != nil {
			return Result{}, r.refused(err)
		}
		return r.wrote(Updated, u)
	}
}

// allocated returns the fields of a kind that Kubernetes sets after the create.
// An autoscaler sets spec.replicas of any kind. A volume without its claim is
// free for another claim, which gets its data. OpenShift makes new secrets for
// a ServiceAccount without them. The API server refuses to remove most of the
// others, so a write without them would fail for ever.
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
		paths := [][]string{{"spec", "volumeName"}, {"spec", "storageClassName"}, {"spec", "volumeAttributesClassName"}}
		for _, annotation := range []string{
			"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller", "volume.kubernetes.io/selected-node",
			"volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner",
		} {
			paths = append(paths, []string{"metadata", "annotations", annotation})
		}
		return paths
	case "PersistentVolume":
		return [][]string{
			{"spec", claimRef}, {"spec", "nodeAffinity"}, {"spec", "volumeAttributesClassName"},
			{"metadata", "annotations", "pv.kubernetes.io/bound-by-controller"},
		}
	case "Service":
		return [][]string{{"spec", "loadBalancerClass"}}
	case "ServiceAccount":
		return [][]string{{"secrets"}, {"imagePullSecrets"}}
	}
	return [][]string{{"spec", "replicas"}}
}

// claimRef is the field of a volume that names its claim.
const claimRef = "claimRef"

// keepAllocated adds the allocated fields of the live object that the manifest
// lacks. A null counts as absent, even that of a parent, as templates make it.
// A field that this name owns is not added, because an earlier manifest had it.
// The claim of a volume is always added: its removal could lose data.
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
		dropped := m.owns(m.ours, elements) && path[len(path)-1] != claimRef
		if value == nil || given != nil || err != nil || dropped {
			continue
		}
		dropNull(u, path) // SetNestedField makes the parents
		if err := unstructured.SetNestedField(u.Object, runtime.DeepCopyJSONValue(value), path...); err != nil {
			return err
		}
	}
	return nil
}

// dropNull removes the null at path, or at a parent of it. A server-side apply of
// a null would reset the field, as that of an autoscaler.
func dropNull(u *unstructured.Unstructured, path []string) {
	for i := range path {
		if value, _, err := unstructured.NestedFieldNoCopy(u.Object, path[:i+1]...); value == nil && err == nil {
			unstructured.RemoveNestedField(u.Object, path[:i+1]...)
			return
		}
	}
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
