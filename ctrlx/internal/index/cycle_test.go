package index_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/internal/testing/ratio"
	"pgregory.net/rapid"
)

// TestCycles verifies that Cycle finds a cycle in a graph of objects and sets if
// and only if a plain search finds one. Both cycles have the same length. A wait
// for a set is a wait for its members, unless they compete for the same set.
func TestCycles(t *testing.T) {
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
			refs := some(n+sets, "refs")
			waitFor(got, id(i), refs...)
			p := want.begin(id(i))
			for _, ref := range refs {
				p.register(ref)(1)
			}
			p.end(index.End{Awaited: refs})
		}
		for i := range n {
			sameCycle(t, want, id(i), members, got.Cycle(id(i), members))
		}
	})
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

// A wait for a set is a wait for its members, unless they compete for the same
// set.
func TestCycleThroughSets(t *testing.T) {
	cluster, a, b, c := object("cluster"), object("a"), object("b"), object("c")
	users, claims, owners := ID{Kind: "K", Set: "users"}, ID{Kind: "K", Set: "claims"}, ID{Kind: "K", Set: "owners"}
	cases := map[string]struct {
		reason  string
		waits   map[ID][]ID
		members map[ID][]ID
		of      ID
		want    []ID
	}{
		"User":       {"a user waits for the object that waits for its last user", map[ID][]ID{cluster: {users}, a: {cluster}}, map[ID][]ID{users: {a, b}}, cluster, []ID{cluster, users, a, cluster}},
		"FromUser":   {"the same cycle from its other end", map[ID][]ID{cluster: {users}, a: {cluster}}, map[ID][]ID{users: {a, b}}, a, []ID{a, cluster, users, a}},
		"NoUser":     {"no member waits", map[ID][]ID{cluster: {users}}, map[ID][]ID{users: {a, b}}, cluster, nil},
		"Alone":      {"the waiter is the only member", map[ID][]ID{a: {claims}}, map[ID][]ID{claims: {a}}, a, nil},
		"Claimants":  {"the first of three claimants waits for none", map[ID][]ID{b: {claims}, c: {claims}}, map[ID][]ID{claims: {a, b, c}}, b, nil},
		"Competitor": {"a claimant that waits for the waiter need not be the first one", map[ID][]ID{a: {claims}, b: {claims, a}}, map[ID][]ID{claims: {b, c}}, a, nil},
		"Competes":   {"the waiter need not be the first claimant", map[ID][]ID{a: {claims, b}, b: {claims}}, map[ID][]ID{claims: {a, b, c}}, a, nil},
		"TwoSets":    {"members of two sets wait for each other", map[ID][]ID{a: {users}, b: {owners}}, map[ID][]ID{users: {b}, owners: {a}}, a, []ID{a, users, b, owners, a}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			x := index.New(func(ID) {}, nil)
			for waiter, refs := range tc.waits {
				waitFor(x, waiter, refs...)
			}
			got := x.Cycle(tc.of, func(set ID) []ID { return tc.members[set] })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
