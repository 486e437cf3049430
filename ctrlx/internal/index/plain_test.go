package index_test

import (
	"cmp"
	"slices"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// plain is an index of maps of maps, the model of the real index.
type plain struct {
	wake    func(ID)
	wakes   []index.Wake // of the last change
	begun   int
	waiters map[ID]*plainWaiter
}

type plainWaiter struct {
	newest int             // the pass whose entries are in run or kept
	run    map[ID]*running // nil: no pass is under way
	kept   map[ID]kept     // of the last pass that ended in a Wait
	root   index.Root      // of its wait; zero: not known
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

func newPlain(wake func(ID)) *plain { return &plain{wake: wake, waiters: map[ID]*plainWaiter{}} }

func (x *plain) begin(id ID) *plainPass {
	x.begun++
	return &plainPass{x: x, id: id, number: x.begun}
}

// join returns the waiter, with this pass as the one under way, or nil if the
// pass counts no longer.
func (p *plainPass) join() *plainWaiter {
	if p.of != nil {
		if p.of.run != nil && p.of.newest == p.number {
			return p.of
		}
		return nil
	}
	w := p.x.waiters[p.id]
	if p.ended || w != nil && w.newest > p.number {
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
	w := p.join()
	if w == nil {
		return func(uint64) {}
	}
	r := w.run[ref]
	if r == nil {
		r = &running{digests: map[uint64]bool{}}
		w.run[ref] = r
	}
	r.open++
	return func(digest uint64) {
		if w.run[ref] == r && digest != 0 {
			r.open = max(0, r.open-1)
			r.digests[digest] = true
		}
	}
}

func (p *plainPass) end(e index.End) {
	if len(e.Awaited)+len(e.Followed) == 0 {
		p.done()
	} else if p.stay(e) {
		p.x.wake(p.id)
	}
}

func (p *plainPass) stay(e index.End) (again bool) {
	x, w := p.x, p.join()
	p.ended = true
	if w == nil {
		return true
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
		case was && !before.known && before.begun < p.number:
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
		case twice && (first.awaits || w.run[f.ID] == nil):
			k = first
		case twice && (!first.known || first.digest != k.digest):
			k = kept{begun: x.begun}
		}
		k.follows, k.awaits = true, first.awaits
		stay[f.ID] = k
	}
	w.run, w.kept = nil, stay
	if len(x.waits(p.id)) == 0 {
		w.root = index.Root{}
	}
	return again
}

func (p *plainPass) done() {
	w := p.x.waiters[p.id]
	if w != nil && (p.of == nil && !p.ended && w.newest < p.number || p.of != nil && w == p.of && w.run != nil && w.newest == p.number) {
		p.x.forget(p.id)
	}
	p.ended = true
}

func (x *plain) forget(id ID) {
	if w := x.waiters[id]; w != nil {
		w.newest, w.run, w.kept = 0, nil, nil
		delete(x.waiters, id)
	}
}

func (x *plain) due(w *plainWaiter, ref ID, c index.Change) (due, follower bool) {
	k, isKept := w.kept[ref]
	if c.Root {
		return k.awaits, false
	}
	follower = k.follows && !k.awaits
	due = isKept && !follower && (!k.known || k.digest != c.Full)
	if r := w.run[ref]; r != nil {
		due = due || r.open > 0 || len(r.digests) != 1 || !r.digests[c.Full]
	}
	if follower && (!k.known || k.digest != c.Follow) {
		due = true
		if c.Follow != 0 {
			w.kept[ref] = kept{known: true, digest: c.Follow, follows: true}
		}
	}
	return due, follower
}

func (x *plain) changed(ref ID, c index.Change) {
	x.wakes = nil
	for id, w := range x.waiters {
		if c.By != (ID{}) && c.By == id {
			continue
		}
		if due, follower := x.due(w, ref, c); due {
			x.wake(id)
			x.wakes = append(x.wakes, index.Wake{Waiter: id, Ref: ref, By: cmp.Or(c.By, ref), Follows: follower})
		}
	}
}

func (x *plain) needs(ref ID) (full, follow bool) {
	for _, w := range x.waiters {
		k := w.kept[ref]
		full = full || k.awaits || w.run[ref] != nil
		follow = follow || k.follows && !k.awaits || w.run[ref] != nil
	}
	return full, follow
}

func (x *plain) refs() map[ID]int {
	refs := map[ID]int{}
	for _, w := range x.waiters {
		for ref := range w.kept {
			refs[ref]++
		}
		for ref := range w.run {
			refs[ref]++
		}
	}
	return refs
}

func (x *plain) waits(id ID) (refs []ID) {
	if w := x.waiters[id]; w != nil {
		for ref, k := range w.kept {
			if k.awaits {
				refs = append(refs, ref)
			}
		}
	}
	return refs
}

func (x *plain) setRoot(id ID, root index.Root) (changed bool) {
	if w := x.waiters[id]; len(x.waits(id)) > 0 && w.root != root {
		w.root, changed = root, true
	}
	return changed
}

// allWaiters returns the waiters of an object, and theirs, without the object itself.
func (x *plain) allWaiters(ref ID) map[ID]bool {
	all := map[ID]bool{ref: true}
	for n := 0; n < len(all); {
		n = len(all)
		for id, w := range x.waiters {
			for to, k := range w.kept {
				if k.awaits && all[to] {
					all[id] = true
				}
			}
		}
	}
	delete(all, ref)
	return all
}

// objects returns the objects that the index knows.
func (x *plain) objects() map[ID]bool {
	objects := map[ID]bool{}
	for id, w := range x.waiters {
		objects[id] = true
		for ref := range w.kept {
			objects[ref] = true
		}
		for ref := range w.run {
			objects[ref] = true
		}
	}
	return objects
}

// sizes returns the numbers of these objects and of their kinds.
func (x *plain) sizes() [2]int {
	objects, kinds := x.objects(), map[ID]bool{}
	for id := range objects {
		kinds[ID{Group: id.Group, Kind: id.Kind}] = true
	}
	return [2]int{len(objects), len(kinds)}
}

// cycle extends all paths by one step each time.
func (x *plain) cycle(waiter ID, members func(set ID) []ID) []ID {
	next := func(from, id ID) (all []ID) { // from is the object before a set
		if id.Set == "" {
			return x.waits(id)
		}
		for _, member := range members(id) {
			w := x.waiters[member]
			competes := w != nil && w.kept[id].awaits
			if member != from && !competes {
				all = append(all, member)
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
