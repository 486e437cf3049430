package flowtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// TestScript tests which answer a call gets. The timeline shows it.
func TestScript(t *testing.T) {
	in := func(token string) flow.Progress { return flow.InProgress(token, 10*time.Second) }
	cases := map[string]struct {
		reason string
		script func(s *flowtest.Script[flow.Progress])
		want   string
	}{
		"Row": {
			reason: "the answers in a row come first, then those of From",
			script: func(s *flowtest.Script[flow.Progress]) { s.From(0, flow.Done()).Then(in("a"), in("b")) },
			want: `00:00 in progress at Apply again in 10s [Apply]
			       00:10 in progress at Apply again in 10s [Apply(a)]
			       00:20 ready again in 1h [Apply(b)]`,
		},
		"From": {
			reason: "an answer of From ends at the time of the next one",
			script: func(s *flowtest.Script[flow.Progress]) {
				s.From(0, in("a")).From(20*time.Second, flow.Done())
			},
			want: `00:00 in progress at Apply again in 10s [Apply]
			       00:10 in progress at Apply again in 10s [Apply(a)]
			       00:20 ready again in 1h [Apply(a)]`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, _ := newWorld(doing())
			tc.script(&w.Apply)
			w.Run(t).Want(t, tc.want)
		})
	}
}

// An unused answer, a call without an answer, and an event that does not happen
// fail the test.
func TestUnused(t *testing.T) {
	nothing := ops{Apply: doing().Apply}
	cases := map[string]struct {
		reason string
		ops    ops
		world  func(w *world)
		want   []string
	}{
		"Row": {
			reason: "two of three answers in a row are not used",
			ops:    nothing,
			world:  func(w *world) { w.Apply.Then(flow.Done(), flow.Done(), flow.Done()) },
			want: []string{"parts of the script were not used; the run ended at 00:00",
				"Apply: 1 calls, 2 of its 3 answers in a row were not used", "00:00  ready"},
		},
		"Event": {
			reason: "the resource is gone before the events",
			ops:    doing(),
			world: func(w *world) {
				w.Resource.Deleted = true
				w.Edit(time.Minute, "too late", func() {})
				w.Change(time.Minute, "", nil)
			},
			want: []string{"an event (too late) at 01:00 did not happen", "an event () at 01:00 did not happen"},
		},
		"Unscripted": {
			reason: "the script is too short",
			world:  func(w *world) { w.Apply.Then(underWay) },
			want: []string{"Apply(op) was called at 00:01, call 2, and has no answer: the script of Apply has 1 in a row", "the last lines of the timeline",
				"00:01  failed at Apply"},
		},
		"UnscriptedObject": {
			reason: "an object has no script",
			ops:    nothing,
			world: func(w *world) {
				w.Object(prod)
				w.Extensions.PreCheck = chain.New(checks.ReferenceReady("subnet", func(*Pool) []checks.Ref { return []checks.Ref{{Kind: "Subnet", Name: "a"}} }))
			},
			want: []string{"Resolve(Subnet a) was called at 00:00, call 1, and has no answer: the script of Object(Subnet a)"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, _ := newWorld(tc.ops)
			tc.world(w)
			mustFail(t, tc.reason, run(w), tc.want...)
		})
	}
}

// A restart cancels the running call. The next process reconciles the resource
// at once.
func TestRestartInACall(t *testing.T) {
	w, _ := newWorld(doing())
	calls := 0
	w.Operations.Apply = func(ctx context.Context, _ *request) (flow.Progress, error) {
		if calls++; calls == 1 {
			w.Restart()
			<-ctx.Done()
		}
		return flow.Done(), ctx.Err()
	}
	r := w.Run(t)
	r.Want(t, `
		00:00 canceled at Apply: Canceled [Apply]
		00:00 * the process restarts
		00:00 ready again in 1h [Apply]`)
	mustEqual(t, "a canceled pass writes no condition", flow.Condition{}, r.Passes[0].Ready)
}
