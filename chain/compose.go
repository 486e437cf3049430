package chain

import (
	"context"
	"fmt"
	"slices"

	"github.com/windlass-go/windlass/internal/mono"
	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/run"
)

// Then composes the chain around end and returns the handler. Several
// goroutines may call the handler, any number of times. Then may be called
// again, with another end:
//
//	New().Then(h) = h
//	New(a, b).Then(New(c).Then(h)) = New(a, b, c).Then(h)
//
// Then puts nothing between the links: a call costs as much as the nested
// functions. c.Then is itself a [Middleware], but a chain lists it as one link:
// no observer and no engine sees its links. An engine that refuses a wrong
// set-up, such as owner checks for a kind without owners, does not find the
// mistake there. Use [Chain.Extend], which keeps the links.
//
// Then panics if end is nil, or if a link returns a nil handler. The message
// names the chain or the link.
func (c Chain[Req, Res]) Then(end Handler[Req, Res]) Handler[Req, Res] {
	if end == nil {
		panic(fmt.Sprintf("chain: Then: the end of the chain %s is nil: give it the handler that does the work", c))
	}
	return observed(c, end)
}

// observed composes the chain around end without observers, and a second time
// with them if there are any.
func observed[Req, Res any](c Chain[Req, Res], end Handler[Req, Res]) Handler[Req, Res] {
	var observers []Observer
	var key *callKey
	var bare, full layers[Req, Res]
	for _, l := range c.layers {
		if l.decorate != nil {
			bare, full = add(bare, l), add(full, l)
			continue
		}
		if key == nil {
			key = new(callKey)
		}
		full = add(full, layer[Req, Res]{observing[Req, Res](key, l.observer, len(observers)), innerObserver{l.observer, key, len(observers)}})
		observers = append(observers, l.observer)
	}
	plain := mustCompose(c, end, bare)
	if len(observers) == 0 || len(c.links) == 0 {
		return plain
	}
	all := mustCompose(c, end, full)
	// A function of its own keeps the frame of calls without an enabled observer small.
	observe := func(ctx context.Context, req Req, first int) (Res, error) {
		observed := &call{ctx, &callState{of: key, on: make([]bool, len(observers))}}
		observed.on[first] = true
		for i := first + 1; i < len(observers); i++ {
			observed.on[i] = observers[i].Enabled(ctx)
		}
		observed.passed.Within(ctx)
		return all(observed, req)
	}
	return func(ctx context.Context, req Req) (Res, error) {
		for i, o := range observers {
			if o.Enabled(ctx) {
				return observe(ctx, req, i)
			}
		}
		return plain(ctx, req)
	}
}

// mustCompose composes the chain, and panics on a fault.
func mustCompose[Req, Res any](c Chain[Req, Res], end Handler[Req, Res], layers layers[Req, Res]) Handler[Req, Res] {
	h, fault := compose(c, end, layers)
	if fault != "" {
		panic(fault)
	}
	return h
}

// compose nests the links around end, with layers around each link's handler.
// The fault is the text of a set-up error, or empty.
func compose[Req, Res any](c Chain[Req, Res], end Handler[Req, Res], layers layers[Req, Res]) (h Handler[Req, Res], fault string) {
	h = end
	for i, e := range slices.Backward(c.links) {
		if h = open(layers, e)(h); h == nil {
			return nil, fmt.Sprintf("chain: Then: link %d of %d, %s, returned a nil handler", i+1, len(c.links), e.meta)
		}
		for _, wrap := range slices.Backward(layers.around) {
			if h = wrap(e.meta, h); h == nil {
				return nil, fmt.Sprintf("chain: Then: a decoration of link %d of %d, %s, returned a nil handler", i+1, len(c.links), e.meta)
			}
		}
	}
	return h, ""
}

// Observe returns a chain that notifies o of each call of each link, including
// links added later. Observing twice adds both observers, the first outermost.
// If o is nil, Observe returns c.
//
// Observers also see the links within a [When], and the checks within a check
// such as checks.OnOwner; [Link.Within] names the outer one. A link within
// another wrapper, such as [Deadline], is observed as part of the wrapper.
//
// Then composes an observed chain twice, with and without the observers, so
// each Middleware is called twice, or more often within another link. Each call
// of the handler uses one of the two. If no observer is enabled, the added cost
// of a call is one call of Enabled for each observer.
func (c Chain[Req, Res]) Observe(o Observer) Chain[Req, Res] {
	if o == nil {
		return c
	}
	switch o := o.(type) {
	case layerObserver:
		decorate, inside := o.Layer()
		return with(c, layer[Req, Res]{decorate.(wrap[Req, Res]), inside})
	case withinObserver:
		return with(within(c, o.of), layer[Req, Res]{observer: o.Observer})
	}
	return with(c, layer[Req, Res]{observer: o})
}

func with[Req, Res any](c Chain[Req, Res], l layer[Req, Res]) Chain[Req, Res] {
	c.layers = append(slices.Clip(c.layers), l)
	return c
}

