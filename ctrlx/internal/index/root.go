package index

import "unique"

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
