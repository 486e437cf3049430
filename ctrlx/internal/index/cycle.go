package index

import "slices"

// visit is a node that Cycle has come to, and the place in the trail from which it came.
type visit struct {
	n    *node
	from int
}

// trailKept is the longest trail that is used again.
const trailKept = 1024

// Cycle tells whether waiter waits for itself, directly or through others, as the passes over them have ended: then nobody
// on the way will ever move. It gives one of the shortest ways, from the waiter back to the waiter: A, B, A for "A waits for
// B, which waits for A". It is nil if there is none, and for who waits for somebody on a cycle without being on one.
//
// It looks at all that the waiter waits for, directly or not, under the lock; where nobody waits for the waiter, at nothing.
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
		clear(trail) // nodes may go
		if cap(trail) <= trailKept {
			x.trail = trail
		}
	}()
	for i := 0; i < len(trail); i++ { // breadth first, so that the way is short
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

// way is the way to the end of a trail, and back to its start.
func way(trail []visit, end int) []ID {
	ids := []ID{trail[0].n.id()}
	for i := end; i >= 0; i = trail[i].from {
		ids = append(ids, trail[i].n.id())
	}
	slices.Reverse(ids)
	return ids
}
