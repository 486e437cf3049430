package ctrlx

import "github.com/windlass-go/windlass/ctrlx/internal/gauges"

// Gauges of the resources that are blocked or failed now, by reconciler and
// reason, in controller-runtime's registry. The reason is the reason of the
// condition Ready. After 100 reasons of a gauge and a reconciler, [otelx.OtherReason]
// replaces each new reason, because a service can send any code. A resource that
// exceeded its time-out ([TimeoutConfiguration]) is failed. A final outcome does
// not count, because no pass finds it after a restart.
const (
	MetricBlocked = gauges.Blocked
	MetricFailed  = gauges.Failed
)

// MetricOrphaned counts the cloud resources that no object owns any more and that could not be deleted, by reconciler, in
// controller-runtime's registry. [ReasonOrphaned] is the reason of their events.
const MetricOrphaned = gauges.Orphaned

// MetricOldest is a gauge with the time since which the oldest resource is blocked
// or failed for a reason, in seconds since 1970, by reconciler, state ("blocked"
// or "failed") and reason. It has no series for a reason without resources. The
// reasons are those of [MetricBlocked] and [MetricFailed].
//
//	time() - windlass_oldest_unready_timestamp_seconds > 1800
const MetricOldest = gauges.Oldest
