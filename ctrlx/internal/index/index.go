package index

import (
	"sync"
	"sync/atomic"
	"unique"
)

// Index records which object waits for which. Make it with [New]; it is safe
// for concurrent use.
type Index struct {
	// WakeFor replaces the wake function of [New] in [Index.Changed]. It gets the
	// reason of the wake-up. Set it before the first call of a method. Nil: there is
	// no difference.
	WakeFor func(Wake)

	wake  func(ID)
	sets  func(set ID, exists bool)
	begun atomic.Uint64 // the number of the latest pass; see node.newest
	batch int           // see changed.go

	mu    sync.Mutex
	nodes map[key]*node
	kinds map[groupKind]*kind
	text  []byte  // the text of the key that find looks up
	spare *edge   // a place holder for reuse
	marks uint32  // number of searches of Cycle
	known int     // number of sets with entries
	trail []visit // of Cycle, for reuse
}

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
