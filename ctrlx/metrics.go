package ctrlx

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
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
