package memory

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// The store keeps what Change wrote, and no entry that says nothing.
func TestStore(t *testing.T) {
	verdicts := []Verdict{{}, {State: flow.StateBlocked, Reason: "a"}, {State: flow.StateFailed, Reason: "b", Point: "p", Link: "l"}}
	refs := [][]checks.Ref{nil, {{Kind: "A"}}, {{Kind: "A"}, {Kind: "B"}}}
	unstored := []*Unstored{nil, {Read: "a", Wanted: "b"}, {Read: "c", Wanted: "d"}}
	orphans := []*Orphan{nil, {Busy: true}, {Gone: true}}
	fights, written := []*Fight{nil, {Count: 1}}, []*Written{nil, {Version: "1"}}
	rapid.Check(t, func(t *rapid.T) {
		var s Store
		model := map[types.NamespacedName]Entry{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			name := types.NamespacedName{Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")}
			want := model[name]
			if rapid.IntRange(0, 9).Draw(t, "forget") == 0 {
				s.Forget(name)
				want = Entry{Rare: Rare{Orphan: want.Orphan, Unstored: want.Unstored}}
			} else {
				e := want
				switch rapid.IntRange(0, 6).Draw(t, "field") {
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
				case 6:
					e.Fight, e.Written = rapid.SampledFrom(fights).Draw(t, "fight"), rapid.SampledFrom(written).Draw(t, "written")
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
			if rapid.IntRange(0, 5).Draw(t, "due") == 0 {
				s.Due(name, time.Unix(12, 0))
				if want.TimedOut || want.Verdict != (Verdict{}) {
					want.Again = 12
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

// A pass clears a request, a state that the last pass left, or a scheduled correction, also if there is only one of them.
func TestBeginOne(t *testing.T) {
	name := types.NamespacedName{Name: "a"}
	for _, was := range []Entry{{Kept: true}, {Retry: true}, {Rare: Rare{Left: &Left{}}}, {Rare: Rare{Fight: &Fight{Scheduled: true}}}} {
		var s Store
		s.Change(name, func(e *Entry) { *e = was })
		before := s.Begin(name)
		if e := s.Get(name); !cmp.Equal(before, was) || e.Retry || e.Left != nil || e.Fight != nil && e.Fight.Scheduled {
			t.Errorf("it was %+v, and is %+v; Begin returned %+v", was, e, before)
		}
	}
}

// A conflict is no error. The pass after it comes later with each further one.
func TestEnded(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{}, "a", nil)
	broken := errors.New("broken")
	steps := []struct {
		reason  string
		verdict Verdict
		after   time.Duration
		err     error
		want    string // the requeue, the error, the conflicts in a row, when the next pass is due
	}{
		{"a pass ends without an error", Verdict{}, time.Minute, nil, "1m0s <nil> 0 0"},
		{"the object was changed meanwhile", Verdict{}, time.Minute, conflict, "50ms <nil> 1 0"},
		{"the cache is still old", Verdict{}, 0, conflict, "100ms <nil> 2 0"},
		{"another error keeps the number", Verdict{}, 0, broken, "0s broken 2 0"},
		{"the cache is still old", Verdict{}, 0, conflict, "200ms <nil> 3 0"},
		{"the pass succeeds", Verdict{}, 0, nil, "0s <nil> 0 0"},
		{"the first conflict again", Verdict{}, 0, conflict, "50ms <nil> 1 0"},
		{"a single one is forgotten, too", Verdict{}, 0, nil, "0s <nil> 0 0"},
		{"a pass with a verdict says when the next one is due", Verdict{Reason: "R"}, time.Minute, nil, "1m0s <nil> 0 60"},
		{"no pass is planned, so the plan stays", Verdict{Reason: "R"}, 0, nil, "0s <nil> 0 60"},
	}
	var s Store
	var lines []string
	ctx := logr.NewContext(t.Context(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{Verbosity: 1}))
	name := types.NamespacedName{Name: "a"}
	now := func() time.Time { return time.Unix(0, 0) }
	end := func(after time.Duration, err error) string {
		res, err := s.Ended(ctx, name, reconcile.Result{RequeueAfter: after}, err, now)
		e := s.Get(name)
		return fmt.Sprint(res.RequeueAfter, " ", err, " ", e.Failures, " ", e.Again)
	}
	for _, step := range steps {
		s.Change(name, func(e *Entry) { e.Verdict = step.verdict })
		if got := end(step.after, step.err); got != step.want {
			t.Errorf("%s: got %s, want %s", step.reason, got, step.want)
		}
	}
	if want := `"level"=1 "msg"="the object was changed meanwhile, or created again; it is read again" "conflict"=`; len(lines) != 4 || !strings.HasPrefix(lines[0], want) {
		t.Errorf("the log has %q", lines)
	}
	s.Change(name, func(e *Entry) { e.Verdict = Verdict{} })
	for range 300 {
		end(0, conflict)
	}
	if got := end(0, conflict); got != "30s <nil> 101 0" {
		t.Errorf("after many conflicts: %s", got)
	}
}

func TestVerdict(t *testing.T) {
	for v, want := range map[Verdict]string{
		{}: "", {State: flow.StateBlocked, Reason: "No", Link: "l"}: "blocked No", {State: flow.StateFailed}: "failed",
	} {
		if got := v.String(); got != want {
			t.Errorf("%+v: got %q, want %q", v, got, want)
		}
	}
}

// The first pass over an object may be left out, unless an event concerns it.
func TestSuccess(t *testing.T) {
	a, b, c := types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "b"}, types.NamespacedName{Namespace: "a", Name: "a"}
	stored := Success{Digest: 1, Unix: 2}
	steps := []struct {
		reason string
		do     func(*Store)
		last   Success
		later  bool // of a
		other  bool // of c
	}{
		{"nothing is known", func(*Store) {}, Success{}, false, false},
		{"a pass was left out", func(s *Store) { s.Succeeded(a, stored) }, stored, true, false},
		{"the success of another object", func(s *Store) { s.Succeeded(b, Success{}) }, stored, true, false},
		{"an event keeps the success", func(s *Store) { s.Caused(a) }, stored, true, false},
		{"the object is deleted in the cloud", func(s *Store) { s.ForgetSuccess(a) }, Success{}, false, false},
		{"an event is the first", func(s *Store) { s.Caused(a) }, Success{}, true, false},
		{"the object is gone", func(s *Store) { s.Forget(a) }, Success{}, false, false},
		{"an event concerns any object", func(s *Store) { s.CausedAll() }, Success{}, true, true},
	}
	var s Store
	for _, step := range steps {
		step.do(&s)
		last, later := s.Success(a)
		if _, other := s.Success(c); last != step.last || later != step.later || other != step.other {
			t.Errorf("%s: %+v, %t, of the other object %t", step.reason, last, later, other)
		}
	}
	seen := map[uint64]string{}
	for _, texts := range [][]string{{"a", "b"}, {"ab"}, {"b", "a"}, {"a", "b", ""}, nil} {
		seen[Hash(texts...)] = fmt.Sprintf("%q", texts)
	}
	if len(seen) != 5 || seen[Hash("a", "b")] != `["a" "b"]` {
		t.Errorf("other texts have one hash, or the same ones have two: %v", seen)
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
	if got := Delay(500, time.Second, 10*time.Second); got != 10*time.Second {
		t.Errorf("after 500: %s", got)
	}
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
	want := []Pass{{time.Unix(9, 0), 9, Verdict{Reason: "8"}}, {time.Unix(8, 0), 8, Verdict{Reason: "7"}}, {time.Unix(7, 0), 7, Verdict{Reason: "7"}}, {time.Unix(6, 0), 6, Verdict{Reason: "6"}}, {time.Unix(5, 0), 5, Verdict{Reason: "5"}}}
	for i := range 10 {
		s.Passed(last, Pass{time.Unix(int64(i), 0), time.Duration(i), Verdict{Reason: fmt.Sprint(i - i/8%2)}})
	}
	if diff := cmp.Diff(want, s.Passes(last)); diff != "" {
		t.Errorf("the last five passes: -want, +got:\n%s", diff)
	}
	s.Forget(last)
	if all := s.Passes(last); all != nil || s.Histories() != MaxHistories-1 {
		t.Errorf("a forgotten object has the passes %v", all)
	}
}
