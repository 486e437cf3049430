package index

import (
	"iter"
	"unique"
)

// Waits returns the refs for which a waiter waits since its last pass ended, in
// no order. Refs that it only follows are left out.
func (x *Index) Waits(waiter ID) (refs []ID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.find(waiter)
	if n == nil {
		return nil
	}
	for e := n.out; e != nil; e = e.more {
		if e.mode&awaits != 0 {
			refs = append(refs, e.to.id())
		}
	}
	return refs
}

// maxWaiters is the number of objects that AllWaiters examines at most: some
// milliseconds under the lock.
const maxWaiters = 10_000

// AllWaiters returns the number of objects that wait for ref, directly or not,
// without except and without sets. It stops at 10,000.
func (x *Index) AllWaiters(ref, except ID) (n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	start, left := x.find(ref), x.find(except)
	if start == nil {
		return 0
	}
	x.marks++
	start.mark = x.marks
	trail := []*node{start}
	for i := 0; i < len(trail); i++ {
		for e := trail[i].in; e != nil && len(trail) <= maxWaiters; e = e.next {
			if from := e.from; from != nil && from.mark != x.marks && e.mode&awaits != 0 {
				from.mark = x.marks
				trail = append(trail, from)
			}
		}
	}
	for _, at := range trail[1:] {
		if at != left {
			n++
		}
	}
	return n
}

// Refs yields the objects and sets that are awaited, followed, or read by a pass
// under way, and the number of these waiters, followers and passes, in no order. The
// loop and other goroutines may change the Index
// meanwhile. Refs may leave out entries that are added or removed meanwhile.
func (x *Index) Refs() iter.Seq2[ID, int] {
	return func(yield func(ID, int) bool) {
		x.mu.Lock()
		for _, n := range x.nodes { // as in sync.Map, the loop may miss a concurrent change
			id, waiters := n.id(), int(n.awaited+n.followed+n.read)
			x.mu.Unlock() // for each node, so that no other caller waits for long
			if waiters > 0 && !yield(id, waiters) {
				return
			}
			x.mu.Lock()
		}
		x.mu.Unlock()
	}
}

// Root returns the root cause that the last pass over a waiter recorded. The zero
// Root is none. waits reports whether the object waits for a ref.
func (x *Index) Root(waiter ID) (root Root, waits bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.find(waiter)
	if n == nil || !n.waits() {
		return Root{}, false
	}
	return n.rootCause(), true
}

// SetRoot records the root cause of a waiter. Call it after [Pass.End]. It reports
// whether the root cause has changed since the last call. An object that waits for
// nothing has no root cause: the end of its pass has dropped it.
func (x *Index) SetRoot(waiter ID, root Root) (changed bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.find(waiter)
	if n == nil || !n.waits() || n.rootCause() == root {
		return false
	}
	n.root = unique.Make(root) // shared by all waiters of the object
	return true
}
