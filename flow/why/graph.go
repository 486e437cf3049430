package why

import (
	"cmp"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/checks"
)

// Graph is a graph of waits. Make it with [New]. It does not change, so it is
// safe for concurrent use.
type Graph struct {
	nodes  []node
	at     map[checks.Ref]int
	causes []*root
}

// node is an object of a graph.
type node struct {
	*Object
	out   []int // the awaited objects
	in    []int // the waiters
	last  int   // the last waiter that was added, plus one
	group int   // the strongly connected component; the groups of awaited objects come first
	cause *root // the first root cause; nil: alone

	isCause bool // the node is a part of its cause
}

// alone reports whether the object is ready, and no object waits for it.
func (n *node) alone() bool { return n.cause == nil }

// New makes the graph of objects. An awaited object that is not in objects has
// the state [Unknown]. Of several objects with one Ref, the last one counts. A
// wait of an object for itself is no edge. The graph refers to objects, so the
// caller does not change them later.
func New(objects []Object) *Graph {
	g := &Graph{nodes: make([]node, 0, len(objects)), at: make(map[checks.Ref]int, len(objects))}
	for i := range objects {
		g.nodes[g.node(objects[i].Ref)].Object = &objects[i]
	}
	for from := range len(g.nodes) {
		for _, ref := range g.nodes[from].WaitingFor {
			to := g.node(ref)
			if to != from && g.nodes[to].last != from+1 { // a ref may be named twice
				g.nodes[to].last = from + 1
				g.nodes[from].out = append(g.nodes[from].out, to)
				g.nodes[to].in = append(g.nodes[to].in, from)
			}
		}
	}
	g.groups(g.findCause)
	slices.SortFunc(g.causes, g.compareCauses)
	return g
}

// node returns the index of the node of a ref, and adds it if there is none.
func (g *Graph) node(ref checks.Ref) int {
	k := key(ref)
	i, ok := g.at[k]
	if !ok {
		i = len(g.nodes)
		g.at[k] = i
		g.nodes = append(g.nodes, node{Object: &Object{Ref: ref}})
	}
	return i
}

// groups calls visit for each strongly connected component, the awaited ones
// first. It is the algorithm of Tarjan (1972) without recursion, because a chain
// of waits may be long.
func (g *Graph) groups(visit func(members []int)) {
	const unseen = 0
	order, low := make([]int, len(g.nodes)), make([]int, len(g.nodes)) // order: 1 for the first node that is reached
	open := make([]bool, len(g.nodes))                                 // on the stack
	next := make([]int, len(g.nodes))                                  // the next edge out of a node
	var stack, path []int
	var reached, groups int
	enter := func(i int) {
		reached++
		order[i], low[i], open[i] = reached, reached, true
		stack, path = append(stack, i), append(path, i)
	}
	for start := range g.nodes {
		if order[start] != unseen {
			continue
		}
		enter(start)
		for len(path) > 0 {
			i := path[len(path)-1]
			if next[i] < len(g.nodes[i].out) {
				to := g.nodes[i].out[next[i]]
				next[i]++
				switch {
				case order[to] == unseen:
					enter(to)
				case open[to]:
					low[i] = min(low[i], order[to])
				}
				continue
			}
			path = path[:len(path)-1]
			if low[i] != order[i] { // an earlier node of its component is on the path
				up := path[len(path)-1]
				low[up] = min(low[up], low[i])
				continue
			}
			first := len(stack) - 1
			for stack[first] != i {
				first--
			}
			members := stack[first:]
			for _, m := range members {
				open[m], g.nodes[m].group = false, groups
			}
			visit(members)
			stack = stack[:first]
			groups++
		}
	}
}

// path returns a shortest path from a node to one for which end returns true.
// There must be one: every node leads to its root cause.
func (g *Graph) path(start int, end func(int) bool) []int {
	before := map[int]int{start: -1}
	for trail := []int{start}; ; trail = trail[1:] {
		i := trail[0]
		if end(i) {
			var path []int
			for at := i; at >= 0; at = before[at] {
				path = append(path, at)
			}
			slices.Reverse(path)
			return path
		}
		for _, to := range g.nodes[i].out {
			if _, seen := before[to]; !seen {
				before[to] = i
				trail = append(trail, to)
			}
		}
	}
}

// compareRefs orders refs by kind, namespace and name.
func compareRefs(a, b checks.Ref) int {
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Group, b.Group), strings.Compare(a.Namespace, b.Namespace),
		strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID), strings.Compare(a.Set, b.Set))
}

// Cause returns the first root cause of an object. ok is false if the graph does
// not have the object, or if the object is ready and no object waits for it.
func (g *Graph) Cause(ref checks.Ref) (c Cause, ok bool) {
	i, ok := g.at[key(ref)]
	if !ok || g.nodes[i].alone() {
		return Cause{}, false
	}
	return g.cause(g.nodes[i].cause), true
}

// Path returns a shortest path from an object to its first root cause: the
// object, an object that it waits for, and so on. It ends with the cause, or
// with the first object of the cycle that it reaches. The path is nil if the
// object has no cause.
func (g *Graph) Path(ref checks.Ref) []Object {
	start, ok := g.at[key(ref)]
	if !ok || g.nodes[start].alone() {
		return nil
	}
	var path []Object
	for _, i := range g.pathTo(g.nodes[start].cause, start) {
		path = append(path, g.nodes[i].safe())
	}
	return path
}

// pathTo returns a shortest path from a node to one of its root causes.
func (g *Graph) pathTo(r *root, from int) []int {
	group := g.nodes[r.nodes[0]].group
	return g.path(from, func(i int) bool { return g.nodes[i].isCause && g.nodes[i].group == group })
}
