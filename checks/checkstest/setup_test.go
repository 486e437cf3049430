package checkstest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
)

// Set-up errors fail the test.
func TestSetUp(t *testing.T) {
	ready := checks.OwnerReady()
	some := checkstest.OwnerCases{"A": {Request: checkstest.OwnerRequest(), Want: checkstest.Proceeds()}}
	var nilLink checks.OwnerMiddleware
	cases := map[string]struct {
		reason string
		do     func(*fakeT)
		want   string
	}{
		"NoCases":    {"Run needs a case", func(t *fakeT) { checkstest.Run(t, ready, checkstest.OwnerCases{}) }, "checkstest: Run: OwnerReady: there are no cases"},
		"RunNilLink": {"the link is required", func(t *fakeT) { checkstest.Run(t, nilLink, some) }, "checkstest: Run: the link is nil"},
		"NoRequest":  {"a case needs a request", func(t *fakeT) { checkstest.Run(t, ready, checkstest.OwnerCases{"A": {Want: checkstest.Proceeds()}}) }, `checkstest: OwnerReady: case "A" (): the request is nil`},
		"WantsNothing": {"a case needs a Want", func(t *fakeT) {
			checkstest.Run(t, ready, checkstest.OwnerCases{"A": {Reason: "why", Request: checkstest.OwnerRequest()}})
		}, `checkstest: OwnerReady: case "A" (why): its Want is not set: use Proceeds, Blocks, Answers or Fails`},
		"NotARequest": {"the link needs a request of package checks", func(t *fakeT) {
			checkstest.Laws(t, chain.Named("Odd", func(next chain.Handler[*int, checks.Result]) chain.Handler[*int, checks.Result] { return next }), rapid.Just(new(3)))
		}, "chaintest: Laws: composing the chain panics at link end: checks: Compose: the request of the chain Odd -> end is a *int: it must be a *checks.Request[T] or *checks.OwnerRequest"},
		"NilGenerator": {"the generator is required", func(t *fakeT) { checkstest.Laws[*checks.OwnerRequest](t, ready, nil) }, "chaintest: Laws: the generator of requests or of results is nil: give one, such as rapid.Make"},
		"NilRequest":   {"the generator makes a nil request", func(t *fakeT) { checkstest.Laws(t, ready, rapid.Just[*checks.OwnerRequest](nil)) }, "chaintest: Laws: the laws could not be tested: [rapid] failed after 0 tests: checkstest: the generator made a request that is nil"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fake := &fakeT{}
			fake.Run(func() { tc.do(fake) })
			if diff := cmp.Diff(tc.want, fake.complaint()); diff != "" || !fake.Failed() {
				t.Errorf("%s: failed: %t, -want, +got:\n%s\n%s", tc.reason, fake.Failed(), diff, fake.Output())
			}
		})
	}
}
