package flowtest_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// TestEnd tests when a run ends.
func TestEnd(t *testing.T) {
	cases := map[string]struct {
		reason string
		run    func(w *world, t rapid.TB) *flowtest.Run
		world  func(w *world, p *Pool)
		want   string
		ended  time.Duration
	}{
		"Ready": {
			reason: "the run ends when the resource is ready and no event is left",
			run:    (*world).Run,
			want:   "00:00 ready again in 1h [Apply]",
		},
		"Seen": {
			reason: "the run ends with a ready pass after the last event",
			run:    (*world).Run,
			world:  func(w *world, _ *Pool) { w.Change(10*time.Minute, "drift", nil) },
			want: `00:00   ready again in 1h [Apply]
			       10:00   * drift
			       1:00:00 ready again in 1h [Apply]`,
			ended: time.Hour,
		},
		"Gone": {
			reason: "the run ends when the resource is gone",
			run:    func(w *world, t rapid.TB) *flowtest.Run { return w.RunUntil(t, 10*time.Hour) },
			world:  func(w *world, p *Pool) { w.Edit(time.Second, "", func() { p.Deleted = true }) },
			want: `00:00 ready again in 1h [Apply]
			       00:01 gone [Delete]`,
			ended: time.Second,
		},
		"Until": {
			reason: "a pass that is due at the end still happens",
			run:    func(w *world, t rapid.TB) *flowtest.Run { return w.RunUntil(t, time.Hour) },
			want: `00:00   ready again in 1h [Apply]
			       1:00:00 ready again in 1h [Apply]`,
			ended: time.Hour,
		},
		"UntilBetween": {
			reason: "time advances to the end, even without a pass",
			run:    func(w *world, t rapid.TB) *flowtest.Run { return w.RunUntil(t, time.Minute) },
			want:   "00:00 ready again in 1h [Apply]",
			ended:  time.Minute,
		},
		"Passes": {
			reason: "the run ends after the number of passes",
			run:    func(w *world, t rapid.TB) *flowtest.Run { return w.RunPasses(t, 2) },
			world:  func(w *world, _ *Pool) { w.Apply.Fail(conflict, conflict) },
			want: `00:00 failed at Apply: Conflict again in 1s [Apply]
			       00:01 failed at Apply: Conflict again in 2s [Apply]`,
			ended: time.Second,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, p := newWorld(doing())
			if tc.world != nil {
				tc.world(w, p)
			}
			tc.run(w, t).Want(t, tc.want)
			mustEqual(t, tc.reason, tc.ended, w.Elapsed())
		})
	}
}

// TestNoEnd tests the failures of runs that do not end.
func TestNoEnd(t *testing.T) {
	cases := map[string]struct {
		reason string
		world  func(w *world)
		want   []string
	}{
		"Passes": {
			reason: "the operation never ends",
			world:  func(w *world) { w.MaxPasses = 30; w.Apply.From(0, underWay) },
			want: []string{"the run is not over after 30 passes (World.MaxPasses)",
				"the last lines of the timeline:\n  00:18  in progress", "00:29  in progress"},
		},
		"Month": {
			reason: "the resource is blocked, and no event is left",
			world:  func(w *world) { w.Extensions.PreCheck = chain.New(checks.Paused(func(*Pool) bool { return true })) },
			want:   []string{"the resource is not ready after 30 days and 721 passes: use RunUntil or RunPasses", "720:00:00  blocked at PreCheck by Paused"},
		},
		"Goexit": {
			reason: "FailNow in a link ends the goroutine of the pass",
			world: func(w *world) {
				w.Operations.Apply = func(context.Context, *request) (flow.Progress, error) { runtime.Goexit(); return flow.Done(), nil }
			},
			want: []string{"the pass at 00:00 ended its goroutine at Apply, as FailNow does"},
		},
		"Panic": {
			reason: "the Runner of World.New panics",
			world: func(w *world) {
				w.New = around(func(context.Context, *faulty, *Pool) flow.Outcome { panic("boom") })
			},
			want: []string{"the reconciler panics at 00:00 of the run: boom"},
		},
		"ZeroOutcome": {
			reason: "a Runner must not return the zero Outcome",
			world: func(w *world) {
				w.New = around(func(ctx context.Context, f *faulty, p *Pool) flow.Outcome {
					f.Runner.Reconcile(ctx, p)
					return flow.Outcome{}
				})
			},
			want: []string{"the pass returned the zero Outcome", "00:00  unknown"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, _ := newWorld(doing())
			tc.world(w)
			w.Apply.Optional()
			mustFail(t, tc.reason, run(w), tc.want...)
		})
	}
}

