package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
)

func TestNotReady(t *testing.T) {
	cases := map[string]struct {
		reason string
		setUp  func(*things)
		end    time.Duration
		want   []string
	}{
		"Blocked": {"who is ready is not named, and whoever is not with all there is to say", func(ts *things) {
			ts.add("a", checks.Proceed)
			ts.add("b", blocks(checks.RetryIn(time.Minute)))
			ts.add("c", blocks(checks.WaitingFor(thing("x"))))
		}, 90 * time.Second, []string{
			"not all is ready after 1m30s:",
			"  Thing b: blocked at PreCheck by Sure: No",
			"    it is not",
			"    tries again at 2:00 (when it was told to)",
			"  Thing c: blocked at PreCheck by Sure: No",
			"    it is not",
			"    waits for Thing x, looks again at 5:00 in any case",
		}},
		"Events": {"events are no resources", func(ts *things) {
			ts.At(time.Hour, func() {})
			ts.add("a", blocks(checks.RetryIn(time.Minute)))
		}, 0, []string{
			"not all is ready after 0s:",
			"  Thing a: blocked at PreCheck by Sure: No",
			"    it is not",
			"    tries again at 1:00 (when it was told to)",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ts := newThings()
			tc.setUp(ts)
			ts.Run(t.Context(), tc.end, ts.AllReady)
			if diff := cmp.Diff(strings.Join(tc.want, "\n"), ts.NotReady(tc.end).Error()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
