package chain

import "context"

// When makes a link that is link for requests that the predicate holds for, and nothing for all others. Its name is
// "When(name)". A nil predicate and a nil link panic.
func When[Req, Res any](predicate func(ctx context.Context, req Req) bool, link Middleware[Req, Res]) Middleware[Req, Res] {
	if predicate == nil {
		panic("chain: When: the predicate is nil")
	}
	if link == nil {
		panic("chain: When: the link is nil")
	}
	return Named("When("+NameOf(link)+")", func(next Handler[Req, Res]) Handler[Req, Res] {
		with := link(next)
		if with == nil {
			return nil // Then says which link this is
		}
		return func(ctx context.Context, req Req) (Res, error) {
			if predicate(ctx, req) {
				return with(ctx, req)
			}
			return next(ctx, req)
		}
	})
}
