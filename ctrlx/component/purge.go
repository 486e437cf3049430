package component

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// purge deletes the objects whose purge order a wave has reached, and waits until
// they are gone. The inventory stores the decision first, so that no later pass
// applies such an object again.
func (s *Set) purge(ctx context.Context, order int16) (Result, error) {
	done := Result{Done: true}
	var due []int
	for _, o := range s.Objects {
		if o.PurgeOrder == nil || *o.PurgeOrder > order || o.ApplyOrder > order {
			continue
		}
		i := s.Inventory.find(o.Ref)
		if i < 0 {
			return Result{}, fmt.Errorf("%s: the inventory lacks it", o.Ref)
		}
		if item := &s.Inventory.Items[i]; item.Purge != o.digest || !item.Purged {
			item.Purge = o.digest
			due = append(due, i)
		}
	}
	if err := s.Save(ctx); err != nil || len(due) == 0 || s.Plan != nil {
		return done, err
	}
	res := Result{Reason: ReasonProcessing, After: deletionDelay}
	var texts []string
	var errs []error
	for _, i := range due {
		item := &s.Inventory.Items[i]
		r, err := s.deleteItem(ctx, *item, false, 0)
		switch {
		case err != nil:
			errs = append(errs, err)
		case r.Outcome == dependents.Gone || r.Outcome == dependents.Orphaned:
			item.Purged = true
		default:
			texts = append(texts, short(item.Ref())+": "+r.Message+heldBy(r))
			res.WaitingFor = append(res.WaitingFor, item.Ref())
		}
	}
	if res.Done = len(texts) == 0; !res.Done {
		res.Message = "waiting for the objects that are purged: " + listed(texts)
	}
	return res, errors.Join(errs...)
}
