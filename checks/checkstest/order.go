package checkstest

import (
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
)

// Order fails the test unless a chain of checks has exactly the links with
// these names, in this order, outermost first, and each of them runs in this
// order for some request.
//
// Order runs the chain by checks.Compose. It draws 100 requests, or the number
// of -rapid.checks. A blocked request does not reach the inner links, so the
// outer links must proceed for some requests.
func Order[R any](t rapid.TB, links chain.Chain[R, checks.Result], requests *rapid.Generator[R], names ...string) {
	t.Helper()
	linksOf[R](t, "Order", links)
	if requests == nil {
		t.Fatalf("checkstest: Order: %s: the generator of requests is nil", links)
	}
	chaintest.OrderOf(t, links, names,
		chaintest.WithRequests(rapid.Custom(func(t *rapid.T) R {
			req := requests.Draw(t, "request")
			if isNil(req) {
				panic("the request is nil")
			}
			return copied(req) // calls share no request
		})),
		chaintest.WithComposer(chaintest.Composer[R, checks.Result]{Compose: checks.Compose[R], View: func(req R) any { return viewOf(req) }}))
}
