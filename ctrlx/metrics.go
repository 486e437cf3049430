package ctrlx

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-go/windlass/flow"
)

// MetricBlocked is a gauge of the resources that are blocked now, by reconciler and reason, in controller-runtime's registry.
const MetricBlocked = "windlass_blocked_resources"

var blockedGauge = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: MetricBlocked,
	Help: "Resources that are blocked now, by reconciler and reason.",
}, []string{"reconciler", "reason"})

func init() { metrics.Registry.MustRegister(blockedGauge) }

// blocked is why each resource is blocked that is.
type blocked struct {
	mu      sync.Mutex
	why     map[resource]string
	stopped bool
}

type resource struct {
	reconciler string
	name       types.NamespacedName
}

// blockedBy is the reason of a block; empty: there is none.
func blockedBy(out flow.Outcome) string {
	if out.State() != flow.StateBlocked {
		return ""
	}
	return out.Reason()
}

// set says why a resource is blocked; empty: it is not.
func (b *blocked) set(reconciler string, name types.NamespacedName, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := resource{reconciler, name}
	before := b.why[r]
	if before == reason || b.stopped {
		return
	}
	if before != "" {
		blockedGauge.WithLabelValues(reconciler, before).Dec()
		delete(b.why, r)
	}
	if reason != "" {
		blockedGauge.WithLabelValues(reconciler, reason).Inc()
		if b.why == nil {
			b.why = map[resource]string{}
		}
		b.why[r] = reason
	}
}

// stop takes what is counted out of the gauge for good: a manager that has stopped knows nothing any more.
func (b *blocked) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	for r, reason := range b.why {
		blockedGauge.WithLabelValues(r.reconciler, reason).Dec()
	}
	clear(b.why)
}
