package index_test

import (
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// plain is an index of maps of maps, the model of the real index. Each switch
// is a fault, for faults_test.go. The zero faults has none.
type plain struct {
	faults
	wake    func(ID)
	between func() // called where a fault releases the lock

	mu      sync.Mutex
	begun   int
	waiters map[ID]*plainWaiter
	changed map[ID]uint64 // full digests of the last Changed
}

type faults struct {
	dropsUnknown, comparesWithOld, ignoresRunning, ignoresKept, losesItsPlace bool // in Changed
	beginDrops, registerSees, lastDigestCounts, anyLookCloses                 bool // during the pass
	waitDropsFirst, lateIsSilent, lateIsReady, earlierCounts                  bool // at the end of the pass
	forgetsOthers, forgetKeepsRunning                                         bool
	followsAll, wakesAgain, wakesTheCause                                     bool // of followers and sets
}

type plainWaiter struct {
	newest int             // the pass whose entries are in run or kept
	run    map[ID]*running // nil: no pass is under way
	kept   map[ID]kept     // of the last pass that ended in a Wait
}

type running struct {
	open    int
	digests map[uint64]bool
}

type kept struct {
	known           bool
	digest          uint64
	begun           int
	awaits, follows bool
}

type plainPass struct {
	x      *plain
	id     ID
	number int
	of     *plainWaiter // set once the pass has registered a ref
	ended  bool
}

func makePlain(f faults) maker { return func(wake func(ID)) indexer { return newPlain(f, wake) } }

func newPlain(f faults, wake func(ID)) *plain {
	return &plain{faults: f, wake: wake, between: func() {}, waiters: map[ID]*plainWaiter{}, changed: map[ID]uint64{}}
}

func (x *plain) gap() {
	x.mu.Unlock()
	x.between()
	x.mu.Lock()
}

func (x *plain) begin(id ID) passer {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.begun++
	if x.beginDrops {
		delete(x.waiters, id)
	}
	return &plainPass{x: x, id: id, number: x.begun}
}

// join returns the waiter, with this pass as the one under way, or nil if the
// pass counts no longer.
func (p *plainPass) join() *plainWaiter {
	if p.of != nil {
		if p.of.run != nil && p.of.newest == p.number || p.x.earlierCounts {
			return p.of
		}
		return nil
	}
	w := p.x.waiters[p.id]
	if p.ended || w != nil && w.newest > p.number && !p.x.earlierCounts {
		return nil
	}
	if w == nil {
		w = &plainWaiter{kept: map[ID]kept{}}
		p.x.waiters[p.id] = w
	}
	w.newest, w.run, p.of = p.number, map[ID]*running{}, w
	return w
}

func (p *plainPass) register(ref ID) func(uint64) {
	x := p.x
	x.mu.Lock()
	defer x.mu.Unlock()
	w := p.join()
	if w == nil {
		return func(uint64) {}
	}
	r := w.run[ref]
	if r == nil {
		r = &running{digests: map[uint64]bool{}}
		if k := w.kept[ref]; x.registerSees && k.known {
			r.digests[k.digest] = true
			r.open--
		}
		w.run[ref] = r
	}
	r.open++
	return func(digest uint64) {
		x.mu.Lock()
		defer x.mu.Unlock()
		if w.run[ref] != r {
			return
		}
		r.open = max(0, r.open-1)
		if x.anyLookCloses {
			r.open = 0
		}
		if x.lastDigestCounts || x.registerSees {
			clear(r.digests)
		}
		r.digests[digest] = true
	}
}

func (p *plainPass) Wait(refs ...ID) { p.End(index.End{Awaited: refs}) }

func (p *plainPass) End(e index.End) {
	if len(e.Awaited)+len(e.Followed) == 0 {
		p.Done()
		return
	}
	if p.end(e) && !p.x.lateIsSilent {
		p.x.wake(p.id)
	}
}

func (p *plainPass) end(e index.End) (again bool) {
	x := p.x
	x.mu.Lock()
	defer x.mu.Unlock()
	w := p.join()
	p.ended = true
	if w == nil {
		return !x.earlierCounts
	}
	stay := map[ID]kept{}
	name := func(ref ID, digest func(full uint64) uint64) kept {
		r, before := w.run[ref], w.kept[ref]
		_, was := w.kept[ref]
		switch {
		case r != nil && r.open <= 0 && len(r.digests) == 1:
			for d := range r.digests {
				if d := digest(d); d != 0 {
					return kept{known: true, digest: d}
				}
			}
			return kept{begun: x.begun}
		case r != nil:
			return kept{begun: x.begun}
		case was && !before.known && before.begun < p.number, was && x.lateIsReady:
			return before
		default:
			again = true
			return kept{begun: x.begun}
		}
	}
	for _, ref := range e.Awaited {
		k := name(ref, func(full uint64) uint64 { return full })
		k.awaits = true
		stay[ref] = k
	}
	for _, f := range e.Followed {
		first, twice := stay[f.ID]
		last, was := w.kept[f.ID]
		k := kept{begun: x.begun} // last was awaited, and has a full digest
		switch {
		case w.run[f.ID] != nil || !was && !twice:
			k = name(f.ID, func(uint64) uint64 { return f.Digest })
		case !last.awaits:
			k = last
		}
		switch {
		case twice && first.awaits:
			k = first
		case twice && (!first.known || first.digest != k.digest):
			k = kept{begun: x.begun}
		}
		k.follows, k.awaits = true, first.awaits
		stay[f.ID] = k
	}
	if x.waitDropsFirst {
		w.run, w.kept = nil, nil
		x.gap()
	}
	w.run, w.kept = nil, stay
	if len(stay) == 0 {
		x.drop(p.id)
	}
	return again
}

func (p *plainPass) Done() {
	x := p.x
	x.mu.Lock()
	defer x.mu.Unlock()
	w := x.waiters[p.id]
	counts := w != nil && (p.of == nil && !p.ended && w.newest < p.number || p.of != nil && w == p.of && w.run != nil && w.newest == p.number)
	if counts || x.earlierCounts && !p.ended {
		x.drop(p.id)
	}
	p.ended = true
}

func (x *plain) drop(id ID) {
	if w := x.waiters[id]; w != nil {
		w.newest, w.run, w.kept = 0, nil, nil
		delete(x.waiters, id)
	}
}

func (x *plain) Forget(id ID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if w := x.waiters[id]; w != nil && w.run != nil && x.forgetKeepsRunning {
		return
	}
	x.drop(id)
	if x.forgetsOthers {
		for _, w := range x.waiters {
			delete(w.kept, id)
			delete(w.run, id)
		}
	}
}

func (x *plain) due(w *plainWaiter, ref ID, c index.Change) bool {
	digest := c.Full
	follower := w.kept[ref].follows && !w.kept[ref].awaits
	k, isKept := w.kept[ref]
	r, isRunning := w.run[ref], w.run[ref] != nil
	if x.ignoresRunning {
		isRunning = false
	}
	if x.ignoresKept && w.run != nil {
		isKept = false
	}
	if follower && !x.followsAll {
		isKept = false // see follows
	}
	unknown := isKept && !k.known || isRunning && (r.open > 0 || len(r.digests) != 1)
	differs := isKept && k.known && k.digest != digest || isRunning && !r.digests[digest]
	if old, ok := x.changed[ref]; x.comparesWithOld {
		return (isKept || isRunning) && (!ok || old != digest)
	}
	woken := unknown && !x.dropsUnknown || differs && !(unknown && x.dropsUnknown)
	if follower && !x.followsAll && !(x.ignoresKept && w.run != nil) && (!k.known || k.digest != c.Follow) {
		woken = true
		if c.Follow != 0 && !x.wakesAgain {
			w.kept[ref] = kept{known: true, digest: c.Follow, follows: true}
		}
	}
	return woken
}

func (x *plain) Needs(ref ID) (full, follow bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, w := range x.waiters {
		k := w.kept[ref]
		full = full || k.awaits || w.run[ref] != nil
		follow = follow || k.follows && !k.awaits || w.run[ref] != nil
	}
	return full, follow
}

func (x *plain) Changed(ref ID, c index.Change) {
	x.mu.Lock()
	if x.losesItsPlace {
		for i := 0; i < len(x.waiters); i++ {
			id := sorted(slices.Collect(maps.Keys(x.waiters)))[i]
			if x.due(x.waiters[id], ref, c) {
				x.mu.Unlock()
				x.wake(id)
				x.mu.Lock()
			}
		}
		x.mu.Unlock()
		return
	}
	var woken []ID
	for id, w := range x.waiters {
		if (c.By == ID{} || c.By != id || x.wakesTheCause) && x.due(w, ref, c) {
			woken = append(woken, id)
		}
	}
	x.changed[ref] = c.Full
	x.mu.Unlock()
	for _, id := range woken {
		x.wake(id)
	}
}

func (x *plain) Waiters(ref ID) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := 0
	for _, w := range x.waiters {
		if _, ok := w.kept[ref]; ok {
			n++
		}
	}
	return n
}

