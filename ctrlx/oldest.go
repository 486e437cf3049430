package ctrlx

import (
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-go/windlass/flow"
)

// MetricOldest is a gauge with the time since which the oldest resource is blocked
// or failed for a reason, in seconds since 1970, by reconciler, state ("blocked"
// or "failed") and reason. It has no series for a reason without resources. The
// reasons are those of [MetricBlocked] and [MetricFailed].
//
//	time() - windlass_oldest_unready_timestamp_seconds > 1800
const MetricOldest = "windlass_oldest_unready_timestamp_seconds"

var oldestDesc = prometheus.NewDesc(MetricOldest,
	"Time since which the oldest resource is blocked or failed, in seconds since 1970, by reconciler, state and reason.",
	[]string{"reconciler", "state", "reason"}, nil)

// oldest collects MetricOldest from the verdicts of all reconcilers when the
// metrics are read, so that passes do no work for it.
type oldest struct {
	mu sync.Mutex
	of map[*verdicts]string // the name of the reconciler
}

var oldestGauge = &oldest{of: map[*verdicts]string{}}

func init() { metrics.Registry.MustRegister(oldestGauge) }

func (o *oldest) add(v *verdicts, reconciler string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.of[v] = reconciler
}

func (o *oldest) remove(v *verdicts) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.of, v)
}

// Describe implements prometheus.Collector.
func (o *oldest) Describe(ch chan<- *prometheus.Desc) { ch <- oldestDesc }

// Collect implements prometheus.Collector.
func (o *oldest) Collect(ch chan<- prometheus.Metric) {
	type series struct{ reconciler, state, reason string }
	first := map[series]int64{} // two managers may have reconcilers of one name
	o.mu.Lock()
	all := maps.Clone(o.of)
	o.mu.Unlock()
	for v, reconciler := range all {
		for l, since := range v.oldest() {
			state := "failed"
			if l.gauge == blockedGauge {
				state = "blocked"
			}
			s := series{reconciler, state, l.reason}
			if at, ok := first[s]; !ok || since < at {
				first[s] = since
			}
		}
	}
	for s, since := range first {
		ch <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, float64(since), s.reconciler, s.state, s.reason)
	}
}

// oldest returns the earliest time of each label of the gauges.
func (v *verdicts) oldest() map[label]int64 {
	first := map[label]int64{}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range v.of {
		l, counts := labelOf(r.entry.Value())
		if !counts {
			continue
		}
		l.reason = v.bounded(l)
		if at, ok := first[l]; !ok || r.since < at {
			first[l] = r.since
		}
	}
	return first
}

// sinceOf returns the time since which an object has the verdict of a pass that
// began now. Its condition knows the time from before a restart.
func (r *Reconciler[T]) sinceOf(read client.Object, out flow.Outcome, now time.Time) time.Time {
	obj, ok := read.(T)
	if !ok {
		return now
	}
	c := meta.FindStatusCondition(r.conditions.get(obj), "Ready")
	if c != nil && c.Status == metav1.ConditionFalse && c.Reason == out.Reason() && c.LastTransitionTime.Time.Before(now) {
		return c.LastTransitionTime.Time
	}
	return now
}
