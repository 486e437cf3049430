package index

import (
	"sync"
	"sync/atomic"
)

// Index records which object waits for which. Make it with [New]; it is safe
// for concurrent use.
type Index struct {
	wake  func(ID)
	begun atomic.Uint64 // number of passes that have begun, which is the number of the latest pass
	batch int           // see changed.go

	mu    sync.Mutex
	nodes map[key]*node
	kinds map[groupKind]*kind
	text  []byte  // the text of the key that find looks up
	spare *edge   // a place holder for reuse
	marks uint64  // number of calls of Cycle
	trail []visit // of Cycle, for reuse
}

// New makes an Index that calls wake for each waiter that needs another pass.
// The wake function puts the waiter into a work queue. It may be called more
// often than needed, but never less often. [Index.Changed] and [Pass.Wait] call
// it without a lock, so it may call any function of the Index. It should return
// soon, because their callers wait for it. A nil wake panics.
func New(wake func(waiter ID)) *Index {
	if wake == nil {
		panic("index: New: wake is nil, give the function that puts a waiter into the work queue")
	}
	return &Index{wake: wake, batch: batchSize, nodes: map[key]*node{}, kinds: map[groupKind]*kind{}}
}

// Forget drops all waits of waiter, because waiter is gone. The objects that
// wait for it still do. A pass over it that is under way and has registered a
// ref can no longer wait. Its Wait wakes the waiter instead.
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
	n.running = false
	if n.out == nil {
		n.newest = 0
	}
	x.release(n)
}

func none(*edge) bool { return false }
