package index

// batchSize is how many waiters are looked at before others may have the lock: some ten microseconds.
const batchSize = 256

// Changed says what has become of ref: its digest, now that it was made, changed or deleted, or was just read. It wakes
// the waiters of ref that have not seen just that, and has called wake for all of them when it returns. It may be called at
// any time, with what is older than what others have seen, too: that costs passes, and loses nothing.
func (x *Index) Changed(ref ID, digest uint64) {
	var batch [batchSize]*node
	var place *edge
	defer func() {
		if place != nil { // wake has panicked
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
			if at.due(digest) { // a place holder never is
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

// While Changed does not hold the lock, what it has looked at may go, and so may what it has not; and more may come. So it
// leaves a place holder in the list, an edge from nobody, and goes on behind it. What comes goes to the front of the list: it
// was registered after the change, and will read it.

// hold puts a place holder in front of next.
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

// giveUp takes it away, and gives what is behind it.
func (x *Index) giveUp(place *edge) *edge {
	next, n := place.next, place.to
	place.remove()
	place.to = nil
	x.spare = place
	x.release(n)
	return next
}