func around(fault func(context.Context, *faulty, *Pool) flow.Outcome) func(ops, ...flow.Option) flow.Runner[*Pool] {
	return func(o ops, opts ...flow.Option) flow.Runner[*Pool] {
		return &faulty{Runner: plain(o, opts...), ops: o, fault: fault}
	}
}

// The failure of a pass that is stuck names its position. In a bubble, Patience
// takes no time.
func TestStuck(t *testing.T) {
	cases := map[string]struct {
		reason string
		world  func(w *world, wait <-chan struct{})
		want   []string
	}{
		"Operation": {
			reason: "the operation is stuck",
			world:  func(w *world, _ <-chan struct{}) { w.Apply.Hang() },
			want:   []string{"the pass at 00:00 is stuck at Apply: it has not returned within 10s (World.Patience, by the real clock)"},
		},
		"Link": {
			reason: "a link is stuck that ignores its context",
			world: func(w *world, wait <-chan struct{}) {
				w.Patience = time.Minute
				w.Apply.Fail(conflict)
				w.Extensions.PreCheck = chain.New(
					checks.Paused(func(*Pool) bool { return false }),
					checks.Check("Stuck", func(context.Context, *checks.Request[*Pool]) (checks.Result, error) {
						if len(w.Requests()) > 0 {
							<-wait
						}
						return checks.Proceed(), nil
					}),
				)
			},
			want: []string{"the pass at 00:01 is stuck at PreCheck/Stuck: it has not returned within 1m0s", "00:00  failed at Apply: Conflict"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wait := make(chan struct{})
				defer close(wait)
				w, _ := newWorld(doing())
				tc.world(w, wait)
				mustFail(t, tc.reason, run(w), tc.want...)
			})
		})
	}
}

// A run that cannot continue ends the test. If the test continues after Fatalf,
// it gets the passes so far.
func TestFatal(t *testing.T) {
	w, _ := newWorld(doing())
	w.Apply.From(0, underWay)
	w.MaxPasses = 2
	if _, fatal := failuresOf(run(w)); !fatal {
		t.Error("the test must end, because the run is not complete")
	}
	w, _ = newWorld(doing())
	w.Apply.From(0, underWay)
	w.MaxPasses = 2
	w.Delete.Fail(conflict) // is not used, which is no second failure
	lenient := &lenient{}
	mustEqual(t, "the Run has the passes so far", 2, len(w.Run(lenient).Passes))
	mustEqual(t, "there is one failure", 1, strings.Count(strings.Join(lenient.failures, "\n"), "flowtest:"))
}

// lenient is a test whose Fatalf returns, which is wrong for a real one.
type lenient struct{ recordingTB }

func (l *lenient) Fatalf(format string, args ...any) { l.Errorf(format, args...) }

// A panic of a link is an outcome and does not fail the test.
func TestPanicOfALink(t *testing.T) {
	w, _ := newWorld(doing())
	w.Extensions.PreCheck = chain.New(checks.Check("Faulty", func(context.Context, *checks.Request[*Pool]) (checks.Result, error) {
		if w.Elapsed() < time.Second {
			panic("boom")
		}
		return checks.Proceed(), nil
	}))
	run := w.Run(t)
	run.Want(t, `
		00:00 failed at PreCheck by Faulty: CheckFailed again in 1s []
		00:01 ready again in 1h [Apply]`)
	run.WantConditions(t, `
		00:00 Ready=False since 00:00 Warning CheckFailed: check Faulty failed: panic in link Faulty: boom
		00:01 Ready=True since 00:01 Succeeded`)
}
