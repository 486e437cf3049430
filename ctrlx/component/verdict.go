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
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
)

// mostBlocking is the number of objects of one kind that a verdict names.
const mostBlocking = 5

// The times after which a pass over a component in deletion reads again what no
// event reports: the longest one is that of a deletion that a person must unblock.
const (
	deletionDelay  = 5 * time.Second
	longestBlocked = 5 * time.Minute
)

// blocks returns the result of a blocked deletion. The deletion is read again
// after as long as it has waited.
func (s *Set) blocks(message string, awaited ...checks.Ref) checks.Result {
	after, reason := deletionDelay, reasonProcessing // of redundant objects
	if since := s.Component.GetDeletionTimestamp(); since != nil {
		after, reason = min(max(time.Since(since.Time), after), longestBlocked), reasonDeletionBlocked
	}
	return s.waits(s.block(reason, message, after, awaited))
}

// finalizers blocks a deletion while the component has finalizers of others.
// They may need the dependents.
func finalizers(next Handler) Handler {
	return func(ctx context.Context, s *Set) (checks.Result, error) {
		own := func(f string) bool { return f == s.system.finalizer }
		if others := slices.DeleteFunc(slices.Clone(s.Component.GetFinalizers()), own); len(others) > 0 {
			text := "other controllers must remove their finalizers first: " + strings.Join(others, ", ")
			if res := s.waits(s.block(reasonDeletionBlocked, text, 0, nil)); !res.Proceeds() { // the change of the component is an event
				return res, nil
			}
		}
		return next(ctx, s)
	}
}

// guard blocks a deletion while objects of managed types exist that the
// inventory lacks: they would be lost with their type. Without the link, they
// block no deletion of the component.
func guard(next Handler) Handler {
	return func(ctx context.Context, s *Set) (checks.Result, error) {
		s.guarded = true
		items, res, err := s.decide(ctx, s.spared(s.inventory))
		if err != nil || !res.Proceeds() {
			return res, err
		}
		s.cleared = items
		return next(ctx, s)
	}
}

// decide gives the verdict about each item of a deletion, and returns the items
// that it may delete or keep. The result is not done if it may lose an object that is
// needed, or that the component does not own. An item that must stay leaves the
// inventory if its object is not one of the component any more.
func (s *Set) decide(ctx context.Context, items []Item) (left []Item, _ checks.Result, _ error) {
	goes := make(map[checks.Ref]bool, len(items))
	for _, i := range items {
		goes[i.Ref] = true
	}
	guarded, deletes := s.guarded || !s.deleted(), false
	var types []managedType // whose objects would be lost
	var texts []string
	var awaited []checks.Ref
	for _, i := range items {
		why, kept := s.holds(&i, goes), s.keeps(&i)
		if why == "" {
			left = append(left, i)
		}
		deletes = deletes || !kept
		if why == "" && (kept || i.Manages == nil || !guarded) {
			continue
		}
		ours, err := s.ours(ctx, i)
		switch {
		case err != nil:
			return nil, checks.Result{}, err
		case ours && why != "":
			texts = append(texts, fmt.Sprintf("%s: %s", i.Ref, why))
			awaited = append(awaited, i.Ref)
		case ours:
			of, err := s.typesIn(ctx, &i)
			if err != nil {
				return nil, checks.Result{}, err
			}
			types = append(types, of...)
		case why != "": // a deletion leaves it alone
			s.drop(map[checks.Ref]bool{i.Ref: true})
		}
	}
	if s.deleted() && guarded && deletes {
		types = append(types, s.config.types...)
	}
	if len(texts) > 0 {
		res := s.blocks(fmt.Sprintf("objects are kept; delete them, or remove their label %s: %s", s.labelKey, listed(texts)), awaited...)
		if !res.Proceeds() {
			return nil, res, nil
		}
	}
	res, err := s.lost(ctx, types)
	return left, res, err
}

// holds returns why an item must not be deleted; empty: it may be. goes has the
// objects that are deleted, too.
func (s *Set) holds(outer *Item, goes map[checks.Ref]bool) string {
	if outer.Rebuilt {
		return "the inventory was lost, and only the label says that this component made it"
	}
	if s.keeps(outer) || !outer.isOuter() {
		return ""
	}
	if !s.deleted() && !s.remote() && s.isIn(outer) {
		return "it would be deleted with the component, which is in it"
	}
	for at := range s.inventory {
		inner := &s.inventory[at]
		if inner.Purged || !outer.has(inner) {
			continue
		}
		if !goes[inner.Ref] || s.keeps(inner) {
			return fmt.Sprintf("it would be deleted with %s, which stays", inner.Ref)
		}
	}
	return ""
}

