package flow_test

import (
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// Each deprecated option does the same as the option that replaces it.
func TestDeprecatedOptions(t *testing.T) {
	clk := &clock{noon}
	random := flow.WithBackoffRand(func() float64 { return 0.5 })
	backoffs := map[string][]flow.BackoffOption{
		"old": {flow.BackoffClock(clk.now), flow.BackoffJitter(0.5, 0), flow.BackoffResync(10 * time.Minute),
			flow.BackoffSteps(classify.Slow, 4*time.Second, 5*time.Second), random},
		"new": {flow.WithBackoffClock(clk.now), flow.WithBackoffJitter(0.5, 0), flow.WithBackoffResync(10 * time.Minute),
			flow.WithBackoffSteps(classify.Slow, 4*time.Second, 5*time.Second), random},
	}
	options := map[string][]flow.Option{
		"old": {flow.KeepLast(1), flow.ReadyWithin(time.Hour)},
		"new": {flow.WithExplanations(1), flow.WithReadyTimeout(time.Hour)},
	}
	e := ext{PreCheck: chain.New(returns[*checks.Request[*pool]]("gate", checks.Block("No", ""), nil))}
	for name := range options {
		clk.at = noon
		backoff := flow.NewBackoff(backoffs[name]...)
		r := flow.New("Pool", (&cloud{}).operations(), e, append(options[name], flow.WithBackoff(backoff), flow.WithClock(clk.now))...)
		var delays []time.Duration
		var explained []time.Time
		for _, later := range []time.Duration{0, 0, 20*time.Minute + 1, 0, time.Hour} {
			clk.advance(later)
			delay, _ := r.Reconcile(t.Context(), &pool{name: "p"}).Again()
			kept, _ := r.Explain("p")
			delays, explained = append(delays, delay), append(explained, kept.TimesOut)
		}
		due := noon.Add(time.Hour)
		mustEqual(t, name+": steps of 4 s and 5 s less a quarter, counts that end after two resyncs, and the resync after the time-out",
			[]time.Duration{3e9, 3.75e9, 3e9, 3.75e9, 10 * time.Minute}, delays)
		mustEqual(t, name+": the explanations have the time of the time-out", []time.Time{due, due, due, due, {}}, explained)
	}
}
