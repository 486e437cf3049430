package index

import "cmp"

// batchSize is the number of edges that Changed examines before it releases the
// lock: some ten microseconds.
const batchSize = 256

// Change describes the present state of a ref, after a change or a read.
type Change struct {
	// Full is the digest of all that a check may read of the ref. Follow is the
	// digest of the part that wakes followers. A digest that is not known is 0,
	// and wakes every waiter that needs it. No waiter needs the digests that
	// [Index.Needs] does not ask for.
	Full, Follow uint64
	// By is the object whose change changed a set. It is not woken itself. The
	// zero ID is no object.
	By ID
	// Root reports that ref is as it was, and that its root cause has changed
	// ([Index.SetRoot]). It wakes every waiter, and no follower.
	Root bool
}

// Wake is a wake-up because of a change.
type Wake struct {
	Waiter, Ref ID
	By          ID   // the object that changed: Ref, or a member of the set Ref
	Follows     bool // the waiter follows Ref, and does not wait for it
}

// Needs reports which digests of a [Change] of ref can wake a waiter. If it
// reports none, the call of [Index.Changed] may be left out. Call it after the
// change: a pass that registers ref later reads the new state.
func (x *Index) Needs(ref ID) (full, follow bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.find(ref)
	if n == nil {
		return false, false
	}
	// A pass under way may end as a follower.
	return n.awaited+n.read > 0, n.followed+n.read > 0
}

// Changed reports the current state of ref, after ref was created, changed or
// deleted, or was just read. It wakes the waiters of ref that have not seen this
// state. When it returns, it has called wake for all of them. It may be called
// at any time, even with a state older than those that other callers have seen.
// An old state costs passes and loses nothing.
func (x *Index) Changed(ref ID, c Change) {
	var batch [batchSize]woken
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
	var by *node
	if c.By != (ID{}) {
		by = x.find(c.By)
	}
	for at := n.in; ; {
		all := batch[:0]
		for i := 0; at != nil && i < x.batch; at, i = at.next, i+1 {
			if at.from == by { // without an object By: a place holder
				continue
			}
			if due, follows := at.due(c); due { // a place holder is never due
				all = append(all, woken{at.from, follows})
			}
		}
		if at != nil {
			place = x.hold(at)
		}
		x.mu.Unlock()
		for _, w := range all {
			if waiter := w.waiter.id(); x.WakeFor != nil {
				x.WakeFor(Wake{Waiter: waiter, Ref: ref, By: cmp.Or(c.By, ref), Follows: w.follows})
			} else {
				x.wake(waiter)
			}
		}
		if place == nil {
			return
		}
		x.mu.Lock()
		at = x.giveUp(place)
		place = nil
	}
}

// woken is a waiter that Changed wakes.
type woken struct {
	waiter  *node
	follows bool // it does not wait for the ref
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
	x.spare = place
	x.release(n)
	return next
}

// due reports whether a change of the ref must wake the waiter. The pass under
// way and the last pass that has ended are compared independently. The pass
// under way may never end. Then the waiter still waits on the state that the
// last pass has seen.
//
// An edge that is followed and not awaited takes over the digest for which it
// wakes. The next pass begins after the change, and it may end without a look at
// the ref. following reports that the last pass followed the ref and did not wait
// for it.
func (e *edge) due(c Change) (due, following bool) {
	if c.Root {
		return e.mode&awaits != 0, false
	}
	due = e.run != absent && (e.run != known || e.open > 0 || e.runAs != c.Full)
	switch {
	case e.mode&awaits != 0:
		due = due || e.kept != known || e.keptAs != c.Full
	case e.mode == follows && (e.kept != known || e.keptAs != c.Follow):
		due = true
		if c.Follow != 0 {
			e.kept, e.keptAs = known, c.Follow
		}
	}
	return due, e.mode == follows
}
