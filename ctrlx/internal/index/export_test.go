package index

// SetBatch makes Changed release the lock after n edges, at most batchSize.
func (x *Index) SetBatch(n int) { x.batch = n }

// Sizes returns the numbers of objects, and of kinds with objects, in the
// index.
func (x *Index) Sizes() (nodes, kinds int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, k := range x.kinds {
		if k.nodes > 0 {
			kinds++
		}
	}
	return len(x.nodes), kinds
}

// Kinds returns the number of known kinds, with or without objects.
func (x *Index) Kinds() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.kinds)
}

// Wait ends the pass: the waiter waits for refs alone.
func (p *Pass) Wait(refs ...ID) { p.End(End{Awaited: refs}) }
