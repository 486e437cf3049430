package index

import (
	"sync"
	"sync/atomic"
)

// Index knows who waits for what. Make it with [New]; it is safe for concurrent use.
type Index struct {
	wake  func(ID)
	begun atomic.Uint64 // passes, each of which has its number
	batch int           // see changed.go

	mu    sync.Mutex
	nodes map[key]*node
	kinds map[groupKind]*kind
	text  []byte  // of the key that is looked for
	spare *edge   // a place holder
	marks uint64  // calls of Cycle
	trail []visit // of Cycle
}

// New makes an Index that calls wake for each waiter that is to be looked at again, which means to put it into a work
// queue. It may be called more often than needed, never less. Who calls it is [Index.Changed] or [Pass.Wait], without a
// lock, so that it may do with the Index what it likes; it should take no longer than their callers can wait. Nil panics.
func New(wake func(waiter ID)) *Index {
	if wake == nil {
		panic("index: New: wake is nil, give the function that puts a waiter into the work queue")
	}
	return &Index{wake: wake, batch: batchSize, nodes: map[key]*node{}, kinds: map[groupKind]*kind{}}
}

// Forget drops all that waiter waits for, because it is gone. Those that wait for it still do. A pass over it that is
// under way and has registered something can no longer wait: it wakes the waiter instead.
func (x *Index) Forget(waiter ID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.find(waiter); n != nil {
		x.end(n, none)
	}
}

// end ends what passes there are over n, and leaves it the edges that stay.
func (x *Index) end(n *node, stays func(*edge) bool) {
	x.sweep(n, stays)
	n.running = false
	if n.out == nil {
		n.newest = 0
	}
	x.release(n)
}

func none(*edge) bool { return false }
