package chain

import (
	"context"

	"github.com/windlass-go/windlass/internal/probe"
)

// When makes a link that applies link to requests for which predicate returns
// true. Other requests go directly to the next handler. The new link's name is
// "When(name)". A nil predicate and a nil link panic.
func When[Req, Res any](predicate func(ctx context.Context, req Req) bool, link Middleware[Req, Res]) Middleware[Req, Res] {
	if predicate == nil {
		panic("chain: When: the predicate is nil")
	}
	if link == nil {
		panic("chain: When: the link is nil")
	}
	return probe.Derived("When("+describe(link).Name+")", link, func(next Handler[Req, Res]) Handler[Req, Res] {
		with := link(next)
		if with == nil {
			return nil // Then panics and names this link
		}
		return func(ctx context.Context, req Req) (Res, error) {
			if predicate(ctx, req) {
				return with(ctx, req)
			}
			return next(ctx, req)
		}
	})
}
