package flow

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/mono"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/pass"
	"github.com/windlass-go/windlass/internal/run"
)

// passState is the context of a running pass. Only a pass with an enabled
// observer, or with links on Pass, has one.
type passState struct {
	context.Context
	onion.Note                 // for the links on Pass
	outcome    *outcome        // the outcome of the inner pass
	own        context.Context // the context of the points, with the values of the observers
	on         []bool          // which observers are enabled; nil: none
	few        [4]bool         // holds on, if there are at most four
	within     bool            // whether one observes the points and the links
	trace      *recording      // nil: the pass is not traced
	passed     run.Passed
}

type passKey struct{}

// Value implements context.Context.
func (p *passState) Value(key any) any {
	switch key {
	case passKey{}:
		return p
	case run.PassedKey:
		if p.on == nil {
			return nil
		}
		return &p.passed
	}
	return p.Context.Value(key)
}

// passView wraps a context that an observer returned. Inner links find the
// state of the pass in it without a search through all outer contexts.
type passView struct {
	context.Context
	p *passState
}

// Value implements context.Context.
func (v *passView) Value(key any) any {
	switch key {
	case passKey{}, run.PassedKey:
		return v.p.Value(key)
	}
	return v.Context.Value(key)
}

// view returns ctx, or a passView of it unless ctx is the context of p or a
// passView.
func (p *passState) view(ctx context.Context) context.Context {
	switch ctx.(type) {
	case *passState, *passView:
		return ctx
	}
	return &passView{ctx, p}
}

func passOf(ctx context.Context) *passState {
	p, _ := ctx.Value(passKey{}).(*passState)
	return p
}

// enabled reports whether an observer is enabled. An observer that panics is
// not.
func enabled(ctx context.Context, o chain.Observer) (on bool) {
	defer func() { _ = recover() }()
	return o.Enabled(ctx)
}

// observers are the observers of a reconciler, outermost first. One wrapper
// calls all of them, so that several observers cost little more than one. An
// observer that panics gets no more calls in the pass, and the pass continues.
type observers []chain.Observer

// startersOf returns a starter for each observer, bound to the pass, or nil for
// an observer that does not start passes. It panics if a starter is given
// twice, because it would start each pass twice. It also panics if two
// observers write the same log lines.
func startersOf(all observers, whole *chain.Link) []pass.Starter {
	starters := make([]pass.Starter, len(all))
	for i, o := range all {
		if starters[i], _ = run.Bound(o, whole).(pass.Starter); starters[i] == nil || !reflect.TypeOf(o).Comparable() {
			continue
		}
		if j := slices.Index(all[:i], o); j >= 0 {
			panic(fmt.Sprintf("flow: New: %s: observers %d and %d are the same %T: give it once", whole.Name, j+1, i+1, o))
		}
		d, ok := o.(pass.Doubler)
		if !ok {
			continue
		}
		if j := slices.IndexFunc(all[:i], d.Doubles); j >= 0 {
			panic(fmt.Sprintf("flow: New: %s: observers %d and %d both write the log lines of each pass: leave one of them out, or "+
				"give it otelx.WithoutLogs; ctrlx adds an observer, whose options ctrlx.WithTelemetry sets", whole.Name, j+1, i+1))
		}
	}
	return starters
}

// contexts holds the context that each observer returned, each derived from the
// previous one. The first few need no allocation.
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

func (a observers) enter(ctx context.Context, p *passState, link *chain.Link, given *contexts) context.Context {
	if len(a) > len(given.few) {
		given.more = make([]context.Context, len(a)-len(given.few))
	}
	whole := pass.Of(link) == pass.Pass
	for i, o := range a {
		if _, started := o.(pass.Starter); p.on[i] && !(whole && started) { // Start has replaced Enter
			ctx = enter(ctx, p, &p.on[i], o, link)
		}
		*given.at(i) = ctx
		ctx = p.view(ctx)
	}
	return ctx
}

func enter(ctx context.Context, p *passState, on *bool, o chain.Observer, link *chain.Link) (inner context.Context) {
	defer func() {
		if recover() != nil {
			*on, inner = false, ctx
		}
	}()
	if inner = o.Enter(ctx, link); inner == nil || passOf(inner) != p {
		return ctx // the pass needs its state in the context
	}
	return inner
}

func (a observers) exit(p *passState, link *chain.Link, given *contexts, exit chain.Exit) {
	for i := len(a) - 1; i >= 0; i-- {
		if p.on[i] {
			leave(*given.at(i), &p.on[i], a[i], link, exit)
		}
	}
}

