package chain

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Handler does one piece of work: it takes a request and gives a result or an error.
//
// A request is best a pointer or small (up to about twelve words travel in registers); a result is best at most four
// words, since larger ones are copied through memory at every link.
type Handler[Req, Res any] func(ctx context.Context, req Req) (Res, error)

// Middleware wraps a handler into another one: it may act before next, after it, around it, or instead of it. It is
// called to compose, once for every composition ([Chain.Then]), and the handler that it returns is called for every
// request, by several goroutines at once. So state that requests share belongs outside of the Middleware.
//
// It is an alias: functions and slices of functions of this shape fit as they are.
type Middleware[Req, Res any] = func(next Handler[Req, Res]) Handler[Req, Res]

// Chain is an immutable sequence of links, outermost first. The zero Chain is the identity: it has no links, and its
// Then returns the handler it was given. Every method returns a new Chain and leaves its receiver and its arguments as
// they were; chains may be shared and extended freely, by several goroutines too.
type Chain[Req, Res any] struct {
	links  []entry[Req, Res]
	layers []layer[Req, Res]
}

// entry is a link and what is known of it. Its meta is never changed once the entry is in a chain.
type entry[Req, Res any] struct {
	link Middleware[Req, Res]
	meta *Link
	id   *Link // the first meta of the link, by which it is known wherever it comes to stand
}

// New makes a chain of links, outermost first:
//
//	New(m1, m2, m3).Then(h) = m1(m2(m3(h)))
//
// It composes and calls none of them. A nil link is an error of set-up: New panics and names its position.
func New[Req, Res any](links ...Middleware[Req, Res]) Chain[Req, Res] {
	return Chain[Req, Res]{links: entries("New", links)}
}

// Append returns a chain with links behind those of c:
//
//	New(m1, m2).Append(m3, m4) = New(m1, m2, m3, m4)
//
// A nil link panics, as in [New].
func (c Chain[Req, Res]) Append(links ...Middleware[Req, Res]) Chain[Req, Res] {
	c.links = slices.Concat(c.links, entries("Append", links))
	return c
}

// Extend returns a chain with the links of others behind those of c, which is the way to nest chains:
//
//	New(m1, m2).Extend(New(m3), New(m4)) = New(m1, m2, m3, m4)
//
// Decorations and observers of c hold for all links of the result; those of others are dropped.
func (c Chain[Req, Res]) Extend(others ...Chain[Req, Res]) Chain[Req, Res] {
	parts := make([][]entry[Req, Res], 0, len(others)+1)
	parts = append(parts, c.links)
	for _, o := range others {
		parts = append(parts, o.links)
	}
	c.links = slices.Concat(parts...)
	return c
}

// Then composes the chain around end, once; the handler it returns is meant to be called often and may be called
// concurrently. Then may be called any number of times, with different ends:
//
//	New().Then(h) = h
//	New(a, b).Then(New(c).Then(h)) = New(a, b, c).Then(h)
//
// It puts nothing between the links: a call costs what the nested functions cost. c.Then is itself a [Middleware],
// though one link whose inner names are not seen; [Chain.Extend] keeps them.
//
// A nil end, and a link that makes a nil handler, panic, naming the chain and the link.
func (c Chain[Req, Res]) Then(end Handler[Req, Res]) Handler[Req, Res] {
	if end == nil {
		panic(fmt.Sprintf("chain: Then: the end of the chain %s is nil: give it the handler that does the work", c))
	}
	return c.observed(end)
}

// compose nests the links around end. The layers given are wrapped around each link's handler, the first outermost.
func (c Chain[Req, Res]) compose(end Handler[Req, Res], layers []wrap[Req, Res]) Handler[Req, Res] {
	h := end
	for i, e := range slices.Backward(c.links) {
		if h = e.link(h); h == nil {
			panic(fmt.Sprintf("chain: Then: link %d of %d, %s, returned a nil handler", i+1, len(c.links), e.meta))
		}
		for _, wrap := range slices.Backward(layers) {
			if h = wrap(e.meta, h); h == nil {
				panic(fmt.Sprintf("chain: Then: a decoration of link %d of %d, %s, returned a nil handler", i+1, len(c.links), e.meta))
			}
		}
	}
	return h
}

// At returns a chain whose links say that they customise point, an extension point of whatever runs the chain. Links
// added later say it only if At is called again.
func (c Chain[Req, Res]) At(point string) Chain[Req, Res] {
	c.links = slices.Clone(c.links)
	for i, e := range c.links {
		meta := *e.meta
		meta.Point = point
		c.links[i].meta = &meta
	}
	return c
}

// Len is the number of links.
func (c Chain[Req, Res]) Len() int { return len(c.links) }

// Links lists the links, outermost first, which is the order in which they are entered.
func (c Chain[Req, Res]) Links() []Link {
	links := make([]Link, len(c.links))
	for i, e := range c.links {
		links[i] = *e.meta
	}
	return links
}

// String prints the order, outermost first, as in "OwnerReady -> ReferenceReady(network) -> quota". A name that was
// derived from a function is followed by the place of that function. An empty chain prints as "(empty)".
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

// entries finds the name of each link. op is the method that the user called.
func entries[Req, Res any](op string, links []Middleware[Req, Res]) []entry[Req, Res] {
	if len(links) == 0 {
		return nil
	}
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
