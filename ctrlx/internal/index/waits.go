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
		if e.kept != absent && e.mode&awaits != 0 {
			refs = append(refs, e.to.id())
		}
	}
	return refs
}
