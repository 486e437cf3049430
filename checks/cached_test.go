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

// remembering is a Cached check about a database's version, with a clock that stands still.
type remembering struct {
	now   time.Time
	say   func(version int) (checks.Result, error) // nil: proceed
	asked []int
	check handler
}

func remember(ttl time.Duration, opts ...checks.Option) *remembering {
	r := &remembering{now: time.Unix(1e9, 0)}
	key := func(req request) int { return req.Resource.Version }
	link := checks.Cached(ttl, key, checks.Check("a", func(_ context.Context, req request) (checks.Result, error) {
		r.asked = append(r.asked, req.Resource.Version)
		if r.say == nil {
			return checks.Proceed(), nil
		}
		return r.say(req.Resource.Version)
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
	// A step asks for a version after some time has passed, with what the check would say to it.
	type step struct {
		after   time.Duration
		version int
		say     func(int) (checks.Result, error)
	}
	cases := map[string]struct {
		reason string
		ttl    time.Duration
		opts   []checks.Option
		steps  []step
		asked  []int // the versions that the check itself was asked about
	}{
		"Remembers":      {"the check does not run again for a remembered key", time.Minute, nil, []step{{0, 1, nil}, {0, 1, nil}, {59 * time.Second, 1, block}}, []int{1}},
		"Shortest":       {"the shortest ttl is a nanosecond", 1, nil, []step{{0, 1, nil}, {0, 1, nil}, {1, 1, nil}}, []int{1, 1}},
		"Expires":        {"the check runs again after the ttl", time.Minute, nil, []step{{0, 1, nil}, {time.Minute, 1, nil}}, []int{1, 1}},
		"NotRenewed":     {"a look-up does not extend the ttl", time.Minute, nil, []step{{0, 1, nil}, {40 * time.Second, 1, nil}, {40 * time.Second, 1, nil}}, []int{1, 1}},
		"Renewed":        {"a new run of the check does", time.Minute, nil, []step{{0, 1, nil}, {time.Minute, 1, nil}, {59 * time.Second, 1, nil}}, []int{1, 1}},
		"ClockBack":      {"a verdict from the future is forgotten", time.Minute, nil, []step{{0, 1, nil}, {-time.Hour, 1, nil}}, []int{1, 1}},
		"Keys":           {"keys are separate", time.Minute, nil, []step{{0, 1, nil}, {0, 2, nil}, {0, 1, nil}, {0, 2, nil}}, []int{1, 2}},
		"ZeroKey":        {"the zero key is not remembered", time.Minute, nil, []step{{0, 0, nil}, {0, 0, nil}}, []int{0, 0}},
		"Block":          {"a block is not remembered: nothing stays blocked longer than it must", time.Minute, nil, []step{{0, 1, block}, {0, 1, block}, {0, 1, nil}, {0, 1, block}}, []int{1, 1, 1}},
		"Skip":           {"nor is a skip", time.Minute, nil, []step{{0, 1, func(int) (checks.Result, error) { return checks.Skip("why"), nil }}, {0, 1, nil}}, []int{1, 1}},
		"Error":          {"nor is an error with a result", time.Minute, nil, []step{{0, 1, func(int) (checks.Result, error) { return checks.Proceed(), errTest }}, {0, 1, nil}}, []int{1, 1}},
		"Zero":           {"nor no decision", time.Minute, nil, []step{{0, 1, func(int) (checks.Result, error) { return checks.Result{}, nil }}, {0, 1, nil}}, []int{1, 1}},
		"Panic":          {"nor a panic", time.Minute, nil, []step{{0, 1, func(int) (checks.Result, error) { panic(errTest) }}, {0, 1, nil}}, []int{1, 1}},
		"BlockAfterPass": {"a block that comes when a pass is over is not covered by it", time.Minute, nil, []step{{0, 1, nil}, {time.Minute, 1, block}, {0, 1, block}}, []int{1, 1, 1}},

		"Size":        {"the oldest key is dropped first", time.Minute, []checks.Option{checks.WithSize(2)}, []step{{0, 1, nil}, {0, 2, nil}, {0, 3, nil}, {0, 3, nil}, {0, 2, nil}, {0, 1, nil}}, []int{1, 2, 3, 1}},
		"SizeOne":     {"one key is remembered", time.Minute, []checks.Option{checks.WithSize(1)}, []step{{0, 1, nil}, {0, 1, nil}, {0, 2, nil}, {0, 2, nil}, {0, 1, nil}}, []int{1, 2, 1}},
		"SizeRenewed": {"a renewed key becomes the newest and counts once", time.Minute, []checks.Option{checks.WithSize(2)}, []step{{0, 1, nil}, {30 * time.Second, 2, nil}, {30 * time.Second, 1, nil}, {0, 3, nil}, {0, 1, nil}, {0, 2, nil}}, []int{1, 2, 1, 3, 2}},
		"SizeAsked":   {"a look-up does not make a key newer", time.Minute, []checks.Option{checks.WithSize(2)}, []step{{0, 1, nil}, {0, 2, nil}, {0, 1, nil}, {0, 3, nil}, {0, 1, nil}}, []int{1, 2, 3, 1}},
		"SizeBlock":   {"a block uses no space", time.Minute, []checks.Option{checks.WithSize(1)}, []step{{0, 1, nil}, {0, 2, block}, {0, 1, nil}}, []int{1, 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := remember(tc.ttl, tc.opts...)
			for i, s := range tc.steps {
				r.now = r.now.Add(s.after)
				r.say = s.say
				before := len(r.asked)
				res, err := r.ask(t, s.version)
				if len(r.asked) == before || s.say == nil {
					if !res.Equal(checks.Proceed()) || err != nil {
						t.Errorf("%s: step %d: %v, %v", tc.reason, i+1, res, err)
					}
				} else if res.Equal(checks.Proceed()) && err == nil {
					t.Errorf("%s: step %d: the check was asked, and what it said did not count", tc.reason, i+1)
				}
			}
			if diff := cmp.Diff(tc.asked, r.asked); diff != "" {
				t.Errorf("%s: the check was asked about: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCachedSizeByDefault(t *testing.T) {
	r := remember(time.Minute)
	for v := range 1025 {
		_, _ = r.ask(t, v+1)
	}
	r.asked = nil
	for _, v := range []int{2, 1025, 1} {
		_, _ = r.ask(t, v)
	}
	if diff := cmp.Diff([]int{1}, r.asked); diff != "" {
		t.Errorf("1,025 keys in a memory of 1,024: asked again: -want, +got:\n%s", diff)
	}
}

// TestCachedResults compares what comes out with what the check alone gives.
func TestCachedResults(t *testing.T) {
	key := func(request) string { return "key" }
	cases := map[string]struct {
		reason string
		res    checks.Result
		err    error
	}{
		"Proceed": {"a pass", checks.Proceed(), nil},
		"Block":   {"a block", checks.Block("A", "a", checks.WithAfter(1), checks.WithWaitingFor(prod)), nil},
		"Skip":    {"a skip", checks.Skip("why"), nil},
		"Error":   {"an error", checks.Result{}, errTest},
		"Both":    {"an error beside a block", checks.Block("A", "a"), errTest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := ofDatabase(nil)
			res, err := checks.Compose(chain.New(checks.Cached(time.Hour, key, says[request]("a", tc.res, tc.err))))(t.Context(), req)
			if diff := cmp.Diff(tc.res, res); diff != "" || err != tc.err {
				t.Errorf("%s: error %v, want %v; -want, +got:\n%s", tc.reason, err, tc.err, diff)
			}
			if at := decidedBy(req); (at != "") != (name != "Proceed") || at != "" && at != "Cached(a)" {
				t.Errorf("%s: decided by %v", tc.reason, at)
			}
		})
	}

	check := checks.Cached(time.Hour, key, says[request]("a", checks.Proceed(), nil))
	mustAnswer(t, "at first the check is asked", passes(), check, ofDatabase(nil))
	mustAnswer(t, "then the trace shows that it was not", passes("remembered"), check, ofDatabase(nil))
}

// What is remembered belongs to the link, not to a composition: chains that have it in common share the memory. The links
// behind it run each time.
func TestCachedInChains(t *testing.T) {
	var asked []string
	asks := func(name string) link {
		return checks.Check(name, func(context.Context, request) (checks.Result, error) {
			asked = append(asked, name)
			return checks.Proceed(), nil
		})
	}
	cached := checks.Cached(time.Hour, func(request) int { return 1 }, asks("a"))
	for _, h := range []handler{checks.Compose(chain.New(cached, asks("b"))), checks.Compose(chain.New(cached, asks("c")))} {
		for range 2 {
			if res, err := h(t.Context(), ofDatabase(nil)); err != nil || !res.Equal(checks.Proceed()) {
				t.Error(res, err)
			}
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "b", "c", "c"}, asked); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// A key that is not equal to itself cannot be found again.
func TestCachedOddKeys(t *testing.T) {
	check := checks.Cached(time.Hour, func(request) float64 { return math.NaN() }, says[request]("a", checks.Proceed(), nil), checks.WithSize(1))
	for range 3 {
		mustAnswer(t, "it is asked each time", passes(), check, ofDatabase(nil))
	}
	var asked []float64
	key := func(req request) float64 {
		if req.Resource.Version == 0 {
			return math.NaN()
		}
		return float64(req.Resource.Version)
	}
	counted := checks.Cached(time.Hour, key, checks.Check("a", func(_ context.Context, req request) (checks.Result, error) {
		asked = append(asked, float64(req.Resource.Version))
		return checks.Proceed(), nil
	}), checks.WithSize(2))
	for _, version := range []int{0, 1, 2, 1, 2} {
		mustAnswer(t, "it takes no room from other keys", passes(notesIf(len(asked) == 3, "remembered")...), counted, ofDatabase(&Database{Version: version}))
	}
	zero := checks.Cached(time.Hour, func(request) int { return 1 }, says[request]("a", checks.Block("A", "a"), nil), checks.WithClock(func() time.Time { return time.Time{} }))
	mustAnswer(t, "a key that is not remembered is asked, whatever the clock shows", answer{Result: checks.Block("A", "a")}, zero, ofDatabase(nil))
	odd := checks.Cached(time.Hour, func(request) any { return []int{1} }, says[request]("a", checks.Proceed(), nil))
	_, err := ask(t, odd, ofDatabase(nil))
	if p := (&chain.PanicError{}); !errors.As(err, &p) || p.Link != "Cached(a)" {
		t.Errorf("a key that cannot be compared lets nothing through: error %v", err)
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
	var asked atomic.Int64
	check := checks.Compose(chain.New(checks.Cached(time.Hour, func(req request) int { return req.Resource.Version },
		checks.Check("odd", func(_ context.Context, req request) (checks.Result, error) {
			asked.Add(1)
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
	if n := asked.Load(); n < 8*100 {
		t.Errorf("asked %d times: blocks at least are asked for each time, which is 800 times", n)
	}
}

func TestCachedSetUp(t *testing.T) {
	key := func(request) int { return 1 }
	a := says[request]("a", checks.Proceed(), nil)
	mustPanic(t, map[string]setUp{
		"NoKey":    {"a key is needed", func() { checks.Cached[request, int](time.Hour, nil, a) }, "checks: Cached(a): the key function is nil"},
		"NoTime":   {"a ttl of zero remembers nothing", func() { checks.Cached(0, key, a) }, "checks: Cached(a): the time to remember is 0s: give a positive duration"},
		"Negative": {"nor does a negative ttl", func() { checks.Cached(-time.Second, key, a) }, "checks: Cached(a): the time to remember is -1s: give a positive duration"},
		"Nil":      {"a check is needed", func() { checks.Cached(time.Hour, key, nil) }, "checks: Cached: link nil" + rawRefused},
		"Raw":      {"a raw link may act around next", func() { checks.Cached(time.Hour, key, chain.Named("raw", func(next handler) handler { return next })) }, "checks: Cached: link raw" + rawRefused},
		"Gate":     {"a gate that does not run starts nothing", func() { checks.Cached(time.Hour, key, checks.Gate("backup", proceeds)) }, "checks: Cached: link Gate(backup)" + rawRefused},
		"Option":   {"the check inside blocks, not the memory", func() { checks.Cached(time.Hour, key, a, checks.WithReason("Other")) }, "checks: Cached(a): the option WithReason is not for this check"},
		"Block":    {"so an option about blocks would do nothing", func() { checks.Cached(time.Hour, key, a, checks.WithAfter(time.Second)) }, "checks: Cached(a): a BlockOption is not for this check: give it to the check that blocks"},
	})
}
