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

// passState is the state of a running pass, in its context. Only a pass with an enabled observer, or
// with links on Pass, has one.
type passState struct {
	own   context.Context // the context at the start of the pass
	on    []bool          // which observers are enabled
	few   [4]bool         // holds on, if there are at most four
	trace *recording      // nil: the pass is not traced
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

// with adds p to the context, and records the result as the context at the start of the pass.
func (p *passState) with(ctx context.Context) context.Context {
	p.own = context.WithValue(ctx, passKey{}, p)
	return p.own
}

// listeners finds the observers that are enabled for a pass. A nil state means that none is. The
// returned context holds the values that starters added.
func (r *Reconciler[T]) listeners(ctx context.Context, resource T) (context.Context, *passState) {
	var p *passState
	trace := len(r.opt.observers) - 1 // the flow's own tracer
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

// start starts a pass of an observer. An observer that panics is not enabled.
func (r *Reconciler[T]) start(ctx context.Context, s chain.Starter, resource T) (inner context.Context, on bool) {
	defer func() {
		if recover() != nil {
			inner, on = ctx, false
		}
	}()
	if inner, on = s.Start(ctx, chain.PassStart{Link: r.link, Resource: resource, KeyOf: r.keyOf, ErrorClass: r.class}); inner == nil {
		inner = ctx
	}
	return inner, on
}

// enabled reports whether an observer is enabled. An observer that panics is not.
func enabled(ctx context.Context, o chain.Observer) (on bool) {
	defer func() {
		if recover() != nil {
			on = false
		}
	}()
	return o.Enabled(ctx)
}

// audience holds the observers of a reconciler, outermost first. One wrapper calls all of them, so that
// a link with several observers costs little more than a link with one. An observer that panics gets no
// more calls in the pass, because an observer must not change the pass.
type audience []listener

type listener struct {
	o      chain.Observer
	starts bool // a starter: its Start has entered the pass already
}

func audienceOf(observers []chain.Observer, starters []chain.Starter) audience {
	a := make(audience, len(observers))
	for i, o := range observers {
		a[i] = listener{o, starters[i] != nil}
	}
	return a
}

// startersOf returns the observers that start passes, bound to the pass; nil for every other observer.
// It panics if a starter is given twice. Such a starter would start each pass twice and could not tell
// the two apart.
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

// contexts holds the context that each observer returned, each derived from the one before. The first
// few need no allocation.
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

// enter reports to all enabled observers that a link is entered, and returns the context for the link.
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

func (s *listener) enter(ctx context.Context, p *passState, on *bool, link *chain.Link) (inner context.Context) {
	defer func() {
		if recover() != nil {
			*on, inner = false, ctx
		}
	}()
	if inner = s.o.Enter(ctx, link); inner == nil || passOf(inner) != p {
		return ctx // the pass needs its state in the context
	}
	return inner
}

// exit reports to all enabled observers that a link was left, innermost first.
func (a audience) exit(p *passState, link *chain.Link, given *contexts, exit chain.Exit) {
	for i := len(a) - 1; i >= 0; i-- {
		if p.on[i] {
			a[i].exit(*given.at(i), &p.on[i], link, exit)
		}
	}
}

func (s *listener) exit(ctx context.Context, on *bool, link *chain.Link, exit chain.Exit) {
	defer func() {
		if recover() != nil {
			*on = false
		}
	}()
	s.o.Exit(ctx, link, exit)
}

// bound returns the audience with each observer bound to a link.
func (a audience) bound(link *chain.Link) audience {
	bound := slices.Clone(a)
	for i := range bound {
		bound[i].o = chain.Bound(bound[i].o, link)
	}
	return bound
}

// watched puts the observers around a handler.
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

// lastResult is the boxed result that observers of a check received last.
type lastResult struct{ of atomic.Pointer[any] }

// boxed returns res as the value that observers receive. A check that proceeds returns the same result
// each time, which then needs no allocation.
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

// watchLinks puts the observers around each link of a chain.
func watchLinks[Req, Res any](a audience, c chain.Chain[Req, Res]) chain.Chain[Req, Res] {
	if a == nil {
		return c
	}
	return c.Decorate(func(l *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] { return watched(a, l, h) })
}

// watchPoint puts the observers around a whole point.
func watchPoint[Req, Res any](a audience, point string, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	return watchAs(a, &chain.Link{Kind: chain.Point, Point: point, Name: point}, h)
}

func watchAs[Req, Res any](a audience, link *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	if a == nil {
		return h
	}
	return watched(a, link, h)
}
