package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/errtree"
	"github.com/windlass-go/windlass/internal/onion"
)

// operationOf returns the operation under way of a resource. inMemory reports
// that its token is in memory: there is no SetToken, or it failed.
func (r *Reconciler[T]) operationOf(resource T) (u operation, inMemory bool) {
	if r.tokens.Len() > 0 { // otherwise the pass needs no key
		if u, ok := r.tokens.Get(r.ops.Key(resource)); ok {
			return u, true
		}
	}
	if r.ops.Token == nil {
		return operation{}, false
	}
	return parseStored(r.ops.Token(resource)), false
}

// ErrTokenChanged is the error of an [Operations.SetToken] that found another token
// with the resource than the one that the pass has read: another process is
// responsible for the operation. The flow then drops its own token. The next pass
// uses the stored one. SetToken may return an error that wraps it.
var ErrTokenChanged = errors.New("another process has changed the stored token")

// store stores u with a resource, or removes the stored token if u has none. It
// ignores the cancellation of ctx, because the operation in the cloud continues,
// and keeps its deadline. If SetToken fails, panics or ends the goroutine, the
// token stays in memory. If a removal fails, the next pass polls the ended
// operation again, and starts no second one.
func (r *Reconciler[T]) store(ctx context.Context, key string, resource T, u operation) error {
	if u.token == "" {
		r.tokens.Delete(key)
	} else {
		r.tokens.Put(key, func(v *operation) { *v = u }, nil)
	}
	if r.ops.SetToken == nil {
		return nil
	}
	err := r.setToken(ctx, resource, u)
	switch {
	case err == nil:
		r.tokens.Delete(key)
		return nil
	case u.token == "" && !isTokenChanged(err):
		return fmt.Errorf("flow: the token of an operation that has ended could not be removed from %s; the next pass polls it again: %w", key, err)
	}
	return r.notStored(key, err)
}

// isTokenChanged does not call errors.Is for an error that unwraps to itself.
func isTokenChanged(err error) bool {
	_, readable := errtree.Walk(err, func(error, int) bool { return false })
	return readable && errors.Is(err, ErrTokenChanged)
}

// notStored returns the error of a pass whose token was not stored, and drops a
// token in memory that the stored one replaces.
func (r *Reconciler[T]) notStored(key string, err error) error {
	if isTokenChanged(err) {
		r.tokens.Delete(key)
		return fmt.Errorf("flow: the token of an operation was not stored with %s, whose stored token counts: %w", key, err)
	}
	return fmt.Errorf("flow: the token of an operation could not be stored with %s and is stored in memory: %w", key, err)
}

func (r *Reconciler[T]) setToken(ctx context.Context, resource T, u operation) (err error) {
	defer onion.Catch(&err)
	inner := context.WithoutCancel(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		if least := time.Now().Add(storeWithin); deadline.Before(least) {
			deadline = least
		}
		var cancel context.CancelFunc
		inner, cancel = context.WithDeadline(inner, deadline)
		defer cancel()
	}
	return r.ops.SetToken(inner, resource, u.stored(), u.generation)
}

// storeWithin is the time that SetToken has at least, also after the deadline of
// its pass.
const storeWithin = 10 * time.Second

// operate makes the handler at the end of a chain, which calls an operation. It
// records in the request the state that the operation itself reports. A link
// around it may discard that report or fail, and the operation stays under way.
func operate[T any](r *Reconciler[T], op func(context.Context, *Request[T]) (Progress, error)) Handler[T] {
	return func(ctx context.Context, req *Request[T]) (Progress, error) {
		s := req.pass // the operation may overwrite the request
		token := s.op.token
		if s.op.byLink {
			token = "" // only the link knows this token
		}
		if req.Token != token {
			// A link called next again, or changed the token.
			same := *req
			same.Token = token
			req = &same
		}
		s.report = reportedUnknown
		p, err := Done(), error(nil)
		if op != nil {
			p, err = op(ctx, req)
		}
		switch {
		case p.Token() != "":
			s.report, s.op.token, s.op.byLink = reportedUnderWay, p.Token(), false
		case err == nil && p.IsDone():
			s.report, s.op.token = reportedDone, ""
		case hasFailedError(err) || r.opt.errors.Ended(err):
			s.report, s.op.token = reportedFailed, ""
		}
		r.saveStarted(ctx, s)
		return p, err
	}
}

