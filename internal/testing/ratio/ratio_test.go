package ratio

import (
	"math"
	"testing"
	"time"
)

// A clock that the measured functions move makes every sample exact.
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
		"Equal":     {"two equal functions compare as 1", takes(100), takes(100), 1},
		"Slower":    {"a in units of b", takes(300), takes(100), 3},
		"Faster":    {"a faster a gives less than 1", takes(100), takes(400), 0.25},
		"Unlike":    {"each function has samples of its own size", takes(time.Millisecond), takes(1), 1e6},
		"Disturbed": {"what slows some samples down does not count", disturbed(100, time.Second, 9_000), takes(100), 1},
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

// TestOfSamples fixes how much work a measurement is: both functions are called alike, in samples of the time asked for.
func TestOfSamples(t *testing.T) {
	var now time.Time
	var a, b int
	one := func(n *int) func() { return func() { *n++; now = now.Add(time.Microsecond) } }
	Of(one(&a), one(&b), Options{Samples: 10, Sample: 4 * time.Microsecond, Now: func() time.Time { return now }})
	if want := 1 + 2 + 4 + 10*4; a != want || b != want {
		t.Errorf("Of(...) called a %d times and b %d times, want %d: samples of 1, 2 and 4 calls to find the size, then 10 of 4", a, b, want)
	}
}