// observing returns the decoration of the n-th observer. It reads from the
// context whether that observer is enabled. If a link passed on an unrelated
// context, it calls o.Enabled instead.
func observing[Req, Res any](key *callKey, o Observer, n int) wrap[Req, Res] {
	return func(link *Link, h Handler[Req, Res]) Handler[Req, Res] {
		bound := run.Bound(o, link)
		return func(ctx context.Context, req Req) (Res, error) {
			s, ok := ctx.Value(key).(*callState)
			if ok && !s.on[n] || !ok && !o.Enabled(ctx) {
				return h(ctx, req)
			}
			return notifying(ctx, req, bound, link, s, h)
		}
	}
}

// notifying calls h and notifies o about it, as a call of link. s is nil if a
// link passed on an unrelated context; Exit.Passed is false then.
func notifying[Req, Res any](outer context.Context, req Req, o Observer, link *Link, s *callState, h Handler[Req, Res]) (Res, error) {
	ctx := o.Enter(outer, link)
	if ctx == nil {
		ctx = outer
	}
	inner := ctx
	if near, ok := ctx.(*call); s != nil && (!ok || near.callState != s) {
		inner = &call{ctx, s} // the inner links then find s without a search through all contexts
	}
	start := mono.Now()
	return run.Call(inner, req, h, func(end run.End[Res]) {
		exit := Exit{Result: end.Any(), Err: end.Err, Panic: end.Panic, Elapsed: mono.Now() - start}
		exit.Passed = s != nil && s.passed.Is()
		o.Exit(ctx, link, exit)
	})
}

// call is the context of an observed call of a chain. The call has one, and
// another one inside each observer whose Enter returned a new context.
type call struct {
	context.Context
	*callState
}

// callState is the state of an observed call of a chain.
type callState struct {
	of     *callKey // the composition
	on     []bool   // which observers are enabled
	passed run.Passed
}

// callKey is the context key of a call; each composition has its own. It is not
// of size zero, because pointers to zero-size values may be equal.
type callKey struct{ _ byte }

// Value implements context.Context.
func (c *call) Value(key any) any {
	switch key {
	case run.PassedKey:
		return &c.passed
	case c.of:
		return c.callState
	}
	return c.Context.Value(key)
}

// layers holds the decorations and observers that a composition puts around
// links.
type layers[Req, Res any] struct {
	around    []wrap[Req, Res] // around each link of the chain and inside When, the first one outermost
	observers []Observer       // of the links inside a link that composes them itself
}

// add adds a decoration as the innermost one.
func add[Req, Res any](s layers[Req, Res], l layer[Req, Res]) layers[Req, Res] {
	s.around = append(slices.Clip(s.around), l.decorate)
	if l.observer != nil {
		s.observers = append(slices.Clip(s.observers), l.observer)
	}
	return s
}

// layerObserver is an Observer that [Chain.Observe] replaces by the results of
// Layer. decorate is a wrap. inside observes the links inside other links; it may be nil. Packages that
// check each decision of a chain have a layerObserver.
type layerObserver interface {
	Observer
	Layer() (decorate any, inside Observer)
}

// The function in probe.Answer.Inside makes a link that consists of other links
// again, with layers around these. There are two kinds.
type (
	// withLayers is the function of a link that composes its links around next,
	// as When does. of describes the link.
	withLayers[Req, Res any] = func(of *Link, layers layers[Req, Res]) Middleware[Req, Res]
	// withObservers is the function of a link that composes its links into a
	// separate handler, as checks.OnOwner does.
	withObservers[Req, Res any] = func(observers []Observer) Middleware[Req, Res]
)

// open returns the link of an entry. If it consists of other links, these have
// the layers around them.
func open[Req, Res any](s layers[Req, Res], e entry[Req, Res]) Middleware[Req, Res] {
	if len(s.around) == 0 { // then there are no observers either
		return e.link
	}
	if answer := probe.Ask(e.link); answer != nil {
		switch inside := answer.Inside.(type) {
		case withLayers[Req, Res]:
			return inside(e.meta, s)
		case withObservers[Req, Res]:
			observers := make([]Observer, len(s.observers))
			for i, o := range s.observers {
				observers[i] = withinObserver{o, e.meta}
			}
			return inside(observers)
		}
	}
	return e.link
}

// within returns a chain whose links are described as links within of.
func within[Req, Res any](c Chain[Req, Res], of *Link) Chain[Req, Res] {
	return described(c, func(l *Link) { l.Point, l.Within = of.Point, of })
}

// withinObserver is an observer of the links within the link of.
// [Chain.Observe] unwraps it.
type withinObserver struct {
	Observer
	of *Link
}

// innerObserver observes the links inside the links of a chain, for the n-th
// observer of the chain. It is enabled if that observer is enabled in the call.
type innerObserver struct {
	Observer
	key *callKey
	n   int
}

// Enabled implements Observer.
func (o innerObserver) Enabled(ctx context.Context) bool {
	if c, ok := ctx.Value(o.key).(*callState); ok {
		return c.on[o.n]
	}
	return o.Observer.Enabled(ctx)
}

// Bind returns the Observer bound to link, or the Observer itself if it has no
// method Bind.
func (o innerObserver) Bind(link *Link) Observer { return run.Bound(o.Observer, link) }
