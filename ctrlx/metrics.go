package ctrlx

import (
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// Gauges of the resources that are blocked or failed now, by reconciler and
// reason, in controller-runtime's registry. The reason is the reason of the
// condition Ready. After 100 reasons of a gauge and a reconciler, [otelx.OtherReason]
// replaces each new reason, because a service can send any code. A resource that
// exceeded its time-out ([TimeoutConfiguration]) is failed. A final outcome does
// not count, because no pass finds it after a restart.
const (
	MetricBlocked = "windlass_blocked_resources"
	MetricFailed  = "windlass_failed_resources"
)

var blockedGauge = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: MetricBlocked,
	Help: "Resources that are blocked now, by reconciler and reason.",
}, []string{"reconciler", "reason"})

var failedGauge = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: MetricFailed,
	Help: "Resources that are failed now, by reconciler and reason.",
}, []string{"reconciler", "reason"})

// MetricOrphaned counts the cloud resources that no object owns any more and that could not be deleted, by reconciler, in
// controller-runtime's registry. [ReasonOrphaned] is the reason of their events.
const MetricOrphaned = "windlass_orphaned_total"

var orphanedCounter = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: MetricOrphaned,
	Help: "Cloud resources without an object that could not be deleted, by reconciler.",
}, []string{"reconciler"})

func init() { metrics.Registry.MustRegister(blockedGauge, failedGauge, orphanedCounter) }

// The counters of controller-runtime. Its controller increments them only if
// Reconcile returns an error. Then it also ignores the delay of the flow, and
// logs the error of each pass. So a failed pass returns no error, and increments
// the counters itself.
var (
	reconcileTotal = controllerCounter("controller_runtime_reconcile_total",
		"Total number of reconciliations per controller", "controller", "result")
	reconcileErrors = controllerCounter("controller_runtime_reconcile_errors_total",
		"Total number of reconciliation errors per controller", "controller")
	reconcileTerminal = controllerCounter("controller_runtime_terminal_reconcile_errors_total",
		"Total number of terminal reconciliation errors per controller", "controller")
)

// controllerCounter returns a counter of controller-runtime, which exports none
// of them. The registry returns the counter that it has when another one with
// the same name, help and labels is registered. If controller-runtime has
// renamed the counter, the new one is registered. If it has changed the help or
// the labels, the returned counter is in no registry; a test notices this.
func controllerCounter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	if e, ok := errors.AsType[prometheus.AlreadyRegisteredError](metrics.Registry.Register(c)); ok {
		if registered, ok := e.ExistingCollector.(*prometheus.CounterVec); ok {
			return registered
		}
	}
	return c
}

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

// counted is the memory of a reconciler whose verdicts the gauges count. Several
// goroutines may use it at once.
type counted struct {
	memory.Store
	name    string // of the reconciler
	labels  sync.Mutex
	reasons map[label]bool
	stopped atomic.Bool
}

// label is the label of a reason in one of the gauges.
type label struct {
	gauge  *prometheus.GaugeVec
	reason string
}

// maxReasons is the maximum number of reasons of a gauge and a reconciler, as in
// package otelx.
const maxReasons = 100

// decided records the verdict of an object at a time. silent reports that there is no
// verdict, and that the conditions need not say that the object is ready. It returns
// the entry before.
func (c *counted) decided(name types.NamespacedName, now memory.Verdict, timedOut, silent bool, at time.Time) (before memory.Entry) {
	if e := c.Get(name); e.Verdict == now && e.TimedOut == timedOut && e.Silent == silent { // in most passes
		return e
	}
	same := true
	before = c.Change(name, func(e *memory.Entry) {
		e.Silent = silent
		if same = c.stopped.Load() || e.Verdict == now && e.TimedOut == timedOut; !same {
			e.Verdict, e.TimedOut, e.Since, e.Again = now, timedOut, at.Unix(), 0
		}
	})
	if !same {
		oldestGauge.add(c)
		c.count(before, -1)
		c.count(memory.Entry{Verdict: now, TimedOut: timedOut}, 1)
	}
	return before
}

// forget drops an object that is gone.
func (c *counted) forget(name types.NamespacedName) {
	c.decided(name, memory.Verdict{}, false, false, time.Time{})
	c.Forget(name)
}

// count adds n to the gauge of an entry.
func (c *counted) count(e memory.Entry, n float64) {
	if l, counts := labelOf(e); counts {
		l.gauge.WithLabelValues(c.name, c.bounded(l)).Add(n)
	}
}

// labelOf returns the gauge and the reason of an entry. counts is false if no
// gauge counts it.
func labelOf(e memory.Entry) (l label, counts bool) {
	switch {
	case e.TimedOut:
		return label{failedGauge, ReasonTimeout}, true
	case e.Verdict.State == flow.StateBlocked:
		return label{blockedGauge, e.Verdict.Reason}, true
	case e.Verdict.State == flow.StateFailed:
		return label{failedGauge, e.Verdict.Reason}, true
	}
	return label{}, false
}

// bounded returns the reason of a label, or [otelx.OtherReason] if the gauge has
// too many reasons. It returns the same reason for a label each time, because
// reasons are only added.
func (c *counted) bounded(l label) string {
	c.labels.Lock()
	defer c.labels.Unlock()
	if c.reasons[l] {
		return l.reason
	}
	n := 0
	for known := range c.reasons {
		if known.gauge == l.gauge {
			n++
		}
	}
	if n >= maxReasons {
		return otelx.OtherReason
	}
	if c.reasons == nil {
		c.reasons = map[label]bool{}
	}
	c.reasons[l] = true
	return l.reason
}

// stop removes all objects from the gauges for good. A manager that has stopped
// knows nothing of them.
func (c *counted) stop() {
	c.stopped.Store(true)
	for _, at := range c.All() { // later changes see that it has stopped
		c.Change(at.NamespacedName, func(e *memory.Entry) { e.Verdict, e.TimedOut = memory.Verdict{}, false })
		c.count(at.Entry, -1)
	}
	oldestGauge.remove(c)
}

// oldest collects [MetricOldest] from the memories of all reconcilers when the
// metrics are read, so that passes do no work for it.
type oldest struct {
	mu sync.Mutex
	of map[*counted]bool
}

var oldestGauge = &oldest{of: map[*counted]bool{}}

func init() { metrics.Registry.MustRegister(oldestGauge) }

func (o *oldest) add(c *counted) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !c.stopped.Load() {
		o.of[c] = true
	}
}

func (o *oldest) remove(c *counted) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.of, c)
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
	for c := range all {
		for _, at := range c.All() {
			l, counts := labelOf(at.Entry)
			if !counts {
				continue
			}
			s := series{c.name, "failed", c.bounded(l)}
			if l.gauge == blockedGauge {
				s.state = "blocked"
			}
			if since, ok := first[s]; !ok || at.Since < since {
				first[s] = at.Since
			}
		}
	}
	for s, since := range first {
		ch <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, float64(since), s.reconciler, s.state, s.reason)
	}
}
