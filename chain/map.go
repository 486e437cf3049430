package chain

import "github.com/windlass-go/windlass/internal/probe"

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

// Decorated reports whether c has decorations or observers, which Map and
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
	for _, e := range o.links {
		if in[e.id] {
			return true
		}
	}
	return false
}