func (x *plain) Refs() iter.Seq2[ID, int] {
	x.mu.Lock()
	defer x.mu.Unlock()
	refs := map[ID]int{}
	for _, w := range x.waiters {
		for ref := range w.kept {
			refs[ref]++
		}
	}
	return maps.All(refs)
}

// sizes returns the numbers of objects and kinds that the index knows.
func (x *plain) sizes() [2]int {
	x.mu.Lock()
	defer x.mu.Unlock()
	objects, kinds := map[ID]bool{}, map[ID]bool{}
	for id, w := range x.waiters {
		objects[id] = true
		for ref := range w.kept {
			objects[ref] = true
		}
		for ref := range w.run {
			objects[ref] = true
		}
	}
	for id := range objects {
		kinds[ID{Group: id.Group, Kind: id.Kind}] = true
	}
	return [2]int{len(objects), len(kinds)}
}

// Cycle extends all paths by one step each time.
func (x *plain) Cycle(waiter ID, members func(set ID) []ID) []ID {
	x.mu.Lock()
	defer x.mu.Unlock()
	next := func(from, id ID) (all []ID) { // from is the object before a set
		if id.Set != "" {
			for _, member := range members(id) {
				w := x.waiters[member]
				competes := w != nil && w.kept[id].awaits
				if member != from && !competes {
					all = append(all, member)
				}
			}
		} else if w := x.waiters[id]; w != nil {
			for ref, k := range w.kept {
				if k.awaits {
					all = append(all, ref)
				}
			}
		}
		return all
	}
	ways := [][]ID{{waiter}}
	type step struct{ from, to ID }
	seen := map[step]bool{}
	for len(ways) > 0 {
		var longer [][]ID
		for _, way := range ways {
			at, from := way[len(way)-1], ID{Kind: "none"}
			if len(way) > 1 {
				from = way[len(way)-2]
			}
			for _, ref := range next(from, at) {
				way := append(slices.Clone(way), ref)
				if ref == waiter {
					return way
				}
				if !seen[step{at, ref}] {
					seen[step{at, ref}] = true
					longer = append(longer, way)
				}
			}
		}
		ways = longer
	}
	return nil
}
