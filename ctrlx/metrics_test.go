package ctrlx

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// Each gauge shows how many objects are blocked or failed now, and why,
// whatever the order of the verdicts is.
func TestVerdictGauges(t *testing.T) {
	var v verdicts
	set := func(n int, now verdict, timedOut bool) func() {
		return func() { v.set("T", types.NamespacedName{Name: fmt.Sprint(n)}, now, timedOut, time.Time{}) }
	}
	notReady := verdict{state: flow.StateBlocked, reason: "OwnerNotReady", link: "OwnerReady"}
	forbidden := verdict{state: flow.StateFailed, reason: "Forbidden"}
	steps := []struct {
		reason string
		do     func()
		want   map[string]float64
	}{
		{"one object is blocked", set(1, notReady, false), map[string]float64{"blocked OwnerNotReady": 1}},
		{"the same verdict again", set(1, notReady, false), map[string]float64{"blocked OwnerNotReady": 1}},
		{"another object", set(2, notReady, false), map[string]float64{"blocked OwnerNotReady": 2}},
		{"another link blocks it for the same reason", set(2, verdict{state: flow.StateBlocked, reason: "OwnerNotReady"}, false), map[string]float64{"blocked OwnerNotReady": 2}},
		{"it fails", set(1, forbidden, false), map[string]float64{"blocked OwnerNotReady": 1, "failed Forbidden": 1}},
		{"it times out", set(1, forbidden, true), map[string]float64{"blocked OwnerNotReady": 1, "failed Timeout": 1}},
		{"a blocked object times out", set(2, notReady, true), map[string]float64{"failed Timeout": 2}},
		{"an operation is under way", set(2, verdict{state: flow.StateInProgress, reason: "InProgress"}, false), map[string]float64{"failed Timeout": 1}},
		{"it becomes ready", set(1, verdict{}, false), map[string]float64{}},
		{"and again", set(1, verdict{}, false), map[string]float64{}},
		{"the other one, too", set(2, verdict{}, false), map[string]float64{}},
		{"another reconciler has an object of the same name", func() {
			set(1, notReady, false)()
			var other verdicts
			other.set("U", types.NamespacedName{Name: "1"}, notReady, false, time.Time{})
			other.stop("U")
		}, map[string]float64{"blocked OwnerNotReady": 1}},
		{"the manager stops", func() { v.stop("T") }, map[string]float64{}},
		{"a pass ends after that", set(5, forbidden, false), map[string]float64{}},
	}
	for _, s := range steps {
		s.do()
		if diff := cmp.Diff(s.want, gauges(t, "T")); diff != "" {
			t.Errorf("%s: the gauges: -want, +got:\n%s", s.reason, diff)
		}
		if s.reason == "the other one, too" && len(v.of) > 0 {
			t.Errorf("an object that is ready needs no memory: %v", v.of)
		}
	}
}

// A service can send any code. The gauges have a bounded number of reasons, and
// count each object once, also while its reason changes.
func TestVerdictReasonsAreBounded(t *testing.T) {
	var v verdicts
	for round := range 3 {
		for n := range 300 {
			v.set("Bounded", types.NamespacedName{Name: fmt.Sprint(n)}, verdict{state: flow.StateFailed, reason: fmt.Sprint("Code", n+50*round)}, false, time.Time{})
		}
	}
	got, sum := gauges(t, "Bounded"), 0.0
	for _, n := range got {
		sum += n
	}
	if len(got) > maxReasons+1 || sum != 300 || got["failed "+otelx.OtherReason] != 300 {
		t.Errorf("300 objects with 400 reasons make %d series with a sum of %v: %v", len(got), sum, got)
	}
	for n := range 300 {
		v.forget("Bounded", types.NamespacedName{Name: fmt.Sprint(n)})
	}
	if diff := cmp.Diff(map[string]float64{}, gauges(t, "Bounded")); diff != "" {
		t.Errorf("no object is left: -want, +got:\n%s", diff)
	}
}

// gauges returns the gauges of a reconciler that are not zero: "blocked
// OwnerNotReady".
func gauges(t *testing.T, reconciler string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		state := map[string]string{MetricBlocked: "blocked", MetricFailed: "failed"}[f.GetName()]
		for _, m := range f.GetMetric() {
			if l := m.GetLabel(); state != "" && l[1].GetValue() == reconciler && m.GetGauge().GetValue() != 0 {
				all[state+" "+l[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
	}
	return all
}
