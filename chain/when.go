package chain

import (
	"context"
	"strings"

	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/probe"
)

// When makes a link that applies links, outermost first, to the requests for
// which predicate returns true. Other requests go directly to the next handler:
//
//	New(When(p, a, b), c)    = New(a, b, c) for a request that p accepts
//	                         = New(c) for any other request
//
// Each call asks the predicate once, before the links run. The new link's name
// is "When(a, b)". Observers see the links within it as well, and an engine
// attributes a decision to the link within it. When panics on a nil predicate,
// on a nil link, and without links.
func When[Req, Res any](predicate func(ctx context.Context, req Req) bool, links ...Middleware[Req, Res]) Middleware[Req, Res] {
	switch {
	case predicate == nil:
		panic("chain: When: the predicate is nil")
	case len(links) == 0:
		panic("chain: When: there are no links")
	}
	c := Chain[Req, Res]{links: entries("When", links)}
	names, tags := make([]string, len(links)), make([]any, len(links))
	for i, l := range c.Links() {
		names[i], tags[i] = l.Name, l.Tag
	}
	inside := func(of *Link, layers layers[Req, Res]) Middleware[Req, Res] {
		c := c.within(of)
		return func(next Handler[Req, Res]) Handler[Req, Res] {
			with, fault := c.compose(next, layers)
			if fault != "" {
				return nil // Then panics and names this link
			}
			return func(ctx context.Context, req Req) (Res, error) {
				if predicate(ctx, req) {
					return with(ctx, req)
				}
				return next(ctx, req)
			}
		}
	}
	return probe.Named(probe.Answer{
		Name: "When(" + strings.Join(names, ", ") + ")", Source: probe.Caller(), Tag: linktag.Join(tags...), Inside: inside,
	}, inside(&Link{}, layers[Req, Res]{}))
}
