package index_test

import (
	"fmt"
	"testing"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/internal/testing/draws"
	"github.com/windlass-go/windlass/internal/testing/ratio"
	"pgregory.net/rapid"
)

// TestCycles verifies that Cycle finds a cycle in a graph of objects and sets if
// and only if a plain search finds one. Both cycles have the same length. A wait
// for a set is a wait for its members, unless they compete for the same set.
func TestCycles(t *testing.T) {
	draws.Times(t, 20)
	rapid.Check(t, func(t *rapid.T) {
		n, sets := rapid.IntRange(1, 30).Draw(t, "objects"), rapid.IntRange(0, 3).Draw(t, "sets")
		id := func(i int) ID {
			if i < n {
				return object(fmt.Sprint(i))
			}
			return ID{Kind: "Object", Set: fmt.Sprint(i)}
		}
		some := func(below int, what string) (ids []ID) {
			for _, i := range rapid.SliceOfN(rapid.IntRange(0, below-1), 0, 3).Draw(t, what) {
				ids = append(ids, id(i))
			}
			return ids
		}
		of := map[ID][]ID{}
		for i := range sets {
			of[id(n+i)] = some(n, "members")
		}
		members := func(set ID) []ID { return of[set] }
		got, want := index.New(func(ID) {}, nil), newPlain(func(ID) {})
		for i := range n {
			end := index.End{Awaited: some(n+sets, "refs")}
			for _, ref := range some(n+sets, "followed") {
				end.Followed = append(end.Followed, index.Followed{ID: ref, Digest: 1})
			}
			g, w := got.Begin(id(i)), want.begin(id(i))
			g.End(end)
			w.end(end)
		}
		for i := range n {
			sameCycle(t, want, id(i), members, got.Cycle(id(i), members))
			sameCycle(t, want, id(i), func(ID) []ID { return nil }, got.Cycle(id(i), nil))
		}
	})
}

// TestManyMembers verifies that Cycle examines a bounded number of members, and asks for
// no more of them.
func TestManyMembers(t *testing.T) {
	set := func(i int) ID { return ID{Kind: "Object", Set: fmt.Sprint(i)} }
	for last, want := range []int{4, 0} { // one member of the second set is left to examine
		x := index.New(func(ID) {}, nil)
		waitFor(x, object("w"), set(0), set(1), set(2))
		waitFor(x, object(fmt.Sprint(last)), object("w"))
		asked := 0
		way := x.Cycle(object("w"), func(ID) (all []ID) {
			if asked++; asked == 1 {
				for i := range index.MaxMembers - 1 {
					all = append(all, object(fmt.Sprint("other ", i)))
				}
				return all
			}
			return []ID{object("0"), object("1")}
		})
		if len(way) != want || asked != 2 {
			t.Errorf("with the member %d the cycle is %v; %d sets were asked", last, way, asked)
		}
	}
}

// ring returns a cycle of n entries.
func ring(n int) *index.Index {
	x := index.New(func(ID) {}, nil)
	for i := range n {
		waitFor(x, object(fmt.Sprint(i)), object(fmt.Sprint((i+1)%n)))
	}
	return x
}

// TestLongCycle verifies that 100,000 entries do not overflow anything.
func TestLongCycle(t *testing.T) {
	if way := ring(100_000).Cycle(object("7"), nil); len(way) != 100_001 {
		t.Errorf("the cycle has %d objects", len(way))
	}
}

// TestLongCycleRatio verifies that the time is proportional to the number of the
// entries.
func TestLongCycleRatio(t *testing.T) {
	ratio.InVerify(t)
	short, long := ring(1000), ring(10_000)
	if got := ratio.Of(func() { long.Cycle(object("0"), nil) }, func() { short.Cycle(object("0"), nil) }, ratio.Options{}); got > 60 { // a square of it takes 100 times as long
		t.Errorf("ten times as many entries take %.0f times as long", got)
	}
}
