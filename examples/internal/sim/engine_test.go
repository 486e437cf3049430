package sim_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

func TestEngine(t *testing.T) {
	waits := func(name string) func() checks.Result {
		return blocks(checks.RetryIn(time.Minute), checks.WaitingFor(thing(name)))
	}
	cases := map[string]struct {
		reason string
		setUp  func(*things)
		end    time.Duration
		want   []string
	}{
		"Same": {"what is due at the same time runs in the order in which it was added", func(ts *things) {
			ts.add("b", checks.Proceed)
			ts.At(0, func() { ts.Happened("c", "moved") })
			ts.add("a", checks.Proceed)
		}, 0, []string{"0:00 b ready", "0:00 c moved", "0:00 a ready"}},
		"Due": {"what is due first runs first", func(ts *things) {
			ts.At(2*time.Minute, func() { ts.Happened("b", "moved") })
			ts.At(time.Minute, func() { ts.Happened("a", "moved") })
			ts.add("c", blocks(checks.RetryIn(90*time.Second)))
		}, 2 * time.Minute, []string{"0:00 c blocked", "1:00 a moved", "1:30 c blocked", "2:00 b moved"}},
		"Late": {"time does not go back", func(ts *things) {
			ts.At(time.Minute, func() { ts.At(0, func() { ts.Happened("a", "moved late") }) })
		}, time.Minute, []string{"1:00 a moved late"}},
		"AddedLater": {"a resource is due when it is added", func(ts *things) {
			ts.At(time.Minute, func() { ts.add("a", checks.Proceed) })
		}, time.Minute, []string{"1:00 a ready"}},
		"Resync": {"what is ready is looked at at the resync", func(ts *things) { ts.add("a", checks.Proceed) },
			11 * time.Minute, []string{"0:00 a ready", "5:00 a ready", "10:00 a ready"}},
		"Waits": {"what waits for an object looks at the resync only", func(ts *things) { ts.add("a", waits("x")) },
			6 * time.Minute, []string{"0:00 a blocked", "5:00 a blocked"}},
		"Wake": {"only those are woken who wait for it", func(ts *things) {
			ts.add("a", waits("x"))
			ts.add("b", waits("y"))
			ts.add("c", blocks(checks.RetryIn(3*time.Minute)))
			ts.add("d", blocks(checks.WaitingFor(thing("z"), thing("x"))))
			ts.At(2*time.Minute, func() { ts.Wake(thing("x")) })
		}, 2 * time.Minute, []string{"0:00 a blocked", "0:00 b blocked", "0:00 c blocked", "0:00 d blocked",
			"2:00 a blocked", "2:00 d blocked"}},
		"Ready": {"who waits for a resource is woken when it is ready, and not when it is the same as before", func(ts *things) {
			ts.add("a", waits("b"))
			ts.add("b", ts.until(2*time.Minute))
		}, 2 * time.Minute, []string{"0:00 a blocked", "0:00 b blocked", "0:00 a blocked", "1:00 b blocked",
			"2:00 b ready", "2:00 a blocked"}},
		"Reason": {"or is not for another reason", func(ts *things) {
			ts.add("a", waits("b"))
			ts.add("b", func() checks.Result {
				if ts.Clock.Elapsed() < 2*time.Minute {
					return checks.Block("No", "it is not", checks.RetryIn(time.Minute))
				}
				return checks.Block("Never", "it is not", checks.RetryIn(time.Minute))
			})
		}, 3 * time.Minute, []string{"0:00 a blocked", "0:00 b blocked", "0:00 a blocked", "1:00 b blocked",
			"2:00 b blocked", "2:00 a blocked", "3:00 b blocked"}},
		"State": {"and when Azure says something else of it", func(ts *things) {
			state := "Running"
			ts.addInState("b", checks.Proceed, func() string { return state })
			ts.At(time.Minute, func() { ts.add("a", waits("b")) })
			ts.At(7*time.Minute, func() { state = "Stopped" })
		}, 10 * time.Minute, []string{"0:00 b ready", "1:00 a blocked", "5:00 b ready", "6:00 a blocked",
			"10:00 b ready", "10:00 a blocked"}},
		"Changed": {"only the one is due whose spec was changed", func(ts *things) {
			ts.add("a", waits("x"))
			ts.add("b", waits("a"))
			ts.At(2*time.Minute, func() { ts.Changed(thing("a")) })
		}, 2 * time.Minute, []string{"0:00 a blocked", "0:00 b blocked", "2:00 a blocked"}},
		"NotLater": {"what is due stays so", func(ts *things) {
			ts.At(0, func() { ts.Changed(thing("a")); ts.Changed(thing("nobody")) })
			ts.add("a", checks.Proceed)
		}, 0, []string{"0:00 a ready"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ts := newThings()
			tc.setUp(ts)
			ts.Run(t.Context(), tc.end, func() bool { return false })
			if diff := cmp.Diff(tc.want, ts.watch.told); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEngineRun(t *testing.T) {
	never := func(*things) bool { return false }
	cases := map[string]struct {
		reason string
		end    time.Duration
		done   func(*things) bool
		want   []string
		now    time.Duration
	}{
		"Never": {"nothing is begun if all is done", time.Hour, func(*things) bool { return true }, nil, 0},
		"Done": {"time stands still when all is done", time.Hour, func(ts *things) bool { return ts.AllReady() },
			[]string{"0:00 a blocked", "1:00 a ready"}, time.Minute},
		"Before": {"what is due later does not run, and time passes up to the end", 59 * time.Second, never,
			[]string{"0:00 a blocked"}, 59 * time.Second},
		"At": {"what is due at the end runs", time.Minute, never,
			[]string{"0:00 a blocked", "1:00 a ready"}, time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ts := newThings()
			ts.add("a", ts.until(time.Minute))
			ts.Run(t.Context(), tc.end, func() bool { return tc.done(ts) })
			if diff := cmp.Diff(tc.want, ts.watch.told); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.now, ts.Clock.Elapsed()); diff != "" {
				t.Errorf("%s: the clock: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}

	// A run may go on.
	ts := newThings()
	ts.add("a", ts.until(time.Minute))
	for _, end := range []time.Duration{30 * time.Second, time.Minute} {
		ts.Run(t.Context(), end, ts.AllReady)
	}
	if diff := cmp.Diff([]string{"0:00 a blocked", "1:00 a ready"}, ts.watch.told); diff != "" {
		t.Errorf("in two runs: -want, +got:\n%s", diff)
	}
}

// What can be asked of an engine before, during and after a run.
func TestEnginePasses(t *testing.T) {
	type pass struct {
		Name    string
		At      time.Duration
		Try     int
		State   string
		Again   time.Duration
		Outcome flow.State
	}
	ts := newThings()
	ts.At(time.Hour, func() {})
	ts.add("b", ts.until(time.Minute))
	ts.add("a", checks.Proceed)
	cases := []struct {
		reason string
		end    time.Duration
		want   []pass
		ready  bool
	}{
		{"nothing was looked at, so nothing is ready", -1, []pass{{Name: "b"}, {Name: "a"}}, false},
		{"one is not ready", 0, []pass{{"b", 0, 1, "Succeeded", time.Minute, flow.StateBlocked},
			{"a", 0, 1, "Succeeded", sim.Resync, flow.StateReady}}, false},
		{"each is", time.Minute, []pass{{"b", time.Minute, 2, "Succeeded", time.Minute + sim.Resync, flow.StateReady},
			{"a", 0, 1, "Succeeded", sim.Resync, flow.StateReady}}, true},
	}
	for _, tc := range cases {
		ts.Run(t.Context(), tc.end, func() bool { return tc.end < 0 })
		var got []pass
		for _, p := range ts.Passes() {
			got = append(got, pass{p.Ref.Name, p.At, p.Try, p.State, p.Again, p.Outcome.State()})
			if due := ts.Due(p.Ref); !due.Equal(sim.Start.Add(p.Again)) {
				t.Errorf("%s: %s is due at %s, and again at %s", tc.reason, p.Ref, due, p.Again)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
		}
		if got := ts.AllReady(); got != tc.ready {
			t.Errorf("%s: all ready: %t", tc.reason, got)
		}
	}

	ts.Changed(thing("a"))
	if due := ts.Due(thing("a")); !due.Equal(ts.Clock.Now()) {
		t.Errorf("what was changed is due now, not at %s", due)
	}
	if due := ts.Due(thing("nobody")); due.Before(sim.Start.AddDate(100, 0, 0)) {
		t.Errorf("what is not there is due at %s", due)
	}
}

// What a pass over a resource comes to is what those see who refer to it.
func TestEngineReports(t *testing.T) {
	ts := newThings()
	ts.add("ready", checks.Proceed)
	ts.add("blocked", blocks(checks.RetryIn(time.Minute)))
	ts.Run(t.Context(), 0, func() bool { return false })
	want := map[string]checks.Readiness{
		"ready":   {State: checks.Ready, Reason: flow.ReasonSucceeded, Generation: 1, Observed: 1},
		"blocked": {State: checks.NotReady, Reason: "No", Message: "it is not", Generation: 1},
		"nobody":  {},
	}
	for name, readiness := range want {
		object, err := ts.Store.Resolve(t.Context(), thing(name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(readiness, object.Readiness); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
	}
}
