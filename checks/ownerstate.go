package checks

import (
	"context"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// OwnerProvisioningState lets the work go on if the owner is in a state that allows it: one that nothing else is going
// on in ([Settled]) unless [Allow] or [Deny] say otherwise. selector is any field of the owner that holds a state:
//
//	checks.OwnerProvisioningState(func(c *Cluster) *string { return c.Status.ProvisioningState })
//
// No owner, one not found or known by its cloud ID only, a state that is not reported ([UnknownProceeds]) and an owner that is no W
// ([WrongKindProceeds]) block. A nil pointer on the selector's way to the field means that it is not reported. It is
// looked at again at [classify.Slow]. A nil selector panics.
func OwnerProvisioningState[W any, S ~string](selector func(owner W) *S, opts ...Option) OwnerMiddleware {
	const name = "OwnerProvisioningState"
	if selector == nil {
		panic("checks: " + name + ": the selector is nil")
	}
	s := configure(name, forOwnerState, opts)
	return Check(name, func(ctx context.Context, req *OwnerRequest) (Result, error) {
		owner, res, ok := ownerAs[W](ctx, s, req)
		if !ok {
			return res, nil
		}
		state := known(selector, owner)
		if blank(state) {
			if s.unknownProceeds {
				chain.Note(ctx, "the owner has not reported a state")
				return Proceed(), nil
			}
			return s.blocked(ReasonOwnerStateUnknown, classify.Slow, req.Owner.Ref, sentence("owner ", req.Owner.Ref, " has not reported a state yet", s.wanted)), nil
		}
		if s.lets(state) {
			return Proceed(), nil
		}
		return s.blocked(ReasonOwnerState, classify.Slow, req.Owner.Ref, sentence("owner ", req.Owner.Ref, ` is in state "`, printable(state), `"`, s.wanted)), nil
	})
}
