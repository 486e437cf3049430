package classify

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/run"
)

// The kinds of this package's chains. They are aliases, so raw functions and what package chain makes fit as they are.
type (
	Handler    = chain.Handler[*Failure, Classification]
	Middleware = chain.Middleware[*Failure, Classification]
	Chain      = chain.Chain[*Failure, Classification]
)

// Compose makes the handler that classifies by the links of c. After them, the table of the service decides if its reader
// has read the failure ([NewErrors]). Then general rules decide by the HTTP status and by the kind of the error, as
// [Table.String] prints them. They make a failing server, network or deadline and everything unknown [Slow], and nothing
// [OnChange]. context.Canceled counts as canceled ([Classification.Canceled]) only if ctx is canceled itself. Make the
// handler once and call it often, by several goroutines at once.
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
	handle := onion.Compose(c, decide, &onion.Guard[*Failure, Classification]{
		Note: func(_ context.Context, f *Failure) (n *onion.Note, ok bool) {
			if f == nil {
				return nil, false
			}
			return f.note, true
		},
		Stray: func(*Failure, *chain.Link) error { return errNoFailure },
		Vet:   vet,
	})
	one := func(ctx context.Context, f *Failure) Classification {
		if c.Decorated() || run.Observed(ctx) { // only observers ask which link decided
			noted := *f
			noted.note = &onion.Note{}
			f = &noted
			defer run.SetPassed(ctx, false)
		}
		c, _ := handle(ctx, f) // vet leaves no error
		return c
	}
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
			return one(ctx, f), nil
		}
		var longest Classification
		for _, err := range causes {
			cause := NewFailure(err, f.APIVersion, f.now, f.errors)
			cause.Joined = f.Err
			longest = later(longest, one(ctx, cause))
		}
		return longest, nil
	}
}

// vet turns every fault of link at into a decision.
func vet(_ context.Context, f *Failure, _ *onion.Note, at *chain.Link, c Classification, err error) (_ Classification, what any, _ error) {
	name := at.Name
	if at == onion.End {
		name = "Default"
	}
	switch _, panicked := err.(*chain.PanicError); {
	case err == errNoFailure:
		c = f.failed(noFailure, err)
	case panicked:
		c = f.failed("LinkPanicked("+name+")", err)
	case err != nil:
		c = f.failed("LinkFailed("+name+")", fmt.Errorf("classify: link %s gave an error: %w", name, err))
	case c.IsZero():
		c = f.failed("LinkUndecided("+name+")", fmt.Errorf("classify: link %s gave the zero Classification: return what next gives, or Failure.As", name))
	}
	return c, c.d, nil
}

// later returns the classification that waits longer, with the longer After of both. It keeps the status
// only if both do. a may be zero.
func later(a, b Classification) Classification {
	if a.IsZero() {
		return b
	}
	after, keeps := max(a.After(), b.After()), a.KeepsStatus() && b.KeepsStatus()
	winner := a
	if longer(b, a) {
		winner = b
	}
	if winner.After() != after {
		winner = winner.WithAfter(after)
	}
	if winner.KeepsStatus() && !keeps {
		d := *winner.d
		d.keepsStatus = false
		winner.d = &d
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
