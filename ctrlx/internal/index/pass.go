package index

// Pass is one pass over a waiter, made by [Index.Begin]. It ends with [Pass.Wait] or [Pass.Done], or with the next one. Do
// not copy it once it is in use.
type Pass struct {
	x      *Index
	waiter ID
	number uint64
	at     *node // of the waiter, once it has registered something
	ended  bool
}

// Look is one look at a ref, made by [Pass.Register].
type Look struct {
	x      *Index
	number uint64
	at     *edge // nil: of a pass that does not count any more
}

// Begin begins a pass over waiter. What the last one waits for stays in force until this one ends. A pass that began
// earlier and has not ended does not count any more once this one has registered something, or has ended.
func (x *Index) Begin(waiter ID) Pass {
	return Pass{x: x, waiter: waiter, number: x.begun.Add(1)}
}

// Register says that the pass is going to read ref. It has to return before ref is read. From now on every change of ref
// wakes the waiter; once [Look.Saw] has said what was read, every other one. A ref may be registered and read several times.
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

// Saw tells the digest of what was read since Register, that of "not found" if there was nothing. If it cannot be
// told, because the read has failed, leave it: then every change wakes. Nor does it matter after the pass.
//
// A pass that has seen two digests of a ref may have decided on either: then every change wakes, too.
func (l Look) Saw(digest uint64) {
	if l.at == nil {
		return
	}
	l.x.mu.Lock()
	defer l.x.mu.Unlock()
	e := l.at
	if e.run == absent || e.from.newest != l.number {
		return // its pass has ended, or does not count any more
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

// Wait ends the pass: it is blocked, and waits for refs. All others that were registered are dropped; without refs it is
// [Pass.Done].
//
// If a change may have been missed it wakes the waiter, for one more pass: if a ref was not registered, if a later pass over
// the waiter has begun, if the waiter was forgotten, or the pass has ended before.
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

// stay keeps an edge beyond the pass. It tells whether all changes since the pass has looked at the ref have woken, or will.
func (p *Pass) stay(e *edge) bool {
	if e.stays {
		return true // named twice
	}
	e.stays = true
	switch {
	case e.run == known && e.open == 0:
		e.keep(known, e.runAs)
	case e.run != absent:
		e.keep(unknown, p.x.begun.Load())
	case e.kept == unknown && e.keptAs < p.number:
		// All changes since before the pass began have woken.
	default:
		e.keep(unknown, p.x.begun.Load())
		return false
	}
	return true
}

// Done ends the pass: it waits for nothing. Nothing happens if the pass has ended before, so that it can be deferred, or if
// a later one has begun.
//
// A pass that has not found out whether it waits, as it was canceled, is better left without an end: then what the last
// one waited for stays.
func (p *Pass) Done() {
	x := p.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.find(p.waiter); n != nil && p.counts(n) {
		x.end(n, none)
	}
	p.ended = true
}

// node gives the node of the waiter, with this pass as the one that is under way over it; nil if the pass does not count
// any more.
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
		p.x.sweep(n, func(e *edge) bool { // an earlier one has not ended
			e.endRun()
			return e.kept != absent
		})
		p.at = n
	}
	return n
}

// counts tells whether the pass may speak for its waiter: it has not ended, and there is none that began later. One that
// has registered something must still be the one that is under way.
func (p *Pass) counts(n *node) bool {
	if p.at != nil {
		return n.newest == p.number && n.running
	}
	return !p.ended && n.newest < p.number
}
