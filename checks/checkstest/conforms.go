package checkstest

import (
	"reflect"
	"strings"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Conforms draws requests and fails the test if a link, or a chain, breaks a [Rule] with one of them, or with one that is made
// of it. The message names the rule and the link, and has the smallest request; but where time ran out, or a goroutine is left,
// the one that was tried then, as it would take that time again for each smaller one. If t is a *testing.T, that is in a subtest.
//
// The generator need only make ordinary requests: with an owner that is there, a resource that is filled in. Nothing of what it
// makes is changed. [Breaks] excuses a link from a rule, and a gate is excused from those that it cannot keep. A nil link, a nil
// generator, one that panics, and one that makes nil requests fail the test.
//
// A goroutine that a link starts, and that panics, ends the program: that cannot be kept from happening.
func Conforms[R any, L Links[R]](t rapid.TB, link L, requests *rapid.Generator[R], opts ...Option) {
	t.Helper()
	s := configure(t, "Conforms", opts)
	links := linksOf[R](t, "Conforms", link)
	if requests == nil {
		t.Fatalf("checkstest: Conforms: %s: the generator of requests is nil", links)
	}
	conforms(t, "Conforms", links, requests, s)
}

// conforms holds a chain to the rules. by is the function that the user called.
func conforms[R any](t rapid.TB, by string, links chain.Chain[R, checks.Result], requests *rapid.Generator[R], s *settings) {
	t.Helper()
	s.gate = strings.Contains(links.String(), "Gate(")
	sub(t, "Conforms", func(outer rapid.TB) {
		outer.Helper()
		if outer.Failed() { // of a fake t; rapid would panic
			outer.Logf("checkstest: %s: %s: the rules were not tried, as the test has failed already", by, links)
			return
		}
		var req R
		herd := newHerd()
		rapid.Check(outer, func(t *rapid.T) {
			req = draw(t, by, links, requests)
			examine(t, outer, links, s, herd, req)
		})
		leaves(outer, links, s, herd, req)
	})
}

// draw draws a request.
func draw[R any](t *rapid.T, by string, links chain.Chain[R, checks.Result], requests *rapid.Generator[R]) R {
	defer func() {
		// rapid ends a draw by panics of its own, which have to go on.
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

// drawn is a request as rapid prints it, without unexported fields.
type drawn[R any] struct{ req R }

// GoString shows the request in a line.
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

// most is how many variants of a request are tried at most.
const most = 100

// some gives all variants, or, if there are too many, drawn ones.
func some[R any](t *rapid.T, all []variant[R]) []variant[R] {
	if len(all) <= most {
		return all
	}
	from := rapid.IntRange(0, len(all)-most).Draw(t, "first variant")
	return all[from : from+most]
}
