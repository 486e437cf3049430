package index_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/internal/testing/draws"
)

// names are few, so that the operations often meet, and similar, so that the
// index confuses them if it can.
var names = []ID{
	{Group: "a", Kind: "K", Namespace: "x", Name: "yz"},
	{Group: "b", Kind: "K", Namespace: "x", Name: "yz"},
	{Group: "a", Kind: "K", Namespace: "xy", Name: "z"},
	{},
	{Group: "a", Kind: "K", Namespace: "x", Set: "yz"},
}

// membersOf returns the members of the set among names. The index does not know
// one of them.
func membersOf(ID) []ID { return []ID{names[0], names[2], {Kind: "Unknown"}} }

// TestModel verifies that any calls wake the same waiters as in the plain
// index, and await the same refs.
func TestModel(t *testing.T) {
	draws.Times(t, 20)
	rapid.Check(t, sameAsPlain)
}

func sameAsPlain(t *rapid.T) {
	type passes struct {
		got  *index.Pass
		want *plainPass
	}
	type looks struct{ got, want func(uint64) }
	var gotWoken, wantWoken []ID
	var gotWakes, wantWakes []string
	exists := map[ID]bool{} // the sets with entries
	got := index.New(func(id ID) { gotWoken = append(gotWoken, id) }, func(set ID, has bool) {
		if exists[set] == has {
			t.Fatalf("%v is reported twice", set)
		}
		exists[set] = has
	})
	if rapid.Bool().Draw(t, "with reasons") {
		got.WakeFor = func(w index.Wake) {
			gotWoken, gotWakes = append(gotWoken, w.Waiter), append(gotWakes, fmt.Sprint(w))
		}
	}
	got.SetBatch(rapid.IntRange(1, 3).Draw(t, "batch"))
	want := newPlain(func(id ID) { wantWoken = append(wantWoken, id) })
	var begun []passes
	var looked []looks

	// Most calls meet if there are few objects. A set waits for nothing.
	objects := names[:rapid.IntRange(1, 4).Draw(t, "objects")]
	name, object := rapid.SampledFrom(append([]ID{names[4]}, objects...)), rapid.SampledFrom(objects)
	digest, digest0 := rapid.Uint64Range(1, 2), rapid.Uint64Range(0, 2)
	followed := rapid.Custom(func(t *rapid.T) index.Followed {
		return index.Followed{ID: name.Draw(t, "ref"), Digest: digest0.Draw(t, "follow")}
	})
	pass := func(t *rapid.T) passes { // a recent pass; most recent passes have not ended
		if len(begun) == 0 {
			t.Skip("no pass has begun")
		}
		return begun[rapid.IntRange(max(0, len(begun)-4), len(begun)-1).Draw(t, "pass")]
	}
	t.Repeat(map[string]func(*rapid.T){
		"Begin": func(t *rapid.T) {
			id := object.Draw(t, "waiter")
			p := got.Begin(id)
			begun = append(begun, passes{&p, want.begin(id)})
		},
		"Register": func(t *rapid.T) {
			p, ref := pass(t), name.Draw(t, "ref")
			looked = append(looked, looks{p.got.Register(ref).Saw, p.want.register(ref)})
		},
		"Saw": func(t *rapid.T) {
			if len(looked) == 0 {
				t.Skip("no ref is registered")
			}
			l, d := looked[rapid.IntRange(max(0, len(looked)-4), len(looked)-1).Draw(t, "look")], digest0.Draw(t, "digest")
			l.got(d)
			l.want(d)
		},
		"Wait": func(t *rapid.T) {
			p, e := pass(t), index.End{Awaited: rapid.SliceOfN(name, 0, 3).Draw(t, "refs")}
			p.got.End(e)
			p.want.end(e)
		},
		"End": func(t *rapid.T) {
			e := index.End{
				Awaited:  rapid.SliceOfN(name, 0, 2).Draw(t, "awaited"),
				Followed: rapid.SliceOfN(followed, 0, 3).Draw(t, "followed"),
			}
			p := pass(t)
			p.got.End(e)
			p.want.end(e)
		},
		"Done": func(t *rapid.T) {
			p := pass(t)
			p.got.Done()
			p.want.done()
		},
		"Changed": func(t *rapid.T) {
			ref, c := name.Draw(t, "ref"), index.Change{Full: digest.Draw(t, "full"), Follow: digest0.Draw(t, "follow")}
			if rapid.Bool().Draw(t, "by another object") {
				c.By = name.Draw(t, "by")
			}
			c.Root = rapid.IntRange(0, 3).Draw(t, "root") == 0
			got.Changed(ref, c)
			want.changed(ref, c)
			if got.WakeFor != nil {
				for _, w := range want.wakes {
					wantWakes = append(wantWakes, fmt.Sprint(w))
				}
			}
		},
		"SetRoot": func(t *rapid.T) {
			id, root := object.Draw(t, "waiter"), rapid.SampledFrom([]index.Root{{}, {State: "missing"}, {State: "deleting"}}).Draw(t, "root")
			if got, want := got.SetRoot(id, root), want.setRoot(id, root); got != want {
				t.Fatalf("SetRoot(%v, %v) = %v, want %v", id, root, got, want)
			}
		},
		"Forget": func(t *rapid.T) {
			id := object.Draw(t, "waiter")
			got.Forget(id)
			want.forget(id)
		},
		"": func(t *rapid.T) {
			if diff := cmp.Diff(sorted(wantWoken), sorted(gotWoken)); diff != "" {
				t.Fatalf("woken: -want, +got:\n%s", diff)
			}
			gotWoken, wantWoken = nil, nil
			slices.Sort(gotWakes)
			slices.Sort(wantWakes)
			if diff := cmp.Diff(wantWakes, gotWakes); diff != "" {
				t.Fatalf("the reasons: -want, +got:\n%s", diff)
			}
			gotWakes, wantWakes = nil, nil
			for _, id := range names {
				if want := id.Set != "" && want.objects()[id]; exists[id] != want {
					t.Fatalf("the set %v has entries: %v, want %v", id, exists[id], want)
				}
			}
			if diff := cmp.Diff(want.refs(), maps.Collect(got.Refs())); diff != "" {
				t.Fatalf("awaited: -want, +got:\n%s", diff)
			}
			for _, id := range names {
				if diff := cmp.Diff(sorted(want.waits(id)), sorted(got.Waits(id))); diff != "" {
					t.Fatalf("%v waits for: -want, +got:\n%s", id, diff)
				}
				var wantRoot index.Root
				if w := want.waiters[id]; w != nil {
					wantRoot = w.root
				}
				if root, waits := got.Root(id); root != wantRoot || waits != (len(want.waits(id)) > 0) {
					t.Fatalf("the root cause of %v is %v (it waits: %v), want %v", id, root, waits, wantRoot)
				}
				all := want.allWaiters(id)
				for _, except := range names {
					n := len(all)
					if all[except] {
						n--
					}
					if got := got.AllWaiters(id, except); got != n {
						t.Fatalf("%d objects without %v wait for %v, want %d of %v", got, except, id, n, all)
					}
				}
				gotFull, gotFollow := got.Needs(id)
				if wantFull, wantFollow := want.needs(id); gotFull != wantFull || gotFollow != wantFollow {
					t.Fatalf("%v needs %v and %v, want %v and %v", id, gotFull, gotFollow, wantFull, wantFollow)
				}
				if id.Set == "" {
					sameCycle(t, want, id, membersOf, got.Cycle(id, membersOf))
				}
			}
			nodes, kinds := got.Sizes() // an object that no waiter waits for and no pass reads is freed
			if diff := cmp.Diff(want.sizes(), [2]int{nodes, kinds}); diff != "" {
				t.Fatalf("objects and kinds: -want, +got:\n%s", diff)
			}
		},
	})
}

