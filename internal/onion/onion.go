// Package onion composes chains that fail closed, for packages checks, classify
// and flow.
//
//	observers ( rules ( link ( observers ( rules ( link ... rules ( end ) ) ) ) ) )
//
// The rules of a link turn a panic into an error, replace an invalid result
// with an error, and record which link decided. Outer links get the result of
// the rules.
package onion

import (
	"context"
	"reflect"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/errtree"
	"github.com/windlass-go/windlass/internal/run"
	"github.com/windlass-go/windlass/internal/stack"
)

// Note is the state of one call of a composed chain. The request or the context
// refers to it. Copies of a request share it, and a link that restores a request
// from a copy does not change it.
type Note struct {
	// Reached reports whether the end of the chain was reached in the running
	// call of next, and all links since then proceeded.
	Reached bool
	// Open reports that the call of the note runs. A request whose call has
	// ended is refused.
	Open     bool
	failed   bool        // whether decision is an error
	by       *chain.Link // the innermost link that did not proceed in the running call of next
	decision any         // the decision of by, or its error
}

// By returns the link that decided the last call, [End] if the end of the chain
// decided, or nil if all links proceeded.
func (n *Note) By() *chain.Link { return n.by }

// enter starts a call of a link. It clears the decision.
func (n *Note) enter(reached bool) {
	n.Reached = reached
	if n.by != nil { // so that most calls write no pointers
		n.by, n.decision = nil, nil
	}
}

// passes reports whether a link that returned decision and err passed on the
// decision of an inner link.
func (n *Note) passes(decision any, err error) bool {
	if n.by == nil || n.failed != (err != nil) {
		return false
	}
	if err == nil {
		return n.decision == decision
	}
	return errtree.Any(err, func(e error) bool { return same(e, n.decision.(error)) })
}

// Call is the state that a request keeps for its calls. The zero Call
// is ready for use. It refers to its note, so that a link that restores the
// request from a copy loses nothing.
type Call struct {
	note *Note // the note of the running call; copies of the request share it
	own  *Note // the note of the next call, made once
	of   *Call // the Call that owns own; a copy of the request gets a note of its own
	by   *chain.Link
}

// CallOf returns the Call of a *checks.OwnerRequest. Package checks sets CallOf.
var CallOf func(request any) *Call

// Note returns the note of the running call; nil: no call runs.
func (c *Call) Note() *Note {
	if c.note == nil || !c.note.Open {
		return nil
	}
	return c.note
}

// By returns the link that decided the last call.
func (c *Call) By() *chain.Link { return c.by }

// Use sets the note of the next calls. Without it, the first call allocates one.
func (c *Call) Use(n *Note) {
	if c.own != n || c.of != c { // so that most calls write no pointers
		c.own, c.of = n, c
	}
}

// Open starts a call. first reports whether no outer call runs. Rules change
// the note, so a caller with rules saves it and restores it.
func (c *Call) Open() (note *Note, first bool) {
	if n := c.Note(); n != nil {
		return n, false
	}
	if c.of != c || c.own.Open { // a copy, or the call of another chain is open
		c.Use(&Note{})
	}
	c.own.Open = true
	c.note = c.own
	return c.note, true
}

// Close ends a call that link by decided. note and first are the results of
// Open, because a link may overwrite the request.
func (c *Call) Close(note *Note, first bool, by *chain.Link) {
	if c.by != by { // so that most calls write no pointers
		c.by = by
	}
	if first {
		note.Open = false
		note = nil // so that a later copy of the request has a note of its own
	}
	c.note = note
}

// End represents the end of a chain: the operation, or the default.
var End = &chain.Link{}

// Rules describe the valid results of a composed chain.
type Rules[Req any, Res comparable] struct {
	// Proceed is the result that a link may return only if the end of the chain
	// was reached and all inner links proceeded. Nil: Vet alone decides.
	Proceed *Res
	// Note returns the note of the call that a request belongs to. A nil note
	// records nothing. If ok is false, a link replaced the request. state is for
	// Vet, which must not trust the request: the link may have overwritten it.
	Note func(ctx context.Context, req Req) (n *Note, state any, ok bool)
	// Stray returns the error for a replaced request that reached link at.
	Stray func(req Req, at *chain.Link) error
	// Vet returns the result of link at, or an error if the result is invalid.
	// decision identifies the decision; nil: the result proceeds.
	Vet func(ctx context.Context, req Req, state any, at *chain.Link, res Res, err error) (_ Res, decision any, _ error)
	// Decided is called when a link has decided; nil: not called.
	Decided func(res Res, ctx context.Context)
}

