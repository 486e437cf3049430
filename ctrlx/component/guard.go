package component

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
)

// mostBlocking is the number of objects of one kind that the guard names.
const mostBlocking = 5

// The times after which a pass over a component in deletion reads again what no
// event reports: the longest one is that of a deletion that a person must unblock.
const (
	deletionDelay  = 5 * time.Second
	longestBlocked = 5 * time.Minute
)

// blockedDelay returns the time until the next look at a blocked deletion: as
// long as the deletion has waited.
func (s *Set) blockedDelay() time.Duration {
	since := s.Component.GetDeletionTimestamp()
	if since == nil {
		return deletionDelay
	}
	return min(max(time.Since(since.Time), deletionDelay), longestBlocked)
}

// finalizers blocks a deletion while the component has finalizers of others.
// They may need the dependents.
func finalizers(next Handler) Handler {
	return func(ctx context.Context, s *Set) (Result, error) {
		own := func(f string) bool { return f == s.system.finalizer }
		others := slices.DeleteFunc(slices.Clone(s.Component.GetFinalizers()), own)
		if len(others) > 0 {
			message := "other controllers must remove their finalizers first: " + strings.Join(others, ", ")
			if res := s.waits(Result{Reason: ReasonDeletionBlocked, Message: message}); !res.Done {
				return res, nil
			}
		}
		return next(ctx, s)
	}
}

// guard blocks a deletion while objects of managed types exist that the
// inventory lacks: they would be lost with their type.
func guard(next Handler) Handler {
	return func(ctx context.Context, s *Set) (Result, error) {
		if res, err := s.guarded(ctx, s.spared(s.Inventory.Items), true); err != nil || !res.Done {
			return res, err
		}
		return next(ctx, s)
	}
}

// guarded returns a result that is not done if a deletion of items may delete
// objects that the inventory lacks, with their type.
func (s *Set) guarded(ctx context.Context, items []Item, deleted bool) (Result, error) {
	items = going(items, deleted)
	types, err := s.liveTypes(ctx, items)
	if err != nil {
		return Result{}, err
	}
	if deleted && len(items) > 0 {
		types = append(types, s.config.types...)
	}
	return s.blocked(ctx, types)
}

// liveTypes returns the types of definitions that belong to the component: as
// the inventory has them, and as they are live, because the API server may have
// refused a manifest with another type.
func (s *Set) liveTypes(ctx context.Context, items []Item) (types []TypeInfo, err error) {
	for _, i := range items {
		if i.Manages == nil {
			continue
		}
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(i.groupKind().WithVersion("v1"))
		err := s.access.live.Get(ctx, client.ObjectKey{Name: i.Name}, u)
		switch {
		case ctrlx.Errors().NotFound(err) || err == nil && u.GetLabels()[s.labelKey] != s.label:
			continue // a deletion leaves it alone
		case err != nil:
			return nil, err
		}
		types = append(types, *i.Manages, *defined(i.groupKind(), u.Object))
	}
	return types, nil
}

// going returns the items that no policy keeps.
func going(items []Item, deleted bool) []Item {
	return slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return keeps(i.DeletePolicy, deleted) })
}

// typesIn returns the types that items define.
func typesIn(items []Item) (types []TypeInfo) {
	for _, i := range items {
		if i.Manages != nil {
			types = append(types, *i.Manages)
		}
	}
	return types
}

// blocked returns a result that is not done if an object of the types exists
// that the inventory lacks. A label is no proof, because people copy objects
// with their labels. It reads past the cache.
func (s *Set) blocked(ctx context.Context, types []TypeInfo) (Result, error) {
	if len(types) == 0 {
		return Result{Done: true}, nil
	}
	if err := s.findable(types); err != nil {
		return Result{}, invalid(err)
	}
	kinds, err := s.system.types.kinds(ctx, s.access, types)
	if errors.Is(err, errUndiscovered) {
		if res := s.waits(Result{Reason: ReasonDeletionBlocked, After: s.blockedDelay(), Message: err.Error()}); !res.Done {
			return res, nil
		}
	} else if err != nil {
		return Result{}, err
	}
	ours := map[checks.Ref]bool{}
	for _, i := range s.Inventory.Items {
		ours[i.Ref()] = !i.Purged // another person may have made one of the name of a purged one
	}
	res := Result{Reason: ReasonDeletionBlocked, After: s.blockedDelay()}
	var names []string
	for _, gvk := range kinds {
		refs, err := s.foreign(ctx, gvk, ours)
		switch {
		case errors.Is(err, definition.ErrHidden):
			names = append(names, err.Error())
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
	return s.waits(res), nil
}

// foreign returns objects of a kind that are not ours, at most one more than a
// message names.
func (s *Set) foreign(
	ctx context.Context, gvk schema.GroupVersionKind, ours map[checks.Ref]bool,
) (refs []checks.Ref, err error) {
	err = s.list(ctx, gvk, func(obj *metav1.PartialObjectMetadata) bool {
		ref := checks.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: obj.Namespace, Name: obj.Name}
		if !ours[ref] && obj.UID != s.Component.GetUID() {
			refs = append(refs, ref)
		}
		return len(refs) <= mostBlocking
	})
	return refs, err
}

// listPage is the number of objects in one page of a list.
const listPage = 500

// list calls visit for the metadata of the objects of a kind, until it returns
// false. It reads past the cache. A kind without a definition has no objects. The
// error of a kind with one that the API server does not serve wraps
// definition.ErrHidden.
func (s *Set) list(
	ctx context.Context, gvk schema.GroupVersionKind, visit func(*metav1.PartialObjectMetadata) bool, opts ...client.ListOption,
) error {
	in := func(version string) error {
		for page := ""; ; {
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: gvk.Group, Version: version, Kind: gvk.Kind + "List"})
			if err := s.access.live.List(ctx, list, append(opts, client.Limit(listPage), client.Continue(page))...); err != nil {
				return err
			}
			for i := range list.Items {
				if !visit(&list.Items[i]) {
					return nil
				}
			}
			if page = list.GetContinue(); page == "" {
				return nil
			}
		}
	}
	var err error
	if gvk.Version != "" {
		err = in(gvk.Version)
	}
	if gvk.Version == "" || definition.Unserved(err) {
		err = definition.Read(ctx, s.access.live, gvk.GroupKind(), in)
	}
	if errors.Is(err, definition.ErrNone) {
		return nil
	}
	return err
}
