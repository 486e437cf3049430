package flow_test

import (
	"context"
	"testing"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

func TestOptions(t *testing.T) {
	none := func(context.Context, checks.Ref) (checks.Object, error) { return checks.Object{}, nil }
	mustPanic(t, map[string]panicCase{
		"KeepNothing": {"no explanation would be stored", func() { flow.WithExplanations(0) }, "flow: WithExplanations(0): give at least 1"},
		"KeepLess":    {"the number is negative", func() { flow.WithExplanations(-1) }, "flow: WithExplanations(-1): give at least 1"},
		"Clock":       {"the clock would panic in each pass", func() { flow.WithClock(nil) }, "flow: WithClock: the function is nil"},

		"Resolvers": {"the checks ask one", func() {
			flow.New("Pool", (&cloud{}).operations(), ext{}, flow.WithResolver(none), flow.WithResolver(nil), flow.WithResolver(none))
		}, "flow: New: Pool: WithResolver is given twice: give it once, and not at all under ctrlx, which gives its own"},
		"Listers": {"the checks ask one", func() {
			list := func(context.Context, checks.Query) ([]checks.Object, error) { return nil, nil }
			flow.New("Pool", (&cloud{}).operations(), ext{}, flow.WithLister(list), flow.WithLister(list))
		}, "flow: New: Pool: WithLister is given twice: give it once, and not at all under ctrlx, which gives its own"},

		"Backoff":              {"it has no delays", func() { flow.WithBackoff(&flow.Backoff{}) }, "flow: WithBackoff: the Backoff is nil or has no table: make it with NewBackoff, or use WithoutBackoff"},
		"NilBackoff":           {"WithoutBackoff is the option for none", func() { flow.WithBackoff(nil) }, "flow: WithBackoff: the Backoff is nil or has no table: make it with NewBackoff, or use WithoutBackoff"},
		"BackoffOption":        {"a nil option is a mistake", func() { flow.NewBackoff(flow.WithBackoffResync(1), nil) }, "flow: NewBackoff: option 2 is nil"},
		"BackoffClock":         {"the clock would panic in each pass", func() { flow.WithBackoffClock(nil) }, "flow: WithBackoffClock: the function is nil"},
		"Resync":               {"the queue would spin", func() { flow.WithBackoffResync(0) }, "flow: WithBackoffResync(0s): give a positive duration"},
		"NegativeResync":       {"a negative delay is lost or loops", func() { flow.WithBackoffResync(-time.Hour) }, "flow: WithBackoffResync(-1h0m0s): give a positive duration"},
		"Jitter":               {"a delay could be zero", func() { flow.WithBackoffJitter(1, 0) }, "flow: WithBackoffJitter(1, 0): give shares from 0 to below 1"},
		"NegativeJitter":       {"a delay could be longer than the longest", func() { flow.WithBackoffJitter(-0.1, 0) }, "flow: WithBackoffJitter(-0.1, 0): give shares from 0 to below 1"},
		"ResyncJitter":         {"a resync could have no delay", func() { flow.WithBackoffJitter(0, 1) }, "flow: WithBackoffJitter(0, 1): give shares from 0 to below 1"},
		"ResyncNegativeJitter": {"the jitter would have no bound", func() { flow.WithBackoffJitter(0, -0.1) }, "flow: WithBackoffJitter(0, -0.1): give shares from 0 to below 1"},
		"StepsOfOther":         {"the delays of VerySlow do not double", func() { flow.WithBackoffSteps(classify.VerySlow, 1, 2) }, "flow: WithBackoffSteps(very slow, 1ns, 2ns): give Fast or Slow, a positive first delay and a longest one not below it"},
		"StepsZero":            {"twice zero is zero", func() { flow.WithBackoffSteps(classify.Fast, 0, 2) }, "flow: WithBackoffSteps(fast, 0s, 2ns): give Fast or Slow, a positive first delay and a longest one not below it"},
		"StepsReversed":        {"the first delay would exceed the longest", func() { flow.WithBackoffSteps(classify.Slow, 2, 1) }, "flow: WithBackoffSteps(slow, 2ns, 1ns): give Fast or Slow, a positive first delay and a longest one not below it"},
	})
}

// Options with a nil argument change nothing.
func TestNilOptions(t *testing.T) {
	r := flow.New("Pool", (&cloud{}).operations(), ext{}, flow.WithObserver(nil), flow.WithResolver(nil), flow.WithBackoff(plain()),
		flow.WithResolver(func(context.Context, checks.Ref) (checks.Object, error) { return checks.Object{}, nil }), flow.WithResolver(nil),
		flow.WithLister(func(context.Context, checks.Query) ([]checks.Object, error) { return nil, nil }), flow.WithLister(nil))
	out := r.Reconcile(t.Context(), &pool{})
	delay, again := out.Again()
	mustEqual(t, "the pass is as without the options", []any{time.Hour, true}, []any{delay, again})
	mustBeReady(t, "the pass is as without the options", out)
}

// A reconciler shows its clock and its back-off.
func TestOptionsAreShown(t *testing.T) {
	clk, b := &clock{noon}, plain()
	r := flow.New("Pool", (&cloud{}).operations(), ext{}, flow.WithClock(clk.now), flow.WithBackoff(b))
	mustEqual(t, "the clock", noon, r.Clock()())
	mustEqual(t, "the back-off", true, r.Backoff() == b)
}

// A reconciler has a back-off by default.
func TestDefaultBackoff(t *testing.T) {
	delays := func(opts ...flow.Option) (delays []time.Duration) {
		c := &cloud{getErr: errBoom}
		r := flow.New("Pool", c.operations(), ext{}, opts...)
		for range 4 {
			delay, _ := r.Reconcile(t.Context(), &pool{name: "p"}).Again()
			delays = append(delays, delay)
		}
		return delays
	}
	grows := []time.Duration{1e9, 2e9, 4e9, 8e9}
	for i, delay := range delays() {
		if spread := (delay - grows[i]).Abs(); spread > grows[i]/10 {
			t.Errorf("delay %d is %s: failures are not counted, or the jitter is more than a tenth", i+1, delay)
		}
	}
	mustEqual(t, "WithoutBackoff makes every delay the first", []time.Duration{1e9, 1e9, 1e9, 1e9}, delays(flow.WithoutBackoff()))
	mustEqual(t, "the last option holds", grows, delays(flow.WithoutBackoff(), flow.WithBackoff(plain())))
	mustEqual(t, "the last option holds", []time.Duration{1e9, 1e9, 1e9, 1e9}, delays(flow.WithBackoff(plain()), flow.WithoutBackoff()))
	at := noon
	clock := func() time.Time { at = at.Add(3 * time.Hour); return at }
	for i, delay := range delays(flow.WithClock(clock)) {
		if delay > 1100*time.Millisecond {
			t.Errorf("delay %d is %s, although the counts of the pass before have ended by the clock of the reconciler", i+1, delay)
		}
	}
}
