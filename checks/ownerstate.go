package checks

import (
	"context"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// OwnerProvisioningState proceeds if the owner is in a state that allows the work. These are the
// settled states of the [Vocabulary], unless [Allow] or [Deny] is given. selector returns any field
// of the owner that holds a state:
//
//	checks.OwnerProvisioningState(func(c *Cluster) *string { return c.Status.ProvisioningState })
//
// The check blocks in these cases:
//
//   - There is no owner, the owner is not found, or only its cloud ID is known ([UnknownProceeds]).
//   - The state is not reported ([UnknownProceeds]). A nil dereferenced by the selector means the
//     same.
//   - The owner is not a W ([WrongKindProceeds]).
//   - The state does not allow the work.
//
// A block is retried at [classify.Slow], unless the owner is missing or of another type. A nil
// selector panics.
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
		state := known(ctx, selector, owner)
		if blank(state) {
			if s.unknownProceeds {
				chain.Note(ctx, "the owner has not reported a state")
				return Proceed(), nil
			}
			return s.blocked(ReasonOwnerStateUnknown, classify.Slow, req.Owner.Ref, sentence("owner ", req.Owner.Ref, " has not reported a state yet", s.wanted(req, false))), nil
		}
		if s.lets(req, false, state) {
			return Proceed(), nil
		}
		return s.blocked(ReasonOwnerState, classify.Slow, req.Owner.Ref, sentence("owner ", req.Owner.Ref, ` is in state "`, printable(state), `"`, s.wanted(req, false))), nil
	})
}
