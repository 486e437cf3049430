package component

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/component/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
)

// rebuilt returns the inventory of a component that has none stored: a new
// component, or one that lost its status, for example in a backup. It lists the
// objects that have the label of the component, past the cache. A label is no
// proof, because people copy objects with their labels. So the items are marked
// as rebuilt. An object that its policy keeps is left out.
func (s *Set) rebuilt(ctx context.Context) (*Inventory, error) {
	v := &Inventory{}
	if s.isNew(ctx) {
		return v, nil // a stranger may have used its label
	}
	kinds, namespaces, err := s.searched(ctx)
	if err != nil {
		return nil, err
	}
	for _, gvk := range kinds {
		found, err := s.labelled(ctx, gvk, client.MatchingLabels{s.labelKey: s.label}, namespaces)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", gvk.GroupKind(), err)
		}
		for i := range found {
			if kept, err := s.kept(ctx, &found[i]); err != nil {
				return nil, err
			} else if kept {
				continue
			}
			item, err := s.rebuiltItem(ctx, &found[i])
			if err != nil {
				return nil, err
			}
			v.Items = append(v.Items, item)
		}
	}
	return v, nil
}

// isNew reports whether no earlier pass has written an object of the component: it
// got its finalizer in this pass, and is not the parent of an ApplySet. A backup
// keeps one of both.
func (s *Set) isNew(ctx context.Context) bool {
	pass, ok := ctx.Value(engine.PassKey{}).(*engine.InPass)
	_, parent := s.Component.GetAnnotations()[annotationTooling]
	return ok && pass.New && !parent
}

// searched returns the kinds and the namespaces in which a component may have objects:
// the kinds of [WithKinds] and the namespace of the component, and those of the
// annotations of [WithApplySet]. A kind that the API server does not serve has no version.
func (s *Set) searched(ctx context.Context) (kinds []schema.GroupVersionKind, namespaces []string, err error) {
	var types []TypeInfo
	if s.system.applySet {
		if types, namespaces, err = hints(s.Component); err != nil {
			return nil, nil, err
		}
	}
	for _, gvk := range s.system.options.kinds {
		types = append(types, TypeInfo{Group: gvk.Group, Kind: gvk.Kind})
	}
	if ns := s.Component.GetNamespace(); ns != "" {
		namespaces = append(namespaces, ns)
	}
	slices.Sort(namespaces) // a namespace that is named twice is listed once
	namespaces = slices.Compact(namespaces)
	kinds, err = s.system.types.kinds(ctx, s.access, types)
	return kinds, namespaces, err
}

// labelled lists the objects of a kind that have a label. A kind without a definition
// has none. A kind that has one, and that the API server does not serve, is an error.
func (s *Set) labelled(
	ctx context.Context, gvk schema.GroupVersionKind, label client.MatchingLabels, namespaces []string,
) (found []metav1.PartialObjectMetadata, err error) {
	list := func(version string) error {
		found, err = s.labelledIn(ctx, gvk.GroupKind().WithVersion(version), label, namespaces)
		return err
	}
	if gvk.Version == "" || definition.Unserved(list(gvk.Version)) {
		err = definition.Read(ctx, s.access.live, gvk.GroupKind(), list)
	}
	if errors.Is(err, definition.ErrNone) {
		return nil, nil
	}
	return found, err
}

// labelledIn lists objects of a version: everywhere, or in some namespaces if that is
// forbidden.
func (s *Set) labelledIn(
	ctx context.Context, gvk schema.GroupVersionKind, label client.MatchingLabels, namespaces []string,
) (found []metav1.PartialObjectMetadata, err error) {
	for _, ns := range append([]string{""}, namespaces...) {
		if ns != "" {
			s.searches++
		}
		if s.searches > mostSearches {
			return nil, applySetError("the component has too many kinds and namespaces for %d lists in single namespaces: "+
				"allow the operator to list the kinds in all namespaces", mostSearches)
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		err = s.access.live.List(ctx, list, label, client.InNamespace(ns))
		switch {
		case err != nil && (ns != "" || !apierrors.IsForbidden(err)):
			return nil, err
		case err != nil:
			continue
		}
		for i := range list.Items {
			list.Items[i].SetGroupVersionKind(gvk)
		}
		if found = append(found, list.Items...); ns == "" {
			return found, nil
		}
	}
	return found, err
}

// rebuiltItem returns the item of the inventory for an object that was found by
// its label.
func (s *Set) rebuiltItem(ctx context.Context, obj *metav1.PartialObjectMetadata) (Item, error) {
	gvk := obj.GroupVersionKind()
	item := Item{Group: gvk.Group, Kind: gvk.Kind, Namespace: obj.Namespace, Name: obj.Name, Rebuilt: true}
	if n, err := strconv.ParseInt(obj.Annotations[s.system.name+"/"+annotationDeleteOrder], 10, 16); err == nil {
		item.DeleteOrder = int16(n)
	}
	if gk := gvk.GroupKind(); gk == kindDefinition || gk == kindAPIService {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		if err := s.access.live.Get(ctx, client.ObjectKeyFromObject(obj), u); err != nil {
			return Item{}, err
		}
		item.Manages = defined(gk, u.Object)
	}
	return item, nil
}

// kept reports whether a policy keeps an object on a deletion of the component,
// or when the object becomes redundant. An invalid policy keeps nothing.
func (s *Set) kept(ctx context.Context, obj client.Object) (bool, error) {
	r, err := s.system.dependents.Check(ctx, s.owner, obj)
	if errors.Is(err, dependents.ErrInvalid) {
		return false, nil
	}
	return err == nil && r.Policies.Delete != dependents.DeleteDelete, err
}
