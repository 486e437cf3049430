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
// Make a request a pointer or a small value: up to about twelve words travel in
// registers. Make a result at most four words: every link copies a larger
// result through memory.
type Handler[Req, Res any] func(ctx context.Context, req Req) (Res, error)

// Middleware wraps a handler into another one, which may act before next, after
// it, around it, or instead of it. [Chain.Then] calls the Middleware once for
// each composition. Callers may call the returned handler from several
// goroutines at once, once for each request. State that all requests share
// therefore belongs outside the Middleware.
//
// Middleware is an alias, so functions and slices of functions of this shape
// need no conversion.
type Middleware[Req, Res any] = func(next Handler[Req, Res]) Handler[Req, Res]

// Chain is an immutable sequence of links, outermost first. The zero Chain is
// the identity: it has no links, and its Then returns the given handler. Every
// method returns a new Chain and changes neither its receiver nor its
// arguments. Several goroutines may share and extend a chain.
type Chain[Req, Res any] struct {
	links  []entry[Req, Res]
	layers []layer[Req, Res]
}

// entry is a link with its description. Its meta never changes once the entry
// is in a chain.
type entry[Req, Res any] struct {
	link Middleware[Req, Res]
	meta *Link
	id   *Link // the first meta of the link; identifies the link in every chain derived from this one
}

// New makes a chain of links, outermost first:
//
//	New(m1, m2, m3).Then(h) = m1(m2(m3(h)))
//
// It neither composes nor calls the links. A nil link is a set-up error: New
// panics and names its position.
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

// Extend nests chains. It returns a chain with the links of others added as the
// innermost links of c:
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

// Then composes the chain around end, once. The returned handler may be called
// often and concurrently. Then may be called any number of times, with
// different ends:
//
//	New().Then(h) = h
//	New(a, b).Then(New(c).Then(h)) = New(a, b, c).Then(h)
//
// Then puts nothing between the links: a call costs as much as the nested
// functions. c.Then is itself a [Middleware]. A chain that contains it lists it
// as one link, without the names of its links; [Chain.Extend] keeps them.
//
// Then panics if end is nil, or if a link returns a nil handler. The message
// names the chain or the link.
func (c Chain[Req, Res]) Then(end Handler[Req, Res]) Handler[Req, Res] {
	if end == nil {
		panic(fmt.Sprintf("chain: Then: the end of the chain %s is nil: give it the handler that does the work", c))
	}
	return c.observed(end)
}

// compose nests the links around end, with layers around each link's handler. The
// fault is the text of a set-up error.
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

// At returns a chain whose links have [Link.Point] set to point, an extension
// point of the engine that runs the chain. Links added later have it only if At
// is called again.
func (c Chain[Req, Res]) At(point string) Chain[Req, Res] {
	return c.described(func(l *Link) { l.Point = point })
}

// described returns a chain whose links are described as change says.
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

// Links lists the links, outermost first, which is the order in which a call
// enters them.
func (c Chain[Req, Res]) Links() []Link {
	links := make([]Link, len(c.links))
	for i, e := range c.links {
		links[i] = *e.meta
	}
	return links
}

// String prints the order, outermost first, as in "OwnerReady ->
// ReferenceReady(network) -> quota". The source follows a name that was derived
// from a function. An empty chain prints as "(empty)".
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

// entries describes each link and panics on a nil one. op is the method that
// the user called.
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
