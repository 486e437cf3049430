package dependents

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
	"github.com/windlass-go/windlass/flow"
)

// apply writes u by a server-side apply that wins all conflicts. The UID and the
// resource version of u are its preconditions.
func (r *Request) apply(ctx context.Context, u *unstructured.Unstructured, o Outcome) (Result, error) {
	err := r.writer().Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(r.of.manager), client.ForceOwnership)
	if err != nil {
		return Result{}, err
	}
	made, err := r.typed(u)
	return Result{Outcome: o, Object: made}, err
}

// marked returns the manifest with the marks of the owner.
func (r *Request) marked() *unstructured.Unstructured {
	digest := ""
	if r.verdict != nil {
		digest = r.verdict.digest
	}
	u := r.withMarks(digest)
	annotations, key := u.GetAnnotations(), &r.of.keys
	annotations[key.owner], annotations[key.applied] = r.by.id, r.of.clock.Now().UTC().Format(time.RFC3339)
	u.SetAnnotations(annotations)
	return u
}

// create creates an object that does not exist. It never changes one that
// appeared after the read: no object has the resource version 1.
func create(next handler) handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.Live != nil {
			return next(ctx, r)
		}
		u := r.marked()
		u.SetResourceVersion("1")
		res, err := r.apply(ctx, u, Created)
		switch {
		case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
			err = fmt.Errorf("it cannot be created, because its namespace is being deleted: %w", err)
			if !r.via.Target { // the manager watches the namespaces of its own cluster
				err = flow.WaitFor(err, checks.Ref{Kind: "Namespace", Name: r.ref.Namespace})
			}
		case definition.Unserved(err):
			err = fmt.Errorf("the API server does not serve its kind as the operator knows it: "+
				"install the definition, or restart the operator if the kind has another scope now, or another version: %w", err)
		}
		return res, err
	}
}

// recreate deletes an object of the policy Recreate. A later pass creates it.
// The adoption verdict of this pass is that of the deletion, too. An object that
// lost its digest is deleted only if the API server refuses to apply the manifest.
func recreate(next handler) handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.Live == nil || r.Policies.Update != UpdateRecreate {
			return next(ctx, r)
		}
		if r.verdict != nil && r.verdict.lost && r.versioned() == nil {
			if res, err := r.change(ctx); !apierrors.IsInvalid(err) {
				return res, err
			}
		}
		return r.removeToCreate(ctx)
	}
}

// update returns the link of an update policy. The policy says only whose fields
// this name takes over before the apply, so that the apply removes those that the
// manifest lacks.
func update(policy UpdatePolicy, takes func(manager string) bool) chain.Middleware[*Request, Result] {
	return func(next handler) handler {
		return func(ctx context.Context, r *Request) (Result, error) {
			if r.Live == nil || r.Policies.Update != policy {
				return next(ctx, r)
			}
			if err := r.readManaged(ctx); err != nil {
				return Result{}, err
			}
			inner := *r
			alone, err := inner.takeOver(ctx, takes)
			if err != nil {
				return Result{}, err
			}
			res, err := inner.change(ctx)
			if apierrors.IsInvalid(err) {
				var removed []string
				switch removed, err = inner.removeRefused(ctx, err); {
				case err == nil && r.of.mode == trying: // not stored, so another apply would be refused again
					res = Result{Outcome: Updated, Object: inner.Live, Fields: removed}
				case err == nil:
					res, err = inner.change(ctx)
				case r.of.mode == trying && alone != nil && apierrors.IsInvalid(err):
					return Result{Outcome: Updated}, nil // perhaps because of a field that the takeover removes
				}
			}
			if err == nil && r.of.mode == trying { // the API server did not store the takeover
				r.release(res.Object)
				var removed []string
				removed, err = r.removed(alone, res.Object)
				res.Fields = append(res.Fields, removed...)
			}
			return res, err
		}
	}
}

// change applies the manifest to the live object, and to no other version of it.
// Finalizers that this name owns stay, because the controller of a dependent may
// have the same name.
func (r *Request) change(ctx context.Context) (Result, error) {
	u := r.marked()
	var err error
	if r.managers, err = managersOf(r.Live, r.of.manager); err != nil {
		return Result{}, err
	}
	u.SetUID(r.Live.GetUID())
	u.SetResourceVersion(r.Live.GetResourceVersion())
	finalizers := u.GetFinalizers()
	for _, f := range r.Live.GetFinalizers() {
		path := fieldpath.MakePathOrDie("metadata", "finalizers", value.NewValueInterface(f))
		if !slices.Contains(finalizers, f) && r.managers.applied.Has(path) {
			finalizers = append(finalizers, f)
		}
	}
	u.SetFinalizers(finalizers)
	res, err := r.apply(ctx, u, Updated)
	return res, r.refused(err)
}

