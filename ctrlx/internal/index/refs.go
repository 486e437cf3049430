package index

import "iter"

// Refs yields the awaited and the followed objects and sets, and the number of
// their waiters and followers, in no order. It leaves out objects that only a
// pass under way reads. The loop and other goroutines may change the Index
// meanwhile. Refs may leave out entries that are added or removed meanwhile.
func (x *Index) Refs() iter.Seq2[ID, int] {
	return func(yield func(ID, int) bool) {
		x.mu.Lock()
		for _, n := range x.nodes { // as in sync.Map, the loop may miss a concurrent change
			id, waiters := n.id(), int(n.awaited+n.followed)
			x.mu.Unlock() // for each node, so that no other caller waits for long
			if waiters > 0 && !yield(id, waiters) {
				return
			}
			x.mu.Lock()
		}
		x.mu.Unlock()
	}
}
