package checkstest

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Case is a request with the expected answer. R is the type of the request,
// *checks.Request[T] or *checks.OwnerRequest.
type Case[R any] struct {
	Reason  string // the reason for the answer; a failure prints it
	Request R      // the check gets a shallow copy of it
	Want    Want
}

// Cases are the named cases of a check of a resource.
type Cases[T any] = map[string]Case[*checks.Request[T]]

// OwnerCases are the named cases of an owner check.
type OwnerCases = map[string]Case[*checks.OwnerRequest]

// Links is a link or a whole chain.
type Links[R any] interface {
	chain.Middleware[R, checks.Result] | chain.Chain[R, checks.Result]
}

// Run calls a link or a chain for each case, and fails the test for each wrong
// answer. If t is a *testing.T, each case is a subtest. A bubble of
// testing/synctest has no subtests: pass struct{ rapid.TB }{t} there.
//
// These also fail the test: no cases, a case without Request or Want, a nil
// link, a check that panics, and a check that does not return in time
// ([WithTimeout]).
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

// try returns the fault of a case or of its answer, or "" if there is none.
func (c Case[R]) try(links chain.Chain[R, checks.Result], s *settings) (fault string) {
	switch {
	case isNil(c.Request):
		return "the request is nil"
	case c.Want.verdict == "":
		return "its Want is not set: use Proceeds, Skips, Blocks or Fails"
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

// askOnce calls a chain once.
func askOnce[R any](links chain.Chain[R, checks.Result], s *settings, req R) (answer, ending) {
	h := compose(links, s)
	if h.broken.how != returned {
		return answer{}, h.broken
	}
	answers := make(chan answer, 1)
	w := watch{within: s.within}
	if e := w.do(func() { answers <- h.ask(req) }); e.how != returned {
		return answer{}, e
	}
	a := <-answers
	return a, a.ending
}

// sub runs do as a subtest if t has subtests.
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
