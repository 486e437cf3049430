package checkstest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Case is a request, and what is expected of it. R is what the check is about, *checks.Request[T] or *checks.OwnerRequest.
type Case[R any] struct {
	Reason  string // why that is to be expected; printed when it does not come
	Request R      // stays as it is: the check is given a copy of it, though not of what it points to
	Want    Want
}

// Cases are the cases of a check of a resource, by their names.
type Cases[T any] = map[string]Case[*checks.Request[T]]

// OwnerCases are the cases of an owner check.
type OwnerCases = map[string]Case[*checks.OwnerRequest]

// Links is a link, or a whole chain.
type Links[R any] interface {
	chain.Middleware[R, checks.Result] | chain.Chain[R, checks.Result]
}

// Run asks a link, or a chain, about each case, and fails the test for each that does not come to what it wants. If t is a
// *testing.T, each is a subtest; where there are none, in a bubble of testing/synctest, give it struct{ rapid.TB }{t}.
//
// No cases, a case without a request or that wants nothing, and a nil link fail the test. So does a check that panics or that
// does not answer in time ([Within]).
func Run[R any, L Links[R]](t rapid.TB, link L, cases map[string]Case[R], opts ...Option) {
	t.Helper()
	s := configure(t, "Run", opts)
	links := linksOf[R](t, "Run", link)
	if len(cases) == 0 {
		t.Fatalf("checkstest: Run: %s: there are no cases", links)
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		sub(t, name, func(t rapid.TB) {
			t.Helper()
			if fault := cases[name].try(links, s); fault != "" {
				t.Errorf("checkstest: %s: case %q (%s): %s", links, name, cases[name].Reason, fault)
			}
		})
	}
}

// try says what is wrong with a case or with what came; "" if nothing is.
func (c Case[R]) try(links chain.Chain[R, checks.Result], s *settings) (fault string) {
	switch {
	case isNil(c.Request):
		return "the request is nil"
	case c.Want.verdict == "":
		return "it wants nothing: say Proceeds, Skips, Blocks or Fails"
	}
	a, e := askOnce(links, s, copied(c.Request))
	if why := e.fault(s.within); why != "" {
		return "want " + c.Want.String() + ", but " + why
	}
	got := outcomeOf(a.res, a.err)
	if diff := cmp.Diff(c.Want.whole(got, a.err), got); diff != "" {
		return fmt.Sprintf("want %s, got %s\n-want, +got:\n%s", c.Want, a, diff)
	}
	return ""
}

// askOnce asks a chain about a request, once.
func askOnce[R any](links chain.Chain[R, checks.Result], s *settings, req R) (answer, ending) {
	h := compose(links, s)
	if h.broken.how != returned {
		return answer{}, h.broken
	}
	answers := make(chan answer, 1)
	w := watch{within: s.within}
	if e := w.do(context.Background(), func() { answers <- h.ask(context.Background(), req) }); e.how != returned {
		return answer{}, e
	}
	a := <-answers
	return a, a.ending
}

// sub runs do as a subtest, if t has such.
func sub(t rapid.TB, name string, do func(rapid.TB)) {
	t.Helper()
	if runs, ok := t.(interface {
		Run(string, func(*testing.T)) bool
	}); ok {
		runs.Run(name, func(t *testing.T) { t.Helper(); do(t) })
		return
	}
	do(t)
}
