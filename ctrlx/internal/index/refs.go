package index

import (
	"iter"
	"time"
)

// Refs are the objects that are waited for, and by how many waiters, in no order. What passes that are under way look at is not
// among them. While it runs others may change the index, and the loop itself may; what comes and goes meanwhile may be
// left out.
//
// It is for metrics, and for what is done to all of a kind.
func (x *Index) Refs() iter.Seq2[ID, int] {
	return func(yield func(ID, int) bool) {
		for id, n := range x.those(func(n *node) bool { return n.waiters > 0 }) {
			if !yield(id, n) {
				return
			}
		}
	}
}

// Due are the refs that are waited for and whose turn it is, those of which Due has not spoken for some time: since it found
// that they are waited for, or gave them last. It is for who reads each of them once in a while, one read for all of its
// waiters, whatever else tells of changes. now is on a clock that does not go back and is above zero, every how long such a
// time is; with zero it is everybody's turn. What holds for [Index.Refs] holds here, but for one loop at a time.
func (x *Index) Due(now, every time.Duration) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for id := range x.those(func(n *node) bool {
			if n.waiters == 0 {
				return false
			}
			if n.told != 0 && now-n.told >= every || every == 0 {
				n.told = now
				return true
			}
			if n.told == 0 {
				n.told = now
			}
			return false
		}) {
			if !yield(id) {
				return
			}
		}
	}
}

// those are the refs that are wanted, and by how many they are waited for.
func (x *Index) those(wanted func(*node) bool) iter.Seq2[ID, int] {
	return func(yield func(ID, int) bool) {
		x.mu.Lock()
		left := x.batch
		for _, n := range x.nodes { // as with sync.Map: what is changed in between is seen, or not
			left--
			want := wanted(n)
			if !want && left > 0 {
				continue
			}
			id, waiters := n.id(), int(n.waiters)
			x.mu.Unlock()
			if want && !yield(id, waiters) {
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
