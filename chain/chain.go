package chain

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Handler does one piece of work: it takes a request and returns a result or an
// error.
//
// A request should be a pointer or a small value: Go passes up to about twelve
// words in registers. A result should have at most four words: each link copies
// a larger one through memory.
type Handler[Req, Res any] func(ctx context.Context, req Req) (Res, error)

// Middleware is a link: it returns a handler that may act before next, after
// it, or instead of it. [Chain.Then] calls the Middleware once for each
// composition, and callers call the returned handler once for each request,
// also from several goroutines at once. So a variable that the Middleware
// declares outside the returned handler is shared by all requests and must be
// safe for concurrent use.
//
// Middleware is an alias, so functions and slices of functions of this shape
// need no conversion.
type Middleware[Req, Res any] = func(next Handler[Req, Res]) Handler[Req, Res]

// Chain is an immutable sequence of links, outermost first. The zero Chain has
// no links, and its Then returns the given handler. No method changes its
// receiver or its arguments, so several goroutines may use one chain.
type Chain[Req, Res any] struct {
	links  []entry[Req, Res]
	layers []layer[Req, Res]
}

// entry is a link with its description. The description of an entry in a chain
// never changes.
type entry[Req, Res any] struct {
	link Middleware[Req, Res]
	meta *Link
	id   *Link // the first description; identifies the link in all derived chains
}

// New makes a chain of links, outermost first:
//
//	New(m1, m2, m3).Then(h) = m1(m2(m3(h)))
//
// New neither composes nor calls the links. It panics on a nil link and names
// its position.
func New[Req, Res any](links ...Middleware[Req, Res]) Chain[Req, Res] {
	return Chain[Req, Res]{links: entries("New", links)}
}

// Append returns a chain with links added as the innermost links of c:
//
//	New(m1, m2).Append(m3, m4) = New(m1, m2, m3, m4)
//
// A nil link panics, as in [New].
func (c Chain[Req, Res]) Append(links ...Middleware[Req, Res]) Chain[Req, Res] {
	c.links = slices.Concat(c.links, entries("Append", links))
	return c
}

// Prepend returns a chain with links added as the outermost links of c:
//
//	New(m3, m4).Prepend(m1, m2) = New(m1, m2, m3, m4)
//
// A nil link panics, as in [New].
func (c Chain[Req, Res]) Prepend(links ...Middleware[Req, Res]) Chain[Req, Res] {
	c.links = slices.Concat(entries("Prepend", links), c.links)
	return c
}

// Extend returns a chain with the links of others added as the innermost links
// of c:
//
//	New(m1, m2).Extend(New(m3), New(m4)) = New(m1, m2, m3, m4)
//
// Decorations and observers of c apply to all links of the result. Extend drops
// the decorations and observers of others.
func (c Chain[Req, Res]) Extend(others ...Chain[Req, Res]) Chain[Req, Res] {
	parts := make([][]entry[Req, Res], 0, len(others)+1)
	parts = append(parts, c.links)
	for _, o := range others {
		parts = append(parts, o.links)
	}
	c.links = slices.Concat(parts...)
	return c
}

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
	return c.observed(end)
}

// compose nests the links around end, with layers around each link's handler.
// The fault is the text of a set-up error, or empty.
func (c Chain[Req, Res]) compose(end Handler[Req, Res], layers layers[Req, Res]) (h Handler[Req, Res], fault string) {
	h = end
	for i, e := range slices.Backward(c.links) {
		if h = layers.open(e)(h); h == nil {
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

// At returns a chain whose links have [Link.Point] set to point. A point is an
// extension point of the engine that runs the chain. Links added later do not
// have it.
func (c Chain[Req, Res]) At(point string) Chain[Req, Res] {
	return c.described(func(l *Link) { l.Point = point })
}

// described returns a chain with change applied to the description of each
// link.
func (c Chain[Req, Res]) described(change func(*Link)) Chain[Req, Res] {
	c.links = slices.Clone(c.links)
	for i, e := range c.links {
		meta := *e.meta
		change(&meta)
		c.links[i].meta = &meta
	}
	return c
}

// Len returns the number of links.
func (c Chain[Req, Res]) Len() int { return len(c.links) }

// Links lists the links, outermost first. A call enters them in this order.
func (c Chain[Req, Res]) Links() []Link {
	links := make([]Link, len(c.links))
	for i, e := range c.links {
		links[i] = *e.meta
	}
	return links
}

// String prints the links, outermost first, as in "OwnerReady ->
// ReferenceReady(network) -> quota". A name that was derived from a function is
// followed by its source. An empty chain prints as "(empty)".
func (c Chain[Req, Res]) String() string {
	if len(c.links) == 0 {
		return "(empty)"
	}
	var b strings.Builder
	for i, e := range c.links {
		if i > 0 {
			b.WriteString(" -> ")
		}
		b.WriteString(e.meta.String())
	}
	return b.String()
}

// entries describes each link. It panics on a nil link, in the name of op, the
// method that the user called.
func entries[Req, Res any](op string, links []Middleware[Req, Res]) []entry[Req, Res] {
	out := make([]entry[Req, Res], len(links))
	for i, link := range links {
		if link == nil {
			panic(fmt.Sprintf("chain: %s: link %d of %d is nil: leave it out or give a func(next Handler) Handler", op, i+1, len(links)))
		}
		meta := describe(link)
		out[i] = entry[Req, Res]{link: link, meta: meta, id: meta}
	}
	return out
}
