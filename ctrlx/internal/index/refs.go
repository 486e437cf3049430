package index

import "iter"

// Refs yields the awaited objects and the number of their waiters, in no order.
// It leaves out objects that only a pass under way reads. The loop and others may
// change the Index meanwhile; Refs may leave out what comes and goes meanwhile.
func (x *Index) Refs() iter.Seq2[ID, int] {
	return func(yield func(ID, int) bool) {
		x.mu.Lock()
		left := x.batch
		for _, n := range x.nodes { // as in sync.Map, the loop may miss a concurrent change
			left--
			awaited := n.waiters > 0
			if !awaited && left > 0 {
				continue
			}
			id, waiters := n.id(), int(n.waiters)
			x.mu.Unlock()
			if awaited && !yield(id, waiters) {
				return
			}
			x.mu.Lock()
			left = x.batch
		}
		x.mu.Unlock()
	}
}

// Waiters returns the number of waiters of ref; 0: no object waits for it.
func (x *Index) Waiters(ref ID) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.find(ref); n != nil {
		return int(n.waiters)
	}
	return 0
}
