package chain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/internal/probe"
)

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

// layer is one decoration or one observer of a chain. Only packages of this
// library decorate ([layerObserver]).
type layer[Req, Res any] struct {
	decorate wrap[Req, Res] // nil: observer observes the links of the chain
	observer Observer       // with a decoration: observes the links inside other links; nil: none
}

// wrap is the type of a decoration.
type wrap[Req, Res any] = func(*Link, Handler[Req, Res]) Handler[Req, Res]

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

// Cut returns the n outermost links of c, and the others:
//
//	New(m1, m2, m3).Cut(1) = New(m1), New(m2, m3)
//
// Both chains have the observers of c. An n below 0 or above c.Len() panics.
func (c Chain[Req, Res]) Cut(n int) (outer, inner Chain[Req, Res]) {
	outer, inner = c, c
	outer.links, inner.links = slices.Clip(c.links[:n]), c.links[n:]
	return outer, inner
}

// InsertBefore returns a chain with links inserted before the link named name,
// as its next outer links. If name does not occur exactly once, InsertBefore
// returns c unchanged and an error that prints it. A nil link panics, as in
// [New].
func (c Chain[Req, Res]) InsertBefore(name string, links ...Middleware[Req, Res]) (Chain[Req, Res], error) {
	return edit(c, "InsertBefore", name, 0, 0, links)
}

// InsertAfter returns a chain with links inserted after the link named name, as
// its next inner links. It returns the same errors as [Chain.InsertBefore].
func (c Chain[Req, Res]) InsertAfter(name string, links ...Middleware[Req, Res]) (Chain[Req, Res], error) {
	return edit(c, "InsertAfter", name, 1, 1, links)
}

// Replace returns a chain with links in place of the link named name. It
// returns the same errors as [Chain.InsertBefore].
func (c Chain[Req, Res]) Replace(name string, links ...Middleware[Req, Res]) (Chain[Req, Res], error) {
	return edit(c, "Replace", name, 0, 1, links)
}

// Without returns a chain without the link named name. It returns the same
// errors as [Chain.InsertBefore].
func (c Chain[Req, Res]) Without(name string) (Chain[Req, Res], error) {
	return edit(c, "Without", name, 0, 1, nil)
}

// edit replaces the links in [from, to) by links. Both positions count from the
// link named name. It and other helpers are no methods, because the compiler
// makes each method again for each pair of types.
func edit[Req, Res any](c Chain[Req, Res], op, name string, from, to int, links []Middleware[Req, Res]) (Chain[Req, Res], error) {
	added, name := entries(op, links), safeName(name)
	var at, found int
	for i, e := range c.links {
		if e.meta.Name == name {
			at = i
			found++
		}
	}
	switch found {
	case 0:
		return c, fmt.Errorf("chain: %s: no link is named %q in %s", op, name, c)
	case 1:
	default:
		return c, fmt.Errorf("chain: %s: %d links are named %q in %s: give each a name of its own with chain.Named", op, found, name, c)
	}
	c.links = slices.Concat(c.links[:at+from], added, c.links[at+to:])
	return c, nil
}

// Map converts a chain to other request and result types, link by link:
//
//	Map(New(a, b), f) = New(f(a), f(b))    with the names and sources of a and b
//
// Map calls f once for each link, before it returns. The new link converts its
// request to the type of the old link and calls the old link. It converts the
// request that the old link passes to next, and the result, back.
//
// If f returns a link with a tag of its own, that tag replaces the old one.
//
// Map drops the decorations and observers of c; see [Chain.Decorated]. It
// panics if f is nil or returns a nil link.
func Map[Req, Res, Req2, Res2 any](c Chain[Req, Res], f func(Middleware[Req, Res]) Middleware[Req2, Res2]) Chain[Req2, Res2] {
	if f == nil {
		panic("chain: Map: the function is nil")
	}
	links := make([]entry[Req2, Res2], len(c.links))
	for i, e := range c.links {
		link := f(e.link)
		if link == nil {
			panic("chain: Map: the function made a nil link of " + e.meta.String())
		}
		meta := e.meta
		if answer := probe.Ask(link); answer != nil && answer.Tag != nil {
			retagged := *meta
			retagged.Tag, meta = answer.Tag, &retagged
		}
		links[i] = entry[Req2, Res2]{link: link, meta: meta, id: e.id}
	}
	return Chain[Req2, Res2]{links: links}
}

// Decorated reports whether c has observers, which Map and
// [Chain.Extend] would drop.
func (c Chain[Req, Res]) Decorated() bool { return len(c.layers) > 0 }

// Overlaps reports whether c and o share a link because one chain was derived
// from the other, or both from a third. The methods of Chain and [Map] return
// derived chains. Overlaps does not detect a link that was given to both chains
// separately.
func (c Chain[Req, Res]) Overlaps(o Chain[Req, Res]) bool {
	in := make(map[*Link]bool, len(c.links))
	for _, e := range c.links {
		in[e.id] = true
	}
	return slices.ContainsFunc(o.links, func(e entry[Req, Res]) bool { return in[e.id] })
}

// At returns a chain whose links have [Link.Point] set to point. A point is an
// extension point of the engine that runs the chain. Links added later do not
// have it.
func (c Chain[Req, Res]) At(point string) Chain[Req, Res] {
	return described(c, func(l *Link) { l.Point = point })
}

// described returns a chain with change applied to the description of each
// link.
func described[Req, Res any](c Chain[Req, Res], change func(*Link)) Chain[Req, Res] {
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
	names := make([]string, len(c.links))
	for i, e := range c.links {
		names[i] = e.meta.String()
	}
	return strings.Join(names, " -> ")
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
