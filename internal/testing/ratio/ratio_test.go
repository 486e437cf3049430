package ratio

import (
	"math"
	"testing"
	"time"
)

// Of compares the fastest samples. The measured functions move the clock, so
// that the ratios are exact.
func TestOf(t *testing.T) {
	var now time.Time
	clock := func() time.Time { return now }
	takes := func(d time.Duration) func() { return func() { now = now.Add(d) } }
	disturbed := func(d, by time.Duration, every int) func() {
		calls := 0
		return func() {
			now = now.Add(d)
			if calls++; calls%every == 0 {
				now = now.Add(by)
			}
		}
	}

	cases := map[string]struct {
		reason string
		a, b   func()
		want   float64
	}{
		"Slower":    {"a slower a has a ratio above 1", takes(300), takes(100), 3},
		"Unlike":    {"each function has its own number of calls in a sample", takes(time.Millisecond), takes(1), 1e6},
		"Disturbed": {"slow samples do not count", disturbed(100, time.Second, 9_000), takes(100), 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Of(tc.a, tc.b, Options{Sample: 10 * time.Microsecond, Now: clock})
			if math.Abs(got-tc.want) > tc.want*1e-9 {
				t.Errorf("%s: Of(...) = %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
