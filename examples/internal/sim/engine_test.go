package sim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

func thing(name string) checks.Ref { return checks.Ref{Kind: "Thing", Name: name} }

// add adds a resource with one check. The check returns result().
func add(e *sim.Engine, name string, result func() checks.Result, state func() string) {
	r := flow.New("Thing", flow.Operations[string]{
		Key:   strings.Clone,
		Apply: func(context.Context, *flow.Request[string]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[string]{PreCheck: chain.New(checks.Check("Sure",
		func(context.Context, *checks.Request[string]) (checks.Result, error) { return result(), nil }))}, e.Options(1)...)
	sim.Add(e, r, sim.Resource[string]{Ref: thing(name), Value: name, State: state})
}

func blocks(reason string, opts ...checks.BlockOption) checks.Result {
	return checks.Block(reason, "it is not", append(opts, checks.WithAfter(time.Minute))...)
}

// TestWakes: a pass that changes the visible state of a resource wakes its
// waiters.
func TestWakes(t *testing.T) {
	cases := map[string]struct {
		reason string
		result func(now time.Duration) checks.Result
		state  func(now time.Duration) string
		want   []time.Duration // passes of the waiter, which is added at 1:00
	}{
		"Same": {"an unchanged resource wakes no waiter",
			func(time.Duration) checks.Result { return blocks("No") }, nil, []time.Duration{1, 6}},
		"Ready": {"a resource that becomes ready wakes its waiters", func(now time.Duration) checks.Result {
			if now < 3*time.Minute {
				return blocks("No")
			}
			return checks.Proceed()
		}, nil, []time.Duration{1, 3, 8}},
		"Reason": {"a resource that is blocked for another reason wakes its waiters", func(now time.Duration) checks.Result {
			if now < 3*time.Minute {
				return blocks("No")
			}
			return blocks("Never")
		}, nil, []time.Duration{1, 3, 8}},
		"State": {"a state that the cloud changes wakes the waiters", func(time.Duration) checks.Result { return checks.Proceed() },
			func(now time.Duration) string {
				if now < 2*time.Minute {
					return "Running"
				}
				return "Stopped"
			}, []time.Duration{1, 5}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := sim.NewEngine()
			var state func() string
			if tc.state != nil {
				state = func() string { return tc.state(e.Elapsed()) }
			}
			add(e, "b", func() checks.Result { return tc.result(e.Elapsed()) }, state)
			e.At(time.Minute, "", "", func() {
				add(e, "a", func() checks.Result { return blocks("Waits", checks.WithWaitingFor(thing("b"))) }, nil)
			})
			e.RunUntil(t.Context(), 9*time.Minute, func() bool { return false })
			var got []time.Duration
			for _, p := range e.Passes(thing("a")) {
				got = append(got, p.At/time.Minute)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReports: the store has the readiness after each pass, and an error names
// the resources that are not ready.
func TestReports(t *testing.T) {
	e := sim.NewEngine()
	e.At(time.Hour, "", "", nil)
	add(e, "ready", checks.Proceed, func() string { return "Succeeded" })
	add(e, "blocked", func() checks.Result { return blocks("No") }, func() string { return "Failed" })
	if e.AllReady() || !e.Outcome(thing("ready")).IsZero() {
		t.Error("no resource is ready before its first pass")
	}
	var out strings.Builder
	err := e.Show(t.Context(), &out, 90*time.Second, e.AllReady, e.NotReady, "all is ready")
	story := "00:00  Thing ready    ready; Azure says Succeeded\n" +
		"00:00  Thing blocked  blocked at PreCheck by Sure: No\n" +
		"                      it is not\n" +
		"                      again in 1m (slow)\n" +
		"01:00  Thing blocked  blocked at PreCheck by Sure: No  again in 1m (slow)\n"
	if diff := cmp.Diff(story, out.String()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	late := "not all is ready after 1m30s:\n" +
		"01:00  Thing blocked  blocked at PreCheck by Sure: No\n" +
		"                      it is not\n" +
		"                      again in 1m (slow)"
	if diff := cmp.Diff(late, err.Error()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	want := map[string]checks.Readiness{
		"ready":   {State: checks.Ready, Reason: flow.ReasonSucceeded, Generation: 1, Observed: 1},
		"blocked": {State: checks.NotReady, Reason: "No", Message: "it is not", Generation: 1},
		"unknown": {},
	}
	for name, readiness := range want {
		object, err := e.Store.Resolve(t.Context(), thing(name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(readiness, object.Readiness); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
	}
	ends := []string{e.ReadyAt(thing("ready")), e.ReadyAt(thing("blocked")), e.End(true), e.End(false)}
	if diff := cmp.Diff([]string{"00:00", "not in time", "01:30", "not in time"}, ends); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	out.Reset()
	if err := e.Show(t.Context(), &out, 0, func() bool { return true }, e.NotReady, "enough"); err != nil || !strings.HasSuffix(out.String(), "01:30  enough\n\n") {
		t.Errorf("a finished run prints its end: %v, %s", err, out.String())
	}
}
