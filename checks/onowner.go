package checks

import (
	"context"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
)

// OnOwner makes a check of a resource out of owner checks, for where the owner is asked after the resource was read. It
// stops with what the first of them stops with; an error names that one. Its name is "OnOwner(OwnerReady, ...)". No
// links, and nil links, panic.
func OnOwner[T any](links ...OwnerMiddleware) Middleware[T] {
	if len(links) == 0 {
		panic("checks: OnOwner: there are no links")
	}
	c := chain.New(links...)
	names := make([]string, c.Len())
	for i, l := range c.Links() {
		names[i] = l.Name
	}
	decide := Compose(c)
	return Check("OnOwner("+strings.Join(names, ", ")+")", func(ctx context.Context, req *Request[T]) (Result, error) {
		res, err := decide(ctx, &req.OwnerRequest)
		if err != nil && res.at != nil {
			err = fmt.Errorf("%s: %w", res.at.Name, err)
		}
		return Result{d: res.d}, err // the link that decided is, for the chain around it, this one
	})
}
