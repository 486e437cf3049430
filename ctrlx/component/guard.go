package component

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
)

// mostBlocking is the number of objects of one kind that the guard names.
const mostBlocking = 5

// deletionDelay is the time after which a pass over a component in deletion reads
// again what no event reports.
const deletionDelay = 5 * time.Second

// probe is an object of a kind that each API server has.
var probe = metav1.PartialObjectMetadata{
	TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: "default"},
}

// finalizers blocks a deletion while the component has finalizers of others. They
// may need the dependents.
func finalizers(next Handler) Handler {
	return func(ctx context.Context, s *Set) (Result, error) {
		var others []string
		for _, f := range s.Component.GetFinalizers() {
			if f != s.system.finalizer {
				others = append(others, f)
			}
		}
		if len(others) > 0 {
			message := "other controllers must remove their finalizers first: " + strings.Join(others, ", ")
			return Result{Reason: ReasonDeletionBlocked, Message: message}, nil
		}
		return next(ctx, s)
	}
}

// guard blocks a deletion while objects of managed types exist that the inventory
// lacks: they would be lost with their type.
func guard(next Handler) Handler {
	return func(ctx context.Context, s *Set) (Result, error) {
		types := typesIn(s.Inventory.Items, true)
		if slices.ContainsFunc(s.Inventory.Items, func(i Item) bool { return !keeps(i.DeletePolicy, true) }) {
			types = append(types, s.config.types...)
		}
		if res, err := s.blocked(ctx, types); err != nil || !res.Done {
			return res, err
		}
		return next(ctx, s)
	}
}

// typesIn returns the types that are deleted with items.
func typesIn(items []Item, deleted bool) (types []TypeInfo) {
	for _, i := range items {
		if i.Manages != nil && !keeps(i.DeletePolicy, deleted) {
			types = append(types, *i.Manages)
		}
	}
	return types
}

// blocked returns a result that is not done if an object of the types exists that
// the inventory lacks. A label is no proof, because people copy objects with their
// labels. It reads past the cache.
func (s *Set) blocked(ctx context.Context, types []TypeInfo) (Result, error) {
	if len(types) == 0 || s.Plan != nil {
		return Result{Done: true}, nil
	}
	if err := s.findable(types); err != nil {
		return Result{}, invalid(err)
	}
	kinds, err := s.system.types.kinds(ctx, s.access.client.RESTMapper(), types)
	if errors.Is(err, errUndiscovered) {
		return Result{Reason: ReasonDeletionBlocked, After: deletionDelay, Message: err.Error()}, nil
	}
	if err != nil {
		return Result{}, err
	}
	ours := map[checks.Ref]bool{}
	for _, i := range s.Inventory.Items {
		ours[i.Ref()] = true
	}
	res := Result{Reason: ReasonDeletionBlocked, After: deletionDelay}
	var names []string
	for _, gvk := range kinds {
		refs, err := s.foreign(ctx, gvk, ours)
		switch {
		case errors.Is(err, errUnserved):
			names = append(names, "objects of "+gvk.GroupKind().String()+" that may exist: its definition serves no version, so serve one again")
			continue
		case err != nil:
			return Result{}, fmt.Errorf("listing objects of the managed type %s: %w", gvk.GroupKind(), err)
		}
		for i, ref := range refs {
			if i == mostBlocking {
				names = append(names, "more of "+gvk.GroupKind().String())
				break
			}
			names = append(names, ref.String())
			res.WaitingFor = append(res.WaitingFor, ref)
		}
	}
	if len(names) == 0 {
		return Result{Done: true}, nil
	}
	res.Message = "objects of managed types would be lost, because this component does not own them; " +
		"delete them first: " + strings.Join(names, ", ")
	return res, nil
}

// guardPage is the number of objects in one page of a list.
const guardPage = 500

// errUnserved says that a type has a definition, and that it cannot be listed.
var errUnserved = errors.New("the API server does not serve the type")

// foreign returns objects of a kind that are not ours, at most one page more than a
// message names. A type without a definition has none.
func (s *Set) foreign(ctx context.Context, gvk schema.GroupVersionKind, ours map[checks.Ref]bool) (refs []checks.Ref, err error) {
	page := ""
	for {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if gvk.Version != "" {
			err = s.access.live.List(ctx, list, client.Limit(guardPage), client.Continue(page))
		}
		switch {
		case gvk.Version == "" || apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
			version, found, err := definition.Of(ctx, s.access.live, ctrlx.Errors(), gvk.GroupKind())
			switch {
			case err != nil || !found:
				return nil, err
			case version == "" || version == gvk.Version:
				return nil, errUnserved
			}
			gvk.Version, page, refs = version, "", nil
			continue
		case err != nil:
			return nil, err
		}
		for _, obj := range list.Items {
			ref := checks.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: obj.Namespace, Name: obj.Name}
			if !ours[ref] && obj.UID != s.Component.GetUID() {
				refs = append(refs, ref)
			}
		}
		if page = list.GetContinue(); page == "" || len(refs) > mostBlocking {
			return refs, nil
		}
	}
}
