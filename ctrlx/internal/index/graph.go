package index

import (
	"sync"
	"sync/atomic"
	"unique"
)

// node is an object: a waiter, a ref, or both. It exists as long as it has
// edges.
type node struct {
	key
	out *edge // to the refs that it reads, linked by edge.more
	in  *edge // from the waiters that read it, linked by edge.next

	// newest is the number of the latest pass that has edges out of this node,
	// or 0 if there are none. If that pass has ended, the bit ended is set. The
	// numbers of passes are even.
	newest uint64

	// The number of edges into it that are awaited, followed and not awaited,
	// and read by a pass under way.
	awaited, followed, read uint32

	mark uint32 // number of the last search of Cycle that visited it

	root unique.Handle[Root] // of the last pass that has ended as a wait; zero: not known
}

const ended = 1

// edge records that a waiter reads a ref: in the pass under way (run), in the
// last pass that has ended (kept), or in both. There is at most one edge for
// each pair.
type edge struct {
	from, to   *node // from is nil in a place holder, see changed.go
	more       *edge // the next edge out of from
	prev, next *edge // neighbours in the list of edges into to

	// keptAs and runAs are the digests that were seen, if known. runAs is a full
	// digest. keptAs is one if the edge is awaited, and a follow digest
	// otherwise. If the edge is kept as unknown, keptAs is the number of the
	// latest pass that had begun by then.
	keptAs, runAs uint64
	kept, run     seen
	mode          mode   // what the kept part is for
	stays         mode   // the next mode, set during Pass.End
	open          uint32 // number of looks of the pass under way that have not seen anything yet
}

// mode says why an edge is kept. A ref that is awaited and followed is awaited: each
// change wakes the waiter.
type mode uint8

const (
	awaits  mode = 1 << iota // the waiter is blocked until the ref changes
	follows                  // a change of the ref in essence causes a pass
)

// seen is the state of knowledge about the digest that a pass has seen.
type seen uint8

const (
	absent  seen = iota // the edge does not belong to this pass
	unknown             // no digest yet
	known               // one digest
	mixed               // several digests: no event can prove that the ref has not changed since
)

// edgeTo returns the edge from n to to, or nil if there is none. Each of the
// two lists may be very long, but seldom both are. The search ends with the
// shorter list.
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

// find returns the node of an object, or nil if there is none. The caller holds
// x.mu, here and in all functions below.
func (x *Index) find(id ID) *node {
	k := x.kinds[groupKind{id.Group, id.Kind}] // nil: no node has it
	x.text = appendText(x.text[:0], id)
	return x.nodes[key{k, string(x.text)}]
}

// node returns the node of an object, and creates it if there is none.
func (x *Index) node(id ID) *node {
	if n := x.find(id); n != nil {
		return n
	}
	gk := groupKind{id.Group, id.Kind}
	k := x.kinds[gk]
	if k == nil {
		k = &kind{groupKind: gk}
		x.kinds[gk] = k
	}
	k.nodes++
	n := &node{key: key{k, string(appendText(x.text[:0], id))}}
	x.nodes[n.key] = n
	if n.isSet() {
		x.known++
		x.sets(n.id(), true)
	}
	return n
}

// edge returns the edge between two nodes, and creates it if there is none.
func (x *Index) edge(from, to *node) *edge {
	e := from.edgeTo(to)
	if e == nil {
		e = &edge{from: from, to: to, more: from.out}
		from.out = e
		e.insert(nil, to.in)
	}
	return e
}

// insert puts e into the list of the edges into e.to, between two neighbours. A
// nil neighbour is an end of the list.
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

// remove takes e out of the list of the edges into e.to.
func (e *edge) remove() {
	if e.prev == nil {
		e.to.in = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	}
}

// keep sets the kept part of e, and counts its waiter.
func (e *edge) keep(as seen, what uint64, m mode) {
	e.count(^uint32(0))
	e.kept, e.keptAs, e.mode = as, what, m
	e.count(1)
}

// count adds n to the number of kept edges into e.to.
func (e *edge) count(n uint32) {
	switch {
	case e.mode&awaits != 0:
		e.to.awaited += n
	case e.mode == follows:
		e.to.followed += n
	}
}

// beginRun adds the part of e that belongs to the pass under way.
func (e *edge) beginRun() {
	if e.run == absent {
		e.run = unknown
		e.to.read++
	}
	e.open++
}

// endRun removes the part of e that belongs to the pass under way.
func (e *edge) endRun() {
	if e.run != absent {
		e.to.read--
	}
	e.run, e.open = absent, 0
}

// sweep removes the edges out of n, except those for which stays returns true.
// The node stays; see release.
func (x *Index) sweep(n *node, stays func(*edge) bool) {
	for at := &n.out; *at != nil; {
		e := *at
		if stays(e) {
			at = &e.more
			continue
		}
		*at = e.more
		e.count(^uint32(0))
		e.endRun()
		e.remove()
		if e.to != n {
			x.release(e.to)
		}
	}
}

// keptKinds is the number of known kinds above which release frees kinds
// without objects. Up to this number it keeps them. Most passes leave their
// kinds without objects, and the next pass would create them again. The limit is
// needed because refs may be of any number of kinds.
const keptKinds = 64

// release frees a node that has no edges any more.
func (x *Index) release(n *node) {
	if n.in != nil || n.out != nil {
		return
	}
	delete(x.nodes, n.key)
	if n.isSet() {
		x.known--
		x.sets(n.id(), false)
	}
	if n.kind.nodes--; n.kind.nodes == 0 && len(x.kinds) > keptKinds {
		delete(x.kinds, n.kind.groupKind)
	}
}

// Index records which object waits for which. Make it with [New]; it is safe
// for concurrent use.
type Index struct {
	// WakeFor replaces the wake function of [New] in [Index.Changed]. It gets the
	// reason of the wake-up. Set it before the first call of a method. Nil: there is
	// no difference.
	WakeFor func(Wake)

	wake  func(ID)
	sets  func(set ID, exists bool)
	begun atomic.Uint64 // the number of the latest pass; see node.newest
	batch int           // see changed.go

	mu    sync.Mutex
	nodes map[key]*node
	kinds map[groupKind]*kind
	text  []byte  // the text of the key that find looks up
	spare *edge   // a place holder for reuse
	marks uint32  // number of searches of Cycle
	known int     // number of sets with entries
	trail []visit // of Cycle, for reuse
}

// Root is the root cause of a wait: an object that waits for no other object, or
// a cycle. The index stores it with each waiter, and does not interpret it.
type Root struct {
	ID           // the object; of a cycle, the first one by name
	State string // missing, deleting, or not ready for any reason
	Cycle string // the text of a cycle; empty: there is none
}

// visit is a node that Cycle has reached, and the index in the trail of the
// node before it. If closes is set, the node is a set with the waiter in it.
type visit struct {
	n      *node
	from   int
	closes bool
}

func (n *node) rootCause() (root Root) {
	if n.root != (unique.Handle[Root]{}) {
		root = n.root.Value()
	}
	return root
}

// waits reports whether the last pass over n that has ended waits for a ref.
func (n *node) waits() bool {
	for e := n.out; e != nil; e = e.more {
		if e.mode&awaits != 0 {
			return true
		}
	}
	return false
}
