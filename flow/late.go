package flow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// ErrNotReadyInTime is in the error of a pass that did not end Ready within the time of [ReadyWithin].
// Test for it with errors.Is.
var ErrNotReadyInTime = errors.New("flow: the resource is not Ready in time")

// ReasonTimeout is the reason of an outcome that [ReadyWithin] turned into a failure.
const ReasonTimeout = "Timeout"

// waits records since when each resource is not Ready.
type waits struct {
	n     atomic.Int64 // the size of m, so that a pass that ends Ready needs neither a key nor the lock
	mu    sync.Mutex
	m     map[string]*wait
	sweep int // the size of m at which old entries are next removed
}

type wait struct {
	generation  int64
	since, seen time.Time
}

// since returns the start of the wait of a key. The wait starts now if the key has none, or one of
// another generation. A sweep removes entries that no pass has used for the time keep.
func (w *waits) since(key string, generation int64, now time.Time, keep time.Duration) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, ok := w.m[key]
	if !ok {
		if w.m == nil {
			w.m = map[string]*wait{}
		}
		if len(w.m) >= max(w.sweep, 1024) {
			for k, e := range w.m {
				if now.Sub(e.seen) > keep {
					delete(w.m, k)
				}
			}
			w.sweep = 2 * len(w.m)
		}
		e = &wait{generation: generation, since: now}
		w.m[key] = e
		w.n.Store(int64(len(w.m)))
	}
	if e.generation != generation {
		*e = wait{generation: generation, since: now}
	}
	e.seen = now
	return e.since
}

func (w *waits) forget(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.m, key)
	w.n.Store(int64(len(w.m)))
}

// timely turns an outcome that is not Ready in time into a time-out.
func (r *Reconciler[T]) timely(pass chain.Handler[T, Outcome]) chain.Handler[T, Outcome] {
	return func(ctx context.Context, resource T) (Outcome, error) {
		out, err := pass(ctx, resource)
		generation, deleting, _ := r.about(resource)
		switch {
		case out.State() == StateCanceled:
			return out, err
		case deleting || out.State() == StateReady || out.State() == StateGone:
			if r.waits.n.Load() > 0 {
				r.waits.forget(r.key(resource))
			}
			return out, err
		}
		now, limit := r.opt.now(), r.opt.readyWithin
		since := r.waits.since(r.key(resource), generation, now, 2*r.resync())
		o := *out.get()
		if o.due = limit - now.Sub(since); o.due <= 0 { // uses the monotonic clock, if there is one
			o.due = 0
			o.message = fmt.Sprintf("not Ready within %s: %s", limit, bounded(o.message))
			o.state, o.reason, o.rule, o.after = StateFailed, ReasonTimeout, "", 0
			o.retry, o.severity = classify.OnChange, classify.OnChange.Severity()
			o.err = join(ErrNotReadyInTime, o.err)
		}
		out.o = &o
		return out, err
	}
}

// resync returns the interval at which a resource is reconciled without an event.
func (r *Reconciler[T]) resync() time.Duration {
	if r.opt.backoff != nil {
		return r.opt.backoff.resync
	}
	return stateless.resync
}
