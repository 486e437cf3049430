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
			t.Error("an index that wakes nobody")
		}
	}()
	index.New(nil)
}

func TestIDString(t *testing.T) {
	cases := map[string]struct {
		reason string
		id     ID
		want   string
	}{
		"Namespaced": {"as kubectl users write it", ID{Group: "example.com", Kind: "Cluster", Namespace: "prod", Name: "main"}, "Cluster prod/main"},
		"Cluster":    {"in no namespace", ID{Kind: "Node", Name: "n1"}, "Node n1"},
		"Kind":       {"any of a kind", ID{Kind: "Node"}, "Node"},
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

// TestNames: what comes out of the index is what was put in, whatever characters and lengths, and no two are mixed up.
func TestNames(t *testing.T) {
	long := string(make([]byte, 300))
	ids := []ID{{}, {Name: "a"}, {Namespace: "a"}, {Kind: "a"}, {Group: "a"}, {Namespace: "a", Name: "b/c"}, {Namespace: "a/b", Name: "c"},
		{Namespace: long, Name: long}, {Name: long + long}, {Namespace: long + long}, {Namespace: "\x00", Name: "\x01"}, {Name: "\x01\x00\x01"}}
	var woken []ID
	x := index.New(func(id ID) { woken = append(woken, id) })
	for _, id := range ids {
		waitFor(realIndex{x}, id, id)
	}
	for _, id := range ids {
		woken = nil
		x.Changed(id, 2)
		if diff := cmp.Diff([]ID{id}, woken); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
	}
}

// TestOthersMeanwhile: while many are woken others have the lock, so that who sees the change in the meantime is not
// woken for it any more.
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
	})
	for i := range n {
		waitFor(realIndex{x}, object(fmt.Sprint(i)), ref)
	}
	x.Changed(ref, 2)
	if woken == 0 || woken > n/2 {
		t.Errorf("%d of %d were woken", woken, n)
	}
}

// TestWakePanics: a wake that panics leaves the index as it should be.
func TestWakePanics(t *testing.T) {
	a, b, c, ref := object("a"), object("b"), object("c"), object("ref")
	woken := map[ID]int{}
	x := index.New(func(id ID) {
		if woken[id]++; woken[id] == 1 {
			panic("wake")
		}
	})
	x.SetBatch(1)
	for _, id := range []ID{a, b, c} {
		waitFor(realIndex{x}, id, ref)
	}
	for range 4 {
		func() {
			defer func() { _ = recover() }()
			x.Changed(ref, 2)
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

// TestAfterTheEnd: what is done with a pass that has ended changes nothing, and a Wait is not believed.
func TestAfterTheEnd(t *testing.T) {
	a, ref := object("a"), object("ref")
	cases := map[string]struct {
		reason string
		do     func(p *index.Pass, l index.Look)
		woken  int // by it
		later  int // by a change
	}{
		"Done":     {"so that it can be deferred", func(p *index.Pass, _ index.Look) { p.Done() }, 0, 1},
		"Register": {"it is too late", func(p *index.Pass, _ index.Look) { p.Register(ref).Saw(2) }, 0, 1},
		"Saw":      {"nobody has decided on it", func(_ *index.Pass, l index.Look) { l.Saw(2) }, 0, 1},
		"Wait":     {"whatever it is for, it may have changed", func(p *index.Pass, _ index.Look) { p.Wait(object("b")) }, 1, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			woken := 0
			x := index.New(func(ID) { woken++ })
			p := x.Begin(a)
			l := p.Register(ref)
			l.Saw(1)
			p.Wait(ref)
			tc.do(&p, l)
			if x.Changed(ref, 1); tc.woken == 0 && woken != 0 {
				t.Errorf("%s: woken for what it has seen", tc.reason)
			}
			if woken != tc.woken {
				t.Errorf("%s: woken %d times, want %d", tc.reason, woken, tc.woken)
			}
			x.Changed(ref, 2)
			if woken != tc.later {
				t.Errorf("%s: after a change woken %d times, want %d", tc.reason, woken, tc.later)
			}
		})
	}
}

// TestOverruled: what is done with a pass when a later one counts changes nothing, and a Wait is not believed.
func TestOverruled(t *testing.T) {
	a, ref := object("a"), object("ref")
	cases := map[string]struct {
		reason string
		do     func(p *index.Pass, l index.Look)
		woken  bool
	}{
		"Saw":  {"the later one has not seen it", func(_ *index.Pass, l index.Look) { l.Saw(2) }, false},
		"Done": {"the later one waits", func(p *index.Pass, _ index.Look) { p.Done() }, false},
		"Wait": {"it might wait for what the later one does not", func(p *index.Pass, _ index.Look) { p.Wait(ref) }, true},
		"More": {"it has ended by its Wait, though that did not count", func(p *index.Pass, _ index.Look) { p.Wait(ref); p.Register(ref).Saw(2) }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			woken := 0
			x := index.New(func(ID) { woken++ })
			waitFor(realIndex{x}, a, ref)
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
			if x.Changed(ref, 2); woken != 1 {
				t.Errorf("%s: after a change woken %d times", tc.reason, woken)
			}
		})
	}
}

// TestEndsUnbelieved: a pass ends with its Wait even if that does not count, whatever comes behind.
func TestEndsUnbelieved(t *testing.T) {
	a, ref := object("a"), object("ref")
	woken := 0
	x := index.New(func(ID) { woken++ })
	earlier := x.Begin(a)
	waitFor(realIndex{x}, a, ref) // a later one
	earlier.Wait(ref)
	x.Forget(a)
	earlier.Register(ref)
	if nodes, _ := x.Sizes(); woken != 1 || nodes != 0 {
		t.Errorf("woken %d times, %d objects are left", woken, nodes)
	}
}

// TestAllAtOnce: whatever is called at once, nothing breaks, and nothing is left when all are forgotten.
func TestAllAtOnce(t *testing.T) {
	var x *index.Index
	depth := make(chan struct{}, 4)
	x = index.New(func(id ID) {
		select {
		case depth <- struct{}{}:
			x.Changed(id, 1)
			<-depth
		default:
		}
	})
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
				switch rand.IntN(6) {
				case 0: // never ends
				case 1:
					p.Done()
				case 2:
					x.Forget(any())
				case 3:
					for ref, n := range x.Refs() {
						_, _ = ref, n
					}
					x.Cycle(any())
				default:
					p.Wait(any(), any())
				}
				x.Changed(any(), rand.Uint64N(3))
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

// TestKinds: however many kinds are referred to, few are kept when nobody does any more.
func TestKinds(t *testing.T) {
	x := index.New(func(ID) {})
	for i := range 1000 {
		p := x.Begin(object("a"))
		p.Register(ID{Kind: fmt.Sprint("Kind", i), Name: "ref"}).Saw(1)
		p.Done()
	}
	if nodes, _ := x.Sizes(); nodes != 0 || x.Kinds() > 65 {
		t.Errorf("%d objects and %d kinds are left", nodes, x.Kinds())
	}
}
