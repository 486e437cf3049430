package checks

import (
	"context"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/linktag"
)

// OnOwner makes a check of the resource from owner checks. Use it after the
// resource was read. It returns the result of the first owner check that does
// not proceed. [OwnerRequest.DecidedBy] and the text of an error name that
// owner check.
//
// The name of the check is "OnOwner(OwnerReady, ...)". [All] and [Cached]
// accept it if [Check] made all its links. No links and a nil link panic.
func OnOwner[T any](links ...OwnerMiddleware) Middleware[T] {
	if len(links) == 0 {
		panic("checks: OnOwner: there are no links")
	}
	c := chain.New(links...)
	names := make([]string, c.Len())
	tag := linktag.Check{NeedsOwner: true, OwnerOnly: true}
	for i, l := range c.Links() {
		names[i] = l.Name
		its, ok := l.Tag.(linktag.Check)
		tag.Acts = tag.Acts || !ok || its.Acts // a raw link of the user may act
		tag.Sets = tag.Sets || its.Sets
		tag.Follows = append(tag.Follows, its.Follows...)
	}
	return newGroup("OnOwner("+strings.Join(names, ", ")+")", tag, func(observers []chain.Observer) func(context.Context, *Request[T]) (Result, error) {
		ask := Compose(watched(c, observers))
		return func(ctx context.Context, req *Request[T]) (Result, error) {
			res, err := ask(ctx, &req.OwnerRequest)
			switch by := req.DecidedBy(); {
			case err != nil:
				err = fmt.Errorf("%s: %w", by.Name, err)
			case !res.Proceeds():
				d := *res.d
				d.inner = by
				res.d = &d
			}
			return res, err
		}
	})
}
