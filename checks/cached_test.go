package checks_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// remembering is a Cached check of a database's version, with a manual clock.
type remembering struct {
	now    time.Time
	decide func(version int) (checks.Result, error) // nil: proceed
	ran    []int
	check  handler
}

func remember(ttl time.Duration, opts ...checks.Option) *remembering {
	r := &remembering{now: time.Unix(1e9, 0)}
	key := func(req request) int { return req.Resource.Version }
	link := checks.Cached(ttl, key, checks.Check("a", func(_ context.Context, req request) (checks.Result, error) {
		r.ran = append(r.ran, req.Resource.Version)
		if r.decide == nil {
			return checks.Proceed(), nil
		}
		return r.decide(req.Resource.Version)
	}), append(opts, checks.WithClock(func() time.Time { return r.now }))...)
	r.check = checks.Compose(chain.New(link))
	return r
}

func (r *remembering) ask(t *testing.T, version int) (checks.Result, error) {
	t.Helper()
	return r.check(t.Context(), ofDatabase(&Database{Version: version}))
}

func TestCached(t *testing.T) {
	block := func(int) (checks.Result, error) { return checks.Block("A", "a"), nil }
	// A step is a request for a version after some time. decide replaces the
	// check.
	type step struct {
		after   time.Duration
		version int
		decide  func(int) (checks.Result, error)
	}
	cases := map[string]struct {
		reason string
		ttl    time.Duration
		opts   []checks.Option
		steps  []step
		ran    []int // the versions for which the check ran
	}{
		"Remembers":     {"the check does not run again for a remembered key", time.Minute, nil, []step{{0, 1, nil}, {0, 1, nil}, {59 * time.Second, 1, block}}, []int{1}},
		"Shortest":      {"the shortest ttl is a nanosecond", 1, nil, []step{{0, 1, nil}, {0, 1, nil}, {1, 1, nil}}, []int{1, 1}},
		"Expires":       {"the check runs again after the ttl", time.Minute, nil, []step{{0, 1, nil}, {time.Minute, 1, nil}}, []int{1, 1}},
		"NotRenewed":    {"a look-up does not extend the ttl", time.Minute, nil, []step{{0, 1, nil}, {40 * time.Second, 1, nil}, {40 * time.Second, 1, nil}}, []int{1, 1}},
		"Renewed":       {"a new run of the check renews the ttl", time.Minute, nil, []step{{0, 1, nil}, {time.Minute, 1, nil}, {59 * time.Second, 1, nil}}, []int{1, 1}},
		"ClockBack":     {"a verdict from the future is forgotten", time.Minute, nil, []step{{0, 1, nil}, {-time.Hour, 1, nil}}, []int{1, 1}},
		"Keys":          {"keys are separate", time.Minute, nil, []step{{0, 1, nil}, {0, 2, nil}, {0, 1, nil}, {0, 2, nil}}, []int{1, 2}},
		"ZeroKey":       {"the zero key is not remembered", time.Minute, nil, []step{{0, 0, nil}, {0, 0, nil}}, []int{0, 0}},
		"Block":         {"a block is not remembered, so that nothing is blocked longer than necessary", time.Minute, nil, []step{{0, 1, block}, {0, 1, block}, {0, 1, nil}, {0, 1, block}}, []int{1, 1, 1}},
		"Skip":          {"a skip is not remembered", time.Minute, nil, []step{{0, 1, func(int) (checks.Result, error) { return checks.Skip("why"), nil }}, {0, 1, nil}}, []int{1, 1}},
		"Error":         {"an error with a proceed is not remembered", time.Minute, nil, []step{{0, 1, func(int) (checks.Result, error) { return checks.Proceed(), errTest }}, {0, 1, nil}}, []int{1, 1}},
		"Zero":          {"the zero Result is not remembered", time.Minute, nil, []step{{0, 1, func(int) (checks.Result, error) { return checks.Result{}, nil }}, {0, 1, nil}}, []int{1, 1}},
		"Panic":         {"a panic is not remembered", time.Minute, nil, []step{{0, 1, func(int) (checks.Result, error) { panic(errTest) }}, {0, 1, nil}}, []int{1, 1}},
		"BlockAfterTTL": {"a block after the ttl is not remembered", time.Minute, nil, []step{{0, 1, nil}, {time.Minute, 1, block}, {0, 1, block}}, []int{1, 1, 1}},

		"Size":         {"the oldest key is dropped first", time.Minute, []checks.Option{checks.WithSize(2)}, []step{{0, 1, nil}, {0, 2, nil}, {0, 3, nil}, {0, 3, nil}, {0, 2, nil}, {0, 1, nil}}, []int{1, 2, 3, 1}},
		"SizeOne":      {"one key is remembered", time.Minute, []checks.Option{checks.WithSize(1)}, []step{{0, 1, nil}, {0, 1, nil}, {0, 2, nil}, {0, 2, nil}, {0, 1, nil}}, []int{1, 2, 1}},
		"SizeRenewed":  {"a renewed key becomes the newest and counts once", time.Minute, []checks.Option{checks.WithSize(2)}, []step{{0, 1, nil}, {30 * time.Second, 2, nil}, {30 * time.Second, 1, nil}, {0, 3, nil}, {0, 1, nil}, {0, 2, nil}}, []int{1, 2, 1, 3, 2}},
		"SizeLookedUp": {"a look-up does not make a key newer", time.Minute, []checks.Option{checks.WithSize(2)}, []step{{0, 1, nil}, {0, 2, nil}, {0, 1, nil}, {0, 3, nil}, {0, 1, nil}}, []int{1, 2, 3, 1}},
		"SizeBlock":    {"a block uses no space", time.Minute, []checks.Option{checks.WithSize(1)}, []step{{0, 1, nil}, {0, 2, block}, {0, 1, nil}}, []int{1, 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := remember(tc.ttl, tc.opts...)
			for i, s := range tc.steps {
				r.now = r.now.Add(s.after)
				r.decide = s.decide
				before := len(r.ran)
				res, err := r.ask(t, s.version)
				if len(r.ran) == before || s.decide == nil {
					if !res.Equal(checks.Proceed()) || err != nil {
						t.Errorf("%s: step %d: %v, %v", tc.reason, i+1, res, err)
					}
				} else if res.Equal(checks.Proceed()) && err == nil {
					t.Errorf("%s: step %d: the check ran, but its answer was ignored", tc.reason, i+1)
				}
			}
			if diff := cmp.Diff(tc.ran, r.ran); diff != "" {
				t.Errorf("%s: versions for which the check ran: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCachedSizeByDefault(t *testing.T) {
	r := remember(time.Minute)
	for v := range 1025 {
		_, _ = r.ask(t, v+1)
	}
	r.ran = nil
	for _, v := range []int{2, 1025, 1} {
		_, _ = r.ask(t, v)
	}
	if diff := cmp.Diff([]int{1}, r.ran); diff != "" {
		t.Errorf("1,025 keys with a size of 1,024: run again: -want, +got:\n%s", diff)
	}
}

// The first answer of Cached is the answer of its check.
func TestCachedResults(t *testing.T) {
	key := func(request) string { return "key" }
	cases := map[string]struct {
		reason string
		res    checks.Result
		err    error
	}{
		"Proceed": {"a proceed", checks.Proceed(), nil},
		"Block":   {"a block", checks.Block("A", "a", checks.WithAfter(1), checks.WithWaitingFor(prod)), nil},
		"Skip":    {"a skip", checks.Skip("why"), nil},
		"Error":   {"an error", checks.Result{}, errTest},
		"Both":    {"a block with an error", checks.Block("A", "a"), errTest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := ofDatabase(nil)
			res, err := checks.Compose(chain.New(checks.Cached(time.Hour, key, returns[request]("a", tc.res, tc.err))))(t.Context(), req)
			if diff := cmp.Diff(tc.res, res); diff != "" || err != tc.err {
				t.Errorf("%s: error %v, want %v; -want, +got:\n%s", tc.reason, err, tc.err, diff)
			}
			if at := decidedBy(req); (at != "") != (name != "Proceed") || at != "" && at != "Cached(a)" {
				t.Errorf("%s: decided by %v", tc.reason, at)
			}
		})
	}

	check := checks.Cached(time.Hour, key, returns[request]("a", checks.Proceed(), nil))
	mustAnswer(t, "the check runs at first", proceeding(), check, ofDatabase(nil))
	mustAnswer(t, "the trace shows that the check did not run", proceeding("remembered"), check, ofDatabase(nil))
}

// Chains that share a Cached link share its memory. Its inner links run each
// time.
func TestCachedInChains(t *testing.T) {
	var ran []string
	records := func(name string) link {
		return checks.Check(name, func(context.Context, request) (checks.Result, error) {
			ran = append(ran, name)
			return checks.Proceed(), nil
		})
	}
	cached := checks.Cached(time.Hour, func(request) int { return 1 }, records("a"))
	for _, h := range []handler{checks.Compose(chain.New(cached, records("b"))), checks.Compose(chain.New(cached, records("c")))} {
		for range 2 {
			if res, err := h(t.Context(), ofDatabase(nil)); err != nil || !res.Equal(checks.Proceed()) {
				t.Error(res, err)
			}
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "b", "c", "c"}, ran); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
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

func TestCachedConcurrently(t *testing.T) {
	var ran atomic.Int64
	check := checks.Compose(chain.New(checks.Cached(time.Hour, func(req request) int { return req.Resource.Version },
		checks.Check("odd", func(_ context.Context, req request) (checks.Result, error) {
			ran.Add(1)
			if req.Resource.Version%2 == 0 {
				return checks.Block("Even", fmt.Sprint(req.Resource.Version)), nil
			}
			return checks.Proceed(), nil
		}), checks.WithSize(8))))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 200 {
				version := i%20 + 1
				res, err := check(t.Context(), ofDatabase(&Database{Version: version}))
				if err != nil || res.Proceeds() != (version%2 == 1) {
					t.Errorf("version %d: %v, %v", version, res, err)
				}
			}
		})
	}
	all.Wait()
	if n := ran.Load(); n < 8*100 {
		t.Errorf("the check ran %d times, want at least 800: each block runs it", n)
	}
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
}
