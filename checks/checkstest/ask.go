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

// linksOf gives what is to be tested as a chain, or fails the test. by is who asks.
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

// handler is a chain that was composed once, as an engine does.
type handler[R any] struct {
	call   chain.Handler[R, checks.Result]
	broken ending // how composing failed
}

func compose[R any](links chain.Chain[R, checks.Result], s *settings) (h handler[R]) {
	made := make(chan chain.Handler[R, checks.Result], 1)
	w := watch{within: s.within}
	if h.broken = w.do(context.Background(), func() { made <- checks.Compose(links) }); h.broken.how == returned {
		h.call = <-made
	}
	return h
}

// answer is what a chain came to.
type answer struct {
	res    checks.Result
	err    error
	ending ending
	handed int  // how often the links behind were called
	other  bool // they were called with another request
}

// ask asks about a request. Once the answer is there, the context is canceled, as that of a pass is.
func (h handler[R]) ask(ctx context.Context, req R) (a answer) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.res, a.err = h.call(ctx, req)
	var p *chain.PanicError
	if errors.As(a.err, &p) {
		a.ending = ending{panicked, p.Value, p.Stack}
	}
	return a
}

// String is the answer in a line.
func (a answer) String() string {
	if a.err != nil {
		return verdictError + ": " + textOf(a.err)
	}
	return a.res.String()
}

// same tells whether two answers are the same to the letter.
func (a answer) same(o answer) bool {
	return a.res.Equal(o.res) && (a.err == nil) == (o.err == nil) && textOf(a.err) == textOf(o.err)
}

// textOf is the text of an error, also of one that cannot be asked for it: made up for a test, it may lack what that is made of.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprint(err)
}

// proceeds tells whether the work went on to the links behind, and these let it.
func (a answer) proceeds() bool {
	return a.err == nil && a.res.Proceeds() && !a.res.Skipped()
}
