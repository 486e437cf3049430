package ctrlx

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// WithWakeLimit spares the cloud a herd: of the resources of this kind that are woken, since what they waited for has
// changed, n go on at once, and from then on n in each such time, one after the other. Without it all that wait for an
// object go on as fast as the controller has workers. It holds for the kind, whatever its resources wait for; passes
// for other reasons are not counted, and no delayed waiter is forgotten. An n below 1 and a time that is not
// positive panic.
func WithWakeLimit(n int, in time.Duration) Option {
	if n < 1 || in <= 0 {
		panic(fmt.Sprintf("ctrlx: WithWakeLimit(%d, %s): give at least 1 and a positive duration", n, in))
	}
	return func(o *options) { o.wakes = wakes{n, in} }
}

// wakes is how many are woken at most; the zero wakes is any number.
type wakes struct {
	n  int
	in time.Duration
}

// waker is where the waiters of a kind are woken.
type waker struct {
	queue workqueue.TypedRateLimitingInterface[reconcile.Request] // set when the controller starts
	limit *rate.Limiter                                           // nil: there is none

	mu     sync.Mutex
	putOff map[types.NamespacedName]bool // who was woken and has not begun, so that who is woken often counts once
}

func newWaker(w wakes) *waker {
	if w.n == 0 {
		return &waker{}
	}
	return &waker{limit: rate.NewLimiter(rate.Limit(float64(w.n)/w.in.Seconds()), w.n), putOff: map[types.NamespacedName]bool{}}
}

// wake puts a waiter into the queue, in front of what is only looked at again.
func (w *waker) wake(id index.ID) {
	req := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: id.Namespace, Name: id.Name}}
	after, again := w.turn(req.NamespacedName)
	if again {
		return
	}
	if q, ok := w.queue.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		q.AddWithOpts(priorityqueue.AddOpts{After: after}, req)
		return
	}
	w.queue.AddAfter(req, after)
}

// turn is after how long a waiter may go on, and whether it is in the queue for that already.
func (w *waker) turn(name types.NamespacedName) (after time.Duration, again bool) {
	if w.limit == nil {
		return 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.putOff[name] {
		return 0, true
	}
	w.putOff[name] = true
	return w.limit.Reserve().Delay(), false
}

// begins says that a pass over a resource begins, before it reads anything: who is woken from now on is put into the queue.
func (w *waker) begins(name types.NamespacedName) {
	if w.limit == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.putOff, name)
}
