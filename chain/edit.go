package chain

import (
	"fmt"
	"slices"
)

// NameError reports that a chain was edited by a name that does not occur
// exactly once. Test for it with errors.As.
type NameError struct {
	Op    string // the method, as in "InsertBefore"
	Name  string // the requested name
	Found int    // how often it occurs: 0, or 2 or more
	Chain string // the chain, printed
}

// Error returns the method, the name and the chain.
func (e *NameError) Error() string {
	if e.Found == 0 {
		return fmt.Sprintf("chain: %s: no link is named %q in %s", e.Op, e.Name, e.Chain)
	}
	return fmt.Sprintf("chain: %s: %d links are named %q in %s: give each a name of its own with chain.Named", e.Op, e.Found, e.Name, e.Chain)
}

// InsertBefore returns a chain with links inserted before the link named name,
// as its next outer links. If name does not occur exactly once, InsertBefore
// returns c unchanged and a [*NameError]. A nil link panics, as in [New].
func (c Chain[Req, Res]) InsertBefore(name string, links ...Middleware[Req, Res]) (Chain[Req, Res], error) {
	return c.edit("InsertBefore", name, 0, 0, links)
}

// InsertAfter returns a chain with links inserted after the link named name, as
// its next inner links. It returns the same errors as [Chain.InsertBefore].
func (c Chain[Req, Res]) InsertAfter(name string, links ...Middleware[Req, Res]) (Chain[Req, Res], error) {
	return c.edit("InsertAfter", name, 1, 1, links)
}

// Replace returns a chain with links in place of the link named name. It
// returns the same errors as [Chain.InsertBefore].
func (c Chain[Req, Res]) Replace(name string, links ...Middleware[Req, Res]) (Chain[Req, Res], error) {
	return c.edit("Replace", name, 0, 1, links)
}

// Without returns a chain without the link named name. It returns the same
// errors as [Chain.InsertBefore].
func (c Chain[Req, Res]) Without(name string) (Chain[Req, Res], error) {
	return c.edit("Without", name, 0, 1, nil)
}

// edit replaces the links in [from, to) by links. Both positions count from the
// link named name.
func (c Chain[Req, Res]) edit(op, name string, from, to int, links []Middleware[Req, Res]) (Chain[Req, Res], error) {
	added, name := entries(op, links), safeName(name)
	var at, found int
	for i, e := range c.links {
		if e.meta.Name == name {
			at = i
			found++
		}
	}
	if found != 1 {
		return c, &NameError{Op: op, Name: name, Found: found, Chain: c.String()}
	}
	c.links = slices.Concat(c.links[:at+from], added, c.links[at+to:])
	return c, nil
}
