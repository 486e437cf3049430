package chain

import (
	"context"
	"slices"

	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/run"
)

// layers holds the decorations and observers that a composition puts around
// links.
type layers[Req, Res any] struct {
	around    []wrap[Req, Res] // around each link of the chain, the first one outermost
	inside    []wrap[Req, Res] // around each link inside When
	observers []Observer       // of the links inside a link that composes them itself
}

// with adds a decoration as the innermost one.
func (s layers[Req, Res]) with(l layer[Req, Res]) layers[Req, Res] {
	s.around = append(slices.Clip(s.around), l.decorate)
	if l.inWhen {
		s.inside = append(slices.Clip(s.inside), l.decorate)
	}
	if l.observer != nil {
		s.observers = append(slices.Clip(s.observers), l.observer)
	}
	return s
}

// layerObserver is an Observer that [Chain.Observe] replaces by the results of
// Layer. decorate is a wrap; it is also put around the links inside [When].
// inside observes the links inside other links; it may be nil. Packages that
// check each decision of a chain have a layerObserver.
type layerObserver interface {
	Observer
	Layer() (decorate any, inside Observer)
}

// guardObserver is a layerObserver whose decoration also guards the decorations
// of users.
type guardObserver interface {
	layerObserver
	Guards()
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
func (s layers[Req, Res]) open(e entry[Req, Res]) Middleware[Req, Res] {
	if len(s.inside) == 0 { // then there are no observers either
		return e.link
	}
	if answer := probe.Ask(e.link); answer != nil {
		switch inside := answer.Inside.(type) {
		case withLayers[Req, Res]:
			return inside(e.meta, layers[Req, Res]{s.inside, s.inside, s.observers})
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
func (c Chain[Req, Res]) within(of *Link) Chain[Req, Res] {
	return c.described(func(l *Link) { l.Point, l.Within = of.Point, of })
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