// refused returns the error of an update. That of an immutable field names the
// policy that changes it, unless the object holds data of others. So does that of a
// new strategy, if another manager owns fields of the old one.
func (r *Request) refused(err error) error {
	if !apierrors.IsInvalid(err) || slices.Contains(holders, r.gvk.Kind) {
		return err
	}
	for _, text := range []string{"immutable", "updates to statefulset spec", "pod updates may not change",
		"may not be specified when strategy", "only allowed for updateStrategy"} {
		if strings.Contains(err.Error(), text) {
			return fmt.Errorf("to delete the object and create it again, set %s/update-policy=%s: %w",
				r.of.name, UpdateRecreate, err)
		}
	}
	return err
}

// takeOver makes fields of other managers, and those that updates of this name
// own, fields of its apply. It also releases the object from other owners: an
// apply alone would leave their marks, and they would write and delete it. Live
// becomes the object with these changes. alone are the fields that no manager
// owns but those that lost them.
func (r *Request) takeOver(ctx context.Context, takes func(manager string) bool) (alone *fieldpath.Set, err error) {
	entries, alone, err := r.taken(takes)
	if err != nil {
		return nil, err
	}
	live := r.Live.DeepCopyObject().(client.Object)
	released := r.release(live)
	if entries == nil && !released {
		return nil, nil
	}
	ops := []operation{{"add", "/metadata/labels", live.GetLabels()}, {"add", "/metadata/ownerReferences", live.GetOwnerReferences()}}
	if entries != nil {
		ops = append(ops, operation{"replace", "/metadata/managedFields", entries})
	}
	return alone, r.patch(ctx, live, ops)
}

// taken returns the managed fields of the live object after a takeover; nil: there
// is nothing to take. The fields of another version of the API than the manifest's
// may have other paths, so they stay. alone are the taken fields that no other
// manager owns. The package csaupgrade is no help here: it takes no fields of an
// Apply, and drops those of other versions of the API.
func (r *Request) taken(takes func(manager string) bool) (entries []metav1.ManagedFieldsEntry, alone *fieldpath.Set, err error) {
	m, err := managersOf(r.Live, r.of.manager)
	if err != nil {
		return nil, nil, err
	}
	ignored, err := r.released(m)
	if err != nil {
		return nil, nil, err
	}
	ours, version := m.entry, r.gvk.GroupVersion().String()
	ours.APIVersion = cmp.Or(ours.APIVersion, version)
	taken, others := fieldpath.NewSet(), fieldpath.NewSet()
	for _, o := range m.others {
		e, set := o.entry, o.set
		// The API server converts an own entry of another version in this apply.
		if e.Subresource == "" && e.APIVersion == version && ours.APIVersion == version && (e.Manager == ours.Manager || takes(e.Manager)) {
			takes := set.RecursiveDifference(ignored.Union(untaken))
			taken = taken.Union(takes)
			if set = set.Difference(takes); set.Empty() {
				continue
			}
			e.FieldsV1 = fieldsV1(set)
		}
		others = others.Union(set)
		entries = append(entries, e)
	}
	stays := m.applied.RecursiveDifference(ignored) // an apply without a field that only this name owns would remove it
	if taken.Empty() && stays.Equals(m.applied) {
		return nil, nil, nil
	}
	ours.FieldsV1 = fieldsV1(stays.Union(taken))
	return append(entries, ours), taken.Leaves().Difference(others), nil
}

