// Package gauges counts the verdicts of reconcilers in the registry of controller-runtime.
package gauges

import (
	"errors"
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

var orphaned = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: Orphaned,
	Help: "Cloud resources without an object that could not be deleted, by reconciler.",
}, []string{"reconciler"})

func init() { metrics.Registry.MustRegister(orphaned, unready) }

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

// The states of resources, as [Oldest] shows them.
const blocked, failed = "blocked", "failed"

var (
	counts = map[string]*prometheus.Desc{
		blocked: prometheus.NewDesc(Blocked, "Resources that are blocked now, by reconciler and reason.", []string{"reconciler", "reason"}, nil),
		failed:  prometheus.NewDesc(Failed, "Resources that are failed now, by reconciler and reason.", []string{"reconciler", "reason"}, nil),
	}
	oldest = prometheus.NewDesc(Oldest, "Time since which the oldest resource is blocked or failed, in seconds since 1970, by reconciler, state and reason.",
		[]string{"reconciler", "state", "reason"}, nil)
)

// Counted is the memory of a reconciler whose verdicts the gauges count. Several
// goroutines may use it at once.
type Counted struct {
	memory.Store
	Name    string    // of the reconciler
	once    sync.Once // see collector.add
	stopped atomic.Bool
	reasons map[label]struct{} // the ones that have a series; only the collector uses it
}

// label is a reason in a state.
type label struct{ state, reason string }

// maxReasons is the maximum number of reasons of a state and a reconciler, as in
// package otelx.
const maxReasons = 100

// Decided records the verdict of an object at a time. silent reports that the pass left
// the conditions, which need not show the verdict. It returns the entry before.
func (c *Counted) Decided(name types.NamespacedName, now memory.Verdict, timedOut, silent bool, at time.Time) (before memory.Entry) {
	if e := c.Get(name); e.Verdict == now && e.TimedOut == timedOut && e.Silent == silent { // in most passes
		return e
	}
	c.once.Do(func() { unready.add(c) }) // later passes wait for no reader of the metrics
	return c.Change(name, func(e *memory.Entry) {
		e.Silent = silent
		if e.Verdict != now || e.TimedOut != timedOut {
			e.Verdict, e.TimedOut, e.Since, e.Again = now, timedOut, at.Unix(), 0
		}
	})
}

// labelOf returns the state and the reason of an entry. ok is false if no gauge
// counts it.
func labelOf(e memory.Entry) (l label, ok bool) {
	switch {
	case e.TimedOut:
		return label{failed, "Timeout"}, true
	case e.Verdict.State == flow.StateBlocked:
		return label{blocked, e.Verdict.Reason}, true
	case e.Verdict.State == flow.StateFailed:
		return label{failed, e.Verdict.Reason}, true
	}
	return label{}, false
}

// bounded returns the label, or that of [otelx.OtherReason] if the state has too many
// reasons. It returns the same label each time, because reasons are only added.
func (c *Counted) bounded(l label) label {
	if _, known := c.reasons[l]; known {
		return l
	}
	n := 0
	for known := range c.reasons {
		if known.state == l.state {
			n++
		}
	}
	if n >= maxReasons {
		return label{l.state, otelx.OtherReason}
	}
	if c.reasons == nil {
		c.reasons = map[label]struct{}{}
	}
	c.reasons[l] = struct{}{}
	return l
}

// Stop removes all objects from the gauges for good. A manager that has stopped
// knows nothing of them.
func (c *Counted) Stop() {
	c.stopped.Store(true)
	unready.mu.Lock()
	defer unready.mu.Unlock()
	delete(unready.of, c)
}

// collector counts the objects in the memories of all reconcilers when the metrics are
// read, so that passes do no work for it.
type collector struct {
	mu sync.Mutex
	of map[*Counted]struct{}
}

var unready = &collector{of: map[*Counted]struct{}{}}

func (o *collector) add(c *Counted) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !c.stopped.Load() {
		o.of[c] = struct{}{}
	}
}

// Describe implements prometheus.Collector.
func (o *collector) Describe(ch chan<- *prometheus.Desc) {
	ch <- counts[blocked]
	ch <- counts[failed]
	ch <- oldest
}

// Collect implements prometheus.Collector.
func (o *collector) Collect(ch chan<- prometheus.Metric) {
	type series struct {
		reconciler string
		label
	}
	type found struct{ n, since int64 }
	all := map[series]found{} // two managers may have reconcilers of one name
	o.mu.Lock()
	for c := range o.of {
		for _, at := range c.All() {
			l, ok := labelOf(at.Entry)
			if !ok {
				continue
			}
			s := series{c.Name, c.bounded(l)}
			f, ok := all[s]
			if !ok {
				f.since = at.Since
			}
			all[s] = found{f.n + 1, min(f.since, at.Since)}
		}
	}
	o.mu.Unlock() // the reader of the metrics may be slow
	for s, f := range all {
		ch <- prometheus.MustNewConstMetric(counts[s.state], prometheus.GaugeValue, float64(f.n), s.reconciler, s.reason)
		ch <- prometheus.MustNewConstMetric(oldest, prometheus.GaugeValue, float64(f.since), s.reconciler, s.state, s.reason)
	}
}
