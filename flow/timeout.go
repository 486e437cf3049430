package flow

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/text"
)

// ErrNotReadyInTime is in the error of a pass that [WithReadyTimeout] failed.
// Test for it with errors.Is.
var ErrNotReadyInTime = errors.New("flow: the resource is not Ready in time")

// ReasonTimeout is the reason of a pass that [WithReadyTimeout] failed.
const ReasonTimeout = "Timeout"

// wait records since when a resource is not Ready.
type wait struct {
	generation  int64
	since, seen time.Time
}

// notReadySince returns the start of the wait of a resource. A wait starts now
// if there is none for this generation, or if the stored one starts later than
// now because the clock went back.
func (r *Reconciler[T]) notReadySince(key string, generation int64, now time.Time) (since time.Time) {
	keep := 2 * cmp.Or(r.opt.backoff, stateless).resync
	r.waits.Put(key, func(w *wait) {
		if w.since.IsZero() || w.generation != generation || w.since.After(now) {
			*w = wait{generation: generation, since: now}
		}
		since, w.seen = w.since, now
	}, func(n int, w *wait) bool { return n > manyKeys && now.Sub(w.seen).Abs() > keep })
	return since
}

// manyKeys is the number of keys that no age removes.
const manyKeys = 1024

// applyReadyTimeout turns an outcome that is not Ready in time into a failure.
func (r *Reconciler[T]) applyReadyTimeout(resource T, out Outcome) Outcome {
	about := r.about(resource)
	switch {
	case out.State() == StateCanceled:
		return out
	case about.deleting || out.State() == StateReady || out.State() == StateIgnored || out.State() == StateGone || out.Final():
		if r.waits.Len() > 0 { // otherwise the pass needs no key
			r.waits.Delete(r.key(resource))
		}
		return out
	}
	now, limit := r.opt.now(), r.opt.readyWithin
	since := r.notReadySince(r.key(resource), about.generation, now)
	o := *out.get()
	if o.due = limit - now.Sub(since); o.due <= 0 { // uses the monotonic clock, if there is one
		o.message = fmt.Sprintf("not Ready within %s: %s", limit, text.Line(o.message, text.Quote))
		o.state, o.reason, o.rule, o.after = StateFailed, ReasonTimeout, "", 0
		o.retry, o.severity = classify.OnChange, classify.OnChange.Severity()
		o.err, o.keepsStatus = join(ErrNotReadyInTime, o.err), false
	}
	out.o = &o
	return out
}
