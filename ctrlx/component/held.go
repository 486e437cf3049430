package component

import (
	"context"
	"fmt"
	"slices"

	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// held returns a result that is not done if a deletion of items may lose objects
// that are needed, or that another owner has. Otherwise it returns the items that
// may be deleted. It drops an object without the label of the component from the
// inventory, because a deletion leaves such an object alone.
func (s *Set) held(ctx context.Context, items []Item, deleted bool) ([]Item, Result, error) {
	key, _, err := s.ownerLabel(ctx)
	if err != nil {
		return nil, Result{}, err
	}
	res := Result{Reason: ReasonDeletionBlocked, After: deletionDelay}
	var texts []string
	var left []Item
	for _, i := range items {
		why := s.holds(i, items, deleted)
		if why == "" {
			left = append(left, i)
			continue
		}
		mine, err := s.mine(ctx, i)
		switch {
		case err != nil:
			return nil, Result{}, err
		case !mine && s.Plan == nil:
			s.Inventory.drop(i.Ref())
		case mine:
			texts = append(texts, fmt.Sprintf("%s: %s", i.Ref(), why))
			res.WaitingFor = append(res.WaitingFor, i.Ref())
		}
	}
	if len(texts) == 0 {
		return left, Result{Done: true}, nil
	}
	res.Message = fmt.Sprintf("objects are kept; delete them, or remove their label %s: %s", key, listed(texts))
	if s.Plan != nil {
		s.Plan.Problems = append(s.Plan.Problems, res.Message)
	}
	return nil, res, nil
}

// holds returns why an item must not be deleted; empty: it may be.
func (s *Set) holds(outer Item, items []Item, deleted bool) string {
	if outer.Rebuilt {
		return "the inventory was lost, and only the label says that this component made it"
	}
	if keeps(outer.DeletePolicy, deleted) {
		return ""
	}
	owner := s.Component
	if gvk, err := s.access.client.GroupVersionKindFor(owner); err == nil && !deleted &&
		outer.has(Item{Group: gvk.Group, Kind: gvk.Kind, Namespace: owner.GetNamespace()}) {
		return "it would be deleted with the component, which is in it"
	}
	for _, inner := range s.Inventory.Items {
		if inner.Purged || !outer.has(inner) {
			continue
		}
		goes := slices.ContainsFunc(items, func(i Item) bool { return i.Ref() == inner.Ref() })
		if !goes || keeps(inner.DeletePolicy, deleted) {
			return fmt.Sprintf("it would be deleted with %s, which stays", inner.Ref())
		}
	}
	return ""
}

// has reports whether a deletion of i deletes an object, too: i is its namespace, or
// defines its type.
func (i *Item) has(inner Item) bool {
	return i.groupKind() == kindNamespace && inner.Namespace == i.Name ||
		i.Manages != nil && i.Manages.matches(inner.groupKind().WithVersion(""))
}

// mine reports whether an object exists and belongs to the component. It reads past
// the cache, and tries the deletion.
func (s *Set) mine(ctx context.Context, i Item) (bool, error) {
	res, err := s.removeItem(ctx, i, true, dependents.DeleteDelete, trying)
	if noDryRun(err) {
		return true, nil
	}
	return err == nil && !slices.Contains([]dependents.Outcome{dependents.Gone, dependents.Orphaned}, res.Outcome), err
}
