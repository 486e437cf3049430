package index_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

func TestNewPanics(t *testing.T) {
	defer func() {
		if r := recover(); r == nil {
			t.Error("New accepted an index that wakes no waiter")
		}
	}()
	index.New(nil, nil)
}

func TestIDString(t *testing.T) {
	cases := map[string]struct {
		reason string
		id     ID
		want   string
	}{
		"Namespaced": {"as kubectl users write it", ID{Group: "example.com", Kind: "Cluster", Namespace: "prod", Name: "main"}, "Cluster.example.com prod/main"},
		"Cluster":    {"in no namespace", ID{Kind: "Node", Name: "n1"}, "Node n1"},
		"Kind":       {"every object of a kind", ID{Kind: "Node"}, "Node"},
		"Name":       {"of an unknown kind", ID{Namespace: "prod", Name: "main"}, "prod/main"},
		"Nothing":    {"the zero ID", ID{}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.id.String()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNames verifies that the index returns the names that it was given,
// whatever their characters and lengths, and confuses no two.
func TestNames(t *testing.T) {
	long := string(make([]byte, 300))
	ids := []ID{{}, {Name: "a"}, {Namespace: "a"}, {Kind: "a"}, {Group: "a"}, {Namespace: "a", Name: "b/c"}, {Namespace: "a/b", Name: "c"},
		{Namespace: long, Name: long}, {Name: long + long}, {Namespace: long + long}, {Namespace: "\x00", Name: "\x01"}, {Name: "\x01\x00\x01"},
		{Set: "a"}, {Set: long}, {Namespace: "a", Set: "b"}, {Namespace: "a", Name: "b", Set: "c"}, {Namespace: "a", Set: "bc"}, {Namespace: long, Name: long, Set: long}}
	var woken []ID
	x := index.New(func(id ID) { woken = append(woken, id) }, nil)
	for _, id := range ids {
		waitFor(x, id, id)
	}
	for _, id := range ids {
		woken = nil
		x.Changed(id, full(2))
		if diff := cmp.Diff([]ID{id}, woken); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
	}
}

// TestOthersMeanwhile verifies that other callers get the lock while Changed
// wakes many waiters. A waiter that sees the change in the meantime is not
// woken for it.
func TestOthersMeanwhile(t *testing.T) {
	const n = 1000
	ref := object("ref")
	var x *index.Index
	woken := 0
	x = index.New(func(ID) {
		if woken++; woken > 1 {
			return
		}
		for i := range n {
			p := x.Begin(object(fmt.Sprint(i)))
			p.Register(ref).Saw(2)
			p.Wait(ref)
		}
	}, nil)
	for i := range n {
		waitFor(x, object(fmt.Sprint(i)), ref)
	}
	x.Changed(ref, full(2))
	if woken == 0 || woken > n/2 {
		t.Errorf("%d of %d were woken", woken, n)
	}
}

// TestWakePanics verifies that a panic of wake leaves the index intact.
func TestWakePanics(t *testing.T) {
	a, b, c, ref := object("a"), object("b"), object("c"), object("ref")
	woken := map[ID]int{}
	x := index.New(func(id ID) {
		if woken[id]++; woken[id] == 1 {
			panic("wake")
		}
	}, nil)
	x.SetBatch(1)
	for _, id := range []ID{a, b, c} {
		waitFor(x, id, ref)
	}
	for range 4 {
		func() {
			defer func() { _ = recover() }()
			x.Changed(ref, full(2))
		}()
	}
	if diff := cmp.Diff(map[ID]int{a: 2, b: 3, c: 4}, woken); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	for _, id := range []ID{a, b, c} {
		x.Forget(id)
	}
	if nodes, kinds := x.Sizes(); nodes != 0 || kinds != 0 {
		t.Errorf("%d objects and %d kinds are left", nodes, kinds)
	}
}

// TestAfterTheEnd verifies that calls on a pass that has ended change nothing,
// except that Wait wakes the waiter.
func TestAfterTheEnd(t *testing.T) {
	a, ref := object("a"), object("ref")
	cases := map[string]struct {
		reason string
		do     func(p *index.Pass, l index.Look)
		woken  int // by the call
		later  int // in all, after a change
	}{
		"Done":     {"Done can be deferred", func(p *index.Pass, _ index.Look) { p.Done() }, 0, 1},
		"Register": {"the pass has ended", func(p *index.Pass, _ index.Look) { p.Register(ref).Saw(2) }, 0, 1},
		"Saw":      {"no check has decided on this digest", func(_ *index.Pass, l index.Look) { l.Saw(2) }, 0, 1},
		"Wait":     {"the ref may have changed since the pass ended", func(p *index.Pass, _ index.Look) { p.Wait(object("b")) }, 1, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			woken := 0
			x := index.New(func(ID) { woken++ }, nil)
			p := x.Begin(a)
			l := p.Register(ref)
			l.Saw(1)
			p.Wait(ref)
			tc.do(&p, l)
			if x.Changed(ref, full(1)); tc.woken == 0 && woken != 0 {
				t.Errorf("%s: woken for the digest that it has seen", tc.reason)
			}
			if woken != tc.woken {
				t.Errorf("%s: woken %d times, want %d", tc.reason, woken, tc.woken)
			}
			x.Changed(ref, full(2))
			if woken != tc.later {
				t.Errorf("%s: after a change woken %d times, want %d", tc.reason, woken, tc.later)
			}
		})
	}
}

// TestOverruled verifies that calls on a pass change nothing while a later pass
// counts, except that Wait wakes the waiter.
func TestOverruled(t *testing.T) {
	a, ref := object("a"), object("ref")
	cases := map[string]struct {
		reason string
		do     func(p *index.Pass, l index.Look)
		woken  bool
	}{
		"Saw":  {"the later pass has not seen it", func(_ *index.Pass, l index.Look) { l.Saw(2) }, false},
		"Done": {"the later pass waits", func(p *index.Pass, _ index.Look) { p.Done() }, false},
		"Wait": {"the earlier pass might wait for a ref that the later pass does not wait for", func(p *index.Pass, _ index.Look) { p.Wait(ref) }, true},
		"More": {"the pass has ended by its Wait, although that did not count", func(p *index.Pass, _ index.Look) { p.Wait(ref); p.Register(ref).Saw(2) }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			woken := 0
			x := index.New(func(ID) { woken++ }, nil)
			waitFor(x, a, ref)
			earlier := x.Begin(a)
			l := earlier.Register(ref)
			later := x.Begin(a)
			later.Register(ref)
			tc.do(&earlier, l)
			if (woken > 0) != tc.woken {
				t.Errorf("%s: woken %d times", tc.reason, woken)
			}
			later.Wait(ref)
			woken = 0
			if x.Changed(ref, full(2)); woken != 1 {
				t.Errorf("%s: after a change woken %d times", tc.reason, woken)
			}
		})
	}
}

// TestFollowsUnseen verifies that a pass that does not look at a ref keeps what
// the last pass has seen of it, and that each change wakes it once.
func TestFollowsUnseen(t *testing.T) {
	a, ref := object("a"), object("ref")
	woken := 0
	x := index.New(func(ID) { woken++ }, nil)
	p := x.Begin(a)
	p.Register(ref).Saw(1)
	p.End(index.End{Followed: []index.Followed{{ID: ref, Digest: 11}}})
	steps := []struct {
		reason string
		c      index.Change
		woken  int
	}{
		{"the pass has seen it so", index.Change{Full: 2, Follow: 11}, 0},
		{"it changed", index.Change{Full: 3, Follow: 12}, 1},
		{"the waiter was woken for that change", index.Change{Full: 4, Follow: 12}, 1},
		{"it changed back", index.Change{Full: 1, Follow: 11}, 2},
	}
	for _, s := range steps {
		p := x.Begin(a)
		p.End(index.End{Followed: []index.Followed{{ID: ref}}})
		if x.Changed(ref, s.c); woken != s.woken {
			t.Errorf("%s: woken %d times, want %d", s.reason, woken, s.woken)
		}
	}
}

// TestEndsUnbelieved verifies that a pass ends with its Wait even if that does
// not count, whatever calls follow.
func TestEndsUnbelieved(t *testing.T) {
	a, ref := object("a"), object("ref")
	woken := 0
	x := index.New(func(ID) { woken++ }, nil)
	earlier := x.Begin(a)
	waitFor(x, a, ref) // a later pass
	earlier.Wait(ref)
	x.Forget(a)
	earlier.Register(ref)
	if nodes, _ := x.Sizes(); woken != 1 || nodes != 0 {
		t.Errorf("woken %d times, %d objects are left", woken, nodes)
	}
}

// TestAllAtOnce verifies that concurrent calls of any kind break nothing. After
// all waiters are forgotten, the index is empty.
func TestAllAtOnce(t *testing.T) {
	var x *index.Index
	depth := make(chan struct{}, 4)
	x = index.New(func(id ID) {
		select {
		case depth <- struct{}{}:
			x.Changed(id, full(1))
			<-depth
		default:
		}
	}, nil)
	x.SetBatch(2)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			any := func() ID { return object(fmt.Sprint(rand.IntN(6))) }
			for range 3000 {
				p := x.Begin(any())
				for range rand.IntN(4) {
					l, digest := p.Register(any()), rand.Uint64N(3)
					all.Go(func() { l.Saw(digest) })
				}
				switch rand.IntN(7) {
				case 0: // the pass never ends
				case 1:
					p.Done()
				case 2:
					x.Forget(any())
				case 3:
					for ref, n := range x.Refs() {
						_, _ = ref, n
					}
					x.Cycle(any(), nil)
				case 4:
					p.End(index.End{Followed: []index.Followed{{ID: any(), Digest: rand.Uint64N(3)}}})
				default:
					p.Wait(any(), any())
				}
				x.Changed(any(), full(rand.Uint64N(3)))
			}
		})
	}
	all.Wait()
	for i := range 6 {
		x.Forget(object(fmt.Sprint(i)))
	}
	if nodes, kinds := x.Sizes(); nodes != 0 || kinds != 0 {
		t.Errorf("%d objects and %d kinds are left", nodes, kinds)
	}
}

// TestKinds verifies that the index keeps few kinds without objects, however
// many kinds were referred to.
func TestKinds(t *testing.T) {
	x := index.New(func(ID) {}, nil)
	for i := range 1000 {
		p := x.Begin(object("a"))
		p.Register(ID{Kind: fmt.Sprint("Kind", i), Name: "ref"}).Saw(1)
		p.Done()
	}
	if nodes, _ := x.Sizes(); nodes != 0 || x.Kinds() > 65 {
		t.Errorf("%d objects and %d kinds are left", nodes, x.Kinds())
	}
}
