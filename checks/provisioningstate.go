package checks

import (
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// ProvisioningState lets the work go on if the resource itself is in a state that allows it, as it was last seen in the
// cloud: [Settled] unless [Allow] or [Deny] say otherwise. selector is any field of the resource that holds a state.
//
// A resource that is not in the cloud yet goes on. One that is there and has no state reported blocks
// ([UnknownProceeds]). It is looked at again at [classify.Slow]. A nil selector panics.
func ProvisioningState[T any, S ~string](selector func(resource T) *S, opts ...Option) Middleware[T] {
	const name = "ProvisioningState"
	if selector == nil {
		panic("checks: " + name + ": the selector is nil")
	}
	s := configure(name, forState, opts)
	return Check(name, func(ctx context.Context, req *Request[T]) (Result, error) {
		if !req.Exists {
			return Proceed(), nil
		}
		return s.ofResource(ctx, known(selector, req.Resource)), nil
	})
}

// LiveState is [ProvisioningState] for a state that has to be asked for just now: fetch gets it from the cloud. It is
// not called for a resource that is not in the cloud yet, and an *azcore.ResponseError of status 404 from it means the
// same. Any other error of it is an error of the check. A nil fetch panics.
func LiveState[T any, S ~string](fetch func(ctx context.Context, req *Request[T]) (S, error), opts ...Option) Middleware[T] {
	const name = "LiveState"
	if fetch == nil {
		panic("checks: " + name + ": the function is nil")
	}
	s := configure(name, forState, opts)
	return Check(name, func(ctx context.Context, req *Request[T]) (Result, error) {
		if !req.Exists {
			return Proceed(), nil
		}
		state, err := fetch(ctx, req)
		if notFound(err) {
			chain.Note(ctx, "not there")
			return Proceed(), nil
		}
		if err != nil {
			return Result{}, err
		}
		return s.ofResource(ctx, string(state)), nil
	})
}

func notFound(err error) bool {
	if err == nil {
		return false // without the allocation below
	}
	var response *azcore.ResponseError
	return errors.As(err, &response) && response != nil && response.StatusCode == http.StatusNotFound
}

// ofResource decides about a state of the resource itself.
func (s *settings) ofResource(ctx context.Context, state string) Result {
	switch {
	case blank(state) && s.unknownProceeds:
		chain.Note(ctx, "no state is reported")
		return Proceed()
	case blank(state):
		return s.blocked(ReasonStateUnknown, classify.Slow, Ref{}, "the resource is there and has not reported a state yet"+s.wanted)
	case s.lets(state):
		return Proceed()
	}
	return s.blocked(ReasonState, classify.Slow, Ref{}, `the resource is in state "`+printable(state)+`"`+s.wanted)
}
