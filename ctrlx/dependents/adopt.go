package dependents

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/windlass-go/windlass/checks"
)

// takings holds when the process took objects from other owners. After a
// restart it is empty, so that each owner may take an object once more.
type takings struct {
	mu sync.Mutex
	at map[taking]time.Time
}

type taking struct {
	owner string // the mark of the owner that took the object
	ref   checks.Ref
}

// get returns the time until the owner of the request may take its object
// again.
func (t *takings) get(r *Request, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at[taking{r.Owner.mark, r.ref}].Add(r.Policies.ReapplyInterval).Sub(now)
}

func (t *takings) add(r *Request, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	makeRoom(t.at)
	t.at[taking{r.Owner.mark, r.ref}] = now
}

// adopt checks the owner of an object that exists, in each pass. Under
// [AdoptionAlways] an owner takes an object from another one once within the
// reapply interval. Without this limit, two such owners would take it from each
// other without end, because each write causes a pass of the other owner.
func adopt(clock clock.PassiveClock) middleware {
	taken := takings{at: map[taking]time.Time{}}
	return func(next Handler) Handler {
		return func(ctx context.Context, r *Request) (Result, error) {
			if r.Live == nil {
				return next(ctx, r)
			}
			o := r.ownership()
			key := func() string { return r.of.name + "/" + annotationAdoption }
			switch {
			case o.ours:
				return next(ctx, r)
			case r.Policies.Adoption == AdoptionAlways && o.owner != "":
				now := clock.Now()
				if wait := taken.get(r, now); wait > 0 {
					res := r.result(Waiting, fmt.Sprintf("%s has taken it; this owner takes it back in %s: "+
						"remove it from one of the two owners", o.owner, wait.Round(time.Second)))
					res.Owner, res.Contested, res.After = o.owner, true, wait
					return res, nil
				}
				res, err := next(ctx, r)
				if err == nil && res.Pending == nil {
					taken.add(r, now)
				}
				return res, err
			case r.Policies.Adoption == AdoptionAlways:
				return next(ctx, r)
			case o.owner != "":
				message := fmt.Sprintf("it belongs to %s: remove it from one of the two owners", o.owner)
				if !o.marked {
					message += fmt.Sprintf(", or set %s=%s", key(), AdoptionAlways)
				}
				return r.notOurs(o, message), nil
			case r.Policies.Adoption == AdoptionNever:
				return r.notOurs(o, fmt.Sprintf("it exists and has no owner: delete it, or set %s=%s",
					key(), AdoptionIfUnowned)), nil
			}
			return next(ctx, r)
		}
	}
}

// owned leaves an object of another owner, or of none, alone when it should be
// deleted.
func owned(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if o := r.ownership(); !o.ours {
			res := r.notOurs(o, "")
			res.Outcome = Orphaned // nothing is left to do
			return res, nil
		}
		return next(ctx, r)
	}
}

func (r *Request) notOurs(o ownership, message string) Result {
	res := r.result(NotOurs, message)
	res.Owner = o.owner
	return res
}
