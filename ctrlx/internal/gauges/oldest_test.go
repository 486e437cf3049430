package gauges

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/flow"
)

// The oldest resource of each reason counts, as long as it has that reason.
func TestOldest(t *testing.T) {
	v := Counted{Name: "Oldest"}
	blocked, failed := memory.Verdict{State: flow.StateBlocked, Reason: "OwnerNotReady"}, memory.Verdict{State: flow.StateFailed, Reason: "Forbidden"}
	set := func(name string, now memory.Verdict, timedOut bool, at int64) {
		v.Decided(types.NamespacedName{Name: name}, now, timedOut, false, time.Unix(at, 0))
	}
	steps := []struct {
		reason string
		do     func()
		want   map[string]float64
	}{
		{"no resource", func() {}, map[string]float64{}},
		{"two resources", func() { set("a", blocked, false, 20); set("b", blocked, false, 10) }, map[string]float64{"blocked OwnerNotReady": 10}},
		{"the same verdict later", func() { set("b", blocked, false, 30) }, map[string]float64{"blocked OwnerNotReady": 10}},
		{"many others", func() {
			for i := range int64(20) {
				set(fmt.Sprint(i), blocked, false, 11+i)
				set(fmt.Sprint("ready ", i), memory.Verdict{State: flow.StateInProgress}, false, 1)
			}
		}, map[string]float64{"blocked OwnerNotReady": 10}},
		{"they are ready", func() {
			for i := range 20 {
				set(fmt.Sprint(i), memory.Verdict{}, false, 12)
			}
		}, map[string]float64{"blocked OwnerNotReady": 10}},
		{"the oldest one fails", func() { set("b", failed, false, 40) }, map[string]float64{"blocked OwnerNotReady": 20, "failed Forbidden": 40}},
		{"one exceeds its time-out", func() { set("a", blocked, true, 50) }, map[string]float64{"failed Timeout": 50, "failed Forbidden": 40}},
		{"an operation is under way", func() { set("b", memory.Verdict{State: flow.StateInProgress}, false, 60) }, map[string]float64{"failed Timeout": 50}},
		{"all are ready", func() { set("a", memory.Verdict{}, false, 70); set("b", memory.Verdict{}, false, 70) }, map[string]float64{}},
		{"the manager stops", func() { set("a", blocked, false, 80); v.Stop() }, map[string]float64{}},
	}
	for _, s := range steps {
		s.do()
		families, err := metrics.Registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if l := m.GetLabel(); f.GetName() == Oldest && l[1].GetValue() == "Oldest" {
					got[l[2].GetValue()+" "+l[0].GetValue()] = m.GetGauge().GetValue()
				}
			}
		}
		if diff := cmp.Diff(s.want, got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", s.reason, diff)
		}
	}
	if _, kept := unready.of[&v]; kept {
		t.Error("a manager that has stopped stays in memory")
	}
}
