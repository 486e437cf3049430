package index_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/ratio"
	"pgregory.net/rapid"
)

// waitFor runs a pass over waiter that ends in a Wait for refs.
func waitFor(x indexer, waiter ID, refs ...ID) {
	p := x.begin(waiter)
	for _, ref := range refs {
		p.register(ref)(1)
	}
	p.Wait(refs...)
}

func TestCycle(t *testing.T) {
	cases := map[string]struct {
		reason string
		waits  map[string]string // one letter for each object
		of     string
		want   string
	}{
		"None":      {"the waits end at an object that does not wait", map[string]string{"a": "b", "b": "c"}, "a", ""},
		"Unknown":   {"the index does not know the object", map[string]string{"a": "b"}, "z", ""},
		"Self":      {"it waits for itself", map[string]string{"a": "a"}, "a", "aa"},
		"Two":       {"each waits for the other", map[string]string{"a": "b", "b": "a"}, "a", "aba"},
		"FromThere": {"the cycle starts at the object of the call", map[string]string{"a": "b", "b": "a"}, "b", "bab"},
		"Hangs":     {"the object waits for an object on a cycle, but is on none, even if other objects wait for it", map[string]string{"a": "b", "b": "cd", "c": "d", "d": "c"}, "b", ""},
		"Shortest":  {"users read the cycle", map[string]string{"a": "bd", "b": "c", "c": "a", "d": "a"}, "a", "ada"},
		"Around":    {"other paths end, or lead to other cycles", map[string]string{"a": "bx", "b": "cb", "c": "da", "d": "c", "x": "y"}, "a", "abca"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			x := windlass(1)(func(ID) {})
			for from, to := range tc.waits {
				var refs []ID
				for _, name := range to {
					refs = append(refs, object(string(name)))
				}
				waitFor(x, object(from), refs...)
			}
			got := ""
			for _, id := range x.Cycle(object(tc.of), nil) {
				got += id.Name
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCycleOfThePass verifies that a waiter does not yet wait for the refs of a
// pass under way.
func TestCycleOfThePass(t *testing.T) {
	x := index.New(func(ID) {}, nil)
	a, b := object("a"), object("b")
	waitFor(realIndex{x}, a, b)
	p := x.Begin(b)
	p.Register(a).Saw(1)
	if way := x.Cycle(a, nil); way != nil {
		t.Errorf("Cycle returned %v before the pass ended", way)
	}
	p.Wait(a)
	if diff := cmp.Diff([]ID{a, b, a}, x.Cycle(a, nil)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestCycles verifies that Cycle finds a cycle in a graph if and only if a
// plain search finds one. Both cycles have the same length.
func TestCycles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "objects")
		got, want := windlass(1)(func(ID) {}), newPlain(faults{}, func(ID) {})
		for i := range n {
			var refs []ID
			for _, to := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(t, "refs") {
				refs = append(refs, object(fmt.Sprint(to)))
			}
			waitFor(got, object(fmt.Sprint(i)), refs...)
			waitFor(want, object(fmt.Sprint(i)), refs...)
		}
		for i := range n {
			id := object(fmt.Sprint(i))
			sameCycle(t, want, id, got.Cycle(id, nil))
		}
	})
}

// ring returns a cycle of n entries.
func ring(n int) indexer {
	x := windlass(1)(func(ID) {})
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
				waitFor(realIndex{x}, waiter, refs...)
			}
			got := x.Cycle(tc.of, func(set ID) []ID { return tc.members[set] })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
