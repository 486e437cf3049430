package checks_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// TestCachedModel tests the memory, with a size. By default the size is 1,024.
func TestCachedSizeByDefault(t *testing.T) {
	ran := 0
	check := checks.Compose(chain.New(checks.Cached(time.Hour, func(req request) int { return req.Resource.Version },
		checks.Check("a", func(context.Context, request) (checks.Result, error) { ran++; return checks.Proceed(), nil }))))
	ask := func(version int) { _, _ = check(t.Context(), ofDatabase(&Database{Version: version})) }
	for v := range 1025 {
		ask(v + 1)
	}
	ran = 0
	ask(2)
	ask(1025)
	if ran != 0 {
		t.Error("one of 1,024 keys is not remembered")
	}
	if ask(1); ran != 1 {
		t.Error("of 1,025 keys the oldest is remembered")
	}
}

// A key that is not equal to itself is not remembered.
func TestCachedOddKeys(t *testing.T) {
	check := checks.Cached(time.Hour, func(request) float64 { return math.NaN() }, returns[request]("a", checks.Proceed(), nil), checks.WithSize(1))
	for range 3 {
		mustAnswer(t, "the check runs each time", proceeding(), check, ofDatabase(nil))
	}
	var ran []float64
	key := func(req request) float64 {
		if req.Resource.Version == 0 {
			return math.NaN()
		}
		return float64(req.Resource.Version)
	}
	counted := checks.Cached(time.Hour, key, checks.Check("a", func(_ context.Context, req request) (checks.Result, error) {
		ran = append(ran, float64(req.Resource.Version))
		return checks.Proceed(), nil
	}), checks.WithSize(2))
	for _, version := range []int{0, 1, 2, 1, 2} {
		mustAnswer(t, "it uses no space of other keys", proceeding(notesIf(len(ran) == 3, "remembered")...), counted, ofDatabase(&Database{Version: version}))
	}
	zero := checks.Cached(time.Hour, func(request) int { return 1 }, returns[request]("a", checks.Block("A", "a"), nil), checks.WithClock(func() time.Time { return time.Time{} }))
	mustAnswer(t, "the check runs for an unknown key, even at the zero time", answer{Result: checks.Block("A", "a")}, zero, ofDatabase(nil))
	odd := checks.Cached(time.Hour, func(request) any { return []int{1} }, returns[request]("a", checks.Proceed(), nil))
	_, err := ask(t, odd, ofDatabase(nil))
	if p := (&chain.PanicError{}); !errors.As(err, &p) || p.Link != "Cached(a)" {
		t.Errorf("a key that cannot be compared must fail: error %v", err)
	}
}

// notesIf returns notes if they are expected.
func notesIf(expected bool, notes ...string) []string {
	if expected {
		return notes
	}
	return nil
}

func TestCachedSetUp(t *testing.T) {
	key := func(request) int { return 1 }
	a := returns[request]("a", checks.Proceed(), nil)
	mustPanic(t, map[string]setUp{
		"NoKey":    {"the key function is required", func() { checks.Cached[request, int](time.Hour, nil, a) }, "checks: Cached(a): the key function is nil"},
		"NoTime":   {"a ttl of zero remembers nothing", func() { checks.Cached(0, key, a) }, "checks: Cached(a): the ttl is 0s: give a positive duration"},
		"Negative": {"a negative ttl remembers nothing", func() { checks.Cached(-time.Second, key, a) }, "checks: Cached(a): the ttl is -1s: give a positive duration"},
		"Nil":      {"the check is required", func() { checks.Cached(time.Hour, key, nil) }, "checks: Cached: link nil" + rawRefused},
		"Raw":      {"Cached refuses a raw link", func() { checks.Cached(time.Hour, key, chain.Named("raw", func(next handler) handler { return next })) }, "checks: Cached: link raw" + rawRefused},
		"Gate":     {"Cached refuses a gate, which must act in each pass", func() { checks.Cached(time.Hour, key, checks.Gate("backup", proceeds)) }, "checks: Cached: link Gate(backup)" + rawRefused},
		"Option":   {"the check inside has the reason", func() { checks.Cached(time.Hour, key, a, checks.WithReason("Other")) }, "checks: Cached(a): the option WithReason is not for this check"},
		"Block":    {"the check inside has the retry", func() { checks.Cached(time.Hour, key, a, checks.WithAfter(time.Second)) }, "checks: Cached(a): a BlockOption is not for this check: give it to the check that blocks"},
	})
	checks.Cached(1, key, a) // a nanosecond is positive
}
