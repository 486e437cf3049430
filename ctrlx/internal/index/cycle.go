package index

import "slices"

const (
	// trailKept is the length of the longest trail that is reused.
	trailKept = 1024
	// MaxMembers is the number of members of sets that Cycle examines at most.
	MaxMembers = 1000
)

// Cycle returns a cycle of waits from waiter back to waiter, or nil. The cycle
// may lead through other objects. Only the waits of passes that have ended
// count. No object on such a cycle can ever proceed. The result is a shortest
// such cycle: A, B, A means that A waits for B, which waits for A. Cycle
// returns nil for a waiter that waits for an object on a cycle without being on
// it.
//
// A wait for a set counts as a wait for each member that does not wait for the
// same set: its members compete for something, and one of them proceeds. The
// cycle then names the set before the member. The function members
// returns the present members of a set; Cycle calls it without a lock. nil: no
// set has members. Cycle examines at most [MaxMembers] members, so it may miss a
// cycle through a large set.
//
// Under the lock, Cycle examines every object that waiter waits for, directly
// or not. If no object waits for waiter or for a set, it examines none.
func (x *Index) Cycle(waiter ID, members func(set ID) []ID) []ID {
	known, left := map[ID][]ID(nil), MaxMembers
	for {
		way, unknown := x.search(waiter, known)
		if len(unknown) == 0 {
			return way
		}
		if known == nil {
			known = map[ID][]ID{}
		}
		for _, set := range unknown {
			var all []ID
			if members != nil && left > 0 {
				all = members(set)
			}
			all = all[:min(len(all), left)]
			known[set], left = all, left-len(all)
		}
	}
}

// search looks for a cycle through sets whose members are known. unknown are the
// sets that it has reached and whose members it does not know.
func (x *Index) search(waiter ID, known map[ID][]ID) (cycle, unknown []ID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	start := x.find(waiter)
	if start == nil || start.awaited == 0 && x.known == 0 {
		return nil, nil
	}
	x.marks++
	trail := append(x.trail[:0], visit{n: start, from: -1})
	defer func() {
		clear(trail) // nodes may be freed
		if cap(trail) <= trailKept {
			x.trail = trail
		}
	}()
	for i := 0; i < len(trail); i++ { // breadth first, so that the cycle is a shortest one
		at := trail[i].n
		if trail[i].closes {
			return way(trail, i), unknown
		}
		reach := func(n *node) {
			if n.mark != x.marks {
				n.mark = x.marks
				trail = append(trail, visit{n: n, from: i})
			}
		}
		for e := at.out; e != nil; e = e.more {
			if e.mode&awaits == 0 {
				continue
			}
			if e.to == start {
				return way(trail, i), unknown
			}
			if e.to.isSet() && !start.awaits(e.to) && slices.Contains(known[e.to.id()], waiter) {
				trail = append(trail, visit{n: e.to, from: i, closes: true})
			}
			reach(e.to)
		}
		if at.isSet() {
			set := at.id()
			all, ok := known[set]
			if !ok {
				unknown = append(unknown, set)
			}
			for _, id := range all {
				if n := x.find(id); n != nil && n != start && !n.awaits(at) {
					reach(n)
				}
			}
		}
	}
	return nil, unknown
}

// awaits reports whether n waits for a set.
func (n *node) awaits(set *node) bool {
	e := n.edgeTo(set)
	return e != nil && e.mode&awaits != 0
}

// way returns the path from the start of a trail to the given end, and back to
// its start.
func way(trail []visit, end int) []ID {
	ids := []ID{trail[0].n.id()}
	for i := end; i >= 0; i = trail[i].from {
		ids = append(ids, trail[i].n.id())
	}
	slices.Reverse(ids)
	return ids
}
