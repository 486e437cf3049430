package checks

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/stack"
)

// Errors that [Compose] returns for faults of a link. Test for them with errors.Is. The text names
// the link.
var (
	// ErrNoDecision: a link returned the zero Result and no error.
	ErrNoDecision = errors.New("the zero Result is no decision: return checks.Proceed, Skip or Block")
	// ErrEndNotReached: a link returned Proceed, but the inner links did not proceed in its last
	// call of next, or it did not call next.
	ErrEndNotReached = errors.New("it returned proceed, but the inner links did not: call next and return its result, or return checks.Skip")
	// ErrNilRequest: a link called next with a nil request, or the chain was called with one.
	ErrNilRequest = errors.New("the request is nil")
	// ErrForeignRequest: a link called next with a request that it made itself.
	ErrForeignRequest = errors.New("the request is not the one that this call began with: hand on that request, or a copy of it")
	// ErrNotComposed: a link made by [Check] or [Gate] was called with a request that no Compose
	// opened.
	ErrNotComposed = errors.New("the chain was not run by checks.Compose, so a link that forgets next would go unnoticed: use checks.Compose(chain) in place of chain.Then")
)

// Compose makes a handler from a chain of checks. Run a chain in this way only, because Compose
// fails closed. Its handler returns [Proceed] only if all links ran and the end of the chain was
// reached in this call. It returns [Skip] if a link did.
//
// These faults are errors that name the link:
//
//   - A link returns the zero Result.
//   - A link returns Proceed, but it did not call next in this call, or the inner links did not
//     proceed. A link that remembers an earlier verdict is such a link.
//   - A link calls next with a nil request, or with one that it made itself.
//   - A link panics. The error is a [*chain.PanicError].
//
// No result with an error proceeds. R is *Request[T] or *OwnerRequest; any other type panics.
func Compose[R any](c chain.Chain[R, Result]) chain.Handler[R, Result] {
	var req R
	g, ok := any(req).(guarder[R])
	if !ok {
		panic(fmt.Sprintf("checks: Compose: the request of the chain %s is a %T: it must be a *checks.Request[T] or *checks.OwnerRequest", c, req))
	}
	if c.Len() == 0 { // without links there is no fault to detect
		var none R
		return func(_ context.Context, req R) (Result, error) {
			if any(req) == any(none) {
				return Result{}, errNilCall
			}
			return Result{d: proceed}, nil
		}
	}
	return g.guarded(c)
}

// guarder is implemented by the nil pointers of both request types. It lets the compiler specialize
// the guards below for the type of the request. An interface call at every link would cost more
// than the guard itself.
type guarder[R any] interface {
	// guarded implements Compose.
	guarded(c chain.Chain[R, Result]) chain.Handler[R, Result]
	// checked makes a link from a function that never sees next.
	checked(name string, decide func(context.Context, R) (Result, error)) chain.Middleware[R, Result]
}

// only holds the functions of a chain without decorations in which [Check] or [Gate] made each
// link. Such a chain runs in one loop, because none of its links can forget next or replace the
// request.
type only[R any] struct {
	links   []chain.Link
	decides []func(context.Context, R) (Result, error)
}

// onlyChecks returns the functions of the chain's links. ok is false if the chain has any other
// link, a decoration, or no links.
func onlyChecks[R any](c chain.Chain[R, Result]) (o only[R], ok bool) {
	if c.Len() == 0 || c.Decorated() {
		return o, false
	}
	chain.Map(c, func(link chain.Middleware[R, Result]) chain.Middleware[R, Result] {
		if answer := probe.Ask(link); answer != nil {
			if decide, made := answer.Func.(func(context.Context, R) (Result, error)); made {
				o.decides = append(o.decides, decide)
			}
		}
		return link
	})
	o.links = c.Links()
	return o, len(o.decides) == len(o.links)
}

