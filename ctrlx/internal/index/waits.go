package index

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
