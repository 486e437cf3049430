package flowtest

import (
	"testing"
	"time"

	"github.com/windlass-go/windlass/flow"
)

// TestDelays tests the invariant about delays. No flow can break it, because
// outcomes are sealed.
func TestDelays(t *testing.T) {
	cases := map[string]struct {
		reason string
		delay  time.Duration
		again  bool
		want   string
	}{
		"Zero":     {"the queue would loop without a pause", 0, true, "the delay is 0s"},
		"Negative": {"a queue may drop a requeue that is due in the past", -time.Second, true, "the delay is -1s"},
		"Positive": {"the resource is requeued", time.Millisecond, true, ""},
		"Never":    {"a resource that is gone has no delay", 0, false, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, inv := range invariants {
				if inv.name == "a requeue has a positive delay" {
					got = inv.broken(&Pass{State: flow.StateBlocked, Again: tc.delay}, &record{}, tc.again)
				}
			}
			if got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
