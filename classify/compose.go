package classify

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/stack"
)

// The kinds of this package's chains. They are aliases, so raw functions and what package chain makes fit as they are.
type (
	Handler    = chain.Handler[*Failure, Classification]
	Middleware = chain.Middleware[*Failure, Classification]
	Chain      = chain.Chain[*Failure, Classification]
)

// Compose makes the handler that classifies by the links of c and, after them, by [Default]. Make it once and call it often,
// by several goroutines at once. The zero Chain is Default alone.
//
// An error that joins several (errors.Join, fmt.Errorf with several %w, however deep) is taken apart: each cause is
// classified by itself, by all links, and the one that waits longest wins, by Retry and then by After. The After of the
// result is the longest of all. It is canceled only if every cause is. A link that decides about all of them by one asks
// Failure.Joined for it.
//
// The handler fails closed: it returns no error and does not panic. If a link panics, returns an error or does not decide
// (the zero Classification), the outer links see the failure as [Slow]. The Rule names the link, the code and the message
// are those of the failure, and the Fault is the error of the link. A nil *Failure is Slow, too.
func Compose(c Chain) Handler {
	handle := c.Decorate(guard).Then(func(ctx context.Context, f *Failure) (Classification, error) {
		return run(ctx, f, end, decide)
	})
	// Decorations and observers of c are outside of the guards of its links.
	handle = guard(&chain.Link{Name: "Compose"}, handle)
	return func(ctx context.Context, f *Failure) (Classification, error) {
		if f == nil {
			return f.failed(noFailure, errNoFailure), nil
		}
		causes, _, ok := causesOf(f.Err)
		if !ok { // a literal; NewFailure replaces such an error
			safe := *f
			safe.Err = newUnreadable(f.Err)
			f = &safe
		}
		if len(causes) < 2 {
			return handle(ctx, f)
		}
		var longest Classification
		for _, err := range causes {
			cause := NewFailure(err, f.APIVersion, f.now, f.errors)
			cause.Joined = f.Err
			c, _ := handle(ctx, cause) // a guarded handler gives no error
			longest = later(longest, c)
		}
		return longest, nil
	}
}

// later returns the classification that waits longer, with the longer After of both. a may be zero.
func later(a, b Classification) Classification {
	if a.IsZero() {
		return b
	}
	after := max(a.After(), b.After())
	winner := a
	if longer(b, a) {
		winner = b
	}
	if winner.After() != after {
		at := winner.at
		winner = winner.WithAfter(after)
		winner.at = at
	}
	return winner
}

func longer(a, b Classification) bool {
	if a.Canceled() != b.Canceled() {
		return b.Canceled()
	}
	if a.Retry() != b.Retry() {
		return a.Retry() > b.Retry()
	}
	return a.After() > b.After()
}

const noFailure = "NoFailure"

var errNoFailure = errors.New("classify: the *Failure is nil: make one of an error, with NewFailure")

// point is a place that can go wrong, with the rules that then apply.
type point struct {
	link                        *chain.Link
	panicked, failed, undecided string
}

func newPoint(link *chain.Link) *point {
	return &point{
		link:      link,
		panicked:  "LinkPanicked(" + link.Name + ")",
		failed:    "LinkFailed(" + link.Name + ")",
		undecided: "LinkUndecided(" + link.Name + ")",
	}
}

var end = newPoint(&chain.Link{Name: "Default"})

func guard(link *chain.Link, h Handler) Handler {
	p := newPoint(link)
	return func(ctx context.Context, f *Failure) (Classification, error) {
		return run(ctx, f, p, h)
	}
}

// run calls h and makes a decision of its results, or of its panic.
func run(ctx context.Context, f *Failure, p *point, h Handler) (c Classification, err error) {
	defer func() {
		if v := recover(); v != nil {
			c = f.failed(p.panicked, &chain.PanicError{Value: v, Stack: stack.Panic(), Link: p.link.Name})
			c.at, err = p.link, nil
		}
	}()
	c, err = h(ctx, f)
	switch {
	case err != nil:
		c = f.failed(p.failed, fmt.Errorf("classify: link %s gave an error: %w", p.link.Name, err))
	case c.IsZero():
		c = f.failed(p.undecided, fmt.Errorf("classify: link %s gave the zero Classification: return what next gives, or Failure.As", p.link.Name))
	}
	if c.at == nil {
		c.at = p.link
	}
	return c, nil
}
