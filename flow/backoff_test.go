package flow_test

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// plain is a Backoff without jitter.
func plain(opts ...flow.BackoffOption) *flow.Backoff {
	return flow.NewBackoff(append([]flow.BackoffOption{flow.WithBackoffJitter(0, 0)}, opts...)...)
}

func TestBackoff(t *testing.T) {
	const s, m = time.Second, time.Minute
	cases := map[string]struct {
		reason string
		passes []string // the outcome of each pass; "spec" changes the spec
		want   []time.Duration
	}{
		"Fast":        {"it doubles to 30 s", []string{"fast", "fast", "fast", "fast", "fast", "fast", "fast"}, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s, 30 * s}},
		"Slow":        {"it doubles to 3 min", []string{"slow", "slow", "slow", "slow", "slow", "slow", "slow", "slow", "slow", "slow"}, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 128 * s, 3 * m, 3 * m}},
		"OnChangeIn":  {"a delay is ignored if only a change helps", []string{"on change+1m"}, []time.Duration{time.Hour}},
		"Failed":      {"an error and a block share a counter", []string{"failed", "slow", "failed"}, []time.Duration{s, 2 * s, 4 * s}},
		"InProgress":  {"without a delay of the server the delays are those of Fast", []string{"in progress", "in progress", "in progress"}, []time.Duration{s, 2 * s, 4 * s}},
		"Deleting":    {"so they are for a deletion, and a longer one of the server is a resync", []string{"deleting", "deleting", "deleting", "deleting", "deleting", "deleting", "deleting+2h"}, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s, time.Hour}},
		"ServerDelay": {"the pass uses the server's delay and does not count", []string{"in progress", "in progress+1m", "in progress"}, []time.Duration{s, m, 2 * s}},
		"Own":         {"each counter is separate: many slow failures do not delay the first fast one", []string{"slow", "slow", "slow", "slow", "fast", "in progress", "slow", "fast"}, []time.Duration{s, 2 * s, 4 * s, 8 * s, s, s, 16 * s, 2 * s}},
		"Once":        {"the delay of a check is used once and not counted", []string{"fast", "fast+1m", "fast", "very slow+1m", "very slow", "fast"}, []time.Duration{s, m, 2 * s, m, time.Hour, 4 * s}},
		"AfterReady":  {"a Ready resets the counts", []string{"fast", "fast", "ready", "fast"}, []time.Duration{s, 2 * s, time.Hour, s}},
		"AfterGone":   {"a deletion resets the counts", []string{"fast", "fast", "gone", "fast"}, []time.Duration{s, 2 * s, 0, s}},
		"AfterSpec":   {"another spec resets the counts", []string{"fast", "slow", "fast", "spec", "fast", "slow"}, []time.Duration{s, s, 2 * s, s, s}},
		"SpecInWaits": {"another spec resets the counts, even if the first outcome after it is not counted", []string{"fast", "fast", "spec", "very slow", "fast"}, []time.Duration{s, 2 * s, time.Hour, s}},
		"Ignored":     {"an object of another controller is not polled", []string{"ignored", "ignored never"}, []time.Duration{0, 0}},
		"Canceled":    {"a canceled pass changes nothing", []string{"fast", "canceled", "fast"}, []time.Duration{s, 0, 2 * s}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, generation := plain(), int64(1)
			var got []time.Duration
			for _, word := range tc.passes {
				if word == "spec" {
					generation++
					continue
				}
				delay, again := b.Next("p", outcomeOf(t, word, generation))
				if never := word == "gone" || word == "canceled" || strings.HasPrefix(word, "ignored"); again == never {
					t.Errorf("%s: after %s, again is %t", tc.reason, word, again)
				}
				got = append(got, delay)
			}
			mustEqual(t, tc.reason, tc.want, got)
		})
	}
}