func leave(ctx context.Context, on *bool, o chain.Observer, link *chain.Link, exit chain.Exit) {
	defer func() {
		if recover() != nil {
			*on = false
		}
	}()
	o.Exit(ctx, link, exit)
}

// observed puts the observers around a handler. Without observers it returns
// the handler.
func observed[Req, Res any](all observers, link *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	if all == nil {
		return h
	}
	a := all.bind(link)
	whole := pass.Of(link) != 0
	return func(ctx context.Context, req Req) (Res, error) {
		p := passOf(ctx)
		if p == nil || len(p.on) != len(a) {
			return h(ctx, req)
		}
		var given contexts
		inner := a.enter(ctx, p, link, &given)
		start := mono.Now()
		return run.Call(inner, req, h, func(end run.End[Res]) {
			a.exit(p, link, &given, chain.Exit{Result: end.Any(), Err: end.Err, Panic: end.Panic, Passed: !whole && p.passed.Is(), Elapsed: mono.Now() - start})
		})
	}
}

func (a observers) bind(link *chain.Link) observers {
	bound := make(observers, len(a))
	for i, o := range a {
		bound[i] = run.Bound(o, link)
	}
	return bound
}

// innerObserver reports to all observers the links inside a link, such as the
// links of checks.OnOwner. These form a chain of their own.
type innerObserver struct{ observers }

type innerContext struct {
	context.Context
	given contexts
}

// Enabled implements chain.Observer.
func (o innerObserver) Enabled(ctx context.Context) bool {
	p := passOf(ctx)
	return p != nil && len(p.on) == len(o.observers)
}

// Bind binds the observers to a link, see [chain.Observer].
func (o innerObserver) Bind(link *chain.Link) chain.Observer { return innerObserver{o.bind(link)} }

// Enter implements chain.Observer.
func (o innerObserver) Enter(ctx context.Context, link *chain.Link) context.Context {
	in := &innerContext{}
	in.Context = o.enter(ctx, passOf(ctx), link, &in.given)
	return in
}

// Exit implements chain.Observer.
func (o innerObserver) Exit(ctx context.Context, link *chain.Link, exit chain.Exit) {
	o.exit(passOf(ctx), link, &ctx.(*innerContext).given, exit)
}

func observeLinks[Req, Res any](all observers, c chain.Chain[Req, Res]) chain.Chain[Req, Res] {
	if all == nil {
		return c
	}
	return onion.Decorate(c, func(l *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] { return observed(all, l, h) }, innerObserver{all})
}

func observePoint[Req, Res any](all observers, point string, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	return observed(all, &chain.Link{Point: point, Name: point, Tag: pass.Point}, h)
}

// tracer is the observer that records the steps of a pass.
type tracer struct{}

// Enabled implements chain.Observer.
func (tracer) Enabled(context.Context) bool { return true }

// Enter implements chain.Observer. The pass itself is not a step.
func (tracer) Enter(ctx context.Context, link *chain.Link) context.Context {
	rec := passOf(ctx).trace
	step := Step{Point: link.Point}
	switch pass.Of(link) {
	case pass.Pass:
		return run.WithNotes(ctx, rec.note)
	case pass.Point:
	default:
		step.Link = link.Name
	}
	now := rec.now() // before the lock, because the clock may be a user's function
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.add(link, step, now)
	return ctx
}

// Exit implements chain.Observer.
func (tracer) Exit(ctx context.Context, link *chain.Link, exit chain.Exit) {
	rec := passOf(ctx).trace
	now, left := rec.now(), stepOf(exit) // before the lock, because both call functions of users
	rec.mu.Lock()
	defer rec.mu.Unlock()
	i := len(rec.open) - 1
	for i >= 0 && rec.open[i].link != link { // a link on another goroutine may end later
		i--
	}
	if i < 0 { // the pass itself is not a step
		return
	}
	in := rec.open[i]
	rec.open = slices.Delete(rec.open, i, i+1)
	elapsed := max(now.Sub(in.at), 0) // the clock may go back
	if i > 0 {
		rec.open[i-1].inner += elapsed
	}
	if in.step < 0 {
		return
	}
	s := &rec.steps[in.step]
	s.Elapsed, s.Own = elapsed, max(elapsed-in.inner, 0)
	s.Verdict, s.Reason, s.Message, s.Error = left.Verdict, left.Reason, left.Message, left.Error
	s.Notes = append(s.Notes, left.Notes...)
}
