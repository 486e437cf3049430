package index

import "iter"

// Refs are the objects that are waited for, and by how many waiters, in no order. What passes that are under way look at is not
// among them. While it runs others may change the index, and the loop itself may; what comes and goes meanwhile may be
// left out.
//
// It is for what looks at every ref once in a while, one read for all of its waiters, and for metrics.
func (x *Index) Refs() iter.Seq2[ID, int] {
	return func(yield func(ID, int) bool) {
		x.mu.Lock()
		left := x.batch
		for _, n := range x.nodes { // as with sync.Map: what is changed in between is seen, or not
			left--
			if n.waiters == 0 && left > 0 {
				continue
			}
			id, waiters := n.id(), int(n.waiters)
			x.mu.Unlock()
			if waiters > 0 && !yield(id, waiters) {
				return
			}
			x.mu.Lock()
			left = x.batch
		}
		x.mu.Unlock()
	}
}

// Waiters tells how many wait for ref, 0 if it need not be looked at any more.
func (x *Index) Waiters(ref ID) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.find(ref); n != nil {
		return int(n.waiters)
	}
	return 0
}
