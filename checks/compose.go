package checks

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/stack"
)

// Errors that [Compose] gives for faults of a link. Test for them with errors.Is; the text names the link.
var (
	// ErrNoDecision: a link returned the zero Result and no error.
	ErrNoDecision = errors.New("the zero Result is no decision: return checks.Proceed, Skip or Block")
	// ErrEndNotReached: a link said proceed, but the links behind it did not when it last called them, or never ran in this
	// call.
	ErrEndNotReached = errors.New("it said proceed, but the links behind it did not: call next and return its result, or return checks.Skip")
	// ErrNilRequest: a link handed on a nil request, or the chain was called with one.
	ErrNilRequest = errors.New("the request is nil")
	// ErrForeignRequest: a link handed on a request that it made itself.
	ErrForeignRequest = errors.New("the request is none that this call began with: hand on the one that was given, or a copy of it")
)

// Compose makes a handler of a chain of checks. It is the only way in which such a chain should be run, since it fails
// closed: [Proceed] comes out only if all links were asked and the end of the chain was reached in this very call, or
// [Skip] if a link said so. The zero result, a proceed of a link that did not call the links behind it (it forgot, or
// remembers an earlier verdict) or that makes it of something else that they said, a request that is nil or made up, and
// a panic are errors that name the link; a panic is a [*chain.PanicError].
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
		n, parent := ls.add(l, c.Len())
		return func(ctx context.Context, req *Request[T]) (Result, error) {
			if req == nil || req.mark == nil {
				return stray(l, req == nil)
			}
			m := req.mark
			*m = n
			res, err := h(ctx, req)
			if err == nil && res.d == proceed && *m == n|reached {
				*m = parent | reached
				return res, nil
			}
			return m.judge(l, n, parent, res, err)
		}
	}).Then(func(_ context.Context, req *Request[T]) (Result, error) {
		if req == nil || req.mark == nil {
			return stray(nil, req == nil)
		}
		*req.mark |= reached
		return Result{d: proceed}, nil
	})
	return func(ctx context.Context, req *Request[T]) (Result, error) {
		if req == nil {
			return Result{}, errNilCall
		}
		return call(ctx, req, &req.OwnerRequest, inner, &ls)
	}
}

func (*OwnerRequest) guarded(c OwnerChain) OwnerHandler {
	var ls guards
	inner := c.Decorate(func(l *chain.Link, h OwnerHandler) OwnerHandler {
		n, parent := ls.add(l, c.Len())
		return func(ctx context.Context, req *OwnerRequest) (Result, error) {
			if req == nil || req.mark == nil {
				return stray(l, req == nil)
			}
			m := req.mark
			*m = n
			res, err := h(ctx, req)
			if err == nil && res.d == proceed && *m == n|reached {
				*m = parent | reached
				return res, nil
			}
			return m.judge(l, n, parent, res, err)
		}
	}).Then(func(_ context.Context, req *OwnerRequest) (Result, error) {
		if req == nil || req.mark == nil {
			return stray(nil, req == nil)
		}
		*req.mark |= reached
		return Result{d: proceed}, nil
	})
	return func(ctx context.Context, req *OwnerRequest) (Result, error) {
		if req == nil {
			return Result{}, errNilCall
		}
		return call(ctx, req, req, inner, &ls)
	}
}

// call runs the guarded links: it gives the request, which is or holds owner, a mark, and makes an error of a panic.
func call[R any](ctx context.Context, req R, owner *OwnerRequest, inner chain.Handler[R, Result], ls *guards) (res Result, err error) {
	outer := owner.open()
	done := false
	defer func() {
		if !done {
			res, err = ls.panicked(outer.mine, recover())
		}
		owner.close(outer)
	}()
	res, err = inner(ctx, req)
	done = true
	if err != nil || res.d != proceed || *outer.mine != reached {
		return outer.mine.judge(ls.outermost(), 0, 0, res, err)
	}
	return res, nil
}

var errNilCall = fmt.Errorf("checks: %w", ErrNilRequest)

// open begins a call: it gives the request a mark, and returns that and what it held, if the call is one inside another.
func (r *OwnerRequest) open() (outer opened) {
	if r.mark == nil {
		outer.first = true
		r.mark = &r.own
	}
	outer.mine, outer.was = r.mark, *r.mark
	*r.mark = 0
	return outer
}

// opened is what a call has to put back. It keeps the mark, since a link may overwrite the request.
type opened struct {
	mine  *mark
	was   mark
	first bool // the call is not inside another
}

// guards are the links of one chain, from the last to the first; if it is observed, twice. A mark counts them from 1.
type guards []*chain.Link

// add gives the mark of a link, and that of the one in front of it.
func (g *guards) add(l *chain.Link, links int) (n, parent mark) {
	*g = append(*g, l)
	n = mark(len(*g))
	if len(*g)%links == 0 {
		return n, 0
	}
	return n, n + 1
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
	p := &chain.PanicError{Value: v, Stack: stack.Panic()}
	if at := *m &^ (reached | decided); at > 0 {
		res.at = g[at-1]
		p.Link = res.at.Name
	}
	return res, p
}

// judge is what a guard does about everything but a plain proceed: it refuses what must not pass as a decision of link l,
// whose mark is n, and notes that l decided if no link behind it just did. It gives control back to parent, for which the
// links behind it did not proceed.
func (m *mark) judge(l *chain.Link, n, parent mark, res Result, err error) (Result, error) {
	passed, behind := *m == n|reached, *m == n|decided
	*m = parent | decided
	if err == nil {
		switch {
		case res.d == nil:
			res, err = Result{}, fmt.Errorf("checks: link %s: %w", l.Name, ErrNoDecision)
		case res.d.verdict == proceeds && !passed:
			res, err = Result{}, fmt.Errorf("checks: link %s: %w", l.Name, ErrEndNotReached)
		}
	}
	if res.at == nil || !behind { // not behind: of another chain, or of an earlier call
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
