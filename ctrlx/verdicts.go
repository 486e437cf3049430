package ctrlx

import (
	"sync"
	"time"
	"unique"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// verdict is the result of the last pass over an object. The zero verdict is
// that of an object that is ready, ignored or final, or that no pass has seen.
type verdict struct {
	state               flow.State
	reason, point, link string
}

// verdictOf returns the verdict of an outcome.
func verdictOf(out flow.Outcome) verdict {
	switch s := out.State(); {
	case s == flow.StateReady, s == flow.StateIgnored, out.Final():
		return verdict{}
	default:
		return verdict{s, out.Reason(), out.Point(), out.Link()}
	}
}

// String returns the state and the reason: "blocked OwnerNotReady".
func (v verdict) String() string {
	if v == (verdict{}) {
		return ""
	}
	text := v.state.String()
	if v.reason != "" {
		text += " " + v.reason
	}
	return text
}

// verdicts holds the verdict of each object of a reconciler that is not ready.
// They decide what is logged, and the gauges count them. Objects with the same
// verdict share it, because an owner may have many waiters.
type verdicts struct {
	mu      sync.Mutex
	of      map[types.NamespacedName]recorded
	silent  map[types.NamespacedName]struct{} // no verdict, and the conditions need not say that the object is ready
	reasons map[label]bool
	stopped bool
}

// entry is the verdict of an object.
type entry struct {
	verdict
	timedOut bool // the condition Ready has the reason Timeout
}

// recorded is the verdict of an object, which it may share, and its times in
// seconds.
type recorded struct {
	entry unique.Handle[entry]
	since int64 // of the pass that first had this verdict
	again int64 // of the next pass; 0: none is planned
}

// label is the label of a reason in one of the gauges.
type label struct {
	gauge  *prometheus.GaugeVec
	reason string
}

// maxReasons is the maximum number of reasons of a gauge and a reconciler, as in
// package otelx.
const maxReasons = 100

// last returns the verdict of the last pass over an object.
func (v *verdicts) last(name types.NamespacedName) verdict { return v.entry(name).verdict }

// entry returns the entry of an object.
func (v *verdicts) entry(name types.NamespacedName) entry {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.at(name)
}

// at returns the entry of an object. It is called with the lock held.
func (v *verdicts) at(name types.NamespacedName) (e entry) {
	if r, ok := v.of[name]; ok {
		e = r.entry.Value()
	}
	return e
}

// set records the verdict of an object at a time. It reports whether the object
// has timed out since the last verdict.
func (v *verdicts) set(reconciler string, name types.NamespacedName, now verdict, timedOut bool, at time.Time) (timeout bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	before, after := v.at(name), entry{now, timedOut}
	if before == after || v.stopped {
		return false
	}
	v.count(reconciler, before, -1)
	v.count(reconciler, after, 1)
	if after == (entry{}) {
		delete(v.of, name)
		return false
	}
	if v.of == nil {
		v.of = map[types.NamespacedName]recorded{}
		oldestGauge.add(v, reconciler)
	}
	v.of[name] = recorded{entry: unique.Make(after), since: at.Unix()}
	return timedOut && !before.timedOut
}

// passed notes whether the last pass over an object was silent: it has no verdict,
// and the conditions need not say that the object is ready.
func (v *verdicts) passed(name types.NamespacedName, silent bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !silent {
		delete(v.silent, name)
		return
	}
	if v.silent == nil {
		v.silent = map[types.NamespacedName]struct{}{}
	}
	v.silent[name] = struct{}{}
}

// known reports whether a pass has recorded something of an object that is not ready.
func (v *verdicts) known(name types.NamespacedName) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, silent := v.silent[name]
	_, recorded := v.of[name]
	return silent || recorded
}

// forget drops the verdict of an object that is gone.
func (v *verdicts) forget(reconciler string, name types.NamespacedName) {
	v.passed(name, false)
	v.set(reconciler, name, verdict{}, false, time.Time{})
}

// next records the time of the next pass over an object that is not ready.
func (v *verdicts) next(name types.NamespacedName, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r, ok := v.of[name]; ok {
		r.again = at.Unix()
		v.of[name] = r
	}
}

// unready is an object that is not ready, with its verdict.
type unready struct {
	types.NamespacedName
	recorded
}

// all returns the objects that are not ready.
func (v *verdicts) all() []unready {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := make([]unready, 0, len(v.of))
	for name, r := range v.of {
		all = append(all, unready{name, r})
	}
	return all
}

// count adds n to the gauge of an entry. It is called with the lock held.
func (v *verdicts) count(reconciler string, e entry, n float64) {
	if l, counts := labelOf(e); counts {
		l.gauge.WithLabelValues(reconciler, v.bounded(l)).Add(n)
	}
}

// labelOf returns the gauge and the reason of an entry. counts is false if no
// gauge counts it.
func labelOf(e entry) (l label, counts bool) {
	switch {
	case e.timedOut:
		return label{failedGauge, ReasonTimeout}, true
	case e.state == flow.StateBlocked:
		return label{blockedGauge, e.reason}, true
	case e.state == flow.StateFailed:
		return label{failedGauge, e.reason}, true
	}
	return label{}, false
}

// bounded returns the reason of a label, or [otelx.OtherReason] if the gauge has
// too many reasons. It returns the same reason for a label each time, because
// reasons are only added. It is called with the lock held.
func (v *verdicts) bounded(l label) string {
	if v.reasons[l] {
		return l.reason
	}
	n := 0
	for known := range v.reasons {
		if known.gauge == l.gauge {
			n++
		}
	}
	if n >= maxReasons {
		return otelx.OtherReason
	}
	if v.reasons == nil {
		v.reasons = map[label]bool{}
	}
	v.reasons[l] = true
	return l.reason
}

// stop removes all objects from the gauges for good. A manager that has stopped
// knows nothing of them.
func (v *verdicts) stop(reconciler string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stopped = true
	oldestGauge.remove(v)
	for _, r := range v.of {
		v.count(reconciler, r.entry.Value(), -1)
	}
	clear(v.of)
}

// countFailure counts a failed pass in the counters of controller-runtime. A
// conflict does not count: the object is read again. Call it only if Reconcile
// returns no error, because controller-runtime counts an error itself.
func (r *Reconciler[T]) countFailure(out flow.Outcome) {
	if out.State() != flow.StateFailed || quiet(out) {
		return
	}
	reconcileErrors.WithLabelValues(r.name).Inc()
	reconcileTotal.WithLabelValues(r.name, "error").Inc()
	if out.Retry() == classify.OnChange || out.Retry() == classify.Never {
		reconcileTerminal.WithLabelValues(r.name).Inc()
	}
}
