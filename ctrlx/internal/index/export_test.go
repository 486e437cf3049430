package index

// SetBatch lets others have the lock after n waiters, at most batchSize.
func (x *Index) SetBatch(n int) { x.batch = n }

// Sizes tells how much is in the index: objects, and kinds that have some.
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

// Kinds tells how many kinds are known, with objects or without.
func (x *Index) Kinds() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.kinds)
}
