package ctrlx

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/flow"
)

const (
	// maxHistories is the number of objects of a reconciler whose last passes are
	// kept: about 0.4 MB.
	maxHistories = 1000
	// maxKept is the number of passes that are kept of an object.
	maxKept = 5
)

// history holds the last passes over objects that were not ready. A pass over an
// object that stays ready is not recorded, so it costs nothing. Tracing each link
// of each pass costs more, see flow.WithExplanations.
type history struct {
	mu sync.Mutex
	of map[types.NamespacedName]*kept
}

// kept is a ring with the last passes over an object.
type kept struct {
	passes [maxKept]ended
	next   int // the index of the oldest pass, which the next one replaces
}

// ended is a pass that has ended. The zero ended is none.
type ended struct {
	at   time.Time // the start
	took time.Duration
	verdict
}

// add records a pass. If there are too many objects, it drops any of them.
func (h *history) add(name types.NamespacedName, e ended) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.of[name]
	if k == nil {
		if h.of == nil {
			h.of = map[types.NamespacedName]*kept{}
		}
		for other, of := range h.of {
			if len(h.of) < maxHistories {
				break
			}
			delete(h.of, other)
			k = of // without an allocation
		}
		if k == nil {
			k = &kept{}
		}
		*k = kept{}
		h.of[name] = k
	}
	k.passes[k.next] = e
	k.next = (k.next + 1) % maxKept
}

// forget drops the passes over an object that is gone.
func (h *history) forget(name types.NamespacedName) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.of, name)
}

// last returns the last passes over an object, the latest first.
func (h *history) last(name types.NamespacedName) (all []ended) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.of[name]
	if k == nil {
		return nil
	}
	for i := range maxKept {
		if e := k.passes[(k.next+2*maxKept-1-i)%maxKept]; !e.at.IsZero() {
			all = append(all, e)
		}
	}
	return all
}

// explanations returns the last passes over an object, the latest first. The first
// one has the steps of the pass if the flow keeps explanations.
func (r *Reconciler[T]) explanations(obj T, name types.NamespacedName) (all []flow.Explanation) {
	traced, ok := r.flow.Explain(r.key(obj))
	if ok {
		all = append(all, traced)
	}
	for _, e := range r.history.last(name) {
		if ok && !e.at.Add(e.took).Before(traced.At) {
			continue // the same pass
		}
		state := e.state.String()
		if e.verdict == (verdict{}) {
			state = flow.StateReady.String()
		}
		all = append(all, flow.Explanation{
			Name: r.name, Key: r.key(obj), At: e.at, Since: e.at, Elapsed: e.took, State: state, Point: e.point, Link: e.link, Reason: e.reason,
		})
	}
	return all
}

// explained returns e with the root cause of the wait of an object.
func (r *Reconciler[T]) explained(ctx context.Context, id index.ID, e flow.Explanation) flow.Explanation {
	if root, others := r.engine.Root(ctx, id); root != nil {
		e.RootCause, e.Others = root.Text, others
	}
	return e
}
