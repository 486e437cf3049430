// Package gauges counts the verdicts of reconcilers in the registry of controller-runtime.
package gauges

import (
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // registers its counters before this package looks for them
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// The names of the metrics. Package ctrlx describes them.
const (
	Blocked  = "windlass_blocked_resources"
	Failed   = "windlass_failed_resources"
	Orphaned = "windlass_orphaned_total"
	Oldest   = "windlass_oldest_unready_timestamp_seconds"
)

var blockedGauge = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: Blocked,
	Help: "Resources that are blocked now, by reconciler and reason.",
}, []string{"reconciler", "reason"})

var failedGauge = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: Failed,
	Help: "Resources that are failed now, by reconciler and reason.",
}, []string{"reconciler", "reason"})

var orphaned = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: Orphaned,
	Help: "Cloud resources without an object that could not be deleted, by reconciler.",
}, []string{"reconciler"})

func init() { metrics.Registry.MustRegister(blockedGauge, failedGauge, orphaned) }

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

// CountFailure counts a failed pass for which Reconcile returns no error. terminal
// reports that only a change ends the failure.
func CountFailure(reconciler string, terminal bool) {
	reconcileErrors.WithLabelValues(reconciler).Inc()
	reconcileTotal.WithLabelValues(reconciler, "error").Inc()
	if terminal {
		reconcileTerminal.WithLabelValues(reconciler).Inc()
	}
}

// CountOrphan counts a cloud resource that no object owns any more.
func CountOrphan(reconciler string) { orphaned.WithLabelValues(reconciler).Inc() }

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

var oldestDesc = prometheus.NewDesc(Oldest,
	"Time since which the oldest resource is blocked or failed, in seconds since 1970, by reconciler, state and reason.",
	[]string{"reconciler", "state", "reason"}, nil)

// Counted is the memory of a reconciler whose verdicts the gauges count. Several
// goroutines may use it at once.
type Counted struct {
	memory.Store
	Name    string // of the reconciler
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

// Decided records the verdict of an object at a time. silent reports that there is no
// verdict, and that the conditions need not say that the object is ready. It returns
// the entry before.
func (c *Counted) Decided(name types.NamespacedName, now memory.Verdict, timedOut, silent bool, at time.Time) (before memory.Entry) {
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

// Forget drops an object that is gone.
func (c *Counted) Forget(name types.NamespacedName) {
	c.Decided(name, memory.Verdict{}, false, false, time.Time{})
	c.Store.Forget(name)
}

// count adds n to the gauge of an entry.
func (c *Counted) count(e memory.Entry, n float64) {
	if l, counts := labelOf(e); counts {
		l.gauge.WithLabelValues(c.Name, c.bounded(l)).Add(n)
	}
}

// labelOf returns the gauge and the reason of an entry. counts is false if no
// gauge counts it.
func labelOf(e memory.Entry) (l label, counts bool) {
	switch {
	case e.TimedOut:
		return label{failedGauge, "Timeout"}, true
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
func (c *Counted) bounded(l label) string {
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

// Stop removes all objects from the gauges for good. A manager that has stopped
// knows nothing of them.
func (c *Counted) Stop() {
	c.stopped.Store(true)
	for _, at := range c.All() { // later changes see that it has stopped
		c.Change(at.NamespacedName, func(e *memory.Entry) { e.Verdict, e.TimedOut = memory.Verdict{}, false })
		c.count(at.Entry, -1)
	}
	oldestGauge.remove(c)
}

// oldest collects [Oldest] from the memories of all reconcilers when the
// metrics are read, so that passes do no work for it.
type oldest struct {
	mu sync.Mutex
	of map[*Counted]bool
}

var oldestGauge = &oldest{of: map[*Counted]bool{}}

func init() { metrics.Registry.MustRegister(oldestGauge) }

func (o *oldest) add(c *Counted) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !c.stopped.Load() {
		o.of[c] = true
	}
}

func (o *oldest) remove(c *Counted) {
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
			s := series{c.Name, "failed", c.bounded(l)}
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