// end returns the result of the loop if check i did not proceed, or if the request lost its mark.
func (o *only[R]) end(ctx context.Context, i int, res Result, err error) (Result, error) {
	l := &o.links[i]
	switch {
	case err == nil && res.d == proceed: // the mark is lost
		var next *chain.Link
		if i+1 < len(o.links) {
			next = &o.links[i+1]
		}
		res, err = stray(next, false)
	case err == nil && res.d == nil:
		err = noDecision(l)
	case err != nil && res.Proceeds():
		res.d = nil
	}
	res.at = l
	res.noteFaults(ctx)
	return res, err
}

// panicked makes an error from a panic of check i. v is nil for runtime.Goexit, which cannot be
// stopped.
func (o *only[R]) panicked(i int, v any) (Result, error) {
	if v == nil {
		return Result{}, chain.ErrGoexit
	}
	l := &o.links[i]
	return Result{at: l}, &chain.PanicError{Value: v, Stack: stack.Panic(), Link: l.Name}
}

// The methods below spell their types out. With the aliases in a method of Request, the compiler of
// Go 1.26 deadlocks in packages that import this one.
func (*Request[T]) guarded(c chain.Chain[*Request[T], Result]) chain.Handler[*Request[T], Result] {
	if o, ok := onlyChecks(c); ok {
		return (*Request[T])(nil).looped(o)
	}
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
			return m.verify(ctx, l, n, parent, res, err)
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

func (*Request[T]) checked(name string, decide func(context.Context, *Request[T]) (Result, error)) chain.Middleware[*Request[T], Result] {
	return func(next chain.Handler[*Request[T], Result]) chain.Handler[*Request[T], Result] {
		return func(ctx context.Context, req *Request[T]) (Result, error) {
			if req == nil || req.mark == nil {
				return notComposed(name, req == nil)
			}
			res, err := decide(ctx, req)
			if err != nil || res.d != proceed {
				return res, err
			}
			return next(ctx, req)
		}
	}
}

func (*Request[T]) looped(o only[*Request[T]]) chain.Handler[*Request[T], Result] {
	return func(ctx context.Context, req *Request[T]) (res Result, err error) {
		if req == nil {
			return Result{}, errNilCall
		}
		outer := req.open()
		i, done := 0, false
		defer func() {
			if !done {
				res, err = o.panicked(i, recover())
			}
			req.close(outer)
		}()
		for ; i < len(o.decides); i++ {
			res, err = o.decides[i](ctx, req)
			if err != nil || res.d != proceed || req.mark != outer.mine {
				done = true
				return o.end(ctx, i, res, err)
			}
		}
		done = true
		return Result{d: proceed}, nil
	}
}

func (*OwnerRequest) guarded(c OwnerChain) OwnerHandler {
	if o, ok := onlyChecks(c); ok {
		return (*OwnerRequest)(nil).looped(o)
	}
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
			return m.verify(ctx, l, n, parent, res, err)
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

func (*OwnerRequest) checked(name string, decide func(context.Context, *OwnerRequest) (Result, error)) chain.Middleware[*OwnerRequest, Result] {
	return func(next chain.Handler[*OwnerRequest, Result]) chain.Handler[*OwnerRequest, Result] {
		return func(ctx context.Context, req *OwnerRequest) (Result, error) {
			if req == nil || req.mark == nil {
				return notComposed(name, req == nil)
			}
			res, err := decide(ctx, req)
			if err != nil || res.d != proceed {
				return res, err
			}
			return next(ctx, req)
		}
	}
}

func (*OwnerRequest) looped(o only[*OwnerRequest]) chain.Handler[*OwnerRequest, Result] {
	return func(ctx context.Context, req *OwnerRequest) (res Result, err error) {
		if req == nil {
			return Result{}, errNilCall
		}
		outer := req.open()
		i, done := 0, false
		defer func() {
			if !done {
				res, err = o.panicked(i, recover())
			}
			req.close(outer)
		}()
		for ; i < len(o.decides); i++ {
			res, err = o.decides[i](ctx, req)
			if err != nil || res.d != proceed || req.mark != outer.mine {
				done = true
				return o.end(ctx, i, res, err)
			}
		}
		done = true
		return Result{d: proceed}, nil
	}
}

// call runs the guarded links. It gives the request a mark and makes an error from a panic. owner
// is the request itself or the OwnerRequest in it.
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
		return outer.mine.verify(ctx, ls.outermost(), 0, 0, res, err)
	}
	return res, nil
}

