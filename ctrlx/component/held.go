package component

import (
	"context"
	"fmt"
	"slices"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// held returns a result that is not done if a deletion of items may lose
// objects that are needed, or that another owner has. Otherwise it returns the
// items that may be deleted. It drops an object without the label of the
// component from the inventory, because a deletion leaves such an object alone.
func (s *Set) held(ctx context.Context, items []Item, deleted bool) ([]Item, Result, error) {
	res := Result{Reason: ReasonDeletionBlocked, After: s.blockedDelay()}
	var texts []string
	var left []Item
	goes := make(map[checks.Ref]bool, len(items))
	for _, i := range items {
		goes[i.Ref()] = true
	}
	for _, i := range items {
		why := s.holds(i, goes, deleted)
		if why == "" {
			left = append(left, i)
			continue
		}
		mine, err := s.mine(ctx, i)
		switch {
		case err != nil:
			return nil, Result{}, err
		case !mine && s.Plan == nil:
			s.Inventory.drop(map[checks.Ref]bool{i.Ref(): true})
		case mine:
			texts = append(texts, fmt.Sprintf("%s: %s", i.Ref(), why))
			res.WaitingFor = append(res.WaitingFor, i.Ref())
		}
	}
	if len(texts) == 0 {
		return left, Result{Done: true}, nil
	}
	res.Message = fmt.Sprintf("objects are kept; delete them, or remove their label %s: %s", s.labelKey, listed(texts))
	return left, s.waits(res), nil
}

// holds returns why an item must not be deleted; empty: it may be. goes has the
// objects that are deleted, too.
func (s *Set) holds(outer Item, goes map[checks.Ref]bool, deleted bool) string {
	if outer.Rebuilt {
		return "the inventory was lost, and only the label says that this component made it"
	}
	if keeps(outer.DeletePolicy, deleted) || !outer.isOuter() {
		return ""
	}
	if !deleted && !s.remote() && s.isIn(&outer) {
		return "it would be deleted with the component, which is in it"
	}
	for at := range s.Inventory.Items {
		inner := &s.Inventory.Items[at]
		if inner.Purged || !outer.has(inner) {
			continue
		}
		if !goes[inner.Ref()] || keeps(inner.DeletePolicy, deleted) {
			return fmt.Sprintf("it would be deleted with %s, which stays", inner.Ref())
		}
	}
	return ""
}

// isIn reports whether a deletion of outer deletes the component, too.
func (s *Set) isIn(outer *Item) bool {
	owner := s.Component
	gvk, err := s.access.client.GroupVersionKindFor(owner)
	return err == nil && outer.has(&Item{Group: gvk.Group, Kind: gvk.Kind, Namespace: owner.GetNamespace()})
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
		i.Manages != nil && i.Manages.matches(inner.groupKind().WithVersion(""))
}

// mine reports whether an object exists and belongs to the component. It reads
// past the cache.
func (s *Set) mine(ctx context.Context, i Item) (bool, error) {
	i.DeletePolicy, i.Purge = "", "" // its own policy may keep it
	res, err := s.deleteItem(ctx, s.system.readOnly, i, true)
	return err == nil && !res.IsSettled(), err
}
