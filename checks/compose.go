package checks

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/windlass-go/windlass/chain"
)

// Errors that [Compose] gives for faults of a link. Test for them with errors.Is; the text names the link.
var (
	// ErrNoDecision: a link returned the zero Result and no error.
	ErrNoDecision = errors.New("the zero Result is no decision: return checks.Proceed, Skip or Block")
	// ErrEndNotReached: a link said proceed, but the links behind it did not run in this call.
	ErrEndNotReached = errors.New("it said proceed, but the links behind it never ran: call next and return its result, or return checks.Skip")
	// ErrNilRequest: a link handed on a nil request, or the chain was called with one.
	ErrNilRequest = errors.New("the request is nil")
	// ErrForeignRequest: a link handed on a request that it made itself.
	ErrForeignRequest = errors.New("the request is none that this call began with: hand on the one that was given, or a copy of it")
)

// Compose makes a handler of a chain of checks. It is the only way in which such a chain should be run, since it fails
// closed: [Proceed] comes out only if all links were asked and the end of the chain was reached in this very call, or
// [Skip] if a link said so. The zero result, a proceed of a link that did not call the links behind it (it forgot, or
// remembers an earlier verdict), a request that is nil or made up, and a panic are errors that name the link; a panic is
// a [*chain.PanicError].
//
// R is *Request[T] or *OwnerRequest; anything else panics.
func Compose[R any](c chain.Chain[R, Result]) chain.Handler[R, Result] {
	var req R
	g, ok := any(req).(guarder[R])
	if !ok {
		panic(fmt.Sprintf("checks: Compose: the request of the chain %s is a %T: it must be a *checks.Request[T] or *checks.OwnerRequest", c, req))
	}
	return g.guarded(c)
}

// guarder is implemented by the nil pointers of both requests. Through it the guards below are compiled for the type of
// the request, where an interface at every link would cost more than the guard.
type guarder[R any] interface {
	guarded(c chain.Chain[R, Result]) chain.Handler[R, Result]
}

// The types are spelled out: with the aliases in a method of Request, Go 1.26's compiler deadlocks in packages that import
// this one.
func (*Request[T]) guarded(c chain.Chain[*Request[T], Result]) chain.Handler[*Request[T], Result] {
	var ls guards
	inner := c.Decorate(func(l *chain.Link, h chain.Handler[*Request[T], Result]) chain.Handler[*Request[T], Result] {
		n := ls.add(l)
		return func(ctx context.Context, req *Request[T]) (Result, error) {
			if req == nil || req.mark == nil {
				return stray(l, req == nil)
			}
			m := req.mark
			outer := *m
			*m = mark{at: n}
			res, err := h(ctx, req)
			m.at = outer.at
			if err == nil && res.d == proceed && m.reached {
				return res, nil
			}
			return m.judge(l, outer.reached, res, err)
		}
	}).Then(func(_ context.Context, req *Request[T]) (Result, error) {
		if req == nil || req.mark == nil {
			return stray(nil, req == nil)
		}
		req.mark.reached = true
		return Result{d: proceed}, nil
	})
	return func(ctx context.Context, req *Request[T]) (res Result, err error) {
		if req == nil {
			return Result{}, errNilCall
		}
		outer := req.open()
		done := false
		defer func() {
			if !done {
				res, err = ls.panicked(outer.mine, recover())
			}
			req.close(outer)
		}()
		res, err = inner(ctx, req)
		done = true
		if err != nil || res.d != proceed || !outer.mine.reached {
			return outer.mine.judge(ls.outermost(), false, res, err)
		}
		return res, nil
	}
}