var errNilCall = fmt.Errorf("checks: %w", ErrNilRequest)

// open begins a call. It gives the request a mark if it has none, clears the mark, and returns the
// state that close restores.
func (r *OwnerRequest) open() (outer opened) {
	if r.mark == nil {
		outer.first = true
		r.mark = &r.own
	}
	outer.mine, outer.was = r.mark, *r.mark
	*r.mark = 0
	return outer
}

// opened is the state that close restores at the end of a call. It keeps the mark, because a link
// may overwrite the request.
type opened struct {
	mine  *mark
	was   mark
	first bool // the call is not nested in another one
}

// guards are the links of one chain, from the innermost to the outermost. An observed chain lists
// them twice. A mark holds an index into guards plus 1.
type guards []*chain.Link

// add adds link l and returns its mark and the mark of the next outer link. parent is 0 for the
// outermost link. links is the length of the chain.
func (g *guards) add(l *chain.Link, links int) (n, parent mark) {
	*g = append(*g, l)
	n = mark(len(*g))
	if len(*g)%links == 0 {
		return n, 0
	}
	return n, n + 1
}

// outermost returns the first link of the chain. The user's decorations outside its guard count as
// part of it.
func (g guards) outermost() *chain.Link { return g[len(g)-1] }

// close ends the call that open began.
func (r *OwnerRequest) close(outer opened) {
	*outer.mine = outer.was
	if outer.first {
		r.mark = nil // so that a copy of the request made later is not tied to this one
	}
}

// panicked makes an error from a panic. v is nil for runtime.Goexit, which cannot be stopped.
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

// verify handles every result of link l except a plain proceed. n is the mark of l, and parent is
// the mark of the next outer link. verify makes an error from a result that is not a valid
// decision. It records l as the deciding link unless an inner link has just decided. It returns
// control to parent, for which the inner links did not proceed.
func (m *mark) verify(ctx context.Context, l *chain.Link, n, parent mark, res Result, err error) (Result, error) {
	passed, behind := *m == n|reached, *m == n|decided
	*m = parent | decided
	switch {
	case err == nil && res.d == nil:
		res, err = Result{}, noDecision(l)
	case err == nil && res.d.verdict == proceeds && !passed:
		res, err = Result{}, fmt.Errorf("checks: link %s: %w", l.Name, ErrEndNotReached)
	case err != nil && res.Proceeds():
		res.d = nil
	}
	if res.at == nil || !behind { // res.at may come from another chain, or from an earlier call
		res.at = l
		res.noteFaults(ctx)
	}
	return res, err
}

func noDecision(l *chain.Link) error { return fmt.Errorf("checks: link %s: %w", l.Name, ErrNoDecision) }

// notComposed returns the error of a check that was called with a request that no Compose opened.
func notComposed(name string, isNil bool) (Result, error) {
	if isNil {
		return Result{}, fmt.Errorf("checks: link %s: %w", name, ErrNilRequest)
	}
	return Result{}, fmt.Errorf("checks: link %s: %w", name, ErrNotComposed)
}

// stray returns the error for a request that lost its mark on the way to link l. A nil l means the
// end of the chain. stray records no deciding link, because the guard of the link that called next
// does so.
func stray(l *chain.Link, isNil bool) (Result, error) {
	cause, to := ErrForeignRequest, "the end of the chain"
	if isNil {
		cause = ErrNilRequest
	}
	if l != nil {
		to = "link " + l.Name
	}
	return Result{}, fmt.Errorf("checks: the request handed on to %s: %w", to, cause)
}
