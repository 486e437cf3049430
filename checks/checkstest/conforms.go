package checkstest

import (
	"reflect"
	"strings"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Conforms draws requests and fails the test if a link or a chain breaks a
// [Rule] with one of them, or with a variant of one. The message names the rule
// and the link and shows the smallest request. After a time-out it shows the request of that call, because each smaller one would
// take as long. If t is a *testing.T, Conforms runs a subtest.
//
// The generator need only make ordinary requests, whose owner exists and whose
// resource is filled in. Conforms does not change them. [WithExcuse] excuses a
// link from a rule. These fail the test: a nil link, a nil generator, a
// generator that panics, and a nil request.
//
// A panic in a goroutine that a link started ends the program. Conforms cannot
// prevent that.
func Conforms[R any, L Links[R]](t rapid.TB, link L, requests *rapid.Generator[R], opts ...Option) {
	t.Helper()
	s := configure(t, "Conforms", opts)
	links := linksOf[R](t, "Conforms", link)
	if requests == nil {
		t.Fatalf("checkstest: Conforms: %s: the generator of requests is nil", links)
	}
	conforms(t, "Conforms", links, requests, s)
}

// conforms tries the rules on a chain. by is the function that the user called.
func conforms[R any](t rapid.TB, by string, links chain.Chain[R, checks.Result], requests *rapid.Generator[R], s *settings) {
	t.Helper()
	s.gate = strings.Contains(links.String(), "Gate(")
	sub(t, "Conforms", func(outer rapid.TB) {
		outer.Helper()
		if outer.Failed() { // rapid would panic
			outer.Logf("checkstest: %s: %s: the rules were not tried, because the test has already failed", by, links)
			return
		}
		var req R
		rapid.Check(outer, func(t *rapid.T) {
			req = draw(t, by, links, requests)
			examine(t, outer, links, s, req)
		})
	})
}

// draw draws a request.
func draw[R any](t *rapid.T, by string, links chain.Chain[R, checks.Result], requests *rapid.Generator[R]) R {
	defer func() {
		// rapid ends a draw by its own panics, which must continue.
		if p := recover(); p != nil && !strings.HasPrefix(pkgPath(p), "pgregory.net/rapid") {
			t.Fatalf("checkstest: %s: %s: the generator of requests panics: %v", by, links, p)
		} else if p != nil {
			panic(p)
		}
	}()
	req := rapid.Custom(func(t *rapid.T) drawn[R] { return drawn[R]{requests.Draw(t, "request")} }).Draw(t, "request").req
	if isNil(req) {
		t.Fatalf("checkstest: %s: %s: the generator made a request that is nil", by, links)
	}
	return req
}

// drawn is a request that rapid prints without unexported fields.
type drawn[R any] struct{ req R }

// GoString returns the request in one line.
func (d drawn[R]) GoString() string {
	if isNil(d.req) {
		return "nil"
	}
	return viewOf(d.req).String()
}

func pkgPath(v any) string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}

// maxVariants limits the number of variants tried for each request.
const maxVariants = 100

// some returns all variants, or drawn ones if there are too many.
func some[R any](t *rapid.T, all []variant[R]) []variant[R] {
	if len(all) <= maxVariants {
		return all
	}
	from := rapid.IntRange(0, len(all)-maxVariants).Draw(t, "first variant")
	return all[from : from+maxVariants]
}
