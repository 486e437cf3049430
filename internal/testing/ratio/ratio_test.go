package ratio

import (
	"math"
	"testing"
	"time"

	"github.com/windlass-go/windlass/internal/testing/race"
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
		"Equal":     {"equal functions have the ratio 1", takes(100), takes(100), 1},
		"Slower":    {"a slower a has a ratio above 1", takes(300), takes(100), 3},
		"Faster":    {"a faster a has a ratio below 1", takes(100), takes(400), 0.25},
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

// Both functions are called equally often, in samples of the requested
// duration.
func TestOfSamples(t *testing.T) {
	var now time.Time
	var a, b int
	one := func(n *int) func() { return func() { *n++; now = now.Add(time.Microsecond) } }
	Of(one(&a), one(&b), Options{Samples: 10, Sample: 4 * time.Microsecond, Now: func() time.Time { return now }})
	if want := 1 + 2 + 4 + 10*4; a != want || b != want {
		t.Errorf("Of(...) called a %d times and b %d times, want %d: samples of 1, 2 and 4 calls to find the size, then 10 of 4", a, b, want)
	}
}

// A test of times runs only if the variable asks for it.
func TestInVerify(t *testing.T) {
	for value, want := range map[string]bool{"": false, "0": false, "1": !race.Enabled} {
		t.Setenv("WINDLASS_RATIOS", value)
		ran := false
		t.Run("with "+value, func(t *testing.T) { InVerify(t); ran = true })
		if ran != want {
			t.Errorf("with WINDLASS_RATIOS=%s the test ran: %t, want %t", value, ran, want)
		}
	}
}
