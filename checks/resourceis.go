package checks

import (
	"context"

	"github.com/windlass-go/windlass/classify"
)

// ResourceIs blocks while objection returns a text: why the resource is
// unsuitable and what fixes it. The text becomes the message. If objection
// returns "", the check proceeds. Use it for rules of the spec that admission
// cannot check ([WithReason] with [ReasonSpecInvalid]), and for any other field
// of the resource. name is the name of the link.
//
// A block is retried when the resource changes ([classify.OnChange],
// [WithRetry]). If objection dereferences nil, the check fails. A nil objection
// and an empty name panic.
func ResourceIs[T any](name string, objection func(resource T) string, opts ...Option) Middleware[T] {
	s := configure(name, opts)
	s.must(objection != nil, "the function is nil")
	return Check(s.check, func(_ context.Context, req *Request[T]) (Result, error) {
		text, err := required(objection, req.Resource, s.check, `return an objection or "" where a field that may be nil is unset`)
		switch {
		case err != nil:
			return Result{}, err
		case text != "":
			return s.blocked(ReasonResourceUnsuitable, classify.OnChange, nil, text), nil
		}
		return Proceed(), nil
	})
}
