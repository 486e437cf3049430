package checkstest

import (
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
)

// Order fails the test unless a chain of checks has exactly the links with these
// names, in this order, outermost first, and each of them runs in this order for
// some request.
//
// Order runs the chain by checks.Compose. It draws 100 requests, or as many as
// -rapid.checks says. A request that a check blocks does not reach the inner
// links, so some requests must pass.
func Order[R any](t rapid.TB, links chain.Chain[R, checks.Result], requests *rapid.Generator[R], names ...string) {
	t.Helper()
	linksOf[R](t, "Order", links)
	if requests == nil {
		t.Fatalf("checkstest: Order: %s: the generator of requests is nil", links)
	}
	chaintest.Ordered(t, links, chaintest.Exactly(names...),
		chaintest.WithRequests(rapid.Custom(func(t *rapid.T) R {
			req := requests.Draw(t, "request")
			if isNil(req) {
				panic("the request is nil")
			}
			return copied(req) // a call does not see the marks of another call
		})),
		chaintest.WithComposer(chaintest.Composer[R, checks.Result]{Compose: checks.Compose[R], View: func(req R) any { return viewOf(req) }}))
}
