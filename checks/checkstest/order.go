package checkstest

import (
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
)

// Order fails the test unless a chain of checks has exactly the links of these
// names, in this order, outermost first, and each of them is seen to run in this
// order.
//
// Order runs the chain by checks.Compose, with 100 requests of the generator.
// Requests that a check blocks do not reach the links after it, so some have to
// pass.
func Order[R any](t rapid.TB, links chain.Chain[R, checks.Result], requests *rapid.Generator[R], names ...string) {
	t.Helper()
	linksOf[R](t, "Order", links)
	if requests == nil {
		t.Fatalf("checkstest: Order: %s: the generator of requests is nil", links)
	}
	chaintest.Runs(t, links, names,
		chaintest.Requests(rapid.Custom(func(t *rapid.T) R {
			req := requests.Draw(t, "request")
			if isNil(req) {
				panic("the request is nil")
			}
			return copied(req) // a call does not see the marks of another one
		})),
		chaintest.ComposedBy(chaintest.Composer[R, checks.Result]{Compose: checks.Compose[R]}))
}
