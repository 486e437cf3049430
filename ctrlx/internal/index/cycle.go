package index

import "slices"

// visit is a node that Cycle has reached, and the index in the trail of the
// node before it.
type visit struct {
	n    *node
	from int
}

// trailKept is the length of the longest trail that is reused.
const trailKept = 1024

// Cycle returns a cycle of waits from waiter back to waiter, or nil. The cycle
// may lead through other objects. Only the waits of passes that have ended
// count. No object on such a cycle can ever proceed. The result is a shortest
// such cycle: A, B, A means that A waits for B, which waits for A. Cycle
// returns nil for a waiter that waits for an object on a cycle without being on
// it.
//
// Under the lock, Cycle examines every object that waiter waits for, directly
// or not. If no object waits for waiter, it examines none.
func (x *Index) Cycle(waiter ID) []ID {
	x.mu.Lock()
	defer x.mu.Unlock()
	start := x.find(waiter)
	if start == nil || start.waiters == 0 {
		return nil
	}
	x.marks++
	trail := append(x.trail[:0], visit{start, -1})
	defer func() {
		clear(trail) // nodes may be freed
		if cap(trail) <= trailKept {
			x.trail = trail
		}
	}()
	for i := 0; i < len(trail); i++ { // breadth first, so that the cycle is a shortest one
		for e := trail[i].n.out; e != nil; e = e.more {
			switch {
			case e.kept == absent || e.to.mark == x.marks:
			case e.to == start:
				return way(trail, i)
			default:
				e.to.mark = x.marks
				trail = append(trail, visit{e.to, i})
			}
		}
	}
	return nil
}

// way returns the path from the start of a trail to the given end, and back to
// its start.
func way(trail []visit, end int) []ID {
	ids := []ID{trail[0].n.id()}
	for i := end; i >= 0; i = trail[i].from {
		ids = append(ids, trail[i].n.id())
	}
	slices.Reverse(ids)
	return ids
}
