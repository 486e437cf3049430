// Package existing runs checks in a Reconcile method that exists already. Make [Checks]
// once, with [New], and ask them in each pass:
//
//	if ok, result, err := r.checks.Check(ctx, db); !ok {
//		return result, err
//	}
//	return r.checks.Done(ctx, db, r.deploy(ctx, db))
//
// Nothing wakes a resource that a check blocks: it is requeued by the back-off. Watch the
// awaited kinds in the controller to be faster, or use [ctrlx.New].
//
// A [Resolver] finds owners and references for chains of checks that a program runs by
// itself.
package existing
