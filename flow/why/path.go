package why

import (
	"slices"

	"github.com/windlass-go/windlass/checks"
)

// Cause returns the first root cause of an object. ok is false if the graph does
// not have the object, or if the object is ready and no object waits for it.
func (g *Graph) Cause(ref checks.Ref) (c Cause, ok bool) {
	n := g.find(ref)
	if n == nil || n.cause == nil {
		return c, false
	}
	return g.cause(n.cause), true
}

// Path returns a shortest path from an object to its first root cause: the
// object, an object that it waits for, and so on. It ends with the cause, or
// with the first object of the cycle that it reaches. The path is nil if the
// object has no cause.
func (g *Graph) Path(ref checks.Ref) []Object {
	n := g.find(ref)
	if n == nil || n.cause == nil {
		return nil
	}
	var path []Object
	anywhere := func(int) bool { return true }
	for _, i := range g.path(g.at[key(ref)], anywhere, func(i int) bool { return slices.Contains(n.cause.nodes, i) }) {
		path = append(path, g.nodes[i].safe())
	}
	return path
}

// Waiters returns the number of objects that wait for an object, directly or not.
// A set is no object, and its waiters are.
func (g *Graph) Waiters(ref checks.Ref) int {
	start, ok := g.at[key(ref)]
	if !ok {
		return 0
	}
	seen := map[int]bool{start: true}
	n := 0
	for trail := []int{start}; len(trail) > 0; trail = trail[1:] {
		for _, from := range g.nodes[trail[0]].in {
			if !seen[from] {
				seen[from] = true
				trail = append(trail, from)
				if g.nodes[from].Ref.Set == "" {
					n++
				}
			}
		}
	}
	return n
}