// released returns the ignored fields as m, the managed fields of the live object,
// name them. An item of a list that has one owner as a whole is an error, because no apply
// leaves a part of such a list alone.
func (r *Request) released(m *managers) (*fieldpath.Set, error) {
	ignored := fieldpath.NewSet(r.ignored...)
	if ignored.Empty() {
		return ignored, nil
	}
	live, err := runtime.DefaultUnstructuredConverter.ToUnstructured(r.Live)
	if err != nil {
		return nil, err
	}
	given, err := manifest(r.Object, r.gvk)
	if err != nil {
		return nil, err
	}
	for _, path := range r.ignored {
		found := located(live, m.all, path, nil)
		for _, p := range found {
			if p[len(p)-1].Key != nil && m.owns(m.all, p) && m.all.RecursiveDifference(fieldpath.NewSet(p)).Equals(m.all) {
				return nil, fmt.Errorf("%w: %s: %s cannot be ignored, because the API server knows no items of this list: "+
					"ignore the whole list", ErrInvalid, r.Ref(), textOf(path))
			}
		}
		for _, p := range append(found, located(given.Object, m.all, path, nil)...) { // all that removePath removes
			ignored.Insert(p)
		}
	}
	return ignored, nil
}

// located returns the paths in managed fields of what path names in an object. all
// are the managed fields of content, which is at outer. They name an item of a list
// by all its keys, and path may name it by any of its fields.
func located(content any, all *fieldpath.Set, path, outer fieldpath.Path) (paths []fieldpath.Path) {
	if len(path) == 0 {
		return []fieldpath.Path{outer}
	}
	e := path[0]
	at := func(e fieldpath.PathElement, inner any) {
		paths = append(paths, located(inner, all.WithPrefix(e), path[1:], append(slices.Clip(outer), e))...)
	}
	switch content := content.(type) {
	case map[string]any:
		if e.FieldName == nil {
			break
		}
		if inner, found := content[*e.FieldName]; found {
			at(e, inner)
		}
	case []any:
		is, items := names(e, content), itemsOf(all)
		for _, item := range content {
			if is(item) && len(items) == 0 {
				return []fieldpath.Path{append(slices.Clip(outer), e)}
			}
			for _, field := range items {
				if is(item) && matches(elementOf(field, item), field) {
					at(field, item)
				}
			}
		}
	}
	return paths
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// patch changes the live object before an apply, and no other version of it. Live
// becomes obj, a copy of it, with the answer of the API server.
func (r *Request) patch(ctx context.Context, obj client.Object, ops []operation) error {
	annotations := obj.GetAnnotations()
	delete(annotations, r.of.keys.digest)        // if the apply fails, the object must not count as in sync
	patch, _ := json.Marshal(append([]operation{ // all values are those of an object
		{"replace", "/metadata/uid", r.Live.GetUID()},
		{"replace", "/metadata/resourceVersion", r.Live.GetResourceVersion()},
		{"add", "/metadata/annotations", annotations},
	}, ops...))
	r.Live = obj
	return r.writer().Patch(ctx, obj, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(r.of.manager))
}

// removeRefused removes the fields for which the API server refuses a manifest, as
// the defaults of another strategy of a Deployment: an apply leaves a field that no
// manager owns. The same request sets the manifest's fields next to them: without
// them, the API server would set the default again. It returns refused if the manifest has such a field,
// if another manager owns it, or if its path has an item of a list.
func (r *Request) removeRefused(ctx context.Context, refused error) (removed []string, err error) {
	live, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(r.Live) // nil, if it cannot be marshaled
	live = runtime.DeepCopyJSON(live)
	at := func(object map[string]any, outer []string) map[string]any {
		value, _, _ := unstructured.NestedFieldNoCopy(object, outer...)
		content, _ := value.(map[string]any)
		return content
	}
	var ops []operation
	for _, cause := range causesOf(refused) {
		names := strings.Split(cause.Field, ".")
		var path fieldpath.Path
		for _, name := range names {
			path = append(path, fieldpath.FieldNameElement(name))
		}
		outer, name := names[:len(names)-1], names[len(names)-1]
		content, siblings := at(live, outer), at(r.manifest().Object, outer)
		_, found := content[name]
		_, given := siblings[name]
		if !found || given || siblings == nil || len(outer) == 0 || r.managers.of(path) != "" {
			return nil, refused
		}
		delete(content, name)
		maps.Copy(content, siblings)
		ops = append(ops, operation{"replace", "/" + strings.Join(outer, "/"), content})
		removed = append(removed, cause.Field+isRemoved)
	}
	if ops == nil {
		return nil, refused
	}
	return removed, r.patch(ctx, r.Live.DeepCopyObject().(client.Object), ops)
}

// noUpdate is the end of the apply chain.
func noUpdate(_ context.Context, r *Request) (Result, error) {
	return Result{}, fmt.Errorf("no link of the chain writes objects with the update policy %s: add the link again",
		r.Policies.Update)
}
