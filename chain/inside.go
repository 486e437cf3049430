package chain

import (
	"context"
	"slices"

	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/run"
)

// layers holds the decorations and observers that a composition puts around links.
type layers[Req, Res any] struct {
	around    []wrap[Req, Res] // around each link of the chain, the first one outermost
	inside    []wrap[Req, Res] // around each link inside When
	observers []Observer       // of the links inside links that compose them by themselves
}

// with adds a decoration as the innermost one.
func (s layers[Req, Res]) with(l layer[Req, Res]) layers[Req, Res] {
	s.around = append(slices.Clip(s.around), l.decorate)
	if l.deep {
		s.inside = append(slices.Clip(s.inside), l.decorate)
	}
	if l.observer != nil {
		s.observers = append(slices.Clip(s.observers), l.observer)
	}
	return s
}

// deep is an Observer that stands for a decoration, which is also around the
// links inside [When], and for an observer of the links inside other links, which
// may be nil. Packages that guard their chains have one. The decoration is a wrap.
type deep interface {
	Observer
	Layer() (decorate any, inside Observer)
}

// A link that is made of other links can be opened: probe.Answer.Inside makes it
// anew, with layers around the links inside. There are two kinds.
type (
	// withLayers is the function of a link that composes its links around next,
	// as When does. of describes the link.
	withLayers[Req, Res any] = func(of *Link, layers layers[Req, Res]) Middleware[Req, Res]
	// withObservers is the function of a link whose links make up a handler of
	// their own, as those of checks.OnOwner do.
	withObservers[Req, Res any] = func(observers []Observer) Middleware[Req, Res]
)

// open returns the link of an entry, with layers around the links inside it.
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
				observers[i] = insider{o, e.meta}
			}
			return inside(observers)
		}
	}
	return e.link
}

// within returns a chain whose links are within a link.
func (c Chain[Req, Res]) within(of *Link) Chain[Req, Res] {
	return c.described(func(l *Link) { l.Point, l.Within = of.Point, of })
}

// insider is an observer of the links that are within a link. [Chain.Observe]
// takes it apart.
type insider struct {
	Observer
	of *Link
}

// sameCall is an observer of a chain as the observer of the links inside its
// links. It is enabled in the calls in which the observer of the chain is.
type sameCall struct {
	Observer
	key *callKey
	n   int
}

// Enabled implements Observer.
func (w sameCall) Enabled(ctx context.Context) bool {
	if c, ok := ctx.Value(w.key).(*callState); ok {
		return c.on[w.n]
	}
	return w.Observer.Enabled(ctx)
}

// Bind prepares data about a link, if the Observer can.
func (w sameCall) Bind(link *Link) Observer { return run.Bound(w.Observer, link) }
