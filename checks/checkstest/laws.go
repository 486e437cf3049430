package checkstest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/onion"
)

// Laws is the whole test of a chain of checks, or of one link. It calls
// [chaintest.Laws] with the rules of this package. It needs no option, unless a
// link breaks a law on purpose: [chaintest.WithExcuse]. A gate acts, so it is
// excused from Repeatable and Request.
//
// The generator need only make ordinary requests, whose owner exists and whose
// resource is filled in; the checks must proceed for some of them. Laws does not
// change them. These fail the test: a nil link, a nil generator, a generator
// that panics, and a nil request.
//
// A panic in a goroutine that a link started ends the program.
func Laws[R any, L Links[R]](t rapid.TB, link L, requests *rapid.Generator[R], opts ...chaintest.Option) {
	t.Helper()
	links := linksOf[R](t, "Laws", link)
	all := []chaintest.Option{
		chaintest.WithKeptResult(),
		chaintest.WithComposer(chaintest.Composer[R, checks.Result]{
			Compose: checks.Compose[R], Refuses: []error{checks.ErrNoDecision, checks.ErrEndNotReached},
			Passes: handsOn[R], Decides: explains, Copy: equalCopy[R], Variants: variants[R],
			View: func(req R) any { return view{req} },
		}),
	}
	for _, l := range links.Links() {
		if tag, ok := l.Tag.(linktag.Check); ok && tag.Acts {
			for _, law := range [...]string{"Repeatable", "Request"} {
				all = append(all, chaintest.WithExcuse(law, l.Name, "a gate acts"))
			}
		}
	}
	copies := requests
	if requests != nil {
		copies = rapid.Custom(func(t *rapid.T) R {
			req := requests.Draw(t, "request")
			if isNil(req) {
				t.Fatalf("checkstest: the generator made a request that is nil")
			}
			return copied(req) // calls at the same time do not share a request
		})
	}
	results := rapid.SampledFrom([]checks.Result{checks.Proceed(), innerBlocks, checks.Skip("an inner link skips")})
	chaintest.Laws(t, links, copies, results, append(all, opts...)...)
}

var innerBlocks = checks.Block("InnerBlocks", "an inner link blocks", checks.WithRetry(classify.VerySlow),
	checks.WithAfter(7*time.Second), checks.WithWaitingFor(checks.Ref{Kind: "Inner", Name: "a"}, checks.Ref{Kind: "Inner", Name: "b"}))

// handsOn requires that a link passes on the request as it got it.
func handsOn[R any](given, passed R) error {
	switch {
	case isNil(passed), onion.CallOf(partsOf(passed).owner).Note() == nil:
		return errors.New("rule HandsOn: it passes on a nil request, or a request that it made")
	case any(passed) != any(given) && !unchanged(given, passed):
		return errors.New("rule HandsOn: it passes on a changed copy of the request")
	}
	return nil
}

// explains requires that a block has a reason in CamelCase, and a message.
func explains(res checks.Result) error {
	switch reason, message := res.Reason(), res.Message(); {
	case !res.Blocked():
		return nil
	case reason == checks.ReasonInvalid:
		return fmt.Errorf("rule Explains: %s", message)
	case reason[0] < 'A' || reason[0] > 'Z':
		return fmt.Errorf("rule Explains: the reason %q does not begin with a capital letter", reason)
	case strings.TrimSpace(message) == "", message == reason:
		return fmt.Errorf("rule Explains: the block for %s has no message: name the awaited object", reason)
	}
	return nil
}

// linksOf returns the tested link as a chain, or fails the test. by is the
// function that the user called.
func linksOf[R any, L Links[R]](t rapid.TB, by string, link L) chain.Chain[R, checks.Result] {
	t.Helper()
	if c, ok := any(link).(chain.Chain[R, checks.Result]); ok {
		return c
	}
	l, _ := any(link).(chain.Middleware[R, checks.Result])
	if l == nil {
		t.Fatalf("checkstest: %s: the link is nil", by)
	}
	return chain.New(l)
}
