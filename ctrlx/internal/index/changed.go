package index

// batchSize is the number of edges that Changed examines before it releases the
// lock: some ten microseconds.
const batchSize = 256

// Changed reports the current digest of ref, after ref was created, changed or
// deleted, or was just read. It wakes the waiters of ref that have not seen
// this digest. When it returns, it has called wake for all of them. It may be
// called at any time, even with a digest older than those that other callers
// have seen. An old digest costs passes and loses nothing.
func (x *Index) Changed(ref ID, digest uint64) {
	var batch [batchSize]*node
	var place *edge
	defer func() {
		if place != nil { // wake panicked
			x.mu.Lock()
			x.giveUp(place)
			x.mu.Unlock()
		}
	}()
	x.mu.Lock()
	n := x.find(ref)
	if n == nil {
		x.mu.Unlock()
		return
	}
	for at := n.in; ; {
		woken := batch[:0]
		for i := 0; at != nil && i < x.batch; at, i = at.next, i+1 {
			if at.due(digest) { // a place holder is never due
				woken = append(woken, at.from)
			}
		}
		if at != nil {
			place = x.hold(at)
		}
		x.mu.Unlock()
		for _, w := range woken {
			x.wake(w.id())
		}
		if place == nil {
			return
		}
		x.mu.Lock()
		at = x.giveUp(place)
		place = nil
	}
}

// While Changed does not hold the lock, edges that it has examined may be
// removed. So may edges that it has not examined, and new edges may be added.
// Therefore Changed leaves a place holder in the list, an edge without a
// waiter, and continues after it. New edges are added at the start of the list.
// Their waiters registered after the change, and will read it.

// hold inserts a place holder before next.
func (x *Index) hold(next *edge) *edge {
	place := x.spare
	if place == nil {
		place = &edge{}
	}
	x.spare = nil
	place.to = next.to
	place.insert(next.prev, next)
	return place
}

// giveUp removes the place holder, and returns the edge after it.
func (x *Index) giveUp(place *edge) *edge {
	next, n := place.next, place.to
	place.remove()
	place.to = nil
	x.spare = place
	x.release(n)
	return next
}
