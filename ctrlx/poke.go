package ctrlx

import (
	"context"
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
	// maxPokes is the maximum number of objects that wait for the pass of a
	// Poke. An entry needs about 150 bytes.
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
//   - 10,000 objects wait for the pass of their Poke.
//
// Poke never blocks. Several goroutines may call it at any time, also before
// [Reconciler.SetupWithManager].
func (r *Reconciler[T]) Poke(name types.NamespacedName) (accepted bool) {
	return r.pokes.add(name, r.now())
}

// pokes holds the poked objects. The zero pokes is that of a reconciler that has
// not started.
type pokes struct {
	mu      sync.Mutex
	of      map[types.NamespacedName]poked
	many    bool                                      // a name was dropped before the start
	enqueue func(types.NamespacedName, time.Duration) // nil: not running
	running context.Context                           // ends when the manager stops; nil: not started
	stopped bool
	swept   time.Time
}

// poked is the state of an object.
type poked struct {
	waits bool      // for a pass
	began time.Time // the pass of the last poke; zero: none
}

// add notes a poke. accepted is the result of Poke.
func (p *pokes) add(name types.NamespacedName, now time.Time) (accepted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, known := p.of[name]
	switch {
	case p.stopped || p.running != nil && p.running.Err() != nil:
		return false
	case at.waits:
		return p.enqueue != nil
	case !known && !p.room(now):
		p.many = p.many || p.enqueue == nil
		return false
	}
	if p.of == nil {
		p.of = map[types.NamespacedName]poked{}
	}
	at.waits = true
	p.of[name] = at
	if p.enqueue == nil {
		return false
	}
	p.enqueue(name, at.due(now))
	return true
}

// due returns the delay of the next pass of a poke.
func (at poked) due(now time.Time) time.Duration {
	return min(max(pokeInterval-now.Sub(at.began), 0), pokeInterval)
}

// room reports whether p can hold another object. It drops objects that wait for
// no pass, at most once in a pokeInterval.
func (p *pokes) room(now time.Time) bool {
	if len(p.of) >= maxPokes && (now.Sub(p.swept) >= pokeInterval || now.Before(p.swept)) {
		p.swept = now
		for name, at := range p.of {
			if !at.waits && at.due(now) == 0 {
				delete(p.of, name)
			}
		}
	}
	return len(p.of) < maxPokes
}

// begin notes that a pass over an object begins, before it reads anything. A
// later poke causes another pass.
func (p *pokes) begin(name types.NamespacedName, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.of[name]; at.waits {
		p.of[name] = poked{began: now}
	}
}

// run begins to put poked objects into the queue. many reports whether a name
// was dropped before. It is called before enqueue.
func (p *pokes) run(enqueue func(types.NamespacedName, time.Duration), many func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	if p.many {
		many()
	}
	p.enqueue = enqueue
	for name, at := range p.of {
		if at.waits {
			enqueue(name, 0)
		}
	}
}

// stop drops all names, because no pass follows.
func (p *pokes) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped, p.of, p.enqueue = true, nil, nil
}

// startPokes puts poked objects into the queue as soon as this process is the
// leader. elected is closed then.
func (r *Reconciler[T]) startPokes(ctx context.Context, q queue, elected <-chan struct{}) {
	enqueue := func(name types.NamespacedName, after time.Duration) {
		r.caused(name)
		q.AddAfter(reconcile.Request{NamespacedName: name}, after)
	}
	r.pokes.mu.Lock()
	r.pokes.running = ctx // add reads it, because stop may run after the manager has returned
	r.pokes.mu.Unlock()
	context.AfterFunc(ctx, r.pokes.stop)
	go func() {
		select {
		case <-elected:
			r.pokes.run(enqueue, r.memory.CausedAll)
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
