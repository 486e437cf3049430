package gauges

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// Each gauge shows how many objects are blocked or failed now, and why,
// whatever the order of the verdicts is.
func TestVerdictGauges(t *testing.T) {
	v := Counted{Name: "T"}
	set := func(n int, now memory.Verdict, timedOut bool) func() {
		return func() { v.Decided(types.NamespacedName{Name: fmt.Sprint(n)}, now, timedOut, false, time.Time{}) }
	}
	notReady := memory.Verdict{State: flow.StateBlocked, Reason: "OwnerNotReady", Link: "OwnerReady"}
	forbidden := memory.Verdict{State: flow.StateFailed, Reason: "Forbidden"}
	steps := []struct {
		reason string
		do     func()
		want   map[string]float64
	}{
		{"one object is blocked", set(1, notReady, false), map[string]float64{"blocked OwnerNotReady": 1}},
		{"the same verdict again", set(1, notReady, false), map[string]float64{"blocked OwnerNotReady": 1}},
		{"another object", set(2, notReady, false), map[string]float64{"blocked OwnerNotReady": 2}},
		{"another link blocks it for the same reason", set(2, memory.Verdict{State: flow.StateBlocked, Reason: "OwnerNotReady"}, false), map[string]float64{"blocked OwnerNotReady": 2}},
		{"it fails", set(1, forbidden, false), map[string]float64{"blocked OwnerNotReady": 1, "failed Forbidden": 1}},
		{"it times out", set(1, forbidden, true), map[string]float64{"blocked OwnerNotReady": 1, "failed Timeout": 1}},
		{"a blocked object times out", set(2, notReady, true), map[string]float64{"failed Timeout": 2}},
		{"an operation is under way", set(2, memory.Verdict{State: flow.StateInProgress, Reason: "InProgress"}, false), map[string]float64{"failed Timeout": 1}},
		{"it becomes ready", set(1, memory.Verdict{}, false), map[string]float64{}},
		{"and again", set(1, memory.Verdict{}, false), map[string]float64{}},
		{"the other one, too", set(2, memory.Verdict{}, false), map[string]float64{}},
		{"another reconciler has an object of the same name", func() {
			set(1, notReady, false)()
			other := Counted{Name: "U"}
			other.Decided(types.NamespacedName{Name: "1"}, notReady, false, false, time.Time{})
			other.Stop()
		}, map[string]float64{"blocked OwnerNotReady": 1}},
		{"the manager stops", func() { v.Stop() }, map[string]float64{}},
		{"a pass ends after that", set(5, forbidden, false), map[string]float64{}},
	}
	for _, s := range steps {
		s.do()
		if diff := cmp.Diff(s.want, gauges(t, "T")); diff != "" {
			t.Errorf("%s: the gauges: -want, +got:\n%s", s.reason, diff)
		}
		if s.reason == "the other one, too" && len(v.All()) > 0 {
			t.Errorf("an object that is ready needs no memory: %v", v.All())
		}
	}
}

// A service can send any code. The gauges have a bounded number of reasons, and
// count each object once, also while its reason changes.
func TestVerdictReasonsAreBounded(t *testing.T) {
	v := Counted{Name: "Bounded"}
	all := map[string]bool{}
	for round := range 3 {
		for n := range 300 {
			v.Decided(types.NamespacedName{Name: fmt.Sprint(n)}, memory.Verdict{State: flow.StateFailed, Reason: fmt.Sprint("Code", n+50*round)}, false, false, time.Time{})
		}
		sum := 0.0
		for reason, n := range gauges(t, "Bounded") {
			all[reason] = true
			sum += n
		}
		if sum != 300 || len(all) > maxReasons+1 || !all["failed "+otelx.OtherReason] {
			t.Errorf("300 objects with %d reasons made %d series until now; the sum is %v", 300+50*round, len(all), sum)
		}
	}
	for n := range 300 {
		v.Forget(types.NamespacedName{Name: fmt.Sprint(n)})
	}
	if diff := cmp.Diff(map[string]float64{}, gauges(t, "Bounded")); diff != "" {
		t.Errorf("no object is left: -want, +got:\n%s", diff)
	}
}

// A pass does not wait for a slow reader of the metrics.
func TestPassesDoNotWaitForReaders(t *testing.T) {
	v := Counted{Name: "Slow"}
	decided := func(name string) {
		v.Decided(types.NamespacedName{Name: name}, memory.Verdict{State: flow.StateFailed, Reason: "Forbidden"}, false, false, time.Time{})
	}
	decided("a")
	defer v.Stop()
	read, done := make(chan prometheus.Metric), make(chan struct{})
	go func() { defer close(read); unready.Collect(read) }()
	<-read // and one more metric of the object is not read yet
	go func() {
		defer close(done)
		decided("b")
		other := Counted{Name: "Slow, too"}
		other.Decided(types.NamespacedName{Name: "a"}, memory.Verdict{State: flow.StateFailed}, false, false, time.Time{})
		other.Stop()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Error("the pass waits")
	}
	for range read {
	}
	<-done
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
		state := map[string]string{Blocked: "blocked", Failed: "failed"}[f.GetName()]
		for _, m := range f.GetMetric() {
			if l := m.GetLabel(); state != "" && l[1].GetValue() == reconciler && m.GetGauge().GetValue() != 0 {
				all[state+" "+l[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
	}
	return all
}
