package ctrlx

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-go/windlass/flow"
)

// MetricBlocked is a gauge of the resources that are blocked now, by reconciler and reason, in controller-runtime's registry.
// Finished resources do not count.
const MetricBlocked = "windlass_blocked_resources"

var blockedGauge = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: MetricBlocked,
	Help: "Resources that are blocked now, by reconciler and reason.",
}, []string{"reconciler", "reason"})

// MetricOrphaned counts the cloud resources that no object owns any more and that could not be deleted, by reconciler, in
// controller-runtime's registry. [ReasonOrphaned] is the reason of their events.
const MetricOrphaned = "windlass_orphaned_total"

var orphanedCounter = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: MetricOrphaned,
	Help: "Cloud resources without an object that could not be deleted, by reconciler.",
}, []string{"reconciler"})

func init() { metrics.Registry.MustRegister(blockedGauge, orphanedCounter) }

// blocked holds the block of each resource that is blocked now.
type blocked struct {
	mu      sync.Mutex
	why     map[resource]block
	stopped bool
}

// block is the reason of a block, and where it happened. The zero block is none.
type block struct{ reason, point, link string }

type resource struct {
	reconciler string
	name       types.NamespacedName
}

// blockedBy returns the block of an outcome; zero: there is none. A final block does not count, because no pass finds it after
// a restart.
func blockedBy(out flow.Outcome) block {
	if out.State() != flow.StateBlocked || out.Final() {
		return block{}
	}
	return block{out.Reason(), out.Point(), out.Link()}
}

// is reports whether a resource is blocked by b. It is false for the zero block.
func (b *blocked) is(reconciler string, name types.NamespacedName, by block) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return by != block{} && b.why[resource{reconciler, name}] == by
}

// set sets the block of a resource; zero: it is not blocked.
func (b *blocked) set(reconciler string, name types.NamespacedName, by block) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := resource{reconciler, name}
	before := b.why[r]
	if before == by || b.stopped {
		return
	}
	if before.reason != "" {
		blockedGauge.WithLabelValues(reconciler, before.reason).Dec()
	}
	delete(b.why, r)
	if by.reason != "" {
		blockedGauge.WithLabelValues(reconciler, by.reason).Inc()
	}
	if by != (block{}) {
		if b.why == nil {
			b.why = map[resource]block{}
		}
		b.why[r] = by
	}
}

// stop takes what is counted out of the gauge for good: a manager that has stopped knows nothing any more.
func (b *blocked) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	for r, by := range b.why {
		blockedGauge.WithLabelValues(r.reconciler, by.reason).Dec()
	}
	clear(b.why)
}
