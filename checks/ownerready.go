package checks

import (
	"context"

	"github.com/windlass-go/windlass/internal/linktag"
)

// OwnerReady proceeds if the owner is ready for its own generation and is not
// being deleted. It also proceeds in two cases that no retry can decide:
//
//   - A root resource, whose Owner is the zero [Object] ([WithRequiredOwner]
//     blocks).
//   - An owner known only by its cloud ID ([WithByIDBlocked] blocks). The trace
//     shows it.
//
// An owner blocks if no reference names it yet, if it is not found, and if it
// has not reported its readiness.
//
// A block is retried at [classify.Fast]. Engines that watch also requeue when
// the owner changes. A block with [ReasonOwnerNotSet] is retried at
// [classify.OnChange], and one because of WithByIDBlocked at [classify.Slow].
func OwnerReady(opts ...Option) OwnerMiddleware {
	return aboutOwner("OwnerReady", true, opts)
}

// OwnerFound proceeds if the owner exists, whether it is ready or not, even if
// it is being deleted. All else is as for [OwnerReady].
func OwnerFound(opts ...Option) OwnerMiddleware {
	return aboutOwner("OwnerFound", false, opts)
}

// aboutOwner makes a check that proceeds if the owner exists, and is ready if
// ready is true.
func aboutOwner(name string, ready bool, opts []Option) OwnerMiddleware {
	s := configure(name, opts, "WithByIDBlocked", "WithRequiredOwner", "WithFollowing")
	return newCheck(s.check, s.followingOwner(linktag.Check{}), func(ctx context.Context, req *OwnerRequest) (Result, error) {
		o := &req.Owner
		s.followOwner(ctx, req)
		switch {
		case o.ready(), !ready && o.Found(), req.Deleting && req.ownerGone(ctx), o.none() && !s.required:
			return Proceed(), nil
		case !o.named():
			return s.noOwner(o), nil
		}
		return s.readiness(ctx, &ofOwner, "owner ", &o.Ref, o), nil
	})
}
