package checks

import (
	"context"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// ProvisioningState proceeds if the resource itself is in a state that allows the work, as last
// seen in the cloud. selector returns any field of the resource that holds a state. If it returns
// or dereferences nil, the state is not reported. A nil selector panics.
//
//   - A reported state must be one that the [Vocabulary] lists as settled, unless [Allow] or [Deny]
//     is given.
//   - If no state is reported, an absent resource proceeds. If the resource is present, or its
//     presence is unknown, the check blocks ([UnknownProceeds]).
//   - After Apply ([OwnerRequest.Applied]) an absent resource always blocks. Without Allow and Deny
//     the state must then be a final good one: Succeeded in Azure's words. So a failed resource
//     does not become Ready.
//
// A block is retried at [classify.Slow].
func ProvisioningState[T any, S ~string](selector func(resource T) *S, opts ...Option) Middleware[T] {
	const name = "ProvisioningState"
	if selector == nil {
		panic("checks: " + name + ": the selector is nil")
	}
	s := configure(name, forState, opts)
	return Check(name, func(ctx context.Context, req *Request[T]) (Result, error) {
		return s.ofResource(ctx, &req.OwnerRequest, req.Presence, known(ctx, selector, req.Resource)), nil
	})
}

// LiveState is [ProvisioningState] for a state that fetch reads from the cloud when the check runs.
// The check calls fetch unless the resource is known to be absent. If the error of fetch means "not
// found" ([OwnerRequest.Errors]), the resource is absent. Any other error is the error of the
// check. A nil fetch panics.
func LiveState[T any, S ~string](fetch func(ctx context.Context, req *Request[T]) (S, error), opts ...Option) Middleware[T] {
	const name = "LiveState"
	if fetch == nil {
		panic("checks: " + name + ": the function is nil")
	}
	s := configure(name, forState, opts)
	return Check(name, func(ctx context.Context, req *Request[T]) (Result, error) {
		presence := req.Presence
		var state S
		if presence != Absent {
			found, err := fetch(ctx, req)
			switch {
			case req.Errors.NotFound(err):
				chain.Note(ctx, "not found")
				presence = Absent
			case err != nil:
				return Result{}, err
			default:
				state = found
			}
		}
		return s.ofResource(ctx, &req.OwnerRequest, presence, string(state)), nil
	})
}

// ofResource decides about a state of the resource itself.
func (s *settings) ofResource(ctx context.Context, req *OwnerRequest, presence Presence, state string) Result {
	switch {
	case presence == Absent && req.Applied:
		return s.blocked(ReasonResourceAbsent, classify.Slow, Ref{}, "the resource was not found in the cloud after Apply had succeeded"+s.wanted(req, true))
	case !blank(state) && s.lets(req, req.Applied, state):
		return Proceed()
	case !blank(state):
		after := ""
		if presence == Absent {
			after = "; the resource was not found in the cloud, so Get should clear the reported state"
		}
		return s.blocked(ReasonState, classify.Slow, Ref{}, `the resource is in state "`+printable(state)+`"`+s.wanted(req, req.Applied)+after)
	case presence == Absent:
		return Proceed()
	case s.unknownProceeds:
		chain.Note(ctx, "no state is reported")
		return Proceed()
	case presence == Present:
		return s.blocked(ReasonStateUnknown, classify.Slow, Ref{}, "the resource is in the cloud and has not reported a state yet"+s.wanted(req, req.Applied))
	}
	return s.blocked(ReasonStateUnknown, classify.Slow, Ref{}, "no state is reported, and it is unknown whether the resource is in the cloud: "+
		"give the reconciler a Get, or the check the option UnknownProceeds")
}
