package checks

import (
	"context"

	"github.com/windlass-go/windlass/classify"
)

// Valid blocks while rule returns an error for the resource. Use it for rules
// of the spec that admission cannot check. The text of the error is the
// message. The block is retried when the spec changes ([classify.OnChange]). A
// nil rule panics.
func Valid[T any](rule func(resource T) error, opts ...Option) Middleware[T] {
	s := configure("Valid", opts)
	s.must(rule != nil, "the function is nil")
	return Check(s.check, func(_ context.Context, req *Request[T]) (Result, error) {
		if err := rule(req.Resource); err != nil {
			return s.blocked(ReasonSpecInvalid, classify.OnChange, nil, err.Error()), nil
		}
		return Proceed(), nil
	})
}
