package checks

import (
	"context"

	"github.com/windlass-go/windlass/classify"
)

// Paused blocks while paused says that a person said stop. It is looked at again when the resource changes,
// [classify.OnChange]. A nil pointer met in paused means that nobody did. A nil paused panics.
func Paused[T any](paused func(resource T) bool, opts ...Option) Middleware[T] {
	if paused == nil {
		panic("checks: Paused: the function is nil")
	}
	s := configure("Paused", forOthers, opts)
	return Check(s.check, func(_ context.Context, req *Request[T]) (Result, error) {
		if read(paused, req.Resource) {
			return s.blocked(ReasonPaused, classify.OnChange, Ref{}, "paused by a person: nothing is done until that is taken back"), nil
		}
		return Proceed(), nil
	})
}
