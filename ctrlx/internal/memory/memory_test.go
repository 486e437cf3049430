package memory

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// The store keeps what Change wrote, and no entry that says nothing.
func TestStore(t *testing.T) {
	verdicts := []Verdict{{}, {State: flow.StateBlocked, Reason: "a"}, {State: flow.StateFailed, Reason: "b", Point: "p", Link: "l"}}
	refs := [][]checks.Ref{nil, {{Kind: "A"}}, {{Kind: "A"}, {Kind: "B"}}}
	unstored := []*Unstored{nil, {"a", "b"}, {"c", "d"}}
	orphans := []*Orphan{nil, {Busy: true}, {Gone: true}}
	rapid.Check(t, func(t *rapid.T) {
		var s Store
		model := map[types.NamespacedName]Entry{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			name := types.NamespacedName{Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")}
			want := model[name]
			if rapid.IntRange(0, 9).Draw(t, "forget") == 0 {
				s.Forget(name)
				want = Entry{Rare: Rare{Orphan: want.Orphan}}
			} else {
				e := want
				switch rapid.IntRange(0, 5).Draw(t, "field") {
				case 0:
					e.Verdict, e.Since = rapid.SampledFrom(verdicts).Draw(t, "verdict"), rapid.Int64Range(1, 9).Draw(t, "since")
				case 1:
					e.Follows = rapid.SampledFrom(refs).Draw(t, "follows")
				case 2:
					e.Unstored = rapid.SampledFrom(unstored).Draw(t, "unstored")
				case 3:
					e.Kept, e.Silent = rapid.Bool().Draw(t, "kept"), rapid.Bool().Draw(t, "silent")
				case 4:
					e.Retry, e.Failures = rapid.Bool().Draw(t, "retry"), rapid.Uint8Range(0, 2).Draw(t, "failures")
				case 5:
					e.TimedOut, e.Again = rapid.Bool().Draw(t, "timed out"), rapid.Int64Range(0, 9).Draw(t, "again")
				}
				if rapid.IntRange(0, 5).Draw(t, "orphan") == 0 {
					e.Orphan = rapid.SampledFrom(orphans).Draw(t, "vanished")
				}
				before := s.Change(name, func(at *Entry) { *at = e })
				if diff := cmp.Diff(want, before); diff != "" {
					t.Fatalf("before: -want, +got:\n%s", diff)
				}
				if want = e; e.Verdict == (Verdict{}) && !e.TimedOut {
					want.Since, want.Again = 0, 0
				}
			}
			if model[name] = want; cmp.Equal(want, Entry{}) {
				delete(model, name)
			}
			if diff := cmp.Diff(want, s.Get(name)); diff != "" {
				t.Fatalf("-want, +got:\n%s", diff)
			}
			if all := s.All(); len(all) != len(model) {
				t.Fatalf("%d entries, want %d: %v", len(all), len(model), all)
			}
		}
	})
}

// A pass takes what came before it began, once.
func TestBegin(t *testing.T) {
	var s Store
	name := types.NamespacedName{Name: "a"}
	if e := s.Begin(name); !cmp.Equal(e, Entry{}) || len(s.All()) > 0 {
		t.Errorf("a pass over an unknown object: %+v, and %d entries", e, len(s.All()))
	}
	was := Entry{Retry: true, Kept: true, Rare: Rare{Fight: &Fight{Count: 2, Scheduled: true, Noted: true}}}
	s.Change(name, func(e *Entry) { *e = was })
	if diff := cmp.Diff(was, s.Begin(name)); diff != "" {
		t.Errorf("the first pass: -want, +got:\n%s", diff)
	}
	want := Entry{Kept: true, Rare: Rare{Fight: &Fight{Count: 2, Noted: true}}}
	if diff := cmp.Diff(want, s.Begin(name)); diff != "" || !was.Fight.Scheduled {
		t.Errorf("the second pass: -want, +got:\n%s", diff)
	}
	s.Change(name, func(e *Entry) { e.Retry = true })
	if !s.Begin(name).Retry || s.Get(name).Retry {
		t.Error("a request during the second pass is lost, or counts twice")
	}
}

// A value that Get has returned never changes, because a pass reads it without a lock.
func TestGetIsACopy(t *testing.T) {
	var s Store
	name := types.NamespacedName{Name: "a"}
	s.Change(name, func(e *Entry) { e.Follows = []checks.Ref{{Kind: "A"}} })
	e := s.Get(name)
	s.Change(name, func(e *Entry) { e.Follows = []checks.Ref{{Kind: "B"}} })
	if e.Follows[0].Kind != "A" {
		t.Errorf("it is %+v", e)
	}
}

func TestDelay(t *testing.T) {
	for n, want := range []time.Duration{1, 2, 4, 8, 10, 10} {
		if got := Delay(n, time.Second, 10*time.Second); got != want*time.Second {
			t.Errorf("after %d: %s, want %s", n, got, want*time.Second)
		}
	}
}

// The passes of one object more drop those of another one.
func TestPassesAreBounded(t *testing.T) {
	var s Store
	for i := range MaxHistories + 10 {
		s.Passed(types.NamespacedName{Name: fmt.Sprint(i)}, Pass{At: time.Unix(int64(i+1), 0)})
	}
	if n := s.Histories(); n != MaxHistories {
		t.Errorf("%d", n)
	}
	last := types.NamespacedName{Name: fmt.Sprint(MaxHistories + 9)}
	if all := s.Passes(last); len(all) != 1 || all[0].At.Unix() != MaxHistories+10 {
		t.Errorf("the passes of the last object are %v", all)
	}
	s.Forget(last)
	if all := s.Passes(last); all != nil || s.Histories() != MaxHistories-1 {
		t.Errorf("a forgotten object has the passes %v", all)
	}
}