// isIn reports whether a deletion of outer deletes the component, too.
func (s *Set) isIn(outer *Item) bool {
	owner := s.Component
	gvk, err := s.access.Client.GroupVersionKindFor(owner)
	return err == nil && outer.has(&Item{Ref: checks.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: owner.GetNamespace()}})
}

// spared returns the items of a component in deletion. It keeps the namespace of
// the component and the definition of its kind: they cannot go before the
// component, and it would wait for them.
func (s *Set) spared(items []Item) []Item {
	items = slices.Clone(items)
	for i := range items {
		if item := &items[i]; !s.remote() && s.isIn(item) {
			item.DeletePolicy, item.Rebuilt = dependents.DeleteOrphan, false
		}
	}
	return items
}

// isOuter reports whether a deletion of i may delete other objects, too.
func (i *Item) isOuter() bool { return i.Manages != nil || i.groupKind() == kindNamespace }

// has reports whether a deletion of i deletes an object, too: i is its
// namespace, or defines its type.
func (i *Item) has(inner *Item) bool {
	return i.groupKind() == kindNamespace && inner.Namespace == i.Name ||
		i.Manages != nil && matches(*i.Manages, inner.groupKind().WithVersion(""))
}

// ours reports whether an object exists and belongs to the component. It reads
// past the cache.
func (s *Set) ours(ctx context.Context, i Item) (bool, error) {
	i.DeletePolicy, i.Purge = "", "" // its own policy may keep it
	res, err := s.deleteItem(ctx, s.system.readOnly, i)
	return err == nil && !res.IsSettled(), err
}

// typesIn returns the types of a definition: as the inventory has it, and as it is
// live, because the API server may have refused a manifest with another type.
func (s *Set) typesIn(ctx context.Context, i *Item) ([]managedType, error) {
	if defined(i.groupKind(), nil) == nil { // a user has edited the inventory
		return []managedType{*i.Manages}, nil
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(i.groupKind().WithVersion("v1"))
	err := s.access.Live.Get(ctx, client.ObjectKey{Name: i.Name}, u)
	if ctrlx.Errors().NotFound(err) {
		return nil, nil
	}
	return []managedType{*i.Manages, *defined(i.groupKind(), u.Object)}, err
}

// lost returns a result that is not done if an object of the types exists that the
// inventory lacks. A label is no proof, because people copy objects with their
// labels. It reads past the cache.
func (s *Set) lost(ctx context.Context, types []managedType) (checks.Result, error) {
	if len(types) == 0 {
		return checks.Proceed(), nil
	}
	if err := s.findable(types); err != nil {
		return checks.Result{}, invalid(err)
	}
	kinds, err := s.kinds(ctx, types)
	if errors.Is(err, errUndiscovered) {
		if res := s.blocks(err.Error()); !res.Proceeds() {
			return res, nil
		}
	} else if err != nil {
		return checks.Result{}, err
	}
	ours := map[checks.Ref]bool{}
	for _, i := range s.inventory {
		ours[i.Ref] = !i.Purged // another person may have made one of the name of a purged one
	}
	var names []string
	var awaited []checks.Ref
	for _, gvk := range kinds {
		refs, err := s.foreign(ctx, gvk, ours)
		switch {
		case errors.Is(err, definition.ErrHidden):
			names = append(names, err.Error())
			continue
		case err != nil:
			return checks.Result{}, fmt.Errorf("listing objects of the managed type %s: %w", gvk.GroupKind(), err)
		}
		for i, ref := range refs {
			if i == mostBlocking {
				names = append(names, "more of "+gvk.GroupKind().String())
				break
			}
			names = append(names, ref.String())
			awaited = append(awaited, ref)
		}
	}
	if len(names) == 0 {
		return checks.Proceed(), nil
	}
	return s.blocks("objects of managed types would be lost, because this component does not own them; delete them first: "+
		strings.Join(names, ", "), awaited...), nil
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
			if err := s.access.Live.List(ctx, list, append(opts, client.Limit(listPage), client.Continue(page))...); err != nil {
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
		err = definition.Read(ctx, s.access.Live, gvk.GroupKind(), in)
	}
	if errors.Is(err, definition.ErrNone) {
		return nil
	}
	return err
}