// TestEnds ends a pass in each way, after each last pass. Each change wakes the same waiters
// as in the plain index.
func TestEnds(t *testing.T) {
	waiter, ref := names[0], names[1]
	type pass struct {
		looks []uint64 // the digests that it has seen; 0: none; 3: 1, reported twice
		end   index.End
	}
	end := func(awaited int, digests ...uint64) (e index.End) {
		for range awaited {
			e.Awaited = append(e.Awaited, ref)
		}
		for _, d := range digests {
			e.Followed = append(e.Followed, index.Followed{ID: ref, Digest: d})
		}
		return e
	}
	var changes []index.Change
	for _, full := range []uint64{0, 1, 2} {
		for _, follow := range []uint64{0, 1, 2} {
			changes = append(changes, index.Change{Full: full, Follow: follow})
		}
	}
	for _, last := range []*pass{nil, {nil, end(1)}, {[]uint64{0}, end(1)}, {[]uint64{1}, end(1)}, {nil, end(0, 1)}, {[]uint64{0}, end(0, 1)}, {[]uint64{1}, end(0, 1)}, {[]uint64{1}, end(1, 1)}} {
		for _, looks := range [][]uint64{nil, {0}, {1}, {1, 1}, {1, 2}, {1, 0}, {3}, {3, 0}} {
			for awaited := range 3 {
				for _, digests := range [][]uint64{nil, {0}, {1}, {2}, {0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}} {
					for _, first := range changes {
						for _, second := range changes {
							got, want := 0, 0
							x, model := index.New(func(ID) { got++ }, nil), newPlain(func(ID) { want++ })
							for _, p := range []*pass{last, {looks, end(awaited, digests...)}} {
								if p == nil {
									continue
								}
								g, w := x.Begin(waiter), model.begin(waiter)
								for _, d := range p.looks {
									look, plain := g.Register(ref).Saw, w.register(ref)
									if d == 3 {
										d = 1
										look(d)
										plain(d)
									}
									look(d)
									plain(d)
								}
								g.End(p.end)
								w.end(p.end)
							}
							for _, c := range []index.Change{first, second} {
								x.Changed(ref, c)
								model.changed(ref, c)
							}
							if got != want {
								t.Fatalf("last %+v, then %v and the end %d, %v, and the changes %+v and %+v: woken %d times, want %d", last, looks, awaited, digests, first, second, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// sameCycle verifies that way is a cycle if and only if the plain index has
// one, and that both have the same length.
func sameCycle(t *rapid.T, want *plain, id ID, members func(set ID) []ID, way []ID) {
	shortest := want.cycle(id, members)
	if len(way) != len(shortest) {
		t.Fatalf("the cycle from %v is %v, and a shortest one is %v", id, way, shortest)
	}
	if len(way) == 0 {
		return
	}
	if way[0] != id || way[len(way)-1] != id {
		t.Fatalf("%v is not a cycle from %v", way, id)
	}
	for i, from := range way[:len(way)-1] {
		if from.Set != "" {
			if to := way[i+1]; to == way[i-1] || !slices.Contains(members(from), to) {
				t.Fatalf("in %v, %v is not another member of %v", way, to, from)
			}
		} else if !want.waiters[from].kept[way[i+1]].awaits {
			t.Fatalf("in %v, %v does not wait for %v", way, from, way[i+1])
		}
	}
}

// TestCallsBack verifies that wake may call any function, and that all waiters
// that are due at that time are still woken.
func TestCallsBack(t *testing.T) {
	draws.Times(t, 4)
	rapid.Check(t, callsBack)
}

func callsBack(t *rapid.T) {
	ref := object("ref")
	waiters := rapid.SliceOfNDistinct(rapid.StringMatching("[a-h]"), 1, 8, rapid.ID).Draw(t, "waiters")
	passes := map[ID]*index.Pass{}
	settled, woken := map[ID]bool{}, map[ID]bool{}
	var x *index.Index
	look := func(id ID, digest uint64) {
		p := x.Begin(id)
		passes[id] = &p
		p.Register(ref).Saw(digest)
	}
	x = index.New(func(id ID) {
		woken[id] = true
		other := object(rapid.SampledFrom(waiters).Draw(t, "other"))
		switch rapid.IntRange(0, 4).Draw(t, "act") {
		case 0:
			x.Forget(other)
			settled[other] = true
		case 1:
			passes[other].Wait(ref) // with the digest that it has seen, if it has not ended
		case 2:
			x.Forget(other)
			look(other, 2) // reads the present state
			passes[other].Wait(ref)
			settled[other] = true
		case 4:
			x.AllWaiters(ref, other)
		case 3:
			if len(woken) < 3 {
				x.Changed(ref, full(2)) // another caller has read it
			}
		}
	}, nil)
	x.SetBatch(rapid.IntRange(1, 3).Draw(t, "batch"))
	for _, name := range waiters {
		look(object(name), 1)
		if rapid.Bool().Draw(t, "blocked") {
			passes[object(name)].Wait(ref)
		}
	}
	x.Changed(ref, full(2))
	for _, name := range waiters {
		if id := object(name); !woken[id] && !settled[id] {
			t.Fatalf("%v was not woken", id)
		}
	}
	for _, name := range waiters {
		x.Forget(object(name))
	}
	if nodes, kinds := x.Sizes(); nodes != 0 || kinds != 0 {
		t.Fatalf("%d objects and %d kinds are left", nodes, kinds)
	}
}

// TestRefsCallBack verifies that a loop over the refs may change the index, and
// sees each ref at most once.
func TestRefsCallBack(t *testing.T) {
	x := index.New(func(ID) {}, nil)
	x.SetBatch(2)
	const n = 100
	for i := range n {
		for _, ref := range []ID{object(string(rune('a' + i))), object("all")} {
			p := x.Begin(ID{Name: string(rune('a'+i)) + ref.Name})
			p.Register(ref)
			p.Wait(ref)
		}
	}
	seen := map[ID]int{}
	for ref, waiters := range x.Refs() {
		seen[ref]++
		if want := map[bool]int{true: n, false: 1}[ref == object("all")]; waiters != want || seen[ref] > 1 {
			t.Errorf("%v: seen %d times, %d waiters, want %d", ref, seen[ref], waiters, want)
		}
		x.Forget(ID{Name: ref.Name + ref.Name})
		if len(seen) == n/2 {
			break
		}
	}
	if n := x.AllWaiters(object("all"), ID{}); n == 0 {
		t.Error("the loop has not given up the lock, or has forgotten all waiters")
	}
	if len(seen) != n/2 {
		t.Errorf("%d refs were seen", len(seen))
	}
	if got := len(slices.Collect(maps.Keys(maps.Collect(x.Refs())))); got < n/2 || got > n {
		t.Errorf("%d refs are left", got)
	}
}
