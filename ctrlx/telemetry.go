package ctrlx

import (
	"context"

	"go.opentelemetry.io/otel/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/gauges"
	"github.com/windlass-go/windlass/ctrlx/internal/settings"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// WithTelemetry sets options of the observer that [New] adds to each reconciler ([otelx.New]). Without the option, the
// observer uses the logger in the context of the pass, which is the controller's, and the global OpenTelemetry providers.
// It shows at most 1000 bytes of an error ([otelx.WithErrorText]), and logs each change of the verdict at verbosity 0
// ([otelx.WithChanges]), with the delay until the next pass ([otelx.WithNextPass]). The span of a pass links to the span of the last pass over the awaited object that woke it. The given
// options are applied after these. A nil option is ignored. Together with [WithoutTelemetry], it makes [New] panic.
func WithTelemetry(opts ...otelx.Option) Option {
	return settings.Option(func(o *settings.Shared) {
		o.Telemetry.Set = true
		o.Telemetry.Opts = append(o.Telemetry.Opts, opts...)
	})
}

// WithoutTelemetry leaves out the observer that [New] adds to each reconciler: no spans, no metrics of package otelx, and no
// log lines about passes. [MetricBlocked], [MetricFailed], conditions and events stay.
func WithoutTelemetry() Option {
	return settings.Option(func(o *settings.Shared) { o.Telemetry.Off = true })
}

// links returns the link from the span of a pass to the span of the pass that woke
// the object, and remembers the span for the objects that this pass wakes. A pass
// that is not recorded does not call it.
func (r *core) links(ctx context.Context) []trace.Link {
	p := passOf(ctx)
	if p == nil {
		return nil
	}
	cause := r.engine.Spans.Start(p.engine.Waiter, trace.SpanContextFromContext(ctx))
	if !cause.IsValid() {
		return nil
	}
	return []trace.Link{{SpanContext: cause}}
}

// changed reports whether the outcome of a pass changes the verdict about its
// object, and returns the previous verdict, if it was not ready. An error that
// Reconcile returns is no change, because controller-runtime logs it.
func (r *core) changed(ctx context.Context, out flow.Outcome) (previous string, changed bool) {
	p := passOf(ctx)
	switch {
	case unfinalized(out) != nil:
	case p == nil:
		changed = out.State() == flow.StateBlocked || out.State() == flow.StateFailed
	case !r.undecided(p, out):
		before, now := r.memory.Get(client.ObjectKeyFromObject(p.read)).Verdict, verdictOf(out)
		if changed = out.Final() || before != now; changed {
			previous = before.String()
		} else if out.State() == flow.StateReady {
			ready := r.writers.ReadyBefore(p.read) // perhaps of a pass before a restart
			changed = ready == nil || ready.Status != metav1.ConditionTrue
		}
	}
	return previous, changed
}

// Gauges of the resources that are blocked or failed now, by reconciler and
// reason, in controller-runtime's registry. The reason is the reason of the
// condition Ready. After 100 reasons of a gauge and a reconciler, [otelx.OtherReason]
// replaces each new reason, because a service can send any code. A resource that
// exceeded its time-out ([TimeoutConfiguration]) is failed. A final outcome does
// not count, because no pass finds it after a restart. A reason without resources has
// no series.
const (
	MetricBlocked = gauges.Blocked
	MetricFailed  = gauges.Failed
)

// MetricOrphaned counts the cloud resources that no object owns any more and that could not be deleted, by reconciler, in
// controller-runtime's registry. [ReasonOrphaned] is the reason of their events.
const MetricOrphaned = gauges.Orphaned

// MetricOldest is a gauge with the time since which the oldest resource is blocked
// or failed for a reason, in seconds since 1970, by reconciler, state ("blocked"
// or "failed") and reason. The reasons are the ones of
// [MetricBlocked] and [MetricFailed].
//
//	time() - windlass_oldest_unready_timestamp_seconds > 1800
const MetricOldest = gauges.Oldest
