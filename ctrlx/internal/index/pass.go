package index

// Pass is one pass over a waiter, made by [Index.Begin]. It ends with [Pass.End]
// or [Pass.Done], or with the next pass. Do not copy a Pass after its first use.
type Pass struct {
	x      *Index
	Waiter ID // the object of the pass
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
	return Pass{x: x, Waiter: waiter, number: x.begun.Add(2)}
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
	e.beginRun()
	return Look{x: x, number: p.number, at: e}
}

// Saw reports the full digest of the read that followed Register. If the read
// found no object, that is the digest of "not found". If the read failed, the
// caller does not call Saw, or calls it with 0: then every change wakes the
// waiter. After the pass Saw has no effect.
//
// For a set, the digest is the number of its last change. The caller reads this
// number before it lists the set.
//
// A pass that has seen two digests of a ref may have decided on either. Then
// every change wakes the waiter, too.
func (l Look) Saw(digest uint64) {
	if l.at == nil || digest == 0 {
		return
	}
	l.x.mu.Lock()
	defer l.x.mu.Unlock()
	e := l.at
	if e.from.newest != l.number {
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

// End describes the end of a pass.
type End struct {
	// Awaited are the refs that the blocked waiter waits for. Each change that a
	// check can see wakes it.
	Awaited []ID
	// Followed are the refs on which the waiter still depends. Only a change of
	// the follow digest wakes it.
	Followed []Followed
}

// Followed is a ref that a waiter follows.
type Followed struct {
	ID
	// Digest is the follow digest of the state that the pass has seen; 0: it is
	// not known. It counts only if the pass registered the ref.
	Digest uint64
}

// End ends the pass. All refs that the pass registered and that e does not name
// are dropped. A zero e is [Pass.Done].
//
// End wakes the waiter, for one more pass, if a change may have been missed.
// There are five causes:
//
//   - The pass has not registered a ref that it waits for.
//   - The pass has not registered a ref that it follows, and the last pass
//     neither followed it nor waited for it.
//   - A later pass over the waiter counts.
//   - The waiter was forgotten.
//   - The pass has ended before.
func (p *Pass) End(e End) {
	if len(e.Awaited)+len(e.Followed) == 0 {
		p.Done()
		return
	}
	if again := p.end(e); again {
		p.x.wake(p.Waiter)
	}
}

func (p *Pass) end(end End) (again bool) {
	x := p.x
	x.mu.Lock()
	defer x.mu.Unlock()
	n := p.node()
	p.ended = true
	if n == nil {
		return true
	}
	for _, ref := range end.Awaited {
		if e := x.edge(n, x.node(ref)); !p.stay(e, awaits, e.runAs) {
			again = true
		}
	}
	for _, f := range end.Followed {
		if !p.stay(x.edge(n, x.node(f.ID)), follows, f.Digest) {
			again = true
		}
	}
	x.end(n, func(e *edge) bool {
		stays := e.stays != 0
		e.stays = 0
		e.endRun()
		return stays
	})
	return again
}

// stay keeps an edge beyond the pass. digest is that of the state that
// the pass has seen, if it has seen one. stay reports whether every change since the
// pass read the ref has woken the waiter, or will wake it.
func (p *Pass) stay(e *edge, as mode, digest uint64) bool {
	if e.stays != 0 { // End names it twice
		if e.stays == follows && e.run != absent && e.keptAs != digest {
			e.keep(unknown, p.x.begun.Load(), follows)
		}
		return true
	}
	e.stays = as
	switch {
	case e.run == known && e.open == 0 && digest != 0:
		e.keep(known, digest, as)
	case e.run != absent:
		e.keep(unknown, p.x.begun.Load(), as)
	case as == follows && e.mode == follows:
		// Every change since the last pass has woken the waiter, or differs
		// from keptAs and will wake it.
	case as == follows && e.kept != absent: // the same, and keptAs is a full digest
		e.keep(unknown, p.x.begun.Load(), as)
	case e.kept == unknown && e.keptAs < p.number:
		// Every change since before the pass began has woken the waiter.
		e.keep(unknown, e.keptAs, as)
	default:
		e.keep(unknown, p.x.begun.Load(), as)
		return false
	}
	return true
}

// Done ends the pass: the waiter waits for no ref, and follows none. Done does nothing if the
// pass has ended before, so that it can be deferred. It does nothing either if
// a later pass counts.
//
// If a pass was canceled before it found out whether it is blocked, do not end
// it. Then the waits of the last pass stay.
func (p *Pass) Done() {
	x := p.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.find(p.Waiter); n != nil && p.counts(n) {
		x.end(n, none)
	}
	p.ended = true
}

// node returns the node of the waiter, and makes this pass the one under way
// over it. It returns nil if the pass counts no longer.
func (p *Pass) node() *node {
	n := p.at
	if n == nil {
		if p.ended {
			return nil
		}
		n = p.x.node(p.Waiter)
	}
	if !p.counts(n) {
		return nil
	}
	if p.at == nil {
		n.newest = p.number
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
		return n.newest == p.number
	}
	return !p.ended && n.newest < p.number
}
