package flow

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/mono"
)

type passKey struct{}

// passState is what is known of a pass under way, in its context: only where somebody listens, or links on Pass stand
// between its beginning and its run.
type passState struct {
	own   context.Context // the context that the pass began with
	on    []bool          // which observers listen
	few   [4]bool         // where on is kept, if they are few
	trace *recording      // nil: nobody wants one
	note  note            // for the links on Pass
}

func newPassState(observers int) *passState {
	p := &passState{}
	p.on = p.few[:]
	if observers > len(p.few) {
		p.on = make([]bool, observers)
	}
	p.on = p.on[:observers]
	return p
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
		if s := r.starters[i]; s != nil {
			ctx, on = r.start(ctx, s, resource)
		} else if !on {
			on = enabled(ctx, o)
		}
		if on {
			if p == nil {
				p = newPassState(len(r.opt.observers))
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

func audienceOf(observers []chain.Observer, starters []chain.Starter) audience {
	a := make(audience, len(observers))
	for i, o := range observers {
		a[i] = seat{o, starters[i] != nil}
	}
	return a
}

// startersOf are those observers that start a pass, bound to it; nil for each other one. One that is given twice would begin
// two things with each pass that it cannot tell apart, and panics.
func startersOf(observers []chain.Observer, pass *chain.Link) []chain.Starter {
	starters := make([]chain.Starter, len(observers))
	for i, o := range observers {
		if starters[i], _ = chain.Bound(o, pass).(chain.Starter); starters[i] == nil || !reflect.TypeOf(o).Comparable() {
			continue
		}
		if j := slices.Index(observers[:i], o); j >= 0 {
			panic(fmt.Sprintf("flow: New: %s: observers %d and %d are the same %T: give it once", pass.Name, j+1, i+1, o))
		}
	}
	return starters
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

// bound is the audience with each observer bound to a link.
func (a audience) bound(link *chain.Link) audience {
	bound := slices.Clone(a)
	for i := range bound {
		bound[i].o = chain.Bound(bound[i].o, link)
	}
	return bound
}

// watched lets the audience watch a handler.
func watched[Req, Res any](a audience, link *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	a = a.bound(link)
	var last lastResult
	return func(ctx context.Context, req Req) (res Res, err error) {
		p := passOf(ctx)
		if p == nil || len(p.on) != len(a) {
			return h(ctx, req)
		}
		var given contexts
		inner := a.enter(ctx, p, link, &given)
		returned, start := false, mono.Now()
		defer func() {
			if returned {
				return
			}
			exit := chain.Exit{Panic: recover(), Elapsed: mono.Now() - start}
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
		a.exit(p, link, &given, chain.Exit{Result: boxed(&last, res), Err: err, Elapsed: mono.Now() - start})
		return res, err
	}
}

// lastResult is what observers of a check were given last.
type lastResult struct{ of atomic.Pointer[any] }

// boxed is res as observers are given it. A check that proceeds comes to the same result each time, for which there is then
// no allocation.
func boxed[Res any](last *lastResult, res Res) any {
	r, ok := any(res).(checks.Result)
	if !ok {
		return res
	}
	if l := last.of.Load(); l != nil && *l == any(r) {
		return *l
	}
	made := any(r)
	last.of.Store(&made)
	return made
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
