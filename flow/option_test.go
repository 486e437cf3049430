package flow_test

import (
	"testing"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

func TestOptions(t *testing.T) {
	mustPanic(t, map[string]setUp{
		"KeepNothing": {"that would be no option", func() { flow.KeepLast(0) }, "flow: KeepLast(0): give at least 1"},
		"KeepLess":    {"less makes no sense", func() { flow.KeepLast(-1) }, "flow: KeepLast(-1): give at least 1"},
		"Clock":       {"it would panic in each pass", func() { flow.WithClock(nil) }, "flow: WithClock: the function is nil"},

		"Vocabulary": {"nothing would become ready", func() { flow.WithVocabulary(checks.Vocabulary{Settled: []string{"READY"}}) }, "flow: WithVocabulary: of Settled and Succeeded one is empty: give both, or none for Azure's words"},

		"Backoff":        {"its delays would be none", func() { flow.WithBackoff(&flow.Backoff{}) }, "flow: WithBackoff: the Backoff is nil or has no table: make it with NewBackoff, or use WithoutBackoff"},
		"NilBackoff":     {"it is switched off by name", func() { flow.WithBackoff(nil) }, "flow: WithBackoff: the Backoff is nil or has no table: make it with NewBackoff, or use WithoutBackoff"},
		"ReadyWithin":    {"nothing is Ready at once", func() { flow.ReadyWithin(0) }, "flow: ReadyWithin(0s): give a positive duration"},
		"BackoffOption":  {"it was left out by mistake", func() { flow.NewBackoff(flow.BackoffResync(1), nil) }, "flow: NewBackoff: option 2 is nil"},
		"BackoffClock":   {"it would panic in each pass", func() { flow.BackoffClock(nil) }, "flow: BackoffClock: the function is nil"},
		"BackoffRand":    {"it would panic in each pass", func() { flow.BackoffRand(nil) }, "flow: BackoffRand: the function is nil"},
		"Resync":         {"the queue would spin", func() { flow.BackoffResync(0) }, "flow: BackoffResync(0s): give a positive duration"},
		"NegativeResync": {"a negative delay is lost or loops", func() { flow.BackoffResync(-time.Hour) }, "flow: BackoffResync(-1h0m0s): give a positive duration"},
		"Jitter":         {"a delay could be zero", func() { flow.BackoffJitter(1, 0) }, "flow: BackoffJitter(1, 0): give shares from 0 to below 1"},
		"NegativeJitter": {"a delay could be longer than the longest", func() { flow.BackoffJitter(-0.1, 0) }, "flow: BackoffJitter(-0.1, 0): give shares from 0 to below 1"},
		"ResyncJitter":   {"a resync could be at once", func() { flow.BackoffJitter(0, 1) }, "flow: BackoffJitter(0, 1): give shares from 0 to below 1"},
		"StepsOfOther":   {"others do not double", func() { flow.BackoffSteps(classify.VerySlow, 1, 2) }, "flow: BackoffSteps(very slow, 1ns, 2ns): give Fast or Slow, a positive first delay and a longest one not below it"},
		"StepsZero":      {"nothing doubled is nothing", func() { flow.BackoffSteps(classify.Fast, 0, 2) }, "flow: BackoffSteps(fast, 0s, 2ns): give Fast or Slow, a positive first delay and a longest one not below it"},
		"StepsReversed":  {"the first would be longer than the longest", func() { flow.BackoffSteps(classify.Slow, 2, 1) }, "flow: BackoffSteps(slow, 2ns, 1ns): give Fast or Slow, a positive first delay and a longest one not below it"},
	})
}

// Options that are nil are none.
func TestNilOptions(t *testing.T) {
	r := flow.New("Pool", (&cloud{}).operations(), ext{}, flow.WithObserver(nil), flow.WithResolver(nil), flow.WithBackoff(plain()))
	out := r.Reconcile(t.Context(), &pool{})
	delay, again := out.Again()
	mustEqual(t, "the pass is as without them", []any{ready, time.Hour, true}, []any{cameTo(out), delay, again})
}

// Without options a reconciler has a back-off; it is switched off on purpose.
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
	mustEqual(t, "unless that is switched off", []time.Duration{1e9, 1e9, 1e9, 1e9}, delays(flow.WithoutBackoff()))
	mustEqual(t, "the last option holds", grows, delays(flow.WithoutBackoff(), flow.WithBackoff(plain())))
	mustEqual(t, "the last option holds", []time.Duration{1e9, 1e9, 1e9, 1e9}, delays(flow.WithBackoff(plain()), flow.WithoutBackoff()))
}