func TestBackoffSettings(t *testing.T) {
	type options = []flow.BackoffOption
	type delays = []time.Duration
	const ms, s, m = time.Millisecond, time.Second, time.Minute
	cases := map[string]struct {
		reason string
		opts   options
		random float64
		word   string
		want   delays
	}{
		"Steps":    {"the first and the longest delay are set", options{flow.WithBackoffSteps(classify.Fast, 3*s, 10*s)}, 0, "fast", delays{3 * s, 6 * s, 10 * s, 10 * s}},
		"Resync":   {"the resync is set", options{flow.WithBackoffResync(m)}, 0.5, "very slow", delays{m, m}},
		"Shortest": {"no delay is below a millisecond", options{flow.WithBackoffSteps(classify.Fast, 1, 1)}, 0, "fast", delays{ms, ms}},
		"AbsurdResync": {"the longest resync is 73 years, without overflow", options{flow.WithBackoffResync(math.MaxInt64), flow.WithBackoffJitter(0, 0.9)},
			1, "ready", delays{time.Duration(1.9 * float64(math.MaxInt64/4))}},
		"JitterToFloor": {"jitter may shorten a delay to the floor", options{flow.WithBackoffSteps(classify.Slow, 2*s, m), flow.WithBackoffJitter(0.5, 0)}, 1, "slow", delays{s, 2 * s}},
		"AbsurdLongest": {"the longest delay is 73 years", options{flow.WithBackoffSteps(classify.Fast, math.MaxInt64, math.MaxInt64)},
			0, "fast", delays{math.MaxInt64 / 4, math.MaxInt64 / 4}},
		"StepHalf":      {"no delay is below a second, so jitter lengthens it", nil, 0.5, "fast", delays{1050 * ms}},
		"StepMost":      {"jitter lengthens a delay by up to a tenth", nil, 1, "slow", delays{1100 * ms}},
		"ResyncLeast":   {"the resync is shortened by up to a quarter", nil, 0, "ready", delays{45 * m}},
		"ResyncMost":    {"the resync is lengthened by up to a quarter", nil, 1, "very slow", delays{75 * m}},
		"DelayOfServer": {"the server's delay has no jitter", nil, 0.7, "fast+1m", delays{m}},
		"InProgress":    {"polls have jitter, too", nil, 0.5, "in progress", delays{1050 * ms}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := flow.NewBackoff(append(tc.opts, flow.WithBackoffRand(func() float64 { return tc.random }))...)
			for i, want := range tc.want {
				delay, _ := b.Next("p", outcomeOf(t, tc.word, 0))
				if diff := (delay.Round(ms) - want).Abs(); diff > want/1e9 {
					t.Errorf("%s: delay %d is %s, not %s", tc.reason, i+1, delay, want)
				}
			}
		})
	}
}

// A delay that a check, a rule or a server gives has a floor and a ceiling. A rule may ask for
// more than the resync: Flux retries a failed installation after 6 h.
func TestGivenDelays(t *testing.T) {
	cases := map[string]struct {
		reason string
		opts   []flow.BackoffOption
		after  time.Duration
		want   time.Duration
		asked  time.Duration // what a check and a rule get; 0: want
	}{
		"Short":      {"a shorter step sets a lower floor", []flow.BackoffOption{flow.WithBackoffSteps(classify.Fast, 10*time.Millisecond, time.Second)}, time.Millisecond, 10 * time.Millisecond, 0},
		"Least":      {"a nanosecond is a delay, too, and is not counted", nil, 1, time.Second, 0},
		"Resync":     {"a delay as long as the resync is kept, without jitter", []flow.BackoffOption{flow.WithBackoffJitter(0, 0.5), flow.WithBackoffRand(func() float64 { return 0 })}, time.Hour, time.Hour, 0},
		"Never":      {"a server cannot stop the resync; a check can, for 73 years", nil, math.MaxInt64, time.Hour, math.MaxInt64 / 4},
		"LessResync": {"a shorter resync replaces a longer delay of a server; a check gets the delay that it asks for", []flow.BackoffOption{flow.WithBackoffResync(time.Minute)}, time.Hour, time.Minute, time.Hour},
	}
	for name, tc := range cases {
		for _, word := range []string{"slow", "failed", "in progress"} {
			t.Run(name+"/"+word, func(t *testing.T) {
				b, out, want := plain(tc.opts...), outcomeOf(t, fmt.Sprint(word, "+", tc.after), 0), tc.want
				if word != "in progress" {
					want = cmp.Or(tc.asked, want)
				}
				for range 3 {
					delay, again := b.Next("p", out)
					mustEqual(t, tc.reason, []any{want, true}, []any{delay, again})
				}
			})
		}
	}
}