// linkReturned records an operation that a link started in place of the real
// one. It stores the token at once, because a crash or an error in an outer link
// would lose it.
func (r *Reconciler[T]) linkReturned(ctx context.Context, s *state[T], p Progress) {
	if s.op.token != "" && !s.op.byLink { // the real operation is under way
		return
	}
	if s.started = p.Token() != ""; s.started {
		op := s.op
		s.op.token, s.op.byLink = p.Token(), true
		r.saveStarted(ctx, s)
		s.op = op
	}
}

// linksReturned records an operation that a link runs in place of the real one,
// and its end. p and err are the result of the outermost link.
func (s *state[T]) linksReturned(p Progress, err error) {
	switch {
	case err == nil && (s.op.token == "" || s.linkOnly()):
		s.op.token, s.op.byLink = p.Token(), true // a Skip has no token, and so ends the operation of the link
	case s.report != reportedUnderWay && !p.inProgress() && hasFailedError(err):
		s.op.token = ""
	case s.started && (s.op.token == "" || s.op.byLink): // an outer link failed
		s.op.token, s.op.byLink = s.stored, true
	}
}

// saveStarted stores the token of an operation under way as soon as it is
// known, so that no crash in an outer link loses it. The token of an operation
// that has ended stays until the links have returned: if they crash, the next
// pass polls that operation again and starts no second one.
func (r *Reconciler[T]) saveStarted(ctx context.Context, s *state[T]) {
	if s.op.token == "" || s.isStored() || !s.Open { // a goroutine of a link may outlast the pass
		return
	}
	s.stored, s.byLink, s.renews = s.op.token, s.op.byLink, true
	if r.ops.SetToken == nil {
		return
	}
	s.early, s.tried = false, true // also if SetToken ends the goroutine
	if err := r.setToken(ctx, s.resource, s.op); err != nil {
		s.slots.Set(lostToken{}, err)
		return
	}
	s.early, s.tried, s.renews = true, false, false
}

// lostToken is the slot of the error of a SetToken that failed before the links
// returned.
type lostToken struct{}

// isStored reports whether the token is stored as it is.
func (s *state[T]) isStored() bool {
	return s.op.token == s.stored && s.op.byLink == s.byLink && !s.renews
}

// rulesOfRequest returns the rules of a chain whose requests belong to a pass. It
// refuses a request that a link kept from an earlier point or pass.
func rulesOfRequest[T any, Res comparable](vet func(context.Context, *state[T], *chain.Link, Res) (what any, err error)) *onion.Rules[*Request[T], Res] {
	return &onion.Rules[*Request[T], Res]{
		Note: func(_ context.Context, req *Request[T]) (n *onion.Note, s any, ok bool) {
			if req == nil || req.pass == nil || !req.pass.Open {
				return nil, nil, false
			}
			return &req.pass.Note, req.pass, true
		},
		Stray: func(*Request[T], *chain.Link) error { return errForeignRequest },
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
		return nil, refused(at, errNoProgress)
	case p.IsDone() && s.op.token != "" && !(s.linkOnly() && p.Skipped()):
		return nil, refused(at, errUnderWay)
	case p.IsDone() && s.report != reportedDone && !p.Skipped():
		return nil, refused(at, errNotDone)
	case p.inProgress() && p.p.token == "":
		return nil, refused(at, errNoToken)
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
		return nil, refused(at, errNotSeen)
	}
	return nil, nil
}

// rulesOfPass returns the rules of a chain of Pass, whose note is in the context.
func rulesOfPass[T any]() *onion.Rules[T, Outcome] {
	return &onion.Rules[T, Outcome]{
		Note: func(ctx context.Context, _ T) (n *onion.Note, _ any, ok bool) {
			if p := passOf(ctx); p != nil {
				return &p.Note, nil, true
			}
			return nil, nil, false
		},
		Stray: func(T, *chain.Link) error { return errForeignRequest },
		Vet: func(ctx context.Context, _ T, _ any, at *chain.Link, o Outcome, err error) (_ Outcome, what any, _ error) {
			switch {
			case err != nil || o.get().stop:
			case o.o == nil:
				err = refused(at, errNoOutcome)
			case o.o != passOf(ctx).outcome:
				err = refused(at, errForeignOutcome)
			}
			return o, o.o, err
		},
	}
}
