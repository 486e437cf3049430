package dependents

import (
	"context"
)

// replace writes the whole manifest. Finalizers of the live object stay.
func replace(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.Live == nil || r.Policies.Update != UpdateReplace {
			return next(ctx, r)
		}
		u, err := r.changed(func(string) bool { return true })
		if err != nil {
			return Result{}, err
		}
		if err = r.of.client.Update(ctx, u, r.manager()); err != nil {
			return Result{}, err
		}
		return r.wrote(Updated, u)
	}
}

// recreate deletes an object of the policy Recreate. A later pass creates it. The
// adoption verdict of this pass is that of the deletion, too.
func recreate(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.Live == nil || r.Policies.Update != UpdateRecreate {
			return next(ctx, r)
		}
		res, err := remove(ctx, r)
		if res.Outcome == Gone {
			res.Outcome = Terminating // the next pass reads again, and creates it
		}
		res.Message = "it is being deleted, to be created with the new manifest"
		return res, err
	}
}
