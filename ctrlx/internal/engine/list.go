package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

const (
	// MaxObjects is the largest number of objects of a list with their content.
	MaxObjects = 10_000
	// maxSelector is the largest length of a selector, which users may choose.
	maxSelector = 10_000
)

// Listed is a set as a pass has listed it.
type Listed struct {
	Ref     checks.Ref      // with the namespace in which the pass listed it
	Objects []client.Object // the oldest first
	// Follow is the number of the last change that wakes followers. Give it to
	// [Pass.End].
	Follow uint64
}

// errTooMany is the error of a list of more than MaxObjects objects with content.
var errTooMany = fmt.Errorf("the set has more than %d objects: set NamesOnly in the query, or select fewer", MaxObjects)

// parse returns the selector of a query.
func parse(q checks.Query) (labels.Selector, error) {
	if len(q.Selector) > maxSelector {
		return nil, fmt.Errorf("the selector has more than %d bytes: give a shorter one", maxSelector)
	}
	selector, err := labels.Parse(q.Selector)
	if err != nil {
		return nil, fmt.Errorf("the selector is not valid, give one as for kubectl -l: %w", err)
	}
	return selector, nil
}

// listable reports whether a ref names a set that passes can list.
func listable(ref checks.Ref) bool {
	q, ok := ref.Query()
	_, err := parse(q)
	return ok && err == nil
}

// listSet lists a set, the oldest object first.
func (e *Engine) listSet(ctx context.Context, k kind, state kindState, id index.ID, q checks.Query, selector labels.Selector, p *Pass) (all []client.Object, err error) {
	if w, _ := e.watchOf(KindOf(id)); w != nil && id.Namespace == checks.AllNamespaces && !e.listsAll(ctx, w) {
		return nil, errors.New("the manager's cache has some namespaces only: name a namespace in the query, or let the cache and the role have all of them")
	}
	if state == synced {
		all, err = e.listCached(ctx, k, id, q, selector)
	} else {
		ctx, cancel := context.WithTimeout(ctx, p.timeout)
		defer cancel()
		all, err = e.listLive(ctx, k, id, q, selector)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, byAge)
	return all, nil
}

// byAge orders the objects of a set: the oldest first, and then by name.
func byAge(a, b client.Object) int {
	return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), byName(a, b))
}

func byName(a, b client.Object) int {
	return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

// List lists the objects of a query in a namespace by any reader, the oldest
// first. An empty namespace stands for all. The reader selects by the field.
func List(ctx context.Context, reader client.Reader, scheme *runtime.Scheme, gvk schema.GroupVersionKind, namespace string, q checks.Query) ([]client.Object, error) {
	selector, err := parse(q)
	if err != nil {
		return nil, err
	}
	all, err := listBy(ctx, reader, newList(scheme, kind{gvk: gvk}), namespace, q, q.Field, selector)
	slices.SortFunc(all, byAge)
	return all, err
}

// listBy lists the objects of a query in a namespace into list. field is the name that the
// reader has for the field of the query.
func listBy(ctx context.Context, reader client.Reader, list client.ObjectList, namespace string, q checks.Query, field string, selector labels.Selector, opts ...client.ListOption) ([]client.Object, error) {
	opts = append(opts, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector})
	if q.Field != "" {
		opts = append(opts, client.MatchingFields{field: q.Value})
	}
	if err := reader.List(ctx, list, opts...); err != nil {
		return nil, err
	}
	all := make([]client.Object, 0, meta.LenList(list))
	each(list, func(obj client.Object) { all = append(all, obj) })
	if len(all) > MaxObjects && !q.NamesOnly {
		return nil, errTooMany
	}
	return all, nil
}

// listCached lists a set from the cache. The content is copied, because checks
// get it.
func (e *Engine) listCached(ctx context.Context, k kind, id index.ID, q checks.Query, selector labels.Selector) ([]client.Object, error) {
	all, err := listBy(ctx, e.cache, newList(e.scheme, k), namespaceOf(id), q, cacheField(q.Field), selector, client.UnsafeDisableDeepCopy)
	switch {
	case err != nil && strings.Contains(err.Error(), unknownNamespace):
		return nil, &NamespaceNotWatchedError{id.Namespace}
	case err != nil || q.NamesOnly:
		return all, err
	}
	for i, obj := range all {
		c := obj.DeepCopyObject().(client.Object)
		c.GetObjectKind().SetGroupVersionKind(k.gvk)
		all[i] = c
	}
	return all, nil
}

