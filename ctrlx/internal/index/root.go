package index

import "unique"

// Root is the root cause of a wait: an object that waits for no other object, or
// a cycle. The index stores it with each waiter, and does not interpret it.
type Root struct {
	ID           // the object; of a cycle, the first one by name
	State string // missing, deleting, or not ready for any reason
	Cycle string // the text of a cycle; empty: there is none
}

// Root returns the root cause that the last pass over a waiter recorded. The zero
// Root is none. waits reports whether the object waits for a ref.
func (x *Index) Root(waiter ID) (root Root, waits bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.find(waiter)
	if n == nil || !n.waits() {
		return Root{}, false
	}
	return n.rootCause(), true
}

// SetRoot records the root cause of a waiter. Call it after [Pass.End]. It reports
// whether the root cause has changed since the last call. An object that waits for
// nothing has no root cause: the end of its pass has dropped it.
func (x *Index) SetRoot(waiter ID, root Root) (changed bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.find(waiter)
	if n == nil || !n.waits() || n.rootCause() == root {
		return false
	}
	n.root = unique.Make(root) // shared by all waiters of the object
	return true
}

func (n *node) rootCause() (root Root) {
	if n.root != (unique.Handle[Root]{}) {
		root = n.root.Value()
	}
	return root
}

// waits reports whether the last pass over n that has ended waits for a ref.
func (n *node) waits() bool {
	for e := n.out; e != nil; e = e.more {
		if e.mode&awaits != 0 {
			return true
		}
	}
	return false
}
