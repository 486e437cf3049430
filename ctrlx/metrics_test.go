package ctrlx

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// The gauge says how many are blocked now and why, however often and in whatever order that is reported.
func TestBlockedGauge(t *testing.T) {
	var b blocked
	named := func(n int) types.NamespacedName { return types.NamespacedName{Namespace: "a", Name: fmt.Sprint(n)} }
	steps := []struct {
		reason string
		do     func()
		not    float64 // blocked by NotReady
		gone   float64 // blocked by NotFound
	}{
		{"one", func() { b.set("T", named(1), block{reason: "NotReady"}) }, 1, 0},
		{"the same again", func() { b.set("T", named(1), block{reason: "NotReady"}) }, 1, 0},
		{"another one", func() { b.set("T", named(2), block{reason: "NotReady"}) }, 2, 0},
		{"another reason", func() { b.set("T", named(1), block{reason: "NotFound"}) }, 1, 1},
		{"not blocked any more", func() { b.set("T", named(2), block{}) }, 0, 1},
		{"nor was it", func() { b.set("T", named(2), block{}) }, 0, 1},
		{"the same name of another reconciler", func() { b.set("U", named(1), block{reason: "NotFound"}) }, 0, 1},
		{"gone", func() { b.set("T", named(1), block{}) }, 0, 0},
		{"two more", func() {
			b.set("T", named(3), block{reason: "NotFound"})
			b.set("T", named(4), block{reason: "NotReady"})
		}, 1, 1},
		{"the manager stops", func() { b.stop() }, 0, 0},
		{"a pass ends after that", func() {
			b.set("T", named(3), block{reason: "NotReady"})
			b.set("T", named(5), block{reason: "NotReady"})
		}, 0, 0},
	}
	for _, s := range steps {
		s.do()
		if not, gone := value(t, "T", "NotReady"), value(t, "T", "NotFound"); not != s.not || gone != s.gone {
			t.Errorf("%s: %v not ready and %v not found", s.reason, not, gone)
		}
	}
	if len(b.why) > 0 {
		t.Errorf("nothing is left: %v", b.why)
	}
}

func value(t *testing.T, reconciler, reason string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if l := m.GetLabel(); f.GetName() == MetricBlocked && l[0].GetValue() == reason && l[1].GetValue() == reconciler {
				return m.GetGauge().GetValue()
			}
		}
	}
	return 0
}