// listLive lists a set past the cache.
func (e *Engine) listLive(ctx context.Context, k kind, id index.ID, q checks.Query, selector labels.Selector) (all []client.Object, err error) {
	f, _ := e.indexed(KindOf(id), q.Field) // nil without a field; List reports the error
	for next := ""; ; {
		list := newList(e.scheme, k)
		err := e.live.List(ctx, list, client.InNamespace(namespaceOf(id)), client.MatchingLabelsSelector{Selector: selector},
			client.Limit(pageSize), client.Continue(next))
		if err != nil {
			return nil, err
		}
		each(list, func(obj client.Object) {
			if f == nil || slices.Contains(e.valuesIn(f, obj), q.Value) {
				obj.GetObjectKind().SetGroupVersionKind(k.gvk)
				all = append(all, obj)
			}
		})
		if len(all) > MaxObjects && !q.NamesOnly {
			return nil, errTooMany
		}
		if next = list.GetContinue(); next == "" {
			return all, nil
		}
	}
}

// Cached calls do for each object of a kind in the cache, which watches the kind.
// Do not change the objects. It waits for the first list of the kind.
func (e *Engine) Cached(ctx context.Context, gvk schema.GroupVersionKind, do func(client.Object)) error {
	list := newList(e.scheme, kind{gvk: gvk})
	if err := e.cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	each(list, do)
	return nil
}

// newList returns a list to read into, of the type that newObject returns.
func newList(scheme *runtime.Scheme, k kind) client.ObjectList {
	gvk := k.gvk.GroupVersion().WithKind(k.gvk.Kind + "List")
	if k.policy == metadataOnly {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk)
		return list
	}
	o, _ := scheme.New(gvk) // nil without the type
	if list, ok := o.(client.ObjectList); ok && scheme.Recognizes(k.gvk) {
		return list
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	return list
}

// each calls do for each object of a list.
func each(list client.ObjectList, do func(client.Object)) {
	_ = meta.EachListItem(list, func(o runtime.Object) error {
		do(o.(client.Object)) // what has a name can be listed, and nothing else
		return nil
	})
}

// listsAll reports whether passes can list a kind in all namespaces. If the
// manager's cache has some namespaces only, a list of all would leave out objects
// without an error.
func (e *Engine) listsAll(ctx context.Context, w *watch) bool {
	const none = "no-namespace-has-this-name.windlass-go.github.io"
	return w.everywhere &&
		e.cache.List(ctx, newList(e.scheme, w.kind), client.InNamespace(none), client.UnsafeDisableDeepCopy) == nil
}

// members returns the present members of a set, as far as the cache has them and
// index.Cycle examines them: the first ones by name. A cache lists in random order,
// and a pass that finds another cycle than the pass before writes the status again.
func (e *Engine) members(set index.ID) (ids []index.ID) {
	gk := KindOf(set)
	w, state := e.watchOf(gk)
	q, ok := set.Query()
	if state != synced || !ok {
		return nil
	}
	selector, _ := parse(q) // only a set that can be listed is awaited
	q.NamesOnly = true
	all, err := e.listCached(context.Background(), w.kind, set, q, selector)
	if err != nil {
		return nil
	}
	slices.SortFunc(all, byName)
	for _, obj := range all[:min(len(all), index.MaxMembers)] {
		ids = append(ids, ID(gk, client.ObjectKeyFromObject(obj)))
	}
	return ids
}

// indexed returns the index of a field of a kind; nil: there is none. The error says why
// the field cannot be queried.
func (e *Engine) indexed(gk schema.GroupKind, name string) (*field, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.fields[fieldKey{gk, name}]
	if f == nil {
		return nil, &FieldError{Field: name}
	}
	if err := f.broken.Load(); err != nil {
		return f, &FieldError{name, *err}
	}
	return f, nil
}

// unknownNamespace is part of the error of a controller-runtime cache that has
// some namespaces, about an object of another namespace. The error has no type.
const unknownNamespace = "because of unknown namespace for the cache"

// NamespaceNotWatchedError is the error of a reference into a namespace that the
// manager's cache does not have.
type NamespaceNotWatchedError struct{ Namespace string }

// Error names the namespace and the fix.
func (e *NamespaceNotWatchedError) Error() string {
	return fmt.Sprintf("the namespace %q is not in the manager's cache: correct the reference, or add the namespace to cache.Options", e.Namespace)
}

// cachedVersions returns the versions of the objects of a scope in the cache.
func (e *Engine) cachedVersions(ctx context.Context, w *watch, scope string) (map[index.ID]string, error) {
	cached, err := e.listCached(ctx, w.kind, index.ID{Namespace: scope}, checks.Query{NamesOnly: true}, labels.Everything())
	if err != nil {
		return nil, err
	}
	versions := make(map[index.ID]string, len(cached))
	for _, obj := range cached {
		versions[ID(w.gvk.GroupKind(), client.ObjectKeyFromObject(obj))] = obj.GetResourceVersion()
	}
	return versions, nil
}
