package index

import "strings"

// node is an object: a waiter, a ref, or both. It is there as long as it has edges.
type node struct {
	key
	out *edge // what it looks at, by edge.more
	in  *edge // who looks at it, by edge.next

	// newest is the number of the latest pass that has edges out of this node, 0 if there are none; running is whether it
	// is still under way.
	newest  uint64
	running bool

	waiters uint32 // how many edges into it are kept
	mark    uint64 // the last Cycle that came here
}

// edge says that a waiter looks at a ref: in the pass that is under way (run), since the last one that ended in a
// Wait (kept), or both. There is at most one for each pair.
type edge struct {
	from, to   *node // from is nil in a place holder, see changed.go
	more       *edge // the next one out of from
	prev, next *edge // among those into to

	// keptAs and runAs are digests if what was seen is known. For an edge that is kept as unknown, keptAs is the number of
	// passes that had begun by then.
	keptAs, runAs uint64
	kept, run     seen
	stays         bool   // for the time of Pass.Wait: the Wait names it
	open          uint32 // how many looks of the pass that is under way have not seen anything yet
}

// seen is what is known of what a pass has seen.
type seen uint8

const (
	absent  seen = iota // the edge is none of this pass
	unknown             // nothing yet
	known               // one digest
	mixed               // several: no event can say that nothing has changed since
)

// due tells whether a waiter has to be woken if the digest of the ref is this one. Each pass wakes for itself: the one
// that is under way may come to nothing, and then what the last one has seen is what the waiter waits on.
func (e *edge) due(digest uint64) bool {
	return e.kept != absent && (e.kept != known || e.keptAs != digest) ||
		e.run != absent && (e.run != known || e.open > 0 || e.runAs != digest)
}

// edgeTo gives the edge between two nodes, if there is one. Each node may have very many, but seldom both: the
// search ends with the shorter of the two lists.
func (n *node) edgeTo(to *node) *edge {
	for out, in := n.out, to.in; out != nil && in != nil; out, in = out.more, in.next {
		if out.to == to {
			return out
		}
		if in.from == n {
			return in
		}
	}
	return nil
}

// find gives the node of an object, nil if there is none. x.mu is held, as in all that follows.
func (x *Index) find(id ID) *node {
	k := x.kinds[groupKind{id.Group, id.Kind}]
	if k == nil {
		return nil
	}
	x.text = appendText(x.text[:0], id)
	return x.nodes[key{k, string(x.text)}]
}

// node gives the node of an object, and makes it if there is none.
func (x *Index) node(id ID) *node {
	if n := x.find(id); n != nil {
		return n
	}
	gk := groupKind{id.Group, id.Kind}
	k := x.kinds[gk]
	if k == nil {
		gk = groupKind{strings.Clone(id.Group), strings.Clone(id.Kind)}
		k = &kind{groupKind: gk}
		x.kinds[gk] = k
	}
	k.nodes++
	n := &node{key: key{k, string(appendText(x.text[:0], id))}}
	x.nodes[n.key] = n
	return n
}

// edge gives the edge between two nodes, and makes it if there is none.
func (x *Index) edge(from, to *node) *edge {
	e := from.edgeTo(to)
	if e == nil {
		e = &edge{from: from, to: to, more: from.out}
		from.out = e
		e.insert(nil, to.in)
	}
	return e
}

// insert puts e into the list of those into e.to, between two that are neighbours or nil.
func (e *edge) insert(prev, next *edge) {
	e.prev, e.next = prev, next
	if prev == nil {
		e.to.in = e
	} else {
		prev.next = e
	}
	if next != nil {
		next.prev = e
	}
}

// remove takes e out of that list.
func (e *edge) remove() {
	if e.prev == nil {
		e.to.in = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	}
	e.prev, e.next = nil, nil
}

// keep makes e kept, or not.
func (e *edge) keep(as seen, what uint64) {
	if e.kept == absent && as != absent {
		e.to.waiters++
	}
	if e.kept != absent && as == absent {
		e.to.waiters--
	}
	e.kept, e.keptAs = as, what
}

// endRun takes the part of the pass that is under way out of e.
func (e *edge) endRun() { e.run, e.runAs, e.open = absent, 0, 0 }

// sweep removes the edges out of n, but for those that stay. The node stays; see release.
func (x *Index) sweep(n *node, stays func(*edge) bool) {
	for at := &n.out; *at != nil; {
		e := *at
		if stays(e) {
			at = &e.more
			continue
		}
		*at = e.more
		e.keep(absent, 0)
		e.remove()
		if e.to != n {
			x.release(e.to)
		}
	}
}

// keptKinds is how many kinds are kept although none of their objects waits or is waited for, since most passes come to
// that, and the next one would make them anew. What objects refer to may be of any number of kinds.
const keptKinds = 64

// release forgets a node that has no edges any more.
func (x *Index) release(n *node) {
	if n.in != nil || n.out != nil {
		return
	}
	delete(x.nodes, n.key)
	if n.kind.nodes--; n.kind.nodes == 0 && len(x.kinds) > keptKinds {
		delete(x.kinds, n.kind.groupKind)
	}
}
