package component

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
)

// rebuilt returns the inventory of a component that has none stored: a new
// component, or one that lost its status, for example in a backup. It lists the
// objects of [WithKinds] that have the label of the component, past the cache. A
// label is no proof, because people copy objects with their labels. So the items
// are marked as rebuilt. An object that its policy keeps is left out.
func (s *Set) rebuilt(ctx context.Context) (*Inventory, error) {
	v := &Inventory{}
	if pass, ok := ctx.Value(engine.PassKey{}).(*engine.InPass); ok && pass.New {
		return v, nil // it had no finalizer, and a stranger may have used its label
	}
	for _, gvk := range s.system.options.kinds {
		var found []*metav1.PartialObjectMetadata
		all := func(obj *metav1.PartialObjectMetadata) bool { found = append(found, obj); return true }
		label, own := client.MatchingLabels{s.labelKey: s.label}, client.InNamespace(s.Component.GetNamespace())
		err := s.list(ctx, gvk, all, label)
		if apierrors.IsForbidden(err) && own != "" {
			err = s.list(ctx, gvk, all, label, own)
		}
		for _, obj := range found {
			obj.SetGroupVersionKind(gvk)
			kept := false
			if err == nil {
				kept, err = s.kept(ctx, obj)
			}
			if !kept {
				v.Items = append(v.Items, Item{Group: gvk.Group, Kind: gvk.Kind, Namespace: obj.Namespace, Name: obj.Name, DeletePolicy: inherited, Rebuilt: true})
			}
		}
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", gvk.GroupKind(), err)
		}
	}
	return v, nil
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
