package dependents

import (
	"context"
	"fmt"
)

// adopt checks the owner of an object that exists, in each pass.
func adopt(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.Live == nil {
			return next(ctx, r)
		}
		o, key := r.ownership(), r.of.name+"/"+annotationAdoption
		switch {
		case o.ours:
			return next(ctx, r)
		case o.sibling:
			return r.notOurs(o, "it belongs to the sibling "+o.owner), nil
		case r.Policies.Adoption == AdoptionAlways:
			return next(ctx, r)
		case o.owner != "":
			message := fmt.Sprintf("it belongs to %s: remove it from one of the two owners", o.owner)
			if !o.marked {
				message += fmt.Sprintf(", or set %s=%s", key, AdoptionAlways)
			}
			return r.notOurs(o, message), nil
		case r.Policies.Adoption == AdoptionNever:
			return r.notOurs(o, fmt.Sprintf("it exists and has no owner: delete it, or set %s=%s",
				key, AdoptionIfUnowned)), nil
		}
		return next(ctx, r)
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
	res.Owner, res.Sibling = o.owner, o.sibling
	return res
}
