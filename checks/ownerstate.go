package checks

import (
	"context"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/linktag"
)

// OwnerProvisioningState proceeds if the owner is in a state that allows the
// work: a settled state of the [Vocabulary], unless [WithAllowed] or
// [WithDenied] is given. selector returns any field of the owner that holds a
// state:
//
//	checks.OwnerProvisioningState(func(c *Cluster) *string { return c.Status.ProvisioningState })
//
// The check blocks in these cases:
//
//   - The state does not allow the work.
//   - The state is not reported, or selector dereferences nil
//     ([WithUnknownAllowed]).
//   - There is no owner, or it is not found.
//   - Only the cloud ID of the owner is known ([WithUnknownAllowed]).
//   - The owner is not a W ([WithWrongKindAllowed]).
//
// A block is retried as for [OwnerIs]. A nil selector panics.
func OwnerProvisioningState[W any, S ~string](selector func(owner W) *S, opts ...Option) OwnerMiddleware {
	s := configure("OwnerProvisioningState", opts, "WithAllowed", "WithDenied", "WithExactStates", "WithUnknownAllowed", "WithWrongKindAllowed", "WithFollowing")
	s.must(selector != nil, "the selector is nil")
	return newCheck(s.check, s.followingOwner(linktag.Check{}), func(ctx context.Context, req *OwnerRequest) (Result, error) {
		owner, res := ownerAs[W](ctx, s, req)
		if !res.IsZero() {
			return res, nil
		}
		state, states, ref := known(ctx, selector, owner), s.named(req, false), &req.Owner.Ref
		switch reported := !blank(state); {
		case reported && s.allows(states, state):
		case reported:
			return s.stateBlock(ReasonOwnerState, ref, states, "", "owner ", ` is in state "`, printable(state), `"`), nil
		case s.unknownProceeds:
			chain.Note(ctx, "the owner has not reported a state")
		default:
			return s.stateBlock(ReasonOwnerStateUnknown, ref, states, "", "owner ", " has not reported a state yet"), nil
		}
		return Proceed(), nil
	})
}
