package flow

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/onion"
)

// ErrForeignRequest is the error of a link that passed a nil request to next,
// or a request that it made itself. On Pass it is the error of a link that
// passed to next a context that is not derived from its own. Test for it with
// errors.Is.
var ErrForeignRequest = errors.New("the request or the context does not belong to this pass: pass to next the request and the context that the link received, or values derived from them")

// guardRequest returns the guard of a chain whose requests belong to a pass. It
// refuses a request that a link kept from an earlier point or pass.
func guardRequest[T any, Res comparable](vet func(context.Context, *state[T], *chain.Link, Res) (what any, err error)) *onion.Guard[*Request[T], Res] {
	return &onion.Guard[*Request[T], Res]{
		Note: func(_ context.Context, req *Request[T]) (n *onion.Note, s any, ok bool) {
			if req == nil || req.pass == nil || !req.pass.Open {
				return nil, nil, false
			}
			return &req.pass.Note, req.pass, true
		},
		Stray: func(*Request[T], *chain.Link) error { return ErrForeignRequest },
		Vet: func(ctx context.Context, _ *Request[T], s any, at *chain.Link, res Res, err error) (_ Res, what any, _ error) {
			if err == nil {
				what, err = vet(ctx, s.(*state[T]), at, res)
			}
			return res, what, err
		},
	}
}

// refused returns the error about an invalid result of a link or of the
// operation.
func refused(at *chain.Link, why error) error {
	if at == onion.End {
		return fmt.Errorf("flow: the operation: %w", why)
	}
	return fmt.Errorf("flow: link %s: %w", at.Name, why)
}

func (r *Reconciler[T]) vetProgress(ctx context.Context, s *state[T], at *chain.Link, p Progress) (what any, err error) {
	switch {
	case p.p == done && s.report == reportedDone:
		return nil, nil
	case p.p == nil:
		return nil, refused(at, ErrNoProgress)
	case p.IsDone() && s.op.token != "" && !(s.linkOnly() && p.Skipped()):
		return nil, refused(at, ErrUnderWay)
	case p.IsDone() && s.report != reportedDone && !p.Skipped():
		return nil, refused(at, ErrNotDone)
	case p.inProgress() && p.p.token == "":
		return nil, refused(at, ErrNoToken)
	}
	if at != onion.End {
		r.linkReturned(ctx, s, p)
	}
	return p.p, nil
}

func vetObservation[T any](_ context.Context, s *state[T], at *chain.Link, o Observation) (what any, err error) {
	switch {
	case o.Skip != "":
		return o.Skip, nil
	case o.inSync() && !s.seen:
		return nil, refused(at, ErrNotSeen)
	}
	return nil, nil
}

// guardPass returns the guard of a chain of Pass, whose note is in the context.
func guardPass[T any]() *onion.Guard[T, Outcome] {
	return &onion.Guard[T, Outcome]{
		Note: func(ctx context.Context, _ T) (n *onion.Note, _ any, ok bool) {
			if p := passOf(ctx); p != nil {
				return &p.Note, nil, true
			}
			return nil, nil, false
		},
		Stray: func(T, *chain.Link) error { return ErrForeignRequest },
		Vet: func(ctx context.Context, _ T, _ any, at *chain.Link, o Outcome, err error) (_ Outcome, what any, _ error) {
			switch {
			case err != nil || o.get().stop:
			case o.o == nil:
				err = refused(at, ErrNoOutcome)
			case o.o != passOf(ctx).outcome:
				err = refused(at, ErrForeignOutcome)
			}
			return o, o.o, err
		},
	}
}
