package gauges

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/patience"
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
		{"the first pass with a verdict ends after that", func() { v = Counted{Name: "T"}; v.Stop(); set(5, forbidden, false)() }, map[string]float64{}},
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
		sum, got := 0.0, gauges(t, "Bounded")
		if diff := cmp.Diff(got, gauges(t, "Bounded")); diff != "" {
			t.Errorf("read again, they differ: -want, +got:\n%s", diff)
		}
		for reason, n := range got {
			all[reason] = true
			sum += n
		}
		if sum != 300 || len(all) != maxReasons+1 || !all["failed "+otelx.OtherReason] {
			t.Errorf("300 objects with %d reasons made %d series until now; the sum is %v", 300+50*round, len(all), sum)
		}
	}
	blocked := memory.Verdict{State: flow.StateBlocked, Reason: "Code0"}
	if v.Decided(types.NamespacedName{Name: "0"}, blocked, false, false, time.Time{}); gauges(t, "Bounded")["blocked Code0"] != 1 {
		t.Errorf("the other state has no room for its first reason: %v", gauges(t, "Bounded"))
	}
	for n := range 300 {
		v.Forget(types.NamespacedName{Name: fmt.Sprint(n)})
	}
	if diff := cmp.Diff(map[string]float64{}, gauges(t, "Bounded")); diff != "" {
		t.Errorf("no object is left: -want, +got:\n%s", diff)
	}
}

// The memory keeps the verdict of a pass, and the time of a verdict stays as long as the verdict.
func TestDecided(t *testing.T) {
	v := Counted{Name: "Decided"}
	defer v.Stop()
	name := types.NamespacedName{Name: "a"}
	blocked := memory.Verdict{State: flow.StateBlocked, Reason: "OwnerNotReady"}
	was := memory.Entry{}
	for i, step := range []struct {
		reason           string
		verdict          memory.Verdict
		timedOut, silent bool
		since            int64
	}{
		{"the first verdict", blocked, false, false, 10},
		{"the same one later", blocked, false, false, 10},
		{"the same one, silent", blocked, false, true, 10},
		{"it has timed out", blocked, true, true, 40},
		{"another one", memory.Verdict{State: flow.StateFailed, Reason: "Forbidden"}, true, true, 50},
	} {
		before := v.Decided(name, step.verdict, step.timedOut, step.silent, time.Unix(int64(i+1)*10, 0))
		if diff := cmp.Diff(was, before); diff != "" {
			t.Errorf("%s: the entry before: -want, +got:\n%s", step.reason, diff)
		}
		want := memory.Entry{Verdict: step.verdict, TimedOut: step.timedOut, Silent: step.silent, Since: step.since, Again: was.Again}
		if step.since != was.Since {
			want.Again = 0 // the next pass is not planned yet
		}
		was = v.Get(name)
		if diff := cmp.Diff(want, was); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", step.reason, diff)
		}
		v.Change(name, func(e *memory.Entry) { e.Again = 99 })
		was.Again = 99
	}
}

// The counters are those of the registry, with the names and the texts that dashboards know.
func TestCounters(t *testing.T) {
	of := fmt.Sprint("Counters", time.Now().UnixNano()) // the registry keeps the counts of an earlier run
	CountFailure(of, false)
	CountFailure(of, true)
	CountOrphan(of)
	v := Counted{Name: of}
	defer v.Stop()
	v.Decided(types.NamespacedName{Name: "a"}, memory.Verdict{State: flow.StateFailed, Reason: "Forbidden"}, false, false, time.Unix(7, 0))
	v.Decided(types.NamespacedName{Name: "b"}, memory.Verdict{State: flow.StateBlocked, Reason: "OwnerNotReady"}, false, false, time.Unix(8, 0))
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels, ours := "", false
			for _, l := range m.GetLabel() {
				labels += " " + l.GetName() + "=" + strings.TrimPrefix(l.GetValue(), of)
				ours = ours || l.GetValue() == of
			}
			if ours {
				got = append(got, fmt.Sprintf("%s%s %v: %s", f.GetName(), labels, m.GetCounter().GetValue()+m.GetGauge().GetValue(), f.GetHelp()))
			}
		}
	}
	want := []string{
		"controller_runtime_reconcile_errors_total controller= 2: Total number of reconciliation errors per controller",
		"controller_runtime_reconcile_total controller= result=error 2: Total number of reconciliations per controller",
		"controller_runtime_terminal_reconcile_errors_total controller= 1: Total number of terminal reconciliation errors per controller",
		"windlass_blocked_resources reason=OwnerNotReady reconciler= 1: Resources that are blocked now, by reconciler and reason.",
		"windlass_failed_resources reason=Forbidden reconciler= 1: Resources that are failed now, by reconciler and reason.",
		"windlass_oldest_unready_timestamp_seconds reason=Forbidden reconciler= state=failed 7: Time since which the oldest resource is blocked or failed, in seconds since 1970, by reconciler, state and reason.",
		"windlass_oldest_unready_timestamp_seconds reason=OwnerNotReady reconciler= state=blocked 8: Time since which the oldest resource is blocked or failed, in seconds since 1970, by reconciler, state and reason.",
		"windlass_orphaned_total reconciler= 1: Cloud resources without an object that could not be deleted, by reconciler.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	described := make(chan *prometheus.Desc, 10)
	unready.Describe(described)
	if len(described) != 3 {
		t.Errorf("%d metrics are described", len(described))
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
	if !patience.Wait(done, 30*time.Second, nil) {
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