// A user's function that panics does not end the pass. A user's function that
// calls the Backoff does not hang.
func TestBackoffFunctions(t *testing.T) {
	fails := func(opts ...flow.Option) flow.Outcome {
		return flow.New("Pool", (&cloud{getErr: errBoom}).operations(), ext{}, opts...).Reconcile(t.Context(), &pool{name: "p"})
	}
	t.Run("Panics", func(t *testing.T) {
		b := flow.NewBackoff(flow.WithBackoffClock(func() time.Time { panic("clock") }), flow.WithBackoffRand(func() float64 { return 0.5 }))
		out := fails(flow.WithBackoff(b), flow.WithExplanations(1), flow.WithClock(func() time.Time { panic("clock") }))
		delay, _ := out.Again()
		mustEqual(t, "the pass ends as without the panic", []any{"Unknown", 1050 * time.Millisecond}, []any{out.Reason(), delay})
		e := explain(t, (&cloud{}).operations(), ext{}, &pool{}, flow.WithClock(func() time.Time { panic("clock") }))
		if time.Since(e.At).Abs() > time.Hour {
			t.Errorf("the pass was at %s, which is not the time of the machine", e.At)
		}
		if d := b.Resync(); d != time.Hour {
			t.Errorf("the resync is %s", d)
		}
	})
	t.Run("Reentrant", func(t *testing.T) {
		var b *flow.Backoff
		b = flow.NewBackoff(
			flow.WithBackoffClock(func() time.Time { b.Forget("other"); return noon }),
			flow.WithBackoffRand(func() float64 { b.Forget("other"); return 0.5 }))
		for range 3 {
			fails(flow.WithBackoff(b))
		}
		b.Resync()
	})
}

// With more than 1,024 keys a Backoff drops those that were not used for two
// resyncs, the one that was used longest ago first.
func TestBackoffSweep(t *testing.T) {
	const many, over = 1024, 500
	cases := map[string]struct {
		reason string
		pass   time.Duration // between the use of the first keys and of the last one
		used   int           // keys of the first that are used again just before the last one
		want   int           // the number of keys with counts after that
	}{
		"InUse":  {"no key is dropped that was used within two resyncs", 2 * time.Hour, 0, many + over + 1},
		"Unused": {"unused keys are dropped down to 1,024", 2*time.Hour + 1, 0, many},
		"Some":   {"keys that were used again stay", 2*time.Hour + 1, many + over - 10, many + over - 10 + 1},
	}
	fast := outcomeOf(t, "fast", 0)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clk := &clock{noon}
			b := plain(flow.WithBackoffClock(clk.now))
			next := func(key int) time.Duration { d, _ := b.Next(strconv.Itoa(key), fast); return d }
			for key := range many + over {
				next(key)
			}
			clk.advance(tc.pass - 1)
			for key := range tc.used {
				next(key)
			}
			clk.advance(1)
			next(-1)
			mustEqual(t, tc.reason, tc.want, b.Keys())
			kept := name == "InUse" || name == "Some"
			if delay := next(0); (delay > time.Second) != kept {
				t.Errorf("%s: the next delay of the first key is %s", tc.reason, delay)
			}
		})
	}
}

// A clock that goes back by years does not keep the counts of a key.
func TestBackoffClockGoesBack(t *testing.T) {
	clk := &clock{noon}
	b, fast := plain(flow.WithBackoffClock(clk.now)), outcomeOf(t, "fast", 0)
	var got []time.Duration
	for _, back := range []time.Duration{0, 0, time.Second, 2 * time.Hour, 2*time.Hour + 1, 0} {
		clk.advance(-back)
		delay, _ := b.Next("p", fast)
		got = append(got, delay)
	}
	mustEqual(t, "a small step keeps the counts, a large one ends them", []time.Duration{1e9, 2e9, 4e9, 8e9, 1e9, 2e9}, got)
}

// One Backoff serves a whole engine, several goroutines at once.
func TestBackoffIsShared(t *testing.T) {
	b, block := plain(), deciding(flow.PointEntryCheck, checks.Block("No", "", checks.WithRetry(classify.Fast)))
	pools := flow.New("Pool", (&cloud{}).operations(), block, flow.WithBackoff(b))
	clusters := flow.New("Cluster", (&cloud{}).operations(), block, flow.WithBackoff(b))
	var wg sync.WaitGroup
	for _, r := range []*flow.Reconciler[*pool]{pools, clusters, pools, clusters} {
		wg.Go(func() { r.Reconcile(t.Context(), &pool{name: "p"}) })
	}
	wg.Wait()
	var got []time.Duration
	for _, r := range []*flow.Reconciler[*pool]{pools, clusters} {
		delay, _ := r.Reconcile(t.Context(), &pool{name: "p"}).Again()
		got = append(got, delay)
	}
	mustEqual(t, "resources of two kinds with one key do not share a count", []time.Duration{4e9, 4e9}, got)
	if delay, _ := b.Next("Pool p", outcomeOf(t, "fast", 0)); delay != 8*time.Second {
		t.Errorf("the key is the reconciler's name, a space and the resource's key; under it the next delay is %s", delay)
	}
}
