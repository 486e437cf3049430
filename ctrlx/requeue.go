package ctrlx

import (
	"cmp"
	"time"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/gauges"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/flow"
)

// again is the delay of a pass that read an old object.
const again = memory.Again

// delay returns the time after which to requeue the object; 0: no requeue. A blocked object whose awaited objects are all
// watched is woken by an event. So it is requeued at the resync only, unless its check asked for a delay.
func (r *core) delay(p *pass, out flow.Outcome) time.Duration {
	delay, again := out.Again()
	switch state := out.State(); {
	case state == flow.StateReady:
		return cmp.Or(p.settledFor, r.longer(p.Requeue), delay)
	case !again && state == flow.StateIgnored && len(out.WaitingFor()) != 0 && !p.watched: // no event wakes it
		return r.idle(p.Requeue)
	case state == flow.StateBlocked && out.After() == 0 && p.watched:
		return max(delay, r.idle(p.Requeue))
	}
	return delay
}

// requeueJitter bounds the part by which an interval is lengthened, so that objects
// that became ready together are not requeued together.
const requeueJitter = 0.05

// idle returns the time after which to requeue an object if nothing happens. requeue is
// the interval of the object; 0: it gives none.
func (r *core) idle(requeue time.Duration) time.Duration {
	return cmp.Or(r.longer(requeue), r.backoff.Resync())
}

// minInterval is the shortest interval that an object may give: its users write it, and each pass may call the cloud.
const minInterval = time.Second

// longer returns an interval of an object, lengthened at random; 0: it gives none.
func (r *core) longer(interval time.Duration) time.Duration {
	if interval > 0 {
		interval = max(interval, minInterval)
	}
	return interval + time.Duration(float64(interval)*requeueJitter*r.opt.rand())
}

// countFailure counts a failed pass in the counters of controller-runtime. A
// conflict does not count: the object is read again. Call it only if Reconcile
// returns no error, because controller-runtime counts an error itself.
func (r *core) countFailure(out flow.Outcome) {
	if out.State() != flow.StateFailed || apierr.Quiet(out) {
		return
	}
	gauges.CountFailure(r.name, out.Retry() == classify.OnChange || out.Retry() == classify.Never)
}