func (*OwnerRequest) guarded(c OwnerChain) OwnerHandler {
	var ls guards
	inner := c.Decorate(func(l *chain.Link, h OwnerHandler) OwnerHandler {
		n := ls.add(l)
		return func(ctx context.Context, req *OwnerRequest) (Result, error) {
			if req == nil || req.mark == nil {
				return stray(l, req == nil)
			}
			m := req.mark
			outer := *m
			*m = mark{at: n}
			res, err := h(ctx, req)
			m.at = outer.at
			if err == nil && res.d == proceed && m.reached {
				return res, nil
			}
			return m.judge(l, outer.reached, res, err)
		}
	}).Then(func(_ context.Context, req *OwnerRequest) (Result, error) {
		if req == nil || req.mark == nil {
			return stray(nil, req == nil)
		}
		req.mark.reached = true
		return Result{d: proceed}, nil
	})
	return func(ctx context.Context, req *OwnerRequest) (res Result, err error) {
		if req == nil {
			return Result{}, errNilCall
		}
		outer := req.open()
		done := false
		defer func() {
			if !done {
				res, err = ls.panicked(outer.mine, recover())
			}
			req.close(outer)
		}()
		res, err = inner(ctx, req)
		done = true
		if err != nil || res.d != proceed || !outer.mine.reached {
			return outer.mine.judge(ls.outermost(), false, res, err)
		}
		return res, nil
	}
}

var errNilCall = fmt.Errorf("checks: %w", ErrNilRequest)

// open begins a call: it gives the request a mark, and returns that and what it held, if the call is one inside another.
func (r *OwnerRequest) open() (outer opened) {
	if r.mark == nil {
		outer.first = true
		r.mark = &r.own
	}
	outer.mine, outer.was = r.mark, *r.mark
	*r.mark = mark{}
	return outer
}

// opened is what a call has to put back. It keeps the mark, since a link may overwrite the request.
type opened struct {
	mine  *mark
	was   mark
	first bool // the call is not inside another
}

// guards are the links of one composition; a mark counts them from 1.
type guards []*chain.Link

func (g *guards) add(l *chain.Link) int32 {
	*g = append(*g, l)
	return int32(len(*g))
}

// outermost is the first link: what is in front of its guard are decorations of the user's, which belong to it.
func (g guards) outermost() *chain.Link { return g[len(g)-1] }

// close ends a call.
func (r *OwnerRequest) close(outer opened) {
	*outer.mine = outer.was
	if outer.first {
		r.mark = nil // so that a copy of the request made later is not tied to this one
	}
}

// panicked makes an error of a panic, nil for one of runtime.Goexit, which cannot be stopped.
func (g guards) panicked(m *mark, v any) (res Result, err error) {
	if v == nil {
		return res, chain.ErrGoexit
	}
	p := &chain.PanicError{Value: v, Stack: debug.Stack()}
	if at := m.at; at > 0 {
		res.at = g[at-1]
		p.Link = res.at.Name
	}
	return res, p
}

// judge is what a guard does about everything but a plain proceed: it refuses what must not pass as a decision of link l,
// and notes that l decided if no link behind it did. outer tells whether the end was reached before l was entered.
func (m *mark) judge(l *chain.Link, outer bool, res Result, err error) (Result, error) {
	reached := m.reached
	m.reached = reached || outer
	if err == nil {
		switch {
		case res.d == nil:
			res, err = Result{}, fmt.Errorf("checks: link %s: %w", l.Name, ErrNoDecision)
		case res.d.verdict == proceeds && !reached:
			res, err = Result{}, fmt.Errorf("checks: link %s: %w", l.Name, ErrEndNotReached)
		}
	}
	if res.at == nil {
		res.at = l
	}
	return res, err
}

// stray is the error for a request that lost its mark on the way to link l or, if nil, to the end. It notes no link: the
// guard of the one that handed the request on does.
func stray(l *chain.Link, isNil bool) (Result, error) {
	cause, to := ErrForeignRequest, "the end of the chain"
	if isNil {
		cause = ErrNilRequest
	}
	if l != nil {
		to = "link " + l.Name
	}
	return Result{}, fmt.Errorf("checks: what was handed on to %s: %w", to, cause)
}
