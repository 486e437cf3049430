package flow

import (
	"context"
	"slices"

	"github.com/windlass-go/windlass/chain"
)

type passKey struct{}

// passState is what is known of a pass under way, in its context: only where somebody listens, or links on Pass stand
// between its beginning and its run.
type passState struct {
	own   context.Context // the context that the pass began with
	on    []bool          // which observers listen
	trace *recording      // nil: nobody wants one
	note  note            // for the links on Pass
}

func passOf(ctx context.Context) *passState {
	p, _ := ctx.Value(passKey{}).(*passState)
	return p
}

// with puts p into the context, which is from then on the one that the pass began with.
func (p *passState) with(ctx context.Context) context.Context {
	p.own = context.WithValue(ctx, passKey{}, p)
	return p.own
}

// listeners asks who listens to the pass that begins; nil: nobody.
func (r *Reconciler[T]) listeners(ctx context.Context) *passState {
	var p *passState
	trace := len(r.opt.observers) - 1 // the flow's own
	for i, o := range r.opt.observers {
		if (i == trace && r.kept != nil) || enabled(ctx, o) {
			if p == nil {
				p = &passState{on: make([]bool, len(r.opt.observers))}
			}
			p.on[i] = true
		}
	}
	if p != nil && p.on[trace] {
		p.trace = &recording{now: r.opt.now, begun: r.opt.now()}
	}
	return p
}

// enabled asks an observer; one that panics does not listen.
func enabled(ctx context.Context, o chain.Observer) (on bool) {
	defer func() {
		if recover() != nil {
			on = false
		}
	}()
	return o.Enabled(ctx)
}

// listener hands what happens in a pass on to an observer, if that one listens to it. An observer that panics is not
// told of the rest of the pass: watching must not change what is watched.
type listener struct {
	n int
	o chain.Observer
}

// Enabled implements chain.Observer. It is never asked: who listens is settled once a pass.
func (l *listener) Enabled(context.Context) bool { return true }

func (l *listener) pass(ctx context.Context) *passState {
	if p := passOf(ctx); p != nil && l.n < len(p.on) && p.on[l.n] {
		return p
	}
	return nil
}

// Enter implements chain.Observer.
func (l *listener) Enter(ctx context.Context, link *chain.Link) (inner context.Context) {
	p := l.pass(ctx)
	if p == nil {
		return ctx
	}
	defer func() {
		if recover() != nil {
			p.on[l.n], inner = false, ctx
		}
	}()
	if inner = l.o.Enter(ctx, link); inner == nil || passOf(inner) != p {
		return ctx // without the pass in it nothing could go on
	}
	return inner
}

// Exit implements chain.Observer.
func (l *listener) Exit(ctx context.Context, link *chain.Link, exit chain.Exit) {
	p := l.pass(ctx)
	if p == nil {
		return
	}
	defer func() {
		if recover() != nil {
			p.on[l.n] = false
		}
	}()
	l.o.Exit(ctx, link, exit)
}

// watchLinks puts observers around each link of a chain, the first outermost.
func watchLinks[Req, Res any](observers []chain.Observer, c chain.Chain[Req, Res]) chain.Chain[Req, Res] {
	for i, o := range observers {
		c = c.Decorate(func(l *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
			return chain.Watch(&listener{n: i, o: o}, l, h)
		})
	}
	return c
}

// watchPoint puts observers around a whole point.
func watchPoint[Req, Res any](observers []chain.Observer, point string, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	return watchAs(observers, &chain.Link{Kind: chain.Point, Point: point, Name: point}, h)
}

func watchAs[Req, Res any](observers []chain.Observer, link *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	for i, o := range slices.Backward(observers) {
		h = chain.Watch(&listener{n: i, o: o}, link, h)
	}
	return h
}
