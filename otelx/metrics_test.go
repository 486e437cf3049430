package otelx_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// Metrics count each pass, point and link once, also of canceled passes. They name
// no resource and no code of a service, which would make series without a bound.
func TestMetrics(t *testing.T) {
	rec := &recording{}
	r := flow.New("Pool", operations, extensions, flow.WithObserver(rec.observer(otelx.WithTracerProvider(nil))))
	ctx, cancel := context.WithCancel(t.Context())
	r.Reconcile(ctx, &pool{"fine"})
	r.Reconcile(ctx, &pool{"invalid"})
	r.Reconcile(ctx, &pool{"refused"})
	cancel()
	r.Reconcile(ctx, &pool{"canceled"})
	const pool = "windlass.reconciler=Pool"
	sums := map[string]float64{}
	var durations []string
	for name, sum := range rec.Sums {
		if strings.Contains(name, ".verdicts {verdict} ") {
			sums[name] = sum
		} else {
			durations = append(durations, name)
		}
		if strings.Contains(name, "fine") || strings.Contains(name, "invalid") {
			t.Errorf("a metric names a resource: %s", name)
		}
	}
	const passes, points, links = "windlass.pass.verdicts {verdict} ", "windlass.point.verdicts {verdict} ", "windlass.link.verdicts {verdict} "
	mustEqual(t, "a sum over the attributes of an instrument is the number of passes, points or links", map[string]float64{
		passes + "windlass.reason=Succeeded," + pool + ",windlass.verdict=ready":                                              1,
		passes + "windlass.reason=SpecInvalid," + pool + ",windlass.verdict=block":                                            1,
		passes + "windlass.reason=Unknown," + pool + ",windlass.verdict=error":                                                1, // the rule, not the code
		passes + "windlass.reason=Canceled," + pool + ",windlass.verdict=canceled":                                            1,
		points + "windlass.point=EntryCheck," + pool + ",windlass.verdict=proceed":                                            4,
		points + "windlass.point=OwnerCheck," + pool + ",windlass.verdict=proceed":                                            4,
		points + "windlass.point=PreCheck," + pool + ",windlass.verdict=proceed":                                              3,
		points + "windlass.point=PreCheck,windlass.reason=SpecInvalid," + pool + ",windlass.verdict=block":                    1,
		links + "windlass.link=Valid,windlass.point=PreCheck," + pool + ",windlass.verdict=proceed":                           3,
		links + "windlass.link=Valid,windlass.point=PreCheck,windlass.reason=SpecInvalid," + pool + ",windlass.verdict=block": 1,
		links + "windlass.link=Quota,windlass.point=PreCheck," + pool + ",windlass.verdict=proceed":                           3,
		points + "windlass.point=Apply," + pool + ",windlass.verdict=proceed":                                                 1,
		links + "windlass.link=lock,windlass.point=Apply," + pool + ",windlass.verdict=proceed":                               2,
		points + "windlass.point=Apply," + pool + ",windlass.verdict=error":                                                   1,
		points + "windlass.point=Classify,windlass.reason=Unknown," + pool + ",windlass.verdict=slow":                         1,
		points + "windlass.point=PostCheck," + pool + ",windlass.verdict=proceed":                                             1,
		points + "windlass.point=Classify,windlass.reason=Canceled," + pool + ",windlass.verdict=canceled":                    1,
	}, sums)
	slices.Sort(durations)
	mustEqual(t, "durations have the attributes of a pass, a point or a link", []string{
		"windlass.link.duration s windlass.link=Quota,windlass.point=PreCheck," + pool, "windlass.link.duration s windlass.link=Valid,windlass.point=PreCheck," + pool,
		"windlass.link.duration s windlass.link=lock,windlass.point=Apply," + pool, "windlass.pass.duration s " + pool, "windlass.point.duration s windlass.point=Apply," + pool,
		"windlass.point.duration s windlass.point=Classify," + pool, "windlass.point.duration s windlass.point=EntryCheck," + pool, "windlass.point.duration s windlass.point=OwnerCheck," + pool,
		"windlass.point.duration s windlass.point=PostCheck," + pool, "windlass.point.duration s windlass.point=PreCheck," + pool,
	}, durations)
}

// The reasons of a check make no series without a bound.
func TestBoundedSeries(t *testing.T) {
	rec := &recording{}
	o := rec.observer(otelx.WithTracerProvider(nil))
	const calls = 500
	h := chain.New(chain.Named("many", func(chain.Handler[reason, reason]) chain.Handler[reason, reason] {
		return func(_ context.Context, r reason) (reason, error) { return r, nil }
	})).Observe(o).Then(func(context.Context, reason) (reason, error) { return "", nil })
	for n := range calls {
		_, _ = h(t.Context(), reason(fmt.Sprint("Reason", n)))
	}
	const other = "windlass.link.verdicts {verdict} windlass.link=many,windlass.reason=other,windlass.verdict=block"
	for range calls {
		_, _ = h(t.Context(), "")
		_, _ = h(t.Context(), "Reason7")
	}
	const few = "windlass.link.verdicts {verdict} windlass.link=many,"
	mustEqual(t, "calls without a reason and calls with a known reason keep their series", []int{calls, calls + 1},
		[]int{rec.Counts[few+"windlass.verdict=block"], rec.Counts[few+"windlass.reason=Reason7,windlass.verdict=block"]})
	if n := len(rec.Counts); n > 110 || rec.Counts[other] != calls-100 {
		t.Errorf("%d reasons of a link made %d series and %d calls under %q, want 400", calls, n, rec.Counts[other], other)
	}
}

// A rule is the reason of a pass only: the result of another link may have any texts in a method Rule.
func TestRuleOfLink(t *testing.T) {
	rec := &recording{}
	h := chain.New(chain.Named("quota", func(chain.Handler[int, result]) chain.Handler[int, result] {
		return func(context.Context, int) (result, error) {
			return result{verdict: "block", reason: "Full", rule: "tenant-1"}, nil
		}
	})).Observe(rec.observer()).Then(func(context.Context, int) (result, error) { return result{}, nil })
	_, _ = h(t.Context(), 1)
	for s := range rec.Counts {
		if strings.Contains(s, "tenant-1") {
			t.Errorf("the series %s", s)
		}
	}
}
