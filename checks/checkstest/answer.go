package checkstest

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// linksOf returns the tested link as a chain, or fails the test. by is the
// function that the user called.
func linksOf[R any, L Links[R]](t rapid.TB, by string, link L) (links chain.Chain[R, checks.Result]) {
	t.Helper()
	switch l := any(link).(type) {
	case chain.Chain[R, checks.Result]:
		links = l
	case chain.Middleware[R, checks.Result]:
		if l == nil {
			t.Fatalf("checkstest: %s: the link is nil", by)
		}
		links = chain.New(l)
	}
	if _, ok := partsOf(*new(R)); !ok {
		t.Fatalf("checkstest: %s: %s: a check is about a *checks.Request[T] or *checks.OwnerRequest, not about a %s",
			by, links, reflect.TypeFor[R]())
	}
	return links
}

// handler is a chain that was composed once, as by an engine.
type handler[R any] struct {
	call   chain.Handler[R, checks.Result]
	broken ending // how composing failed
}

func compose[R any](links chain.Chain[R, checks.Result], s *settings) (h handler[R]) {
	made := make(chan chain.Handler[R, checks.Result], 1)
	w := watch{within: s.within}
	if h.broken = w.do(func() { made <- checks.Compose(links) }); h.broken.how == returned {
		h.call = <-made
	}
	return h
}

// answer is the answer of a chain.
type answer struct {
	res    checks.Result
	err    error
	ending ending
	called int  // the number of calls of the inner links
	other  bool // the inner links received another request
}

// ask calls the chain with a request. It cancels the context after the answer,
// like an engine after a pass.
func (h handler[R]) ask(req R) (a answer) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a.res, a.err = h.call(ctx, req)
	var p *chain.PanicError
	if errors.As(a.err, &p) {
		a.ending = ending{panicked, p.Value, p.Stack}
	}
	return a
}

// String returns the answer in one line.
func (a answer) String() string {
	if a.err != nil {
		return verdictError + ": " + textOf(a.err)
	}
	return a.res.String()
}

// same reports whether two answers are equal, texts included.
func (a answer) same(o answer) bool {
	return a.res.Equal(o.res) && (a.err == nil) == (o.err == nil) && textOf(a.err) == textOf(o.err)
}

// textOf returns the text of an error, even if its Error method panics.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprint(err)
}

// proceeds reports whether the check and the inner links proceeded.
func (a answer) proceeds() bool {
	return a.err == nil && a.res.Proceeds() && !a.res.Skipped()
}