// Compose composes a chain around end, with rules around each link and around
// end. A nil end returns Proceed.
func Compose[Req any, Res comparable](c chain.Chain[Req, Res], end chain.Handler[Req, Res], g *Rules[Req, Res]) chain.Handler[Req, Res] {
	if end == nil {
		end = g.end
	} else {
		end = around(g, End, end)
	}
	if c.Len() == 0 {
		return end
	}
	var outermost *chain.Link
	h := Decorate(c, func(l *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		outermost = l // links are composed from the innermost to the outermost
		return around(g, l, h)
	}, nil).Then(end)
	if c.Decorated() { // the user's observers are outside the rules, and count as the outermost link
		return around(g, outermost, h)
	}
	return h
}

// Decorate returns a chain with a decoration around each link, including the
// links inside chain.When. The observer inside observes the links inside other
// links, such as the links of checks.OnOwner; nil: no observer.
func Decorate[Req, Res any](c chain.Chain[Req, Res], decorate func(*chain.Link, chain.Handler[Req, Res]) chain.Handler[Req, Res], inside chain.Observer) chain.Chain[Req, Res] {
	return c.Observe(layer{nil, decorate, inside})
}

// layer passes a decoration and an observer to chain.Observe.
type layer struct {
	chain.Observer // nil
	decorate       any
	inside         chain.Observer
}

// Layer returns the decoration and the observer.
func (l layer) Layer() (decorate any, inside chain.Observer) { return l.decorate, l.inside }

// end is the handler of a nil end.
func (g *Rules[Req, Res]) end(ctx context.Context, req Req) (res Res, err error) {
	n, _, ok := g.Note(ctx, req)
	if !ok {
		return res, g.Stray(req, End)
	}
	n.enter(true)
	return *g.Proceed, nil
}

// around applies the rules to the handler of a link.
func around[Req any, Res comparable](g *Rules[Req, Res], at *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	return func(ctx context.Context, req Req) (res Res, err error) {
		n, state, ok := g.Note(ctx, req)
		if !ok {
			return res, g.Stray(req, at) // the rules of the link that replaced the request records that link
		}
		if n != nil {
			n.enter(at == End)
		}
		returned := false
		defer func() {
			if !returned {
				if v := recover(); v != nil { // nil: runtime.Goexit, which cannot be stopped
					var none Res
					res, err = leave(g, ctx, req, n, state, at, none, &chain.PanicError{Value: v, Stack: stack.Panic(), Link: at.Name})
				}
			}
		}()
		res, err = h(ctx, req)
		returned = true
		if err == nil && g.Proceed != nil && res == *g.Proceed && n.Reached {
			return res, nil
		}
		return leave(g, ctx, req, n, state, at, res, err)
	}
}

// leave vets the result of a link. It records the link as the one that decided,
// unless the link proceeded or passed on the decision of an inner link.
func leave[Req any, Res comparable](g *Rules[Req, Res], ctx context.Context, req Req, n *Note, state any, at *chain.Link, res Res, err error) (Res, error) {
	res, decision, err := g.Vet(ctx, req, state, at, res, err)
	switch {
	case n == nil:
		return res, err
	case err == nil && decision == nil:
		n.enter(n.Reached)
		return res, nil
	}
	passed := n.passes(decision, err)
	if !passed {
		n.by, n.decision, n.failed = at, decision, err != nil
		if n.failed {
			n.decision = err
		}
		if g.Decided != nil {
			g.Decided(res, ctx)
		}
	}
	n.Reached = false
	run.SetPassed(ctx, passed)
	return res, err
}

// Catch sets err to a [*chain.PanicError] if the function that defers it
// panics.
func Catch(err *error) {
	if v := recover(); v != nil {
		*err = &chain.PanicError{Value: v, Stack: stack.Panic()}
	}
}

// same reports whether two errors are the same value. Two values of one type that
// cannot be compared count as the same.
func same(a, b error) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && (!reflect.ValueOf(a).Comparable() || !reflect.ValueOf(b).Comparable() || a == b)
}
