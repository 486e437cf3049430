package flowtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// TestWake tests the events that wake a resource before its delay is over.
func TestWake(t *testing.T) {
	owners := chain.New(checks.OwnerReady())
	silent := chain.New(checks.Check("Silent", func(_ context.Context, req *checks.OwnerRequest) (checks.Result, error) {
		if req.Owner.Readiness.State == checks.Ready {
			return checks.Proceed(), nil
		}
		return checks.Block("NotReady", "the block names no awaited object", checks.WithAfter(time.Minute)), nil
	}))
	cases := map[string]struct {
		reason string
		ext    ext
		world  func(w *world, p *Pool)
		want   string
	}{
		"Owner": {
			reason: "a change of the awaited owner wakes the resource",
			ext:    ext{OwnerCheck: owners},
			world:  func(w *world, _ *Pool) { w.Owner.From(0, creating).From(500*time.Millisecond, ready) },
			want: `00:00   blocked at OwnerCheck by OwnerReady: OwnerNotReady again in 1s or with Cluster prod [Owner]
			       00:00.5 * Cluster prod changes
			       00:00.5 ready again in 1h [Owner Apply]`,
		},
		"NotWaitedFor": {
			reason: "a block that names no awaited object is not woken, as in any engine",
			ext:    ext{OwnerCheck: silent},
			world:  func(w *world, _ *Pool) { w.Owner.From(0, creating).From(500*time.Millisecond, ready) },
			want: `00:00   blocked at OwnerCheck by Silent: NotReady again in 1m [Owner]
			       00:00.5 * Cluster prod changes
			       01:00   ready again in 1h [Owner Apply]`,
		},
		"Edit": {
			reason: "an edit wakes the resource, and happens before a pass of the same time",
			world: func(w *world, p *Pool) {
				w.Get.From(0, flow.Observation{Presence: checks.Present, InSync: true})
				w.Edit(time.Hour, "the spec changes", func() { p.Generation++ })
				w.Edit(30*time.Minute, "the spec changes", func() { p.Generation++ })
			},
			want: `00:00   ready again in 1h [Get]
			       30:00   * the spec changes
			       30:00   ready again in 1h [Get]
			       1:00:00 * the spec changes
			       1:00:00 ready again in 1h [Get]`,
		},
		"Restart": {
			reason: "a restart resets the back-off",
			world: func(w *world, p *Pool) {
				w.Apply.Fail(conflict, conflict, conflict)
				w.Change(2*time.Second, "", w.Restart)
			},
			want: `00:00 failed at Apply: Conflict again in 1s [Apply]
			       00:01 failed at Apply: Conflict again in 2s [Apply]
			       00:02 * the process restarts
			       00:02 failed at Apply: Conflict again in 1s [Apply]
			       00:03 ready again in 1h [Apply]`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, p := newWorld(doing())
			w.Extensions = tc.ext
			tc.world(w, p)
			w.Run(t).Want(t, tc.want)
		})
	}
}
