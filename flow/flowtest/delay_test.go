package flowtest

import (
	"testing"
	"time"

	"github.com/windlass-go/windlass/flow"
)

// TestDelays tries the invariant that no flow can be made to break, since outcomes are sealed: delays that an engine would
// lose, or spin on.
func TestDelays(t *testing.T) {
	cases := map[string]struct {
		reason string
		delay  time.Duration
		again  bool
		want   string
	}{
		"Zero":     {"the queue would spin", 0, true, "the delay is 0s"},
		"Negative": {"queues drop what is due before now", -time.Second, true, "the delay is -1s"},
		"Positive": {"it comes back", time.Millisecond, true, ""},
		"Never":    {"what is gone has no delay", 0, false, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, inv := range invariants {
				if inv.name == "what is to come back has a delay" {
					got = inv.broken(&Pass{State: flow.StateBlocked, Again: tc.delay}, &record{}, tc.again)
				}
			}
			if got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
