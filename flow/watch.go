package flow

import (
	"context"
	"time"

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

// listeners asks who listens to the pass that begins; nil: nobody. The context is that of the pass, with what starters
// have put into it.
func (r *Reconciler[T]) listeners(ctx context.Context, resource T) (context.Context, *passState) {
	var p *passState
	trace := len(r.opt.observers) - 1 // the flow's own
	for i, o := range r.opt.observers {
		on := i == trace && r.kept != nil
		if s, ok := o.(chain.Starter); ok {
			ctx, on = r.start(ctx, s, resource)
		} else if !on {
			on = enabled(ctx, o)
		}
		if on {
			if p == nil {
				p = &passState{on: make([]bool, len(r.opt.observers))}
			}
			p.on[i] = true
		}
	}
	if p != nil && p.on[trace] {
		p.trace = &recording{now: r.opt.now, begun: r.opt.now()}
	}
	return ctx, p
}

// start starts an observer; one that panics does not listen.
func (r *Reconciler[T]) start(ctx context.Context, s chain.Starter, resource T) (inner context.Context, on bool) {
	defer func() {
		if recover() != nil {
			inner, on = ctx, false
		}
	}()
	if inner, on = s.Start(ctx, chain.PassStart{Link: r.link, Resource: resource, KeyOf: r.keyOf}); inner == nil {
		inner = ctx
	}
	return inner, on
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

// audience are the observers of a reconciler, the first outermost. They are told together, so that a link that is watched
// by several costs little more than one that is watched by one. An observer that panics is not told of the rest of the
// pass: watching must not change what is watched.
type audience []seat

type seat struct {
	o      chain.Observer
	starts bool // it is a starter, which has entered the pass already
}

func audienceOf(observers []chain.Observer) audience {
	a := make(audience, len(observers))
	for i, o := range observers {
		_, starts := o.(chain.Starter)
		a[i] = seat{o, starts}
	}
	return a
}

// contexts are those that the observers gave, each made of the one before. The first few need no allocation.
type contexts struct {
	few  [4]context.Context
	more []context.Context
}

func (c *contexts) at(i int) *context.Context {
	if i < len(c.few) {
		return &c.few[i]
	}
	return &c.more[i-len(c.few)]
}

// enter tells all who listen that a link is entered, and gives the context for it.
func (a audience) enter(ctx context.Context, p *passState, link *chain.Link, given *contexts) context.Context {
	if len(a) > len(given.few) {
		given.more = make([]context.Context, len(a)-len(given.few))
	}
	for i := range a {
		if p.on[i] && !(a[i].starts && link.Kind == chain.Pass) {
			ctx = a[i].enter(ctx, p, &p.on[i], link)
		}
		*given.at(i) = ctx
	}
	return ctx
}

func (s *seat) enter(ctx context.Context, p *passState, on *bool, link *chain.Link) (inner context.Context) {
	defer func() {
		if recover() != nil {
			*on, inner = false, ctx
		}
	}()
	if inner = s.o.Enter(ctx, link); inner == nil || passOf(inner) != p {
		return ctx // without the pass in it nothing could go on
	}
	return inner
}

// exit tells all who listen that a link was left, the innermost first.
func (a audience) exit(p *passState, link *chain.Link, given *contexts, exit chain.Exit) {
	for i := len(a) - 1; i >= 0; i-- {
		if p.on[i] {
			a[i].exit(*given.at(i), &p.on[i], link, exit)
		}
	}
}

func (s *seat) exit(ctx context.Context, on *bool, link *chain.Link, exit chain.Exit) {
	defer func() {
		if recover() != nil {
			*on = false
		}
	}()
	s.o.Exit(ctx, link, exit)
}

// watched lets the audience watch a handler.
func watched[Req, Res any](a audience, link *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	return func(ctx context.Context, req Req) (res Res, err error) {
		p := passOf(ctx)
		if p == nil || len(p.on) != len(a) {
			return h(ctx, req)
		}
		var given contexts
		inner := a.enter(ctx, p, link, &given)
		returned, start := false, time.Now()
		defer func() {
			if returned {
				return
			}
			exit := chain.Exit{Panic: recover(), Elapsed: time.Since(start)}
			if exit.Panic == nil {
				exit.Err = chain.ErrGoexit
			}
			a.exit(p, link, &given, exit)
			if exit.Panic != nil {
				panic(exit.Panic)
			}
		}()
		res, err = h(inner, req)
		returned = true
		a.exit(p, link, &given, chain.Exit{Result: res, Err: err, Elapsed: time.Since(start)})
		return res, err
	}
}

// watchLinks puts an audience around each link of a chain.
func watchLinks[Req, Res any](a audience, c chain.Chain[Req, Res]) chain.Chain[Req, Res] {
	if a == nil {
		return c
	}
	return c.Decorate(func(l *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] { return watched(a, l, h) })
}

// watchPoint puts an audience around a whole point.
func watchPoint[Req, Res any](a audience, point string, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	return watchAs(a, &chain.Link{Kind: chain.Point, Point: point, Name: point}, h)
}

func watchAs[Req, Res any](a audience, link *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	if a == nil {
		return h
	}
	return watched(a, link, h)
}
