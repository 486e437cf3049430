package component

import (
	"context"
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// rebuilt returns the inventory of a component that has none stored: a new
// component, or one that lost its status, for example in a backup. It lists the
// objects of the kinds of [WithKinds] that have the label of the component, past
// the cache. Without the right to list them everywhere, it lists the namespace of
// the component. A label is no proof, because people copy objects with their labels.
// So the items are marked as rebuilt. An object that its policy keeps is left out.
func (s *Set) rebuilt(ctx context.Context) (*Inventory, error) {
	v := &Inventory{}
	key, value, err := s.ownerLabel(ctx)
	if err != nil {
		return nil, err
	}
	for _, gvk := range s.system.options.kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		err := s.access.live.List(ctx, list, client.MatchingLabels{key: value})
		if apierrors.IsForbidden(err) {
			err = s.access.live.List(ctx, list, client.MatchingLabels{key: value}, client.InNamespace(s.Component.GetNamespace()))
		}
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			continue // the kind is not installed, so it has no objects
		}
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			obj := &list.Items[i]
			item := Item{Group: gvk.Group, Kind: gvk.Kind, Namespace: obj.Namespace, Name: obj.Name, Rebuilt: true}
			obj.SetGroupVersionKind(gvk)
			if kept, err := s.kept(ctx, obj); err != nil {
				return nil, err
			} else if kept {
				continue
			}
			annotations, prefix := obj.GetAnnotations(), s.system.name+"/"
			if n, err := strconv.ParseInt(annotations[prefix+annotationDeleteOrder], 10, 16); err == nil {
				item.DeleteOrder = int16(n)
			}
			if gk := gvk.GroupKind(); gk == kindDefinition || gk == kindAPIService {
				u := &unstructured.Unstructured{}
				u.SetGroupVersionKind(gvk)
				if err := s.access.live.Get(ctx, client.ObjectKeyFromObject(obj), u); err != nil {
					return nil, err
				}
				item.Manages = defined(u)
			}
			v.Items = append(v.Items, item)
		}
	}
	return v, nil
}

// kept reports whether a policy keeps an object on a deletion of the component, or
// when the object becomes redundant. An invalid policy keeps nothing.
func (s *Set) kept(ctx context.Context, obj client.Object) (bool, error) {
	ctx, c := s.in(ctx, validating)
	_, err := s.system.dependents.PruneObject(ctx, s.Component, obj)
	if errors.Is(err, dependents.ErrInvalid) {
		return false, nil
	}
	return err == nil && c.request != nil && c.request.Policies.Delete != dependents.DeleteDelete, err
}
