package index

import (
	"unique"
)

// New makes an Index that calls wake for each waiter that needs another pass.
// The wake function puts the waiter into a work queue. It may be called more
// often than needed, but never less often. [Index.Changed] and [Pass.End] call
// it without a lock, so it may call any function of the Index. It should return
// soon, because their callers wait for it. A nil wake panics.
//
// The index calls sets when a set gets its first entry, and when it has lost the
// last one. The index holds its lock meanwhile, so sets must return at once and
// call no function of the Index. [Pass.Register] returns after this call. Nil
// does nothing.
func New(wake func(waiter ID), sets func(set ID, exists bool)) *Index {
	if wake == nil {
		panic("index: New: wake is nil, give the function that puts a waiter into the work queue")
	}
	if sets == nil {
		sets = func(ID, bool) {}
	}
	return &Index{wake: wake, sets: sets, batch: batchSize, nodes: map[key]*node{}, kinds: map[groupKind]*kind{}}
}

// Forget drops all entries of waiter, because waiter is gone. The objects that
// wait for it still do. A pass over it that is under way and has registered a
// ref can no longer wait. Its End wakes the waiter instead.
func (x *Index) Forget(waiter ID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.find(waiter); n != nil {
		x.end(n, none)
	}
}

// end ends every pass over n, and leaves n the edges for which stays returns
// true.
func (x *Index) end(n *node, stays func(*edge) bool) {
	x.sweep(n, stays)
	n.newest |= ended
	if !n.waits() {
		n.root = unique.Handle[Root]{}
	}
	if n.out == nil {
		n.newest = 0
	}
	x.release(n)
}

func none(*edge) bool { return false }
