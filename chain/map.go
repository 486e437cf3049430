package chain

// Map carries a chain over to other requests and results, link by link:
//
//	Map(New(a, b), f) = New(f(a), f(b))    with the names and sources of a and b
//
// f is called here, once for each link, and has to turn what the new link is given into what the old one takes, and
// back. Decorations and observers of c are dropped, as [Chain.Extend] drops those of its arguments. A nil f, and an f
// that gives a nil link, panic.
func Map[Req, Res, Req2, Res2 any](c Chain[Req, Res], f func(Middleware[Req, Res]) Middleware[Req2, Res2]) Chain[Req2, Res2] {
	if f == nil {
		panic("chain: Map: the function is nil")
	}
	if len(c.links) == 0 {
		return Chain[Req2, Res2]{}
	}
	links := make([]entry[Req2, Res2], len(c.links))
	for i, e := range c.links {
		link := f(e.link)
		if link == nil {
			panic("chain: Map: the function made a nil link of " + e.meta.String())
		}
		links[i] = entry[Req2, Res2]{link: link, meta: e.meta, id: e.id}
	}
	return Chain[Req2, Res2]{links: links}
}

// Decorated tells whether decorations or observers stand around the links of c, which Map and [Chain.Extend] would drop.
func (c Chain[Req, Res]) Decorated() bool { return len(c.layers) > 0 }

// Overlaps tells whether a link stands in both chains because one of them was made of the other, or both of a third, by
// the methods of Chain, [Chain.At] too. It does not see that a link was given to both.
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
