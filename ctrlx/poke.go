package ctrlx

import (
	"context"
	"maps"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/windlass-go/windlass/ctrlx/internal/memory"
)

const (
	// maxPokes is the maximum number of objects that wait for the pass of a Poke, or
	// had it in the last second. An entry needs about 150 bytes.
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
//   - 10,000 objects wait for the pass of their Poke, or had it in the last second.
//
// Poke never blocks. Several goroutines may call it at any time, also before
// [Reconciler.SetupWithManager].
func (r *Reconciler[T]) Poke(name types.NamespacedName) (accepted bool) {
	p := &r.pokes
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	at := p.of[name]
	switch {
	case p.leads && p.running.Err() != nil:
		return false
	case at.waits:
		return p.leads
	case !p.room(now):
		p.many = !p.leads
		return false
	}
	at.waits = true
	if p.of == nil {
		p.of = map[types.NamespacedName]poked{}
	}
	p.of[name] = at
	if p.leads {
		r.memory.Caused(name)
		r.waker.Add(name, max(0, at.began.Add(pokeInterval).Sub(now)))
	}
	return p.leads
}

// pokes bounds the pokes. The zero pokes belong to a reconciler that does not run.
type pokes struct {
	mu      sync.Mutex
	running context.Context // ends when the manager stops; nil: the controller has not started
	leads   bool            // passes run
	of      map[types.NamespacedName]poked
	swept   time.Time // see room
	many    bool      // a name was dropped before passes ran
}

// poked is the state of a poked object. The queue has one entry for an object, so an
// event or busy workers begin the pass of a poke earlier or later than it was due. A
// time alone does not say whether it has begun.
type poked struct {
	waits bool      // for the pass of a poke, which has not begun
	began time.Time // the last pass of a poke; zero: none
}

// room reports whether p can hold another object. It drops objects that wait for no
// pass, at most once in a pokeInterval.
func (p *pokes) room(now time.Time) bool {
	if now.Sub(p.swept) >= pokeInterval {
		p.swept = now
		maps.DeleteFunc(p.of, func(_ types.NamespacedName, at poked) bool { return !at.waits && now.Sub(at.began) >= pokeInterval })
	}
	return len(p.of) < maxPokes
}

// pokeBegins notes that a pass over an object begins, before it reads anything. A later
// poke causes another pass. The first pass shows that this process leads, also before
// the manager says so: no pass before the pokes is left out.
func (r *core) pokeBegins(name types.NamespacedName) {
	p := &r.pokes
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[name].waits {
		p.of[name] = poked{began: time.Now()}
	}
	r.lead()
}

// lead puts the poked objects into the queue, once and after the start of the
// controller. It is called with the lock of the pokes held.
func (r *core) lead() {
	p := &r.pokes
	if p.leads || p.running == nil {
		return
	}
	if p.leads = true; p.many {
		r.memory.CausedAll()
	}
	for name, at := range p.of {
		r.memory.Caused(name)
		if at.waits {
			r.waker.Add(name, 0)
		}
	}
}

// startPokes accepts pokes as soon as the controller may run.
func (r *core) startPokes(ctx context.Context) {
	p := &r.pokes
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = ctx
	go func() {
		select {
		case <-r.elected():
			p.mu.Lock()
			defer p.mu.Unlock()
			r.lead()
		case <-ctx.Done():
		}
	}()
}

// RetryAnnotation is the annotation by which a user asks for a pass now. Each
// new value is a request; the time is the usual value. The annotation of Flux,
// "reconcile.fluxcd.io/requestedAt", has the same effect. A request does not clear
// what checks.Cached remembers.
const RetryAnnotation = "windlass-go.github.io/requestedAt"

// printable matches a value that a condition may show as it is.
var printable = regexp.MustCompile(`^[ -~]{1,200}$`)

// requestOf returns the request of an object: the values of its annotations, joined by
// a comma; empty if there is none. A value that is long or not printable is
// replaced by its digest, because every user of the object can write it. The other value
// stays as it is, because its sender waits for it.
func requestOf(obj client.Object) string {
	var values []string
	for _, name := range []string{RetryAnnotation, "reconcile.fluxcd.io/requestedAt"} {
		value := obj.GetAnnotations()[name]
		switch {
		case value == "":
			continue
		case !printable.MatchString(value):
			value = "digest:" + digestOf(value)
		}
		values = append(values, value)
	}
	return strings.Join(values, ",")
}

// handled sets the field of the status of obj for the request of read, as in Flux. If there is no such field, it
// returns the request, which belongs into the record.
func (r *core) handled(read, obj client.Object) (request string) {
	if request = requestOf(read); request != "" && r.kind.Handled(obj, request) {
		return ""
	}
	return request
}

// requested notes that a user asked for a retry, until the next pass begins. So each
// request resets the back-off once.
func (r *core) requested(name types.NamespacedName) {
	r.memory.Change(name, func(e *memory.Entry) { e.Retry = true })
}

// requests notes the requests of users, and shows each update to the pass under way. It lets
// all events pass.
func (r *core) requests() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		if e.ObjectOld != nil && e.ObjectNew != nil {
			r.interrupter.saw(e.ObjectNew, false)
			if now := requestOf(e.ObjectNew); now != "" && now != requestOf(e.ObjectOld) {
				r.requested(client.ObjectKeyFromObject(e.ObjectNew))
			}
		}
		return true
	}}
}
