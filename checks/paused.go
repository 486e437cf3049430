package checks

import (
	"context"

	"github.com/windlass-go/windlass/classify"
)

// Paused blocks while the function paused returns true: a person paused the
// resource. The block is retried when the resource changes
// ([classify.OnChange]). If paused dereferences nil, the check fails. A nil
// paused panics.
func Paused[T any](paused func(resource T) bool, opts ...Option) Middleware[T] {
	s := configure("Paused", opts)
	s.must(paused != nil, "the function is nil")
	return Check(s.check, func(_ context.Context, req *Request[T]) (Result, error) {
		stop, err := required(paused, req.Resource, s.check, "return false where a field that may be nil is unset")
		switch {
		case err != nil:
			return Result{}, err
		case stop:
			return s.blocked(ReasonPaused, classify.OnChange, nil, "the resource is paused; resume it to continue"), nil
		}
		return Proceed(), nil
	})
}
