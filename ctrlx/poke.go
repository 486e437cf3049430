package ctrlx

import (
	"context"
	"maps"
	"regexp"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx/internal/memory"
)

const (
	// maxPokes is the maximum number of objects that were poked in the last second.
	// An entry needs about 150 bytes.
	maxPokes = 10_000
	// pokeInterval is the shortest time between two passes over an object that
	// pokes cause. It is the least delay of [flow.NewBackoff].
	pokeInterval = time.Second
)

// Poke causes a pass over an object at once, because an event outside of the
// cluster concerns it: a webhook, or a message of a queue. An operation under
// way is polled at once, not at its next interval. The pass is a whole one, also
// if the object is settled. name names an object of the reconciled kind; a name
// without an object is ignored. Pokes of one object cause at most one pass in a
// second, so many events cannot overload the cloud. Poke does not reset the
// back-off; [RetryAnnotation] does.
//
// Poke reports whether this process reconciles the object soon. Answer the event
// with an error after false, so that the sender repeats it:
//
//	if !databases.Poke(name) {
//		http.Error(w, "not the leader", http.StatusServiceUnavailable)
//	}
//
// It returns false in these cases:
//
//   - The reconciler has not started, or is not the leader. Another process may
//     be the leader, so the sender has to reach that one. This process also
//     keeps the names of up to 10,000 objects, and reconciles them if it starts
//     or becomes the leader. If there are more names, the first pass over each
//     object is a whole one then. So no event is lost while a process starts.
//   - The manager has stopped.
//   - 10,000 objects were poked in the last second.
//
// Poke never blocks. Several goroutines may call it at any time, also before
// [Reconciler.SetupWithManager].
func (r *Reconciler[T]) Poke(name types.NamespacedName) (accepted bool) {
	p := &r.pokes
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != nil && p.running.Err() != nil {
		return false
	}
	delay, ok := p.delay(name, time.Now())
	switch {
	case p.running == nil:
		p.many = p.many || !ok
		return false
	case ok && delay >= 0:
		r.caused(name)
		p.queue.AddAfter(reconcile.Request{NamespacedName: name}, delay)
	}
	return ok
}

// pokes bounds the pokes. The zero pokes is that of a reconciler that does not run.
type pokes struct {
	mu      sync.Mutex
	running context.Context // ends when the manager stops; nil: not running
	queue   queue
	due     map[types.NamespacedName]time.Time // of the pass of the last poke
	many    bool                               // a name was dropped before the start
}

// delay returns the delay of the pass of a poke; negative: a pass that has not begun is
// in the queue. ok is false if there are too many objects.
func (p *pokes) delay(name types.NamespacedName, now time.Time) (delay time.Duration, ok bool) {
	due, known := p.due[name]
	if due.After(now) {
		return -1, true
	}
	if len(p.due) >= maxPokes {
		maps.DeleteFunc(p.due, func(_ types.NamespacedName, at time.Time) bool {
			return p.running != nil && now.Sub(at) >= pokeInterval
		})
		if len(p.due) >= maxPokes && !known {
			return 0, false
		}
	}
	next := now
	if earliest := due.Add(pokeInterval); known && earliest.After(now) {
		next = earliest
	}
	if p.due == nil {
		p.due = map[types.NamespacedName]time.Time{}
	}
	p.due[name] = next
	return next.Sub(now), true
}

// begin notes that a pass over an object begins, before it reads anything. A later poke
// causes another pass, also if this one was due later: the queue has one entry for an
// object, so an event brings the pass of a poke forward.
func (p *pokes) begin(name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.due[name].After(now) {
		p.due[name] = now
	}
}

// startPokes accepts pokes as soon as this process is the leader. elected is closed
// then.
func (r *Reconciler[T]) startPokes(ctx context.Context, q queue, elected <-chan struct{}) {
	go func() {
		select {
		case <-elected:
			p := &r.pokes
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.running, p.queue = ctx, q; p.many {
				r.memory.CausedAll()
			}
			for name := range p.due {
				r.caused(name)
				q.AddAfter(reconcile.Request{NamespacedName: name}, 0)
			}
		case <-ctx.Done():
		}
	}()
}

// RetryAnnotation is the annotation by which a user asks for a pass now. Each
// new value is a request; the time is the usual value. The annotation of Flux,
// "reconcile.fluxcd.io/requestedAt", has the same effect. A request does not clear
// what checks.Cached remembers.
const RetryAnnotation = "windlass-go.github.io/requestedAt"

// printable matches a request that a condition may show as it is.
var printable = regexp.MustCompile(`^[ -~]{1,200}$`)

// requestOf returns the request of an object: the values of its annotations, joined by
// a comma; empty if there is none. A request that is long or not printable is
// replaced by its digest, because every user of the object can write it.
func requestOf(obj client.Object) string {
	request, flux := obj.GetAnnotations()[RetryAnnotation], obj.GetAnnotations()["reconcile.fluxcd.io/requestedAt"]
	if request != "" && flux != "" {
		request += ","
	}
	request += flux
	if request != "" && !printable.MatchString(request) {
		return "digest:" + digestOf(request)
	}
	return request
}

// requested notes that a user asked for a retry, until the next pass begins. So each
// request resets the back-off once.
func (r *core) requested(name types.NamespacedName) {
	r.memory.Change(name, func(e *memory.Entry) { e.Retry = true })
}

// begins reports whether a user asked for a retry since the last pass, because
// a pass begins. It must be called before the pass reads the object.
func (r *core) begins(name types.NamespacedName) (requested bool) {
	return r.memory.Get(name).Retry && r.memory.Change(name, func(e *memory.Entry) { e.Retry = false }).Retry
}

// requests notes the requests. It lets all events pass.
func (r *core) requests() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		if e.ObjectOld != nil && e.ObjectNew != nil {
			if now := requestOf(e.ObjectNew); now != "" && now != requestOf(e.ObjectOld) {
				r.requested(client.ObjectKeyFromObject(e.ObjectNew))
			}
		}
		return true
	}}
}

// echo records in the status of obj that a pass has handled a request, as Flux
// does. It returns the request that the record shows, because the status has no
// field for it; empty: none.
func (r *core) echo(obj client.Object, request string) string {
	if request == "" || r.kind.Handled(obj, request) {
		return ""
	}
	return request
}
