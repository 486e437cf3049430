package index

import "iter"

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
