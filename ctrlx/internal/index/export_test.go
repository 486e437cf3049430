package index

// SetBatch lets others have the lock after n waiters, at most batchSize.
func (x *Index) SetBatch(n int) { x.batch = n }

// Sizes tells how much is in the index.
func (x *Index) Sizes() (nodes, kinds int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.nodes), len(x.kinds)
}
