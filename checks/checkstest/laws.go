package checkstest

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
)

// Laws is the whole test of a chain of checks, or of one link. It tries the
// laws of package chaintest on each link, and the rules of [Conforms] on the
// chain. It needs no option, unless a link breaks a law or a rule on purpose.
//
// Laws runs the chain by checks.Compose. So a link that proceeds without
// calling next fails the test, even if it does so for some requests only. So
// does the zero Result. The message names the link and shows the smallest
// request.
//
// The generator makes requests as for [Conforms]. The checks must proceed for
// some of them. [WithExcuse] excuses links from a rule and from the laws that
// correspond to it. [WithChainOptions] passes options that only package
// chaintest has. If t is a *testing.T, laws and rules are subtests.
func Laws[R any, L Links[R]](t rapid.TB, link L, requests *rapid.Generator[R], opts ...Option) {
	t.Helper()
	s := configure(t, "Laws", opts)
	links := linksOf[R](t, "Laws", link)
	if requests == nil {
		t.Fatalf("checkstest: Laws: %s: the generator of requests is nil", links)
	}
	sub(t, "Laws", func(t rapid.TB) {
		t.Helper()
		chaintest.Laws(t, links, lawOptions(links, requests, s)...)
	})
	conforms(t, "Laws", links, requests, s)
}

// lawOptions returns the options for package chaintest.
func lawOptions[R any](links chain.Chain[R, checks.Result], requests *rapid.Generator[R], s *settings) []chaintest.Option {
	opts := []chaintest.Option{
		chaintest.WithTimeout(s.within),
		chaintest.WithRequests(rapid.Custom(func(t *rapid.T) R {
			return copied(draw(t, "Laws", links, requests)) // calls at the same time do not share a request
		})),
		chaintest.WithResults(rapid.SampledFrom([]checks.Result{innerProceeds.res, innerBlocks.res, innerSkips.res})),
		chaintest.WithKeptResult(),
		chaintest.WithComposer(chaintest.Composer[R, checks.Result]{
			Compose: checks.Compose[R],
			Refuses: []error{checks.ErrNoDecision, checks.ErrEndNotReached},
			View:    func(req R) any { return viewOf(req) },
		}),
	}
	for _, l := range links.Links() {
		if strings.Contains(l.Name, "Gate(") {
			opts = append(opts, chaintest.WithActing(l.Name))
		}
	}
	for _, b := range s.excuses {
		names := b.links
		if len(names) == 0 {
			names = []string{""}
		}
		for _, law := range lawsOf[b.rule] {
			for _, name := range names {
				opts = append(opts, chaintest.WithExcuse(law, name, b.why))
			}
		}
	}
	return append(opts, s.chain...)
}

// lawsOf lists the laws that correspond to each rule.
var lawsOf = map[Rule][]chaintest.Law{
	HandsOn:    {chaintest.NextOnce, chaintest.Result, chaintest.Errors},
	SameAnswer: {chaintest.Repeatable, chaintest.Concurrent, chaintest.Observing, chaintest.Request},
}
