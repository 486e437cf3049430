package checks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/chain"
)

// OnOwner makes a check of a resource out of owner checks, for where the owner is asked after the resource was read. It
// stops with what the first of them stops with; an error names that one. Its name is "OnOwner(OwnerReady, ...)". No
// links, and nil links, panic. [All] and [Cached] take it if all its links are made by [Check].
func OnOwner[T any](links ...OwnerMiddleware) Middleware[T] {
	if len(links) == 0 {
		panic("checks: OnOwner: there are no links")
	}
	c := chain.New(links...)
	names := make([]string, c.Len())
	for i, l := range c.Links() {
		names[i] = l.Name
	}
	ask := Compose(c)
	decide := func(ctx context.Context, req *Request[T]) (Result, error) {
		res, err := ask(ctx, &req.OwnerRequest)
		if err != nil && res.at != nil {
			err = fmt.Errorf("%s: %w", res.at.Name, err)
		}
		return res, err
	}
	// A gate among them must not get into an All by way of this.
	link := actor(decide)
	if !slices.ContainsFunc(links, func(l OwnerMiddleware) bool { return !madeByCheck(l) }) {
		link = decider(decide)
	}
	return chain.Named("OnOwner("+strings.Join(names, ", ")+")", link)
}
