package index_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/internal/testing/race"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

// filled returns an index in which each owner has the given number of waiters.
func filled(owners, each int) *index.Index {
	return with(owners, each, ownerNumber, func(ref ID) index.End { return index.End{Awaited: []ID{ref}} })
}

// followed returns an index in which each owner has the given number of
// followers.
func followed(owners, each int) *index.Index {
	return with(owners, each, ownerNumber, func(ref ID) index.End {
		return index.End{Followed: []index.Followed{{ID: ref, Digest: 1}}}
	})
}

// sets returns an index with a set for each owner, which has the given number of
// waiters.
func sets(owners, each int) *index.Index {
	return with(owners, each, setNumber, func(ref ID) index.End { return index.End{Awaited: []ID{ref}} })
}

func with(owners, each int, refNumber func(int) ID, end func(ref ID) index.End) *index.Index {
	x := index.New(func(ID) {}, nil)
	for i := range owners * each {
		ref := refNumber(i / each)
		p := x.Begin(waiterNumber(i))
		p.Register(ref).Saw(1)
		p.End(end(ref))
	}
	return x
}

// Each call creates the names, like a read of an object does.
func waiterNumber(i int) ID {
	return ID{Group: "example.com", Kind: "Database", Namespace: fmt.Sprintf("team-%03d", i%500), Name: fmt.Sprintf("database-%06d", i)}
}

func ownerNumber(i int) ID {
	return ID{Group: "example.com", Kind: "Cluster", Namespace: fmt.Sprintf("team-%03d", i%500), Name: fmt.Sprintf("cluster-%06d", i)}
}

func setNumber(i int) ID {
	return ID{Group: "example.com", Kind: "Database", Namespace: fmt.Sprintf("team-%03d", i%500), Set: fmt.Sprintf("field=cluster&selector=&value=cluster-%06d", i)}
}

// bytesPerWaiter returns the memory for each waiter if each owner has the given
// number of waiters.
func bytesPerWaiter(fill func(owners, each int) *index.Index, owners, each int) float64 {
	before := ratio.Heap()
	x := fill(owners, each)
	after := ratio.Heap()
	runtime.KeepAlive(x)
	return (after - before) / float64(owners*each)
}

func TestMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector needs memory of its own")
	}
	cases := map[string]struct {
		reason       string
		fill         func(owners, each int) *index.Index
		owners, each int
		most         float64
	}{
		"OwnOwner":    {"each waiter has its own owner: two objects and an entry", filled, 100_000, 1, 512},
		"SharedOwner": {"100 waiters share an owner: an object and an entry for each", filled, 1000, 100, 256},
		"WorstLoad":   {"the table has just grown", filled, 115_000, 1, 512},
		"Followers":   {"a follower costs as much as a waiter", followed, 1000, 100, 256},
		"OwnSet":      {"each waiter waits for its own set, which has a longer name", sets, 100_000, 1, 560},
		"SharedSet":   {"100 waiters share a set", sets, 1000, 100, 256},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := bytesPerWaiter(tc.fill, tc.owners, tc.each)
			t.Logf("%.0f bytes a waiter", got)
			if got > tc.most*1.1 {
				t.Errorf("%s: %.0f bytes a waiter, at most %.0f", tc.reason, got, tc.most)
			}
		})
	}
}

func TestAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	x := filled(10, 1000)
	id, ref, long := waiterNumber(7), ownerNumber(0), ID{Kind: "Kind", Name: string(make([]byte, 300))}
	refs := []ID{ref, long}
	block := func() {
		p := x.Begin(id)
		for _, ref := range refs {
			p.Register(ref).Saw(1)
		}
		p.Wait(refs...)
	}
	block()
	follow := func() {
		p := x.Begin(id)
		p.Register(ref).Saw(1)
		p.End(index.End{Followed: []index.Followed{{ID: ref, Digest: 3}}})
	}
	keep := func() {
		p := x.Begin(id)
		p.End(index.End{Followed: []index.Followed{{ID: ref}}})
	}
	woken := 0
	waking := index.New(func(ID) { woken++ }, nil)
	for i := range 1000 {
		p := waking.Begin(waiterNumber(i))
		p.Register(ref)
		p.Wait(ref)
	}
	cases := map[string]struct {
		reason string
		do     func()
	}{
		"SameAgain":     {"a blocked pass sees the same digests as the last one", block},
		"FollowsAgain":  {"a Ready pass follows what the last one followed", follow},
		"KeepsFollowed": {"a Ready pass that does not look at what it follows", func() { follow(); keep() }},
		"Needs":         {"the digests that an event needs", func() { x.Needs(ref) }},
		"NothingNew":    {"an event wakes no waiter", func() { x.Changed(ref, full(1)) }},
		"NobodyWaits":   {"most events are of objects without waiters", func() { x.Changed(id, full(1)) }},
		"UnknownKind":   {"or of kinds without waiters", func() { x.Changed(ID{Kind: "Other"}, full(1)) }},
		"Wakes":         {"a wake-up costs no allocation either", func() { waking.Changed(ref, full(2)) }},
		"WaitsNot":      {"a pass reads no object", func() { p := x.Begin(ID{Kind: "Cluster"}); p.Done() }},
		"NoCycle":       {"the waits form no cycle", func() { x.Cycle(ref, nil); x.Cycle(id, nil) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, tc.do); n != 0 {
				t.Errorf("%s: %v allocations", tc.reason, n)
			}
		})
	}
	if woken == 0 {
		t.Error("no waiter was woken")
	}
}

// TestGrowthRatio verifies that the time to find 100 waiters does not depend on the
// number of other waiters.
func TestGrowthRatio(t *testing.T) {
	ratio.InVerify(t)
	few, many := filled(10, 100), filled(1000, 100)
	ref := ownerNumber(5)
	got := ratio.Of(func() { many.Changed(ref, full(2)) }, func() { few.Changed(ref, full(2)) }, ratio.Options{})
	t.Logf("100 waiters among 100,000 take %.2f times what they take among 1,000", got)
	if got > 3 {
		t.Errorf("100 waiters among 100,000 take %.2f times what they take among 1,000", got)
	}
}

// TestManyRefsRatio verifies that a waiter of many refs, each with few waiters, is
// as fast as a waiter of few refs.
func TestManyRefsRatio(t *testing.T) {
	ratio.InVerify(t)
	pass := func(x *index.Index, n int) func() {
		id, refs := object("waiter"), make([]ID, n)
		for i := range refs {
			refs[i] = ownerNumber(i)
		}
		return func() {
			for range 2000 / n {
				p := x.Begin(id)
				for _, ref := range refs {
					p.Register(ref).Saw(1)
				}
				p.Wait(refs...)
			}
		}
	}
	few, many := pass(index.New(func(ID) {}, nil), 10), pass(index.New(func(ID) {}, nil), 2000)
	got := ratio.Of(many, few, ratio.Options{})
	t.Logf("a ref among 2,000 takes %.2f times what it takes among 10", got)
	if got > 4 {
		t.Errorf("a ref among 2,000 takes %.2f times what it takes among 10", got)
	}
}
