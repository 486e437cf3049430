package component

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// purge deletes the objects whose purge order a wave has reached, and waits
// until they are gone. The inventory stores the decision first, so that no
// later pass applies such an object again.
func (s *Set) purge(ctx context.Context, order int16) (Result, error) {
	done := Result{Done: true}
	var due []Item
	var indexes map[checks.Ref]int // most sets need none
	for _, o := range s.Objects {
		if o.PurgeOrder == nil || *o.PurgeOrder > order || o.ApplyOrder > order {
			continue
		}
		if indexes == nil {
			indexes = s.Inventory.byRef()
		}
		i, found := indexes[o.Ref]
		if !found && s.Plan != nil {
			continue // its kind is not served yet
		}
		if !found {
			return Result{}, fmt.Errorf("%s: the inventory lacks it", o.Ref)
		}
		item := &s.Inventory.Items[i]
		if item.Purge != o.digest() {
			item.Purge, item.Purged = o.digest(), false
		}
		if !item.Purged {
			due = append(due, *item)
		}
	}
	if err := s.Save(ctx); err != nil || len(due) == 0 || s.Plan != nil {
		return done, err
	}
	res, err := s.deleteItems(ctx, due, false, func(i Item, _ dependents.Result) {
		s.Inventory.Items[indexes[i.Ref()]].Purged = true
	})
	res.Reason, res.After = ReasonProcessing, deletionDelay
	res.Message = "waiting for the objects that are purged: " + res.Message
	return res, err
}
