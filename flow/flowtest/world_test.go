package flowtest_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// TestMistakes tests the failures of worlds that cannot be run, and of runs that
// do not end.
func TestMistakes(t *testing.T) {
	cases := map[string]struct {
		reason string
		world  func(w *world)
		want   []string
	}{
		"NoApply":        {"a world needs Apply", func(w *world) { w.Operations = ops{} }, []string{"Apply is missing: script World.Apply, or set Operations.Apply"}},
		"Twice":          {"the scripts of the first run are used up", func(w *world) { w.Run(t) }, []string{"this World was run before"}},
		"NegativeFrom":   {"time begins at zero", func(w *world) { w.Apply.From(-time.Second, underWay) }, []string{"Apply: the time -1s is negative"}},
		"NegativeChange": {"time begins at zero", func(w *world) { w.Change(-time.Second, "drift", nil) }, []string{`event "drift": the time -1s is negative`}},
		"Passes": {"the operation never ends", func(w *world) { w.Apply.From(0, underWay) },
			[]string{"the run is not over after 1000 passes", "the last lines of the timeline:\n  16:28  in progress"}},
		"Month": {"the resource is blocked, and no event is left",
			func(w *world) { w.Extensions.PreCheck = chain.New(checks.Paused(func(*Pool) bool { return true })) },
			[]string{"the resource is not ready after 30 days and 721 passes: use RunUntil", "720:00:00  blocked at PreCheck by Paused"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, _ := newWorld(doing())
			tc.world(w)
			mustFail(t, tc.reason, run(w), tc.want...)
			if _, fatal := failuresOf(run(w)); !fatal {
				t.Error("a world cannot be run twice, even after a mistake")
			}
		})
	}
	w, _ := newWorld(doing())
	w.Apply.From(0, underWay)
	mustFail(t, "a run until a time is limited, too", func(t rapid.TB) { w.RunUntil(t, time.Hour) }, "the run is not over after 1000 passes")
	w, _ = newWorld(doing())
	mustFail(t, "time begins at zero", func(t rapid.TB) { w.RunUntil(t, -time.Second) }, "RunUntil: the time -1s is negative")
	defer func() {
		mustEqual(t, "the mistake panics where it is made", any("flowtest: Fail(nil) is no error: give an error, or a result"), recover())
	}()
	(&world{}).Apply.Fail(nil)
}

// A run ends with a ready pass after the last event. World.Now is the virtual time.
func TestEnd(t *testing.T) {
	w, _ := newWorld(doing())
	w.Change(10*time.Minute, "drift", nil)
	w.Run(t).Want(t, `
		00:00   ready again in 1h [Apply]
		10:00   * drift
		1:00:00 ready again in 1h [Apply]`)
	mustEqual(t, "a run begins at midnight of January 1, 2026", time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC), w.Now())
}

// The world overrides the clock, the back-off and the resolver of the options.
func TestOptions(t *testing.T) {
	subnet := checks.Ref{Kind: "Subnet", Name: "a"}
	w, _ := newWorld(doing())
	w.Extensions = ext{PreCheck: chain.New(checks.ReferenceReady("subnet", func(*Pool) []checks.Ref { return []checks.Ref{subnet} }))}
	w.Object(subnet).From(0, checks.Object{Ref: subnet, Value: 1, Readiness: checks.Readiness{State: checks.Ready}})
	w.Apply.From(0, flow.InProgress("op", time.Minute))
	w.Options = []flow.Option{flow.WithClock(time.Now), flow.WithoutBackoff(), flow.WithResolver(nil)}
	w.RunUntil(t, time.Minute).Want(t, `
		00:00 in progress at Apply again in 1m [Resolve(Subnet a) Apply]
		01:00 in progress at Apply again in 1m [Apply(op)]`)
}
