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
		if r := recover(); r != "index: New: wake is nil, give the function that puts a waiter into the work queue" {
			t.Error("New accepted an index that wakes no waiter")
		}
	}()
	index.New(nil, nil)
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

// TestAllWaitersIsBounded verifies that the number of waiters is counted up to a limit.
func TestAllWaitersIsBounded(t *testing.T) {
	x := index.New(func(ID) {}, nil)
	for i := range 10_002 {
		if waitFor(x, object(fmt.Sprint(i)), object("ref")); i < 9_998 {
			continue
		}
		if got, want := x.AllWaiters(object("ref"), ID{}), min(i+1, 10_000); got != want {
			t.Errorf("%d of %d waiters are counted, want %d", got, i+1, want)
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
	if nodes, _ := x.Sizes(); nodes != 0 || x.Kinds() != 64 {
		t.Errorf("%d objects and %d kinds are left", nodes, x.Kinds())
	}
	woken := 0
	x = index.New(func(ID) { woken++ }, nil)
	for i := range 100 { // a kind stays as long as one of its objects does
		waitFor(x, object(fmt.Sprint(i)), ID{Kind: fmt.Sprint("Kind", i), Name: "a"}, ID{Kind: fmt.Sprint("Kind", i), Name: "b"})
		waitFor(x, object(fmt.Sprint(i)), ID{Kind: fmt.Sprint("Kind", i), Name: "a"})
		x.Changed(ID{Kind: fmt.Sprint("Kind", i), Name: "a"}, full(2))
	}
	if woken != 100 {
		t.Errorf("%d of 100 waiters were woken", woken)
	}
}
