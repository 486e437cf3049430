package index

// Pass is one pass over a waiter, made by [Index.Begin]. It ends with
// [Pass.Wait] or [Pass.Done], or with the next pass. Do not copy a Pass after
// its first use.
type Pass struct {
	x      *Index
	waiter ID
	number uint64
	at     *node // the node of the waiter, once the pass has registered a ref
	ended  bool
}

// Look is one look at a ref, made by [Pass.Register].
type Look struct {
	x      *Index
	number uint64
	at     *edge // nil if its pass counts no longer
}

// Begin begins a pass over waiter. The waits of the last pass stay in force
// until this pass ends. An earlier pass that has not ended counts no longer
// once this pass has registered a ref, or has ended.
func (x *Index) Begin(waiter ID) Pass {
	return Pass{x: x, waiter: waiter, number: x.begun.Add(1)}
}

// Register announces that the pass is going to read ref. It must return before
// ref is read. From then on every change of ref wakes the waiter. Once
// [Look.Saw] has reported the digest of the read, only other digests wake it. A
// pass may register and read a ref several times.
func (p *Pass) Register(ref ID) Look {
	x := p.x
	x.mu.Lock()
	defer x.mu.Unlock()
	n := p.node()
	if n == nil {
		return Look{}
	}
	e := x.edge(n, x.node(ref))
	if e.run == absent {
		e.run = unknown
	}
	e.open++
	return Look{x: x, number: p.number, at: e}
}

// Saw reports the digest of the read that followed Register. If the read found
// no object, that is the digest of "not found". If the read failed, the caller
// does not call Saw: then every change wakes the waiter. After the pass Saw has
// no effect.
//
// A pass that has seen two digests of a ref may have decided on either. Then
// every change wakes the waiter, too.
func (l Look) Saw(digest uint64) {
	if l.at == nil {
		return
	}
	l.x.mu.Lock()
	defer l.x.mu.Unlock()
	e := l.at
	if e.run == absent || e.from.newest != l.number {
		return // its pass has ended, or counts no longer
	}
	if e.open > 0 {
		e.open--
	}
	switch {
	case e.run == unknown:
		e.run, e.runAs = known, digest
	case e.runAs != digest:
		e.run = mixed
	}
}

// Wait ends the pass as blocked: the waiter waits for refs. All other refs that
// the pass registered are dropped. Without refs, Wait is [Pass.Done].
//
// Wait wakes the waiter, for one more pass, if a change may have been missed.
// There are four causes:
//
//   - The pass has not registered a ref that it waits for.
//   - A later pass over the waiter counts.
//   - The waiter was forgotten.
//   - The pass has ended before.
func (p *Pass) Wait(refs ...ID) {
	if len(refs) == 0 {
		p.Done()
		return
	}
	if again := p.wait(refs); again {
		p.x.wake(p.waiter)
	}
}

func (p *Pass) wait(refs []ID) (again bool) {
	x := p.x
	x.mu.Lock()
	defer x.mu.Unlock()
	n := p.node()
	p.ended = true
	if n == nil {
		return true
	}
	for _, ref := range refs {
		if e := x.edge(n, x.node(ref)); !p.stay(e) {
			again = true
		}
	}
	x.end(n, func(e *edge) bool {
		stays := e.stays
		e.stays = false
		e.endRun()
		return stays
	})
	return again
}

// stay keeps an edge beyond the pass. It reports whether every change since the
// pass read the ref has woken the waiter, or will wake it.
func (p *Pass) stay(e *edge) bool {
	if e.stays {
		return true // refs names it twice
	}
	e.stays = true
	switch {
	case e.run == known && e.open == 0:
		e.keep(known, e.runAs)
	case e.run != absent:
		e.keep(unknown, p.x.begun.Load())
	case e.kept == unknown && e.keptAs < p.number:
		// Every change since before the pass began has woken the waiter.
	default:
		e.keep(unknown, p.x.begun.Load())
		return false
	}
	return true
}

// Done ends the pass: the waiter waits for no ref. Done does nothing if the
// pass has ended before, so that it can be deferred. It does nothing either if
// a later pass counts.
//
// If a pass was canceled before it found out whether it is blocked, do not end
// it. Then the waits of the last pass stay.
func (p *Pass) Done() {
	x := p.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.find(p.waiter); n != nil && p.counts(n) {
		x.end(n, none)
	}
	p.ended = true
}

// node returns the node of the waiter, and makes this pass the one under way
// over it. It returns nil if the pass counts no longer.
func (p *Pass) node() *node {
	n := p.at
	if n == nil && !p.ended {
		n = p.x.node(p.waiter)
	}
	if n == nil || !p.counts(n) {
		return nil
	}
	if p.at == nil {
		n.newest, n.running = p.number, true
		p.x.sweep(n, func(e *edge) bool { // an earlier pass has not ended
			e.endRun()
			return e.kept != absent
		})
		p.at = n
	}
	return n
}

// counts reports whether the pass may decide for its waiter: it has not ended,
// and no later pass has registered a ref. A pass that has registered a ref must
// still be the pass under way.
func (p *Pass) counts(n *node) bool {
	if p.at != nil {
		return n.newest == p.number && n.running
	}
	return !p.ended && n.newest < p.number
}
