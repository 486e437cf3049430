package checks

import (
	"context"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// ProvisioningState proceeds if the resource itself is in a state that allows
// the work, as last seen in the cloud. selector returns any field of the
// resource that holds a state. If it returns or dereferences nil, the state is
// not reported. A nil selector panics.
//
//   - A reported state must be settled in the [Vocabulary], unless
//     [WithAllowed] or [WithDenied] is given.
//   - If no state is reported, an absent resource proceeds. Any other presence
//     blocks ([WithUnknownAllowed]).
//   - After Apply ([OwnerRequest.Applied]) an absent resource always blocks.
//     Without WithAllowed and WithDenied the state must then be a final good
//     one: Succeeded in Azure's words. So a failed resource does not become
//     Ready.
//
// A block is retried at [classify.Slow].
func ProvisioningState[T any, S ~string](selector func(resource T) *S, opts ...Option) Middleware[T] {
	s := configure("ProvisioningState", opts, "WithAllowed", "WithDenied", "WithExactStates", "WithUnknownAllowed")
	s.must(selector != nil, "the selector is nil")
	return Check(s.check, func(ctx context.Context, req *Request[T]) (Result, error) {
		return s.ofResource(ctx, &req.OwnerRequest, req.Presence, known(ctx, selector, req.Resource)), nil
	})
}

// LiveState is [ProvisioningState] for a state that fetch reads from the cloud
// when the check runs. It calls fetch unless the resource is known to be
// absent. If the error of fetch means "not found" ([OwnerRequest.Errors]), the
// resource is absent. Any other error is the error of the check. A nil fetch
// panics.
func LiveState[T any, S ~string](fetch func(ctx context.Context, req *Request[T]) (S, error), opts ...Option) Middleware[T] {
	s := configure("LiveState", opts, "WithAllowed", "WithDenied", "WithExactStates", "WithUnknownAllowed")
	s.must(fetch != nil, "the function is nil")
	return Check(s.check, func(ctx context.Context, req *Request[T]) (Result, error) {
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

// ofResource returns the result for a state of the resource itself.
func (s *settings) ofResource(ctx context.Context, req *OwnerRequest, presence Presence, state string) Result {
	states, reported := s.named(req, req.Applied), !blank(state)
	switch {
	case presence == Absent && req.Applied:
		return s.stateBlock(ReasonResourceAbsent, nil, states, "", "the resource was not found in the cloud after Apply had succeeded")
	case reported && s.allows(states, state):
	case reported:
		end := ""
		if presence == Absent {
			end = "; the resource was not found in the cloud, so Get should clear the reported state"
		}
		return s.stateBlock(ReasonState, nil, states, end, `the resource is in state "`, printable(state), `"`)
	case presence == Absent:
	case s.unknownProceeds:
		chain.Note(ctx, "no state is reported")
	case presence == Present:
		return s.stateBlock(ReasonStateUnknown, nil, states, "", "the resource is in the cloud and has not reported a state yet")
	default:
		return s.blocked(ReasonStateUnknown, classify.Slow, nil, "no state is reported, and it is unknown whether the resource is in the cloud: "+
			"give the reconciler a Get, or the check the option WithUnknownAllowed")
	}
	return Proceed()
}
